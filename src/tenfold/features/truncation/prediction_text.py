"""Terminal output: predicted accuracy by length with reasons, a run compared with it, and explained digits."""

from __future__ import annotations

from collections.abc import Sequence

from tenfold.evals.statistics import Measurement
from tenfold.features.truncation.prediction import Predicted

CONVERGED = 0.99  # accuracy at the training length above which a model counts as converged


def predicted_lines(predictions: Sequence[Predicted]) -> list[str]:
    """One line per length: accuracy, the exact fraction if it is short, and the reason.

    >>> from tenfold.features.truncation.prediction import operation, predict
    >>> print(*predicted_lines(predict(operation("modular-addition", 7), 2, [2, 3])), sep="\\n")
    digits  accuracy  exact  why
         2   100.00%  1      no number has more than 2 digits, so nothing is dropped
         3    13.58%  11/81  right where 7 divides A + B, A and B what is dropped; 1/7 for long numbers
    """
    exact = [each.exact_text or "" for each in predictions]
    wide = max(map(len, ["exact", *exact]))
    long = max(len(str(each)) for each in ["digits", *(each.length for each in predictions)])
    lines = [f"{'digits':>{long}}  accuracy  {'exact':{wide}}  why"]
    for each, fraction in zip(predictions, exact, strict=True):
        lines.append(f"{each.length:>{long}}  {each.accuracy:>8.2%}  {fraction:{wide}}  {each.why}")
    return lines


def learned_line(row: Measurement) -> str:
    """State whether a run has converged, from its row `exact` at the training length.

    >>> learned_line(Measurement(3, "uniform", "exact", 1.0, 1000))
    'at 3 digits (training): 100.0% right'
    >>> learned_line(Measurement(3, "uniform", "exact", 0.02, 1000))
    'at 3 digits (training): 2.0% right: not converged, the prediction is not about this model'
    """
    text = f"at {row.length} digits (training): {100 * row.value:.1f}% right"
    if row.value >= CONVERGED:
        return text
    return f"{text}: not converged, the prediction is not about this model"


def compared_lines(rows: Sequence[Measurement], digits: int) -> list[str]:
    """One line per length (and slice): accuracy, prediction, accuracy on the last digits, share of answers without an end."""
    heads = {
        "exact": "truth",
        "exact-predicted": "predicted",
        "exact-truncated": f"last {digits}",
        "no-end": "no end",
    }
    values = {(row.length, row.slice, row.metric): row.value for row in rows}
    shown = {metric: head for metric, head in heads.items() if metric in {m for *_, m in values}}
    slices = list(dict.fromkeys(row.slice for row in rows))
    wide = max(map(len, slices)) + 2 if len(slices) > 1 else 0
    problems = max((row.n for row in rows), default=0)
    each = "a length and slice" if wide else "a length"
    head = "digits" + (f"{'slice':>{wide}}" if wide else "")
    lines = [f"% of {problems} problems {each}", head + _line(list(shown.values()))]
    for length, slice in dict.fromkeys((row.length, row.slice) for row in rows):
        cells = [f"{100 * values[length, slice, metric]:.1f}" for metric in shown]
        lines.append(f"{length:>6}" + (f"{slice:>{wide}}" if wide else "") + _line(cells))
    return lines


def _line(cells: Sequence[str]) -> str:
    return "".join(f"{cell:>11}" for cell in cells)


def explained_lines(model: Sequence[float | None], truth: Sequence[float | None]) -> list[str]:
    """One line per answer digit, the highest first.

    >>> print(*explained_lines([1.0, 0.5], [1.0, None]), sep="\\n")
    answer digit      model      truth
               2      0.500          -
               1      1.000      1.000
    """
    lines = ["answer digit" + _line(["model", "truth"])]
    for column in reversed(range(len(model))):
        pair = [
            "-" if share is None else f"{share:.3f}" for share in (model[column], truth[column])
        ]
        lines.append(f"{column + 1:>12}{_line(pair)}")
    return lines
