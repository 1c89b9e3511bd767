"""How much of each answer digit the digit sum and the carry explain: R^2 of a decision tree (`principled` paper).

Of a sum, digit i is asked of (a_i + b_i) mod 10 and of the carry of the column below alone, (a_(i-1) + b_(i-1)) // 10. It is
nearly all: what is left is carries that come from further below. 345+789: tens 3 from 4+8 = 12 -> 2 and 5+9 = 14 -> 1.

Four fifths of the problems grow the tree, the others are what it explains. Needs scikit-learn: pip install 'tenfold[analysis]'.

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

SEED = 0  # of the split
LEAST = 10  # problems, of which two are asked
SUM = Operation(product=False)


def explained(operands: Digits, written: Ints, base: int = 10) -> list[float | None]:
    """R^2 of each column of these answers (N, C), from the columns of two operands (N, 2, W); the units first.

    What is no digit in an answer is left out. None where nothing is left, or where all answers are alike: nothing to explain.

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
    """Of a model's answers, and of the true ones beside them."""
    task = examiner.batcher.task
    if task.operation() != SUM:
        raise TenfoldError(
            f'digit sum and carry explain sums of two numbers, and the task "{task.name}" is something else'
        )
    written, true = answers(examiner, model, examples)
    operands, base = examples.operands, task.base
    return explained(operands, written, base), explained(operands, true, base)


def _features(operands: Digits, column: int, base: int) -> NDArray[np.int64]:
    """The digit sum of a column and the carry of the one below, by itself: (N, 2)."""
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
