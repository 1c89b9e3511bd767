"""Compare runs with the function of the last n digits, where n is the training length: measured and predicted.

Rows for experiments: `truncated`, `predicted`, `of_domain`, `digit_analysis`, `intervened`. For a single run: `compared`,
`learned`, `explained`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.domains import Domain
from tenfold.data.tasks.task import Digits, Ints
from tenfold.evals.exact_match import Answerer
from tenfold.evals.statistics import Measurement
from tenfold.features.truncation.explained_digits import LEAST, explained_by_model
from tenfold.features.truncation.prediction import SLICES, predict
from tenfold.features.truncation.truncated_accuracy import (
    both_long_rows,
    graded_twice,
    moved_rows,
    truncated_rows,
)
from tenfold.ledger.experiments import Lab
from tenfold.ledger.measurements import examiner_of, of_both
from tenfold.results.row_schema import Row
from tenfold.runs.run import Run, Which


def compared(
    run: Run,
    lengths: Sequence[int] | None = None,
    n: int | None = None,
    *,
    digits: int | None = None,
    which: Which = "best",
    seed: int = 0,
    slice: str = "uniform",
) -> list[Measurement]:
    """Measure `exact`, `exact-truncated`, `no-end` and, where theory can count, `exact-predicted` at every length.

    `slice` is a slice of the evaluator, or `full`: the slice of the theory, where both numbers have the length.
    """
    torch.set_num_threads(run.recipe.train.threads)
    kept = run.recipe.data.length if digits is None else digits
    requested = run.recipe.eval.lengths if lengths is None else lengths
    count = run.recipe.eval.n if n is None else n
    if count < 1:
        raise TenfoldError(f"{count} problems; at least 1 is needed")
    examiner, model = run.built.examiner(seed), run.answerer(which)
    if slice == "full":
        rows = both_long_rows(examiner, model, kept, requested, count)
    else:
        rows = truncated_rows(examiner, model, kept, requested, [slice], count)
    if not rows:
        raise TenfoldError(f'the slice "{slice}" asks nothing at these lengths of this task')
    return [*rows, *_predicted(run, kept, requested, slice)]


def learned(
    run: Run,
    rows: Sequence[Measurement] = (),
    n: int | None = None,
    *,
    which: Which = "best",
    seed: int = 0,
) -> Measurement:
    """`exact` at the training length, from these rows or measured. Predictions assume that it is high."""
    length = run.recipe.data.length
    wanted = (length, "uniform", "exact")
    for row in rows:
        if (row.length, row.slice, row.metric) == wanted:
            return row
    count = run.recipe.eval.n if n is None else n
    return run.built.examiner(seed).rows(run.answerer(which), [length], ["uniform"], count)[0]


def truncated(
    lab: Lab, run: Run, lengths: Sequence[int] | None = None, slices: Sequence[str] = ("uniform",)
) -> Iterator[Row]:
    """Rows `exact-truncated` and `no-end` of a run, and `exact` where the run has not measured it."""
    examiner, options = examiner_of(run), run.recipe.eval
    requested = options.lengths if lengths is None else lengths
    digits = run.recipe.data.length
    known = {(row["length"], row["slice"], row["metric"]) for row in run.result()["rows"]}

    def ask(model: Answerer) -> Sequence[Measurement]:
        results = truncated_rows(examiner, model, digits, requested, slices, options.n)
        return [row for row in results if (row.length, row.slice, row.metric) not in known]

    yield from of_both(lab, run, ask)


def predicted(
    lab: Lab, run: Run, lengths: Sequence[int] | None = None, slice: str = "uniform"
) -> Iterator[Row]:
    """Rows `exact-predicted`: the accuracy of a converged model that computes the truncated function."""
    requested = run.recipe.eval.lengths if lengths is None else lengths
    for row in _predicted(run, run.recipe.data.length, requested, slice):
        yield {**lab.about(run), **row.as_json(), "checkpoint": ""}


def _predicted(run: Run, digits: int, lengths: Sequence[int], slice: str) -> list[Measurement]:
    """Predicted rows; empty where theory cannot count."""
    task = run.built.batcher.task
    if task.operation() is None or slice not in SLICES:
        return []
    results = predict(task, digits, lengths, slice=slice)
    return [
        Measurement(each.length, slice, "exact-predicted", each.accuracy, 0) for each in results
    ]


def of_domain(lab: Lab, run: Run, label: str, domain: Domain) -> Iterator[Row]:
    """Rows of problems of a domain, under their own label, such as `digits-6-9` for training with holes."""
    examiner, options = examiner_of(run), run.recipe.eval
    length = max(domain.lengths)

    def draw(
        rng: np.random.Generator, n: int, _length: int, terms: int, base: int
    ) -> tuple[Digits, Ints]:
        return domain.draw(rng, n, terms, base)

    examples = examiner.problems(length, label, draw, options.n)
    digits = run.recipe.data.length
    yield from of_both(
        lab, run, lambda model: graded_twice(examiner, model, examples, digits, length, label)
    )


def explained(
    run: Run, length: int | None = None, n: int = 10_000, *, which: Which = "best", seed: int = 0
) -> tuple[list[float | None], list[float | None]]:
    """R^2 of every answer digit from its digit sum and the carry below, for the model's and for the true answers."""
    torch.set_num_threads(run.recipe.train.threads)
    if n < LEAST:
        raise TenfoldError(f"{n} problems; at least {LEAST} are needed, a fifth of them to ask")
    requested = run.recipe.data.length if length is None else length
    examiner = run.built.examiner(seed)
    ((_, _, examples),) = examiner.questions([requested], ["uniform"], n)
    return explained_by_model(examiner, run.answerer(which), examples)


def digit_analysis(lab: Lab, run: Run, n: int = 10_000) -> Iterator[Row]:
    """Rows `explained-1`, `explained-2`, ...: R^2 by answer digit at the training length, and `explained`, their mean.

    For true answers: `explained-true-1`, ..., `explained-true`. The means leave out the overflow digit, which has no
    digit sum of its own.
    """
    length = run.recipe.data.length
    results: dict[str, float] = {}
    model, truth = explained(run, length, n)
    for metric, shares in {"explained": model, "explained-true": truth}.items():
        results |= {f"{metric}-{i}": each for i, each in enumerate(shares, 1) if each is not None}
        columns = [each for each in shares[:length] if each is not None]
        if columns:
            results[metric] = float(np.mean(columns))
    about = {**lab.about(run), "length": length, "slice": "uniform", "checkpoint": "best", "n": n}
    for metric, value in results.items():
        yield {**about, "metric": metric, "value": value}


def intervened(lab: Lab, run: Run, beyond: int = 2, n: int = 100) -> Iterator[Row]:
    """Rows `moved-by-dropped` and `moved-by-kept`, at `beyond` digits more than the training length."""
    digits = run.recipe.data.length
    examiner, model = examiner_of(run), run.answerer("best")
    for row in moved_rows(examiner, model, digits, digits + beyond, n):
        yield {**lab.about(run), **row.as_json(), "checkpoint": "best"}
