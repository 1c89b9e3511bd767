"""Arithmetic by length for any language model: tasks for the LM Evaluation Harness (lm-eval).

| file | what it does |
|---|---|
| `harness_tasks.py` | `write_tasks`: problems as JSON lines, a task file for each slice and length, groups |
| `harness_commands.py` | the command `tenfold lm-eval export` |
"""
