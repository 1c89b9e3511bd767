"""Along which lines do a model's heads attend? Find them at the training length and train again with them as a bias.

This is Attention Bias Calibration (ABC) of the `bias` paper (2310.11984).

| file | content |
|---|---|
| `calibrate.py` | the whole path: check accuracy, average attention, choose lines; a recipe with them |
| `mean_attention.py` | candidate lines; attention and learned biases, averaged along every line |
| `line_selection.py` | which lines stand out, and what each head keeps |
| `calibration.py`, `calibration_text.py` | the result: a JSON file; the same in words |
| `calibration_figures.py`, `attention_figures.py` | pictures |
| `question_attention.py` | where heads look in the question, by column |
| `shared_lines.py` | calibrated lines compared with biases that another model learned |
| `calibration_commands.py`, `calibration_section.py` | command, section of a report |

Python: `tenfold.calibrate(run).save(path)`.
Command line: `tenfold calibrate RUN --out lines.json`, then `tenfold train RECIPE --calibrated lines.json`.
"""
