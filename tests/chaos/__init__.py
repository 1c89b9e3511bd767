"""Attacks on runs, sweeps and the command line: kills, power loss, damage, signals, disturbed sweeps, fuzzed input.

    python -m tests.chaos --count 100 --seed 0         # a tenth of the full size of each attack
    python -m tests.chaos --only kills,fuzz

Every case is a process that is forked from this one, in which torch and tenfold are imported already, so a case
takes a fraction of a second. Each attack prints how many cases were tried and how many failed, and every failure
with the number that repeats it: `--only fuzz --case 17 --seed 0`.
"""
