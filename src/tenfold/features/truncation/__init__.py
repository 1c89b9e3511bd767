"""Does a model compute the function of the last digits when numbers are longer than in training?

The `principled` paper claims this for absolute positions. The accuracy then follows from arithmetic alone.

| file | content |
|---|---|
| `prediction.py` | the predicted accuracy at every length, exact |
| `residue_counting.py`, `pair_enumeration.py` | the two ways to count: by residues, or all pairs of numbers |
| `truncated_accuracy.py` | a model graded against the truth and against the truncated function |
| `explained_digits.py` | how much of an answer digit its digit sum and carry explain |
| `run_truncation.py` | all of these for a run, and as result rows |
| `truncation_commands.py`, `prediction_text.py` | commands and what they print |

Python: `predict(operation("modular-addition", 51), digits=4, lengths=[5])` in `prediction.py`, `compared(run)` in `run_truncation.py`.
Command line: `tenfold theory predict`, `tenfold truncation RUN`, `tenfold explained RUN`.
"""
