"""How far does an encoding look, before and after training?

A bias gives distance n the weight b(n). If the sum of b(n) converges, the nearest keys that hold all but a share eps of
it are the theoretical receptive field (TRF) of the `extrapolation` paper (2307.10156).

| file | content |
|---|---|
| `receptive_field.py`, `partial_sums.py` | the TRF of a series, over all distances or within a number of tokens |
| `stacked_reach.py` | the TRF of several layers |
| `series_by_name.py` | the series of an encoding, a formula or a table of numbers |
| `bias_formula.py`, `series_from_formula.py`, `known_decays.py`, `bias_tables.py` | how formulas and tables are read |
| `asymptotics.py`, `convergence_test.py` | expansions for large n; does the sum converge? |
| `advice.py` | what to expect of each encoding at a longer length |
| `measured_rise.py` | what committed runs measured at a longer length |
| `empirical_field.py`, `run_reach.py` | the receptive field of a trained model |
| `cut_attention.py` | a trained model with attention cut at the TRF of each head |
| `distance_profile.py`, `encoding_gallery.py` | the page that shows every encoding |
| `reach_commands.py`, `reach_text.py`, `advice_text.py`, `run_reach_text.py` | commands and what they print |

Python: `tenfold.reach(tenfold.ALiBi(heads=4).series(), eps=0.05)`, `measured(run)` in `run_reach.py`.
Command line: `tenfold theory trf alibi`, `tenfold theory compare`, `tenfold theory advise`, `tenfold erf RUN`,
`tenfold eval RUN --cut-at-trf 0.05`.
"""
