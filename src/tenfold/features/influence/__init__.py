"""Which input digits does an answer digit depend on? Measured by changing one input digit at a time.

| file | content |
|---|---|
| `run_influence.py` | the influence matrix of a run; result rows |
| `dependency_columns.py` | for each answer digit of a sum, the list of columns that it depends on |
| `influence_figures.py` | pictures, JSON, and lines for a terminal |
| `influence_commands.py` | the command |

The code that changes digits is in `tenfold.evals.interventions`.

Python: `influence(run, length=6)` in `run_influence.py`. Command line: `tenfold influence RUN --length 6`.
"""
