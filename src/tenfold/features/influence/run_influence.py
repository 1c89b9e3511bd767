"""Interventions on a run's model: which input digits its answers depend on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.samplers import exact
from tenfold.data.tasks.task import Examples, Task
from tenfold.data.tasks.wrappers.truncated import Truncated
from tenfold.evals.exact_match import Examiner
from tenfold.evals.interventions import Floats, Influence, blocks, changes
from tenfold.evals.interventions import influence as measure
from tenfold.features.influence.dependency_columns import Lists, relative_lists
from tenfold.runs.run import Run, Which


def influence(
    run: Run,
    length: int,
    n: int = 50,
    slice: str | None = None,
    *,
    which: Which = "best",
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Influence:
    """Measure which answer digits change with each question digit, over `n` problems of exactly this length.

    With a slice, the slice's problems are used, `n` of each kind. `cascades` shows how far carries propagate.
    `progress(done, all)` is called with the number of problems.
    """
    torch.set_num_threads(run.recipe.train.threads)
    examiner = run.built.examiner(seed)
    sets = _problems(examiner, length, n, slice)
    return measure(examiner, run.answerer(which), sets, progress)


def truncated(
    run: Run,
    length: int,
    digits: int | None = None,
    n: int = 50,
    slice: str | None = None,
    *,
    seed: int = 0,
) -> Floats:
    """The influence matrix (M, W, C) of the function of the last `digits` digits (default: the training length), without a model."""
    examiner = run.built.examiner(seed)
    sets = _problems(examiner, length, n, slice)
    columns = max(each.answer.shape[1] for each in sets)
    kept = run.recipe.data.length if digits is None else digits
    return truncated_influence(examiner.batcher.task, kept, sets, columns)


def _problems(examiner: Examiner, length: int, n: int, slice: str | None) -> list[Examples]:
    _check(examiner, length, n)
    if slice is None:
        rng = np.random.default_rng((examiner.seed, length, 13))
        return [examiner.batcher.task.sample(n, length, rng, exact)]
    sets = [each for _, _, each in examiner.questions([length], [slice], n)]
    if not sets:
        raise TenfoldError(f'the slice "{slice}" asks nothing of {length} digits of this task')
    return sets


def lists(
    run: Run,
    length: int,
    n: int = 30,
    *,
    which: Which = "best",
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Lists:
    """The relative columns that matter to each digit of a sum; see `tenfold.features.influence.dependency_columns`."""
    torch.set_num_threads(run.recipe.train.threads)
    examiner = run.built.examiner(seed)
    _check(examiner, length, n)
    return relative_lists(examiner, run.answerer(which), length, n, progress=progress)


def _check(examiner: Examiner, length: int, n: int) -> None:
    if n < 1:
        raise TenfoldError(f"{n} problems; at least 1 is needed")
    examiner.samplers([length], [])  # raises an error if the format cannot hold this many digits


def truncated_influence(
    task: Task, digits: int, sets: Sequence[Examples], columns: int
) -> NDArray[np.float64]:
    """The share of changes of an input digit that change a digit of the truncated function: (M, W, C), as in `Influence`.

    NaN where no problem has such a digit; 0 in every column for digits that truncation drops.
    """
    cut = Truncated.to(digits, task)
    terms, width = (max(each.operands.shape[k] for each in sets) for k in (1, 2))
    counts, sums = np.zeros((terms, width)), np.zeros((terms, width, columns))
    for examples in (block for each in sets for block in blocks(each, task.base)):
        changed = changes(task, examples)
        at = (changed.operand, changed.column)
        before = cut.solve(examples.operands, examples.lengths).answer[changed.source]
        after = cut.solve(changed.examples.operands, changed.examples.lengths).answer
        np.add.at(counts, at, 1)
        np.add.at(sums[..., : after.shape[1]], at, (before != after)[:, :columns])
    with np.errstate(invalid="ignore"):
        return sums / counts[..., None]
