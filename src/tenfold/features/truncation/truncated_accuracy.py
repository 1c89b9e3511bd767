"""Accuracy against the truncated function (f of the last n digits of every number) and against the truth.

Example: a model trained on 3 digits answers 12345+6789. The truth is 19134; a model that sees only the last 3 digits
answers 1134. Each answer is graded twice. An answer without an end is wrong both times and is counted in its own row.

Shapes: B rows of a batch, A answer tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.samplers import exact
from tenfold.data.tasks.task import Examples
from tenfold.data.tasks.wrappers.truncated import Truncated
from tenfold.evals.exact_match import Answerer, Examiner, grade
from tenfold.evals.interventions import changes, moved
from tenfold.evals.statistics import Measurement, wilson


def truncated_rows(
    examiner: Examiner,
    model: Answerer,
    digits: int,
    lengths: Sequence[int],
    slices: Sequence[str] = ("uniform",),
    n: int = 1000,
) -> list[Measurement]:
    """Measure at every length and slice: `exact`, `exact-truncated` and, where answers have an end token, `no-end`."""
    rows = []
    for length, label, examples in examiner.questions(lengths, slices, n):
        rows += graded_twice(examiner, model, examples, digits, length, label)
    return rows


def both_long_rows(
    examiner: Examiner, model: Answerer, digits: int, lengths: Sequence[int], n: int = 1000
) -> list[Measurement]:
    """The same for numbers that all have exactly the length, whatever the format's padding: the theory's slice `full`."""
    examiner.samplers(lengths, [])  # raises an error if the format cannot hold these lengths
    rows = []
    for length in lengths:
        examples = examiner.problems(length, "full", exact, n)
        rows += graded_twice(examiner, model, examples, digits, length, "full")
    return rows


def graded_twice(
    examiner: Examiner, model: Answerer, examples: Examples, digits: int, length: int, label: str
) -> list[Measurement]:
    """The rows of these problems: accuracy against the truth and the truncated function, and answers without an end."""
    task = examiner.batcher.task
    cut = Truncated.to(digits, task).truncate(examples)
    end = examiner.batcher.vocabulary.end
    right = same = endless = 0
    ends = False
    both = zip(
        examiner.answers(model, examples), examiner.batches(cut, model), strict=True
    )  # the same numbers, so the batches contain the same problems
    for (answer, target), other in both:
        right += int(grade(answer, target)[0].sum())
        same += int(grade(answer, other.target)[0].sum())
        ending = target == end  # (B, A)
        ends = ends or bool(ending.any())
        there = answer == end
        if other.sequence.valid is not None:  # there is nothing to see beyond a row's last place
            there = there & other.sequence.valid[:, -other.read :]
        endless += int((~there.any(1) & ending.any(1)).sum())
    n = len(examples)
    rows = {"exact": right, "exact-truncated": same} | ({"no-end": endless} if ends else {})
    return [
        Measurement(length, label, metric, count / n, n, *wilson(count, n))
        for metric, count in rows.items()
    ]


def moved_rows(
    examiner: Examiner, model: Answerer, digits: int, length: int, n: int = 100
) -> list[Measurement]:
    """The share of changes of one digit that change any answer digit, by whether truncation drops the changed digit.

    `moved-by-dropped`: digits above the `digits` lowest; `moved-by-kept`: the others. Numbers have exactly this length.
    """
    if length <= digits:
        raise TenfoldError(
            f"of {length} digits, truncation to {digits} drops none; ask for more than {digits}"
        )
    examiner.samplers([length], [])  # raises an error if the format cannot hold this length
    rng = np.random.default_rng((examiner.seed, length, 17))
    examples = examiner.batcher.task.sample(n, length, rng, exact)
    changed = changes(examiner.batcher.task, examples)
    of_model, _ = moved(examiner, model, examples, changed)
    moves = np.asarray(of_model.any(1))
    rows = []
    for metric, where in (
        ("moved-by-dropped", changed.column >= digits),
        ("moved-by-kept", changed.column < digits),
    ):
        of = int(where.sum())
        rows.append(Measurement(length, "full", metric, int(moves[where].sum()) / of, of))
    return rows
