"""Accuracy of single digits of an answer, whatever the format: digit 1 is the units.

12+345 answered 356: digit 1 is wrong, digits 2 and 3 are right; exact match is 0, two digits of three are right.

Shapes: N problems, B rows of a batch, A answer tokens, P digits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tenfold.data.tasks.task import Examples, Ints
from tenfold.evals.exact_match import Answerer, Examiner
from tenfold.evals.statistics import Measurement, wilson

Bools = NDArray[np.bool_]


def right_by_digit(examiner: Examiner, model: Answerer, examples: Examples) -> tuple[Bools, Bools]:
    """Whether each digit of each answer is right, and whether there is anything to answer: (N, P) each, units first.

    What a format asks for counts, padding above the highest digit too, as it does for exact match.
    """
    batcher, parts = examiner.batcher, []

    def note(_length: int, _label: str, examples: Examples, answers: Ints, _right: Bools) -> None:
        written = batcher.format.write(examples, batcher.task.vocabulary)
        column = np.broadcast_to(written.answer.column, answers.shape)  # (B, A)
        graded = np.arange(answers.shape[1]) < written.graded[:, None]
        places = int(column.max()) + 1
        right = np.zeros((len(answers), places), dtype=np.bool_)
        graded_digits = right.copy()
        np.put_along_axis(right, column, (answers == written.answer.tokens) & graded, 1)
        np.put_along_axis(graded_digits, column, graded, 1)
        parts.append((right, graded_digits))

    examiner.grade(model, examples, 0, "", note)
    places = max(right.shape[1] for right, _ in parts)
    rights, graded = zip(
        *((_widened(r, places), _widened(g, places)) for r, g in parts), strict=True
    )
    return np.concatenate(rights), np.concatenate(graded)


def digit_rows(
    examiner: Examiner,
    model: Answerer,
    length: int,
    digits: Sequence[tuple[int, int]],
    slice: str = "uniform",
    n: int = 1000,
) -> list[Measurement]:
    """`(1, 1)`: the share of problems whose units are right, as `digit-1`; `(6, 11)`: those digits all, `digit-6-11`.

    Of problems that have such digits to answer; no row where none has.
    """
    rows = []
    for at, label, examples in examiner.questions([length], [slice], n):
        right, graded = right_by_digit(examiner, model, examples)
        for first, last in digits:
            of = graded[:, first - 1 : last].any(1)
            count = int(((right | ~graded)[:, first - 1 : last].all(1) & of).sum())
            if n := int(of.sum()):
                name = f"digit-{first}" if first == last else f"digit-{first}-{last}"
                rows.append(Measurement(at, label, name, count / n, n, *wilson(count, n)))
    return rows


def _widened(array: Bools, places: int) -> Bools:
    return np.pad(array, ((0, 0), (0, places - array.shape[1])))
