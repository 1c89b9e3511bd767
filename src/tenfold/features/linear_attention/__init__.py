"""Exact solution of linear attention on a ring: why absolute positions fail on longer inputs and relative ones do not.

This is the theory of the `symmetry` paper (2406.01895, section 5 and appendix D).

| file | content |
|---|---|
| `ring.py` | the task and the windows of training |
| `linear_attention.py` | the expected loss and its gradient in closed form |
| `ring_descent.py` | gradient descent on the expected loss or on samples |
| `ring_contest.py` | the paper's three models on one task |
| `ring_figures.py`, `ring_commands.py` | pictures and tables, the command |

Python: `contest(Ring.tapering(51, 2.0, 1), window=10, width=200, seed=0)` in `ring_contest.py`.
Command line: `tenfold theory ring`.
"""
