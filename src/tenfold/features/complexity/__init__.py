"""How complex are sums and products of uniform numbers? Exact distributions of their carry chains, by counting.

| file | content |
|---|---|
| `complexity.py` | `cascades`, `carries` and `levels`: exact distributions, counted column by column |
| `complexity_figures.py` | pictures (the `symmetry` paper's Figures 13 and 14) |
| `complexity_commands.py` | the command |

Python: `cascades(50)` in `complexity.py`. Command line: `tenfold theory complexity cascades --length 50`.
"""
