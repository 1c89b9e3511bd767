"""The league: every encoding and method under one set of rules (`docs/league.md`).

tracks      what is trained and measured, with which budget
entries     the methods, each a family of recipes
budget      operations, steps and the trial of learning rates
ladder      measurements at longer and longer lengths
run_league  the path of `tenfold league run`
standing    the score of an entry, from committed rows
"""
