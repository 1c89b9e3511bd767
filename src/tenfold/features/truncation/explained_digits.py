"""How much of each answer digit the digit sum and the carry explain: R^2 of a decision tree (`principled` paper).

Digit i of a sum is predicted from (a_i + b_i) mod 10 and from the carry of the column below, (a_(i-1) + b_(i-1)) // 10.
These explain nearly everything except carries from further below. 345+789: the tens are 3, from 4+8 = 12 -> 2 and
5+9 = 14 -> 1.

The tree is fitted on four fifths of the problems and tested on the others. It needs scikit-learn:
pip install 'tenfold[analysis]'.

Shapes: N problems, W columns of an operand, C columns of an answer, from the units on.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.operation import Operation
from tenfold.data.tasks.task import Digits, Examples, Ints
from tenfold.evals.exact_match import Answerer, Examiner
from tenfold.evals.interventions import answers

SEED = 0  # of the train/test split
LEAST = 10  # the smallest number of problems; two of them are for testing
SUM = Operation(product=False)


def explained(operands: Digits, written: Ints, base: int = 10) -> list[float | None]:
    """R^2 of each column of the answers (N, C), predicted from the columns of two operands (N, 2, W); units first.

    Symbols that are not digits are left out. None where no digit remains, or where all answers are equal.

    >>> rng = np.random.default_rng(0)
    >>> operands = rng.integers(0, 10, (2000, 2, 1), dtype=np.uint8)
    >>> explained(operands, operands.sum(1, dtype=np.int64) % 10)
    [1.0]
    """
    if operands.shape[1] != 2:
        raise TenfoldError(f"digits explained by {operands.shape[1]} operand(s); it takes two")
    shares: list[float | None] = []
    for column in range(written.shape[1]):
        known = _features(operands, column, base)
        digit = (written[:, column] >= 0) & (written[:, column] < base)
        shares.append(_share(known[digit], written[digit, column]))
    return shares


def explained_by_model(
    examiner: Examiner, model: Answerer, examples: Examples
) -> tuple[list[float | None], list[float | None]]:
    """R^2 of each column, of a model's answers and of the true answers."""
    task = examiner.batcher.task
    if task.operation() != SUM:
        raise TenfoldError(
            f'digit sum and carry explain sums of two numbers, and the task "{task.name}" is something else'
        )
    written, true = answers(examiner, model, examples)
    operands, base = examples.operands, task.base
    return explained(operands, written, base), explained(operands, true, base)


def _features(operands: Digits, column: int, base: int) -> NDArray[np.int64]:
    """The digit sum of a column, and the carry that the column below produces on its own: (N, 2)."""
    sums = np.pad(operands.sum(1, dtype=np.int64), ((0, 0), (1, max(0, column + 1))))  # one below
    return np.stack([sums[:, column + 1] % base, sums[:, column] // base], 1)


def _share(known: NDArray[np.int64], digit: Ints) -> float | None:
    if len(digit) < LEAST or len(np.unique(digit)) == 1:
        return None
    split, tree = _learned("sklearn.model_selection"), _learned("sklearn.tree")
    seen, test_features, true, wanted = split.train_test_split(
        known, digit, test_size=0.2, random_state=SEED
    )
    if len(np.unique(wanted)) == 1:
        return None
    grown = tree.DecisionTreeRegressor(random_state=SEED).fit(seen, true)
    return float(grown.score(test_features, wanted))


def _learned(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise TenfoldError(
            "decision trees need scikit-learn; pip install 'tenfold[analysis]'"
        ) from None
