"""What an answer depends on, by intervention: change one digit of the question, see which digits of the answer move.

12+345 = 357. The 4 becomes 5: the true answer is 367, the tens moved. The 5 becomes 9: 361, units and tens moved. Over
many problems and all other digits, the share of changes that move each column of the answer is a matrix for each
operand; the task's own matrix beside it is the truth.

Shapes: N problems, M operands, W their columns, C columns of an answer, all from the units on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import IGNORED
from tenfold.data.tasks.task import Digits, Examples, Ints, Task
from tenfold.evals.exact_match import Answerer, Examiner

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
ROWS = 2**15  # changed problems in memory at once


@dataclass(frozen=True)
class Changed:
    """Problems with one digit changed: which problem each was, and which digit of which operand (V,)."""

    examples: Examples
    source: Ints
    operand: Ints
    column: Ints


@dataclass(frozen=True)
class Influence:
    """The share of changes of an input digit that move an answer digit, `model` and `truth`: (M, W, C).

    Without any change of a digit its shares are NaN: nobody has so many digits.
    """

    problems: int
    counts: Ints  # (M, W): changes of each digit
    model: Floats
    truth: Floats
    exact: float  # the share of the unchanged problems that the model answers right

    def by_offset(self, shares: Floats) -> dict[int, list[float]]:
        """For each operand, the mean share by how many columns below the answer's an input digit lies.

        Below 0: the input digit is above the answer's. Answer columns that have no such digit do not count.
        """
        columns = np.arange(shares.shape[2]) - np.arange(shares.shape[1])[:, None]  # (W, C)
        means = {}
        for offset in range(int(columns.min()), int(columns.max()) + 1):
            cells = shares[:, columns == offset]
            defined = ~np.isnan(cells)
            if defined.any(1).all():
                means[offset] = (np.where(defined, cells, 0).sum(1) / defined.sum(1)).tolist()
        return means


def changes(task: Task, examples: Examples, where: Bools | None = None) -> Changed:
    """Every digit, or those `where` (N, M, W), replaced by each other digit; what is no problem of the task is left out.

    A number keeps its length: the highest of several digits does not become 0.
    """
    _check(task, examples)
    lengths, width = examples.lengths, examples.operands.shape[2]
    there = np.arange(width) < lengths[..., None]
    source, operand, column = np.nonzero(there if where is None else there & where)
    step = np.tile(np.arange(1, task.base), len(source))
    source, operand, column = (each.repeat(task.base - 1) for each in (source, operand, column))
    digit = (examples.operands[source, operand, column] + step) % task.base
    size = lengths[source, operand]
    kept = (digit > 0) | (column < size - 1) | (size == 1)
    source, operand, column, digit = (each[kept] for each in (source, operand, column, digit))
    operands = examples.operands[source]
    operands[np.arange(len(source)), operand, column] = digit
    able = _able(task, operands, lengths[source])
    source, operand, column = (each[able] for each in (source, operand, column))
    return Changed(task.solve(operands[able], lengths[source]), source, operand, column)


def _able(task: Task, operands: Digits, lengths: Ints) -> Bools:
    """Which are problems of the task: 12-7 is, 12-70 is not. A refused batch is halved until the refused problems stand alone."""
    if not len(operands):
        return np.zeros(0, dtype=np.bool_)
    try:
        task.solve(operands, lengths)
    except TenfoldError:
        half = len(operands) // 2
        if half == 0:
            return np.zeros(1, dtype=np.bool_)
        parts = (slice(half), slice(half, None))
        return np.concatenate([_able(task, operands[part], lengths[part]) for part in parts])
    return np.ones(len(operands), dtype=np.bool_)


def answers(examiner: Examiner, model: Answerer, examples: Examples) -> tuple[Ints, Ints]:
    """The token at each column of the model's answer and of the true one, from the units on: (N, C) each.

    -1 where there is no such column; above a number's end, what the format has there.
    """
    vocabulary = examiner.batcher.vocabulary
    answered: list[Ints] = []
    true: list[Ints] = []
    for batch in examiner.batches(examples, model):
        column = batch.sequence.places["column"][:, -batch.read :].cpu().numpy()
        column = np.broadcast_to(column, batch.target.shape)
        target = batch.target.masked_fill(batch.target == IGNORED, vocabulary.end)
        for rows, tokens in (
            (answered, model.answer(batch.without_answer(vocabulary.pad))),
            (true, target),
        ):
            by_column = np.full((len(batch), int(column.max()) + 2), -1, dtype=np.int64)
            np.put_along_axis(
                by_column, column, tokens.cpu().numpy(), 1
            )  # no column: the last, cut off
            rows.append(by_column[:, :-1])
    return _stacked(answered), _stacked(true)


def _stacked(parts: list[Ints]) -> Ints:
    wide = max(part.shape[1] for part in parts)
    return np.concatenate([_widened(part, wide) for part in parts])


def _widened(part: Ints, wide: int) -> Ints:
    return np.pad(part, ((0, 0), (0, wide - part.shape[1])), constant_values=-1)


def moved(
    examiner: Examiner, model: Answerer, examples: Examples, changed: Changed
) -> tuple[Bools, Bools]:
    """Which columns of the answer each change moves, the model's and the true one's: (V, C) each."""
    before, after = (answers(examiner, model, each) for each in (examples, changed.examples))
    wide = max(before[0].shape[1], after[0].shape[1])
    of_model, of_truth = (
        _widened(old, wide)[changed.source] != _widened(new, wide)
        for old, new in zip(before, after, strict=True)
    )
    return of_model, of_truth


def influence(
    examiner: Examiner,
    model: Answerer,
    sets: Sequence[Examples],
    progress: Callable[[int, int], None] | None = None,
) -> Influence:
    """The shares over all digits of all problems of these sets, each digit replaced by all others.

    `progress(done, all)` is called with the number of problems.
    """
    task = examiner.batcher.task
    terms, width = (max(each.operands.shape[k] for each in sets) for k in (1, 2))
    columns = max(each.answer.shape[1] for each in sets)  # above them there is only padding
    counts = np.zeros((terms, width), dtype=np.int64)
    sums = np.zeros((2, terms, width, columns))
    right = done = 0
    problems = sum(map(len, sets))
    for some in (block for examples in sets for block in blocks(examples, task.base)):
        answered, true = answers(examiner, model, some)
        right += int((answered == true).all(1).sum())
        changed = changes(task, some)
        at = (changed.operand, changed.column)
        np.add.at(counts, at, 1)
        for total, each in zip(sums, moved(examiner, model, some, changed), strict=True):
            np.add.at(total[..., : each.shape[1]], at, each[:, :columns])
        done += len(some)
        if progress is not None:
            progress(done, problems)
    with np.errstate(invalid="ignore"):
        shares = sums / counts[..., None]
    return Influence(problems, counts, shares[0], shares[1], right / problems)


def _check(task: Task, examples: Examples) -> None:
    """A changed problem must have an answer that follows from its numbers alone."""
    again = task.solve(examples.operands, examples.lengths)
    if not np.array_equal(again.answer, examples.answer):
        raise TenfoldError(
            f'problems of the task "{task.name}" cannot be changed: their numbers alone do not make a question'
        )


def blocks(examples: Examples, base: int) -> Iterator[Examples]:
    """Some problems at a time, so that all their changes fit into memory."""
    size = max(1, ROWS // (int(examples.lengths.sum(1).max()) * (base - 1)))
    for start in range(0, len(examples), size):
        yield examples.rows(slice(start, start + size))
