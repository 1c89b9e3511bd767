"""What did a model's positional encodings learn? Their tables, layer by layer.

| file | content |
|---|---|
| `positional_maps.py` | the learned tables of every layer, and numbers that sum them up |
| `run_maps.py` | the same for a run |
| `map_figures.py` | pictures (the `symmetry` paper's Figures 11 and 12) |
| `map_commands.py`, `map_section.py` | command and JSON, section of a report |

Python: `maps(run)` in `run_maps.py`. Command line: `tenfold maps RUN`.
"""
