"""Several tasks in one model: sums and products, or sums of two, three and four numbers; the operator decides which.

Every problem belongs to one part, drawn by its share:

    {name: several, of: {sum: addition, product: {name: multiplication, multiplier: 2}}}      12+345, 6*345
    {name: several, of: {two: addition, three: {name: addition, terms: 3}}}                   12+345, 12+345+7

All problems are written alike. A problem of fewer numbers than others lacks the first ones; an answer has as much room
as any part needs. A number that only some problems use as a multiplier has no short field of its own: in place it gets
a whole frame, `____6*__345`, as an addend does. There it has a role of its own, after those of all operands, so that
an encoding can distinguish it from an addend (`uniform` with `operand: 2`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import numpy as np
import pydantic

from tenfold.core.errors import TenfoldError, unknown
from tenfold.core.registry import Spec
from tenfold.data.tasks.samplers import SAMPLERS, by_part, longest, numbers
from tenfold.data.tasks.task import (
    Digits,
    Examples,
    Ints,
    NumberTask,
    Sampler,
    Task,
    check_length,
    shortened,
)

Parts = Annotated[dict[str, Spec], pydantic.Field(min_length=1)]
Share = Annotated[float, pydantic.Field(gt=0)]
USUAL = {"sum": Spec(name="addition"), "product": Spec(name="multiplication")}


class Several(NumberTask):
    """`Several().parse("12+345")`, `Several().parse("6*345")`: sums and products by default.

    `shares` are in proportion, 1 each by default. A sampler serves every part; `by-part` gives each its own.

    >>> task = Several()
    >>> [task.truth(task.parse(text), 0) for text in ("12+345", "6*345")]
    ['357', '2070']
    >>> examples = task.sample(3, 3, np.random.default_rng(1))
    >>> [task.question(examples, row) for row in range(3)]
    ['8*246', '2*816', '648+668']
    """

    name = "several"
    usual_sampler = staticmethod(numbers)

    def __init__(self, of: Parts | None = None, shares: dict[str, Share] | None = None) -> None:
        from tenfold.data.tasks import TASKS  # it lists this one

        self.parts = {
            label: _numbers(label, TASKS.build(spec)) for label, spec in (of or USUAL).items()
        }
        self.shares = dict.fromkeys(self.parts, 1.0) | (shares or {})
        for label in self.shares:
            if label not in self.parts:
                raise unknown("part", label, self.parts)
        self.number_of = {label: number for number, label in enumerate(self.parts)}
        parts = list(self.parts.values())
        self.base, self.terms = parts[0].base, max(part.terms for part in parts)
        self.operator = "".join(dict.fromkeys(part.operator for part in parts))
        self.extra = list(dict.fromkeys(symbol for part in parts for symbol in part.extra))
        self._check()
        self.room = max(_room(part) for part in parts)

    def _check(self) -> None:
        """Every problem must show which part it belongs to."""
        seen: dict[tuple[str, int], str] = {}
        for label, part in self.parts.items():
            if part.base != self.base:
                raise TenfoldError(f'"{label}" counts in base {part.base}, others in {self.base}')
            if part.terms == 1:
                raise TenfoldError(f'"{label}" is of one number, so no operator distinguishes it')
            if len(part.operator) > 1:
                raise TenfoldError(
                    f'"{label}" is of the task "{part.name}", which has several operators itself; '
                    "a part has one"
                )
            other = seen.setdefault((part.operator, part.terms), label)
            if other != label:
                raise TenfoldError(
                    f'"{other}" and "{label}" are both of {part.terms} numbers with {part.operator} between them'
                )

    @property
    def has_hub(self) -> bool:
        return any(part.has_hub for part in self.parts.values())

    @property
    def drawn(self) -> int:
        """The least that samplers draw for any part."""
        return min(part.drawn for part in self.parts.values())

    @property
    def counted(self) -> str:
        units = {part.counted for part in self.parts.values()}
        return units.pop() if len(units) == 1 else "digits of the longest number but a multiplier"

    def solve(self, operands: Digits, lengths: Ints, which: Ints | None = None) -> Examples:
        """`which` is the number of the part of each problem; by default, all belong to the first."""
        which = np.zeros(len(operands), dtype=np.int64) if which is None else which
        solved = {}
        for number, part in enumerate(self.parts.values()):
            mine, first = which == number, self.terms - part.terms
            if mine.any():
                solved[number] = part.solve(operands[mine, first:], lengths[mine, first:])
        return self._joined(which, solved)

    def solve_as(self, examples: Examples, operands: Digits, lengths: Ints) -> Examples:
        which = np.zeros(len(examples), dtype=np.int64)
        for number, part in enumerate(self.parts.values()):
            which[self._of(part, examples)] = number
        return self.solve(operands, lengths, which)

    def sample(
        self, n: int, length: int, rng: np.random.Generator, sampler: Sampler | None = None
    ) -> Examples:
        check_length(length, n)
        draws = self._draws(sampler)
        share = np.array([self.shares[label] for label in draws])
        numbers_of_parts = np.array([self.number_of[label] for label in draws])
        which = rng.choice(numbers_of_parts, n, p=share / share.sum())
        sampled = {}
        for label, draw in draws.items():
            if count := int((which == self.number_of[label]).sum()):
                drawn = self.parts[label].sample(count, length, rng, draw)
                sampled[self.number_of[label]] = drawn
        return self._joined(which, sampled)

    def _draws(self, sampler: Sampler | None) -> dict[str, Sampler | None]:
        """What each part draws from; a part that a sampler does not name draws nothing."""
        if not (isinstance(sampler, functools.partial) and sampler.func is by_part):
            return dict.fromkeys(self.parts, sampler)
        given: dict[str, Spec | Sampler] = sampler.keywords["of"]
        for label in given:
            if label not in self.parts:
                raise unknown("part", label, self.parts)
        return {k: SAMPLERS.bind(v) if isinstance(v, Spec) else v for k, v in given.items()}

    def _joined(self, which: Ints, examples: dict[int, Examples]) -> Examples:
        """Problems of each part, in order, as problems of this task: the missing operands first."""
        n, parts = len(which), list(self.parts.values())
        width = max(each.operands.shape[2] for each in examples.values())
        operands = np.zeros((n, self.terms, width), dtype=np.uint8)
        lengths = np.zeros((n, self.terms), dtype=np.int64)
        answer = np.zeros((n, width + self.room), dtype=np.uint8)
        answer_length, hub, operator = (np.zeros(n, dtype=np.int64) for _ in range(3))
        beyond = np.full(n, "nothing")
        for number, each in examples.items():
            part, rows = parts[number], which == number
            first = self.terms - part.terms
            operands[rows, first:, : each.operands.shape[2]] = each.operands
            lengths[rows, first:] = each.lengths
            tokens = self.vocabulary.ids(part.vocabulary.symbols)  # theirs in ours
            answer[rows, : each.answer.shape[1]] = tokens[each.answer]
            answer_length[rows] = each.answer_length
            hub[rows] = -1 if part.hub is None else first + part.hub
            operator[rows] = self.operator.index(part.operator)
            beyond[rows] = each.beyond
        return Examples(operands, lengths, answer, answer_length, hub, beyond, operator)

    def parse(self, text: str) -> Examples:
        for number, part in enumerate(self.parts.values()):
            if text.count(part.operator) == part.terms - 1:
                return self._joined(np.array([number]), {number: part.parse(text)})
        rng = np.random.default_rng(0)
        samples = [part.question(part.sample(1, 2, rng), 0) for part in self.parts.values()]
        raise TenfoldError(
            f'"{shortened(text)}" is none of {", ".join(self.parts)}; write it as "{samples[0]}"'
            + "".join(f' or "{other}"' for other in samples[1:])
        )

    def cascade(self, examples: Examples) -> Ints | None:
        """None where a part has none."""
        longest_of = np.zeros(len(examples), dtype=np.int64)
        for part in self.parts.values():
            rows, first = self._of(part, examples), self.terms - part.terms
            mine = examples.rows(rows)
            mine = replace(mine, operands=mine.operands[:, first:], lengths=mine.lengths[:, first:])
            if len(rows):
                of_part = part.cascade(mine)
                if of_part is None:
                    return None
                longest_of[rows] = of_part
        return longest_of

    def _of(self, part: Task, examples: Examples) -> Ints:
        """The rows of a part's problems."""
        sign = examples.operator_before(1)[:, 0] == self.operator.index(part.operator)
        return np.flatnonzero(sign & ((examples.lengths > 0).sum(1) == part.terms))

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        """The uniform problems of each part, and what is hard in it: `product`, `sum-cascade-4`, `product-nines`."""
        slices = {"parts": {label: only(label, longest) for label in self.parts}}
        for label, part in self.parts.items():
            for name, drawn in part.hard(length).items():
                slices.setdefault(name, {}).update(labelled(label, drawn))
        return slices

    def by_levels(self, length: int) -> dict[str, Sampler]:
        samplers: dict[str, Sampler] = {}
        for label, part in self.parts.items():
            samplers |= labelled(label, part.by_levels(length))
        return samplers


def only(label: str, draw: Sampler) -> Sampler:
    """Problems of one part."""
    return functools.partial(by_part, of={label: draw})


def labelled(label: str, drawn: Mapping[str, Sampler]) -> dict[str, Sampler]:
    """The samplers of one part, under its name: `cascade-4` -> `sum-cascade-4`."""
    return {f"{label}-{name}": only(label, draw) for name, draw in drawn.items()}


def _numbers(label: str, part: Task) -> NumberTask:
    if not isinstance(part, NumberTask):
        raise TenfoldError(f'"{label}" is of the task "{part.name}", which has no numbers')
    return part


def _room(part: Task) -> int:
    """How many digits an answer may have beyond its longest operand: as many at any length."""
    zeros = np.zeros((1, part.terms, 1), dtype=np.uint8)
    return part.solve(zeros, np.ones((1, part.terms), dtype=np.int64)).room
