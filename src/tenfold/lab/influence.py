"""What the answers of a run depend on, by intervention."""

from __future__ import annotations

import numpy as np
import torch

from tenfold.errors import TenfoldError
from tenfold.evals.exact import Examiner
from tenfold.evals.influence import Floats, Influence
from tenfold.evals.influence import influence as measure
from tenfold.evals.lists import Lists, relative_lists
from tenfold.evals.truncation import truncated_influence
from tenfold.lab.run import Run, Which
from tenfold.tasks.base import Examples
from tenfold.tasks.samplers import exact


def influence(
    run: Run,
    length: int,
    n: int = 50,
    slice: str | None = None,
    *,
    which: Which = "best",
    seed: int = 0,
) -> Influence:
    """Which digits of the answer move with each digit of the question, over `n` problems of exactly this length.

    With a slice, over the problems that it asks, `n` of each kind: `cascades` shows how far carries run.
    """
    torch.set_num_threads(run.recipe.train.threads)
    examiner = run.built.examiner(seed)
    return measure(examiner, run.answerer(which), _problems(examiner, length, n, slice))


def truncated(
    run: Run,
    length: int,
    digits: int | None = None,
    n: int = 50,
    slice: str | None = None,
    *,
    seed: int = 0,
) -> Floats:
    """The same of the function of the last `digits` digits, if not said those of training: (M, W, C), no model asked."""
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


def lists(run: Run, length: int, n: int = 30, *, which: Which = "best", seed: int = 0) -> Lists:
    """The relative columns that matter to each digit of a sum; see `tenfold.evals.lists`."""
    torch.set_num_threads(run.recipe.train.threads)
    examiner = run.built.examiner(seed)
    _check(examiner, length, n)
    return relative_lists(examiner, run.answerer(which), length, n)


def _check(examiner: Examiner, length: int, n: int) -> None:
    if n < 1:
        raise TenfoldError(f"{n} problems; at least 1 is needed")
    examiner.samplers([length], [])  # whether the format holds so many digits
