"""Rules: conditions over cells of result rows. What holds is computed, never written by hand.

    where: {recipe: symmetry/addition-relative, length: [7, 10]}
    at_least: 0.85

A cell is what is left of the rows when every column has the wanted value: one number a seed, of which
`take` makes one. A list stands for a cell each. A bound is a number, or another cell laid over this one:
`above: {recipe: symmetry/addition-absolute}`.

A condition holds only if the 95% interval of the measurement lies on the right side of the bound, and fails only if
it lies on the wrong side. Otherwise it is undecided: too few problems were measured.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import pydantic

from tenfold.core.errors import TenfoldError
from tenfold.evals.statistics import success_rate
from tenfold.results.row_schema import Row
from tenfold.runs.recipe import Strict

Words = str | list[str] | None
Counts = int | list[int] | None
Take = Literal["median", "mean", "lowest", "highest", "spread", "success"]
Finite = pydantic.FiniteFloat
Width = Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)]
Factor = Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)]

ROUNDING = 1e-9  # 0.81 - 0.71 is a little more than 0.10
TAKES: dict[Take, Callable[[list[float]], float]] = {
    "median": statistics.median,
    "mean": statistics.fmean,
    "lowest": min,
    "highest": max,
    "spread": lambda values: max(values) - min(values),
    "success": success_rate,
}
MONOTONE: set[Take] = {"median", "mean", "lowest", "highest"}  # of the ends of intervals too
SINGLE: set[Take] = {"median", "mean"}  # of these the seeds are judged one by one as well
PLACES = ("length", "times", "beyond")  # columns that say how long problems are
State = Literal["holds", "fails", "undecided", "missing"]
USUAL = {"metric": ("exact",), "checkpoint": ("best", ""), "slice": ("uniform", ""), "evaluated_pe": ("",)}  # fmt: skip


class RuleCell(Strict):
    """Which rows are meant, column by column, and what to take of their seeds.

    `times: 10` is ten times the training length, `beyond: 2` is two more than it.
    """

    recipe: Words = None
    task: Words = None
    format: Words = None
    encoding: Words = None
    scheme: Words = None
    label: Words = None
    slice: Words = None
    metric: Words = None
    checkpoint: Words = None
    evaluated_pe: Words = None
    trained: Counts = None
    length: Counts = None
    times: Counts = None
    beyond: Counts = None
    take: Take | None = None

    @pydantic.model_validator(mode="after")
    def _lists_name_cells(self) -> RuleCell:
        """Refuse an empty list, which no row could match, and repeated values, which would count twice."""
        for key, value in self.stated().items():
            if isinstance(value, list) and (not value or len(set(value)) < len(value)):
                raise ValueError(f"`{key}` is {value}; a list names one cell or more, each once")
        return self

    def over(self, below: RuleCell) -> RuleCell:
        """This cell, with the values of another cell for the keys it leaves out."""
        return RuleCell(**{**below.stated(), **self.stated()})

    def stated(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)

    def each(self) -> Iterator[RuleCell]:
        """The cells that lists stand for."""
        stated = self.stated()
        several = {key: value for key, value in stated.items() if isinstance(value, list)}
        for point in itertools.product(*several.values()):
            yield RuleCell(**{**stated, **dict(zip(several, point, strict=True))})

    def rows(self, rows: Sequence[Row]) -> list[Row]:
        own = {key: (value,) for key, value in self.stated().items() if key != "take"}
        left = list(rows)
        for key, values in {**own, **{k: v for k, v in USUAL.items() if k not in own}}.items():
            left = [row for row in left if _column(row, key) in values]
        return left

    def describe(self, keys: Sequence[str] | None = None, unit: str = "digits") -> str:
        """`addition-relative, 7 digits`; of these columns alone, if they are named."""
        stated = {k: v for k, v in self.stated().items() if v != "" and (keys is None or k in keys)}
        return ", ".join(_word(key, value, unit) for key, value in stated.items())

    @property
    def share(self) -> bool:
        """Whether it is a part of a whole, for people in percent: `exact`, `exact-truncated`, `digit-3`."""
        metric = self.metric or "exact"
        return self.take == "success" or str(metric).split("-")[0] in ("exact", "digit")

    def number(self, value: float) -> str:
        return f"{100 * value:.1f}%" if self.share else f"{value:.4g}"


class Estimate(NamedTuple):
    """A measured value and its 95% interval; both ends equal the value where nothing was sampled."""

    value: float
    low: float
    high: float

    def less(self, other: Estimate, factor: float) -> Estimate:
        """This value less `factor` times another one.

        The interval is that of Zou and Donner (MOVER), which for shares is Newcombe's. It takes the two for
        independent. Where both were measured on the same problems, it is too wide rather than too narrow.
        """
        value = self.value - factor * other.value
        below = math.hypot(self.value - self.low, factor * (other.high - other.value))
        above = math.hypot(self.high - self.value, factor * (other.value - other.low))
        return Estimate(value, value - below, value + above)


def exactly(value: float) -> Estimate:
    """A number without an interval.

    >>> exactly(0.5)
    Estimate(value=0.5, low=0.5, high=0.5)
    """
    return Estimate(value, value, value)


@dataclass(frozen=True)
class Number:
    """What a cell comes to; no estimate where it has no rows, and `missing` too where it has too few seeds."""

    cell: RuleCell
    estimate: Estimate | None
    by_seed: Mapping[Any, float]
    runs: tuple[str, ...]
    missing: str = ""
    final: float | None = (
        None  # the same of the final weights, where these are the chosen checkpoint's
    )

    @property
    def value(self) -> float | None:
        return None if self.estimate is None else self.estimate.value

    @property
    def seeds(self) -> int:
        return len(self.by_seed)


class Condition(Strict):
    """A cell and its bound."""

    where: RuleCell = RuleCell()
    at_least: Finite | None = None
    at_most: Finite | None = None
    within: tuple[Finite, Width] | None = None  # a value, and how far from it
    above: RuleCell | None = None  # more than `factor` times the other cell, plus `by`
    below: RuleCell | None = None  # less than `factor` times the other cell, less `by`
    near: RuleCell | None = None  # no further than `by` from the other cell
    by: Width = 0.0
    factor: Factor = 1.0
    theirs: Finite | None = None  # the number that was published for this cell

    @pydantic.model_validator(mode="after")
    def _one_bound(self) -> Condition:
        given = [k for k in BOUNDS if getattr(self, k) is not None]
        if len(given) != 1:
            bounds = " and ".join(given) or "none"
            raise ValueError(f"a condition has one bound, not {bounds}; one of {', '.join(BOUNDS)}")
        other = self.other
        if other is None and (self.by or self.factor != 1.0):
            raise ValueError("`by` and `factor` go with above, below or near")
        if other is not None and any(isinstance(v, list) for v in other.stated().values()):
            raise ValueError(f"`{given[0]}` names one cell, not a list")
        if self.near is not None and (self.by == 0 or self.factor != 1.0):
            raise ValueError("`near` wants `by`, how far, and no `factor`")
        return self

    @property
    def other(self) -> RuleCell | None:
        return self.above or self.below or self.near

    def over(self, below: RuleCell) -> Condition:
        """This condition with its cell laid over another, which must leave it two cells to compare."""
        laid = self.model_copy(update={"where": self.where.over(below)})
        other = self.other
        if other is not None and any(other.over(cell) == cell for cell in laid.where.each()):
            raise TenfoldError(f"`{self.bound}: {other.stated()}` compares a cell with itself")
        return laid

    def judged(self, rows: Sequence[Row], seeds: int) -> list[Verdict]:
        """A verdict a cell; `seeds` are wanted at the least."""
        verdicts = []
        for cell in self.where.each():
            ours = _number(cell, rows, seeds)
            other = self.other
            against = None if other is None else _number(other.over(cell), rows, seeds)
            verdicts.append(Verdict(self, ours, against))
        return verdicts

    def state(self, ours: Estimate, other: Estimate) -> State:
        """Whether this cell less the other one lies where the bound wants it, rounding aside.

        What is equal but for rounding is neither above nor below.
        """
        low, high = self.wanted()
        apart = ours.less(other, self.factor)
        if low <= apart.low and apart.high <= high:
            return "holds"
        return "fails" if apart.high < low or apart.low > high else "undecided"

    def wanted(self) -> tuple[float, float]:
        """Between which two numbers the difference must lie."""
        if self.at_least is not None:
            return -ROUNDING, math.inf
        if self.at_most is not None:
            return -math.inf, ROUNDING
        if self.above is not None:
            return self.by + ROUNDING, math.inf
        if self.below is not None:
            return -math.inf, -self.by - ROUNDING
        width = self.by if self.within is None else self.within[1]
        return -width - ROUNDING, width + ROUNDING

    @property
    def stated(self) -> float:
        """The number that is the bound, where it is no cell."""
        numbers = (self.at_least, self.at_most, self.within and self.within[0])
        return next(number for number in numbers if number is not None)

    @property
    def bound(self) -> str:
        return next(k for k in BOUNDS if getattr(self, k) is not None)


BOUNDS = ("at_least", "at_most", "within", "above", "below", "near")


@dataclass(frozen=True)
class Verdict:
    """What came of one cell of a condition."""

    condition: Condition
    ours: Number
    against: Number | None

    @property
    def state(self) -> State:
        """What the measurements and their intervals make of the condition."""
        if self.ours.estimate is None or (self.against and self.against.estimate is None):
            return "missing"
        ours, other = self.ours.estimate, self._other(None)
        # No interval excludes an end of its range. Other numbers than shares are compared on the same text, which an
        # interval over texts knows nothing of; there the seeds say how sure the difference is.
        ends = self.ours.cell.share and self.condition.other is None and other.value in (0, 1)
        if ends or (self.condition.other is not None and not self.ours.cell.share):
            ours, other = exactly(ours.value), exactly(other.value)
        return self.condition.state(ours, other)

    @property
    def holds(self) -> bool | None:
        """Whether the condition is shown; None where rows are missing."""
        return None if self.state == "missing" else self.state == "holds"

    @property
    def met(self) -> bool | None:
        """Whether the values meet the bound, whatever their intervals; None where rows are missing."""
        return None if self.ours.value is None else self._meets(self.ours.value, None)

    @property
    def slack(self) -> float:
        """How far the value is on the right side of its bound; below 0 it is on the wrong side. Needs rows."""
        if self.ours.estimate is None:
            raise ValueError(f"{self.ours.cell.describe()} has no rows")
        low, high = self.condition.wanted()
        apart = self.ours.estimate.less(self._other(None), self.condition.factor).value
        return min(apart - low, high - apart)

    @property
    def failing_seeds(self) -> list[Any]:
        """The seeds that do not meet the bound by themselves; none where the rule takes one seed, or all together."""
        if (self.ours.cell.take or "median") not in SINGLE or self.state == "missing":
            return []
        return [s for s, value in self.ours.by_seed.items() if self._meets(value, s) is False]

    def worst(self) -> float | None:
        """The value of the seed that is furthest on the wrong side, or nearest to it."""
        if (self.ours.cell.take or "median") not in SINGLE or self.state == "missing":
            return None
        condition, values = self.condition, self.ours.by_seed.values()
        if condition.at_least is not None or condition.above is not None:
            return min(values)
        if condition.at_most is not None or condition.below is not None:
            return max(values)
        target = condition.factor * self._other(None).value
        return max(values, key=lambda value: abs(value - target))

    def _meets(self, value: float, seed: Any) -> bool | None:
        if self.against is not None and self.against.estimate is None:
            return None
        other = exactly(self._other(seed).value)
        return self.condition.state(exactly(value), other) == "holds"

    def _other(self, seed: Any) -> Estimate:
        """The bound; of another cell the number of this seed, if it has one."""
        if self.against is None:
            return exactly(self.condition.stated)
        assert self.against.estimate is not None
        if seed in self.against.by_seed and (self.against.cell.take or "median") in SINGLE:
            return exactly(self.against.by_seed[seed])
        return self.against.estimate

    @property
    def missing(self) -> list[str]:
        return [n.missing for n in (self.ours, self.against) if n is not None and n.missing]

    def bound(self, unit: str) -> str:
        """`at least 85.0%`, `above addition-absolute by 10.0%`."""
        condition, value = self.condition, self.ours.cell.number
        if condition.within is not None:
            return f"within {value(condition.within[1])} of {value(condition.within[0])}"
        if condition.other is None:
            kind = "at least" if condition.at_least is not None else "at most"
            return f"{kind} {value(getattr(condition, condition.bound))}"
        words = [condition.bound, f"{condition.factor:g} times" if condition.factor != 1 else ""]
        words += [
            condition.other.describe(unit=unit),
            f"by {value(condition.by)}" if condition.by else "",
        ]
        return " ".join(filter(None, words))


def _number(cell: RuleCell, rows: Sequence[Row], seeds: int) -> Number:
    matching = cell.rows(rows)
    by_seed: dict[Any, float] = {row["seed"]: row["value"] for row in matching}
    if len(by_seed) < len(matching):
        raise TenfoldError(
            f"a rule's cell ({cell.describe()}) has {len(matching)} rows for {len(by_seed)} seeds; "
            "name another column, such as metric or slice"
        )
    runs = tuple(dict.fromkeys(row["run"] for row in matching if row["run"]))
    if not matching:
        return Number(cell, None, {}, (), f"{cell.describe()}: no rows")
    lacks = f"{cell.describe()}: {len(by_seed)} of {seeds} seeds" if len(by_seed) < seeds else ""
    how: Take = cell.take or "median"
    final = [] if cell.checkpoint else RuleCell(checkpoint="final").over(cell).rows(rows)
    last = _taken(how, final).value if len(final) == len(matching) else None
    return Number(cell, _taken(how, matching), by_seed, runs, lacks, last)


def _taken(how: Take, rows: Sequence[Row]) -> Estimate:
    """One number of all seeds. Its interval is over problems: how finely these very models were measured."""
    take = TAKES[how]
    value = take([row["value"] for row in rows])
    if how not in MONOTONE:
        return exactly(value)
    low, high = (
        take([row["value"] if row[end] is None else row[end] for row in rows])
        for end in ("low", "high")
    )
    return Estimate(value, low, high)


def _column(row: Row, key: str) -> Any:
    if key not in ("times", "beyond"):
        return row[key]
    length, trained = row["length"], row["trained"]
    if length is None or not trained:
        return None
    return length / trained if key == "times" else length - trained


def _word(key: str, value: Any, unit: str) -> str:
    words = {
        "length": f"{value} {unit if value != 1 else unit.removesuffix('s')}",
        "times": f"{value} times the training length" if value != 1 else "the training length",
        "beyond": _beyond(value, unit) if isinstance(value, int) else "",
        "trained": f"trained on {value} {unit}",
        "recipe": str(value).partition("/")[2] or str(value),
        "take": f"{value} seed" if value in ("lowest", "highest") else str(value),
    }
    return words.get(key, str(value))


def _beyond(more: int, unit: str) -> str:
    """
    >>> _beyond(2, "digits"), _beyond(-1, "digits"), _beyond(0, "bits")
    ('n + 2 digits', 'n - 1 digits', 'n bits')
    """
    sign = "+" if more > 0 else "-"
    return f"n {sign} {abs(more)} {unit}" if more else f"n {unit}"
