"""The ledger: every claim of a paper, and what committed results make of it.

`papers/PAPER/claims.yaml` says what is claimed, where, and the rule that decides; the status follows
from `results/PAPER/EXPERIMENT/SCALE/rows.csv`. docs/ledger.md explains all of it.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from tenfold.core.errors import TenfoldError, unknown
from tenfold.ledger.claims import About, Claim, papers, read_claims
from tenfold.ledger.rules import PLACES, Condition, Number, RuleCell, Verdict
from tenfold.results.committed import SCALES, committed
from tenfold.results.row_schema import Row

Status = Literal["reproduced", "partly", "against", "contradicted", "untested", "open"]
STATUSES: tuple[Status, ...] = typing.get_args(Status)
Tables = Mapping[str, list[Row]]  # an experiment's rows by scale
MEASURED = {
    "value",
    "n",
    "low",
    "high",
    "claim",
    "commit",
    "date",
}  # the other columns identify a row
COMPARED = (
    "recipe",
    "encoding",
    "scheme",
    "slice",
    "take",
)  # what the other cell of a comparison is
MANY = 12  # cells that are listed one by one


@dataclass(frozen=True)
class Entry:
    """A claim of a paper beside the rows that decide it, at the scale that was chosen."""

    paper: str
    about: About
    claim: Claim
    scale: str | None
    rows: Sequence[Row]
    absent: tuple[str, ...] = ()  # experiments that it reads and that have no results at this scale

    @property
    def id(self) -> str:
        return f"{self.paper}/{self.claim.id}"

    @property
    def unit(self) -> str:
        return self.claim.unit or self.about.unit

    @cached_property
    def given(self) -> list[Verdict]:
        return self._judged(self.claim.rule()[0])

    @cached_property
    def shown(self) -> list[Verdict]:
        return self._judged(self.claim.rule()[1])

    def _judged(self, conditions: Sequence[Condition]) -> list[Verdict]:
        try:
            return [v for each in conditions for v in each.judged(self.rows, self.claim.seeds)]
        except TenfoldError as error:
            raise TenfoldError(f"{self.id}: {error}") from None

    @property
    def missing(self) -> list[str]:
        """What is not there, a line each."""
        if self.absent:
            at = f" at {self.scale} scale" if self.scale else ""
            lack = f"has no committed results{at}"
            return [f"the experiment {self.paper}/{name} {lack}" for name in self.absent]
        return list(dict.fromkeys(m for v in (*self.given, *self.shown) for m in v.missing))

    @property
    def unmet(self) -> list[Verdict]:
        """Conditions that the rule takes as given and whose values are not met; without them nothing is tested."""
        return [verdict for verdict in self.given if verdict.met is False]

    @property
    def measured(self) -> bool:
        """Whether the rows decide: every cell has a number, be it of fewer seeds than are wanted, or a given one fails."""
        whole = not self.absent and all(v.holds is not None for v in (*self.given, *self.shown))
        return whole or bool(self.unmet)

    @property
    def seeds(self) -> int:
        """The fewest seeds of a cell that the rule reads, of those that were measured."""
        return min((n.seeds for n in self._numbers if n.seeds), default=0)

    @property
    def status(self) -> Status:
        """What the rule makes of the rows; fewer seeds than are wanted decide a claim in part at most."""
        if not self.measured:
            return "open"
        if self.unmet:
            return "untested"
        states = {verdict.state for verdict in self.shown}
        if "holds" in states:
            return "reproduced" if states == {"holds"} and not self.missing else "partly"
        if "undecided" in states:
            return "open"
        if self.claim.scale == "any" or self.scale == "paper":
            return "open" if self.missing else "contradicted"
        return "against"

    @property
    def worst_seed_fails(self) -> bool:
        """Whether a seed misses, by itself, a bound that the rule holds for all seeds together."""
        return any(v.failing_seeds for v in self.shown if v.state == "holds")

    @property
    def undecided(self) -> int:
        """The number of cells whose interval contains the bound."""
        return sum(verdict.state == "undecided" for verdict in self.shown)

    @property
    def reduced(self) -> str:
        """`trained on 4 digits, the paper on 6`, where a shorter training length stands for the paper's."""
        cells = [number.cell for number in self._numbers]
        ours = {row["trained"] for cell in cells for row in cell.rows(self.rows) if row["trained"]}
        theirs = self.claim.paper_trained
        if theirs is None or ours <= {theirs}:
            return ""
        lengths = " and ".join(str(length) for length in sorted(ours))
        return f"trained on {lengths} {self.unit}, the paper on {theirs}"

    @property
    def holding(self) -> int:
        """The number of cells of the rule whose condition holds."""
        return sum(verdict.holds is True for verdict in self.shown)

    @property
    def runs(self) -> list[str]:
        """The runs behind the rule's cells."""
        return list(dict.fromkeys(run for number in self._numbers for run in number.runs))

    @property
    def _numbers(self) -> list[Number]:
        return [n for v in (*self.given, *self.shown) for n in (v.ours, v.against) if n]

    def as_json(self) -> dict[str, Any]:
        claim = self.claim
        return {
            "id": self.id, "paper": self.paper, "place": claim.place, "says": claim.says,
            "how": claim.how, "tried": claim.tried, "experiment": f"{self.paper}/{claim.experiment}",
            "also": [f"{self.paper}/{name}" for name in claim.also],
            "kind": claim.kind, "status": self.status, "ours": ours(self), "theirs": claim.theirs,
            "held": self.holding, "undecided": self.undecided, "of": len(self.shown),
            "worst_seed_fails": self.worst_seed_fails, "runs": self.runs, "scale": self.scale,
            "reduced": self.reduced,
            "missing": self.missing,
        }  # fmt: skip


def ledger(
    only: Sequence[str] | None = None, results: Sequence[Path] = (), shelves: Sequence[Path] = ()
) -> list[Entry]:
    """Every claim of these papers (default: of all) with the rows that decide it."""
    known = papers(shelves)
    for key in only or ():
        if key not in known:
            raise unknown("paper", key, known)
    entries = []
    for key in only or known:
        sheet = read_claims(key, shelves)
        read = dict.fromkeys(name for claim in sheet.claims for name in claim.reads)
        tables = {name: committed(key, name, results) for name in read}
        entries += [entry(key, sheet.paper, claim, tables) for claim in sheet.claims]
    return entries


def entry(paper: str, about: About, claim: Claim, tables: Mapping[str, Tables]) -> Entry:
    """A claim at the largest scale that has all its cells; else at the largest that decides it, or has its own experiment."""
    there = {scale for name in claim.reads for scale in tables.get(name, {})}
    tried = []
    for scale in (scale for scale in SCALES if scale in there):
        absent = tuple(name for name in claim.reads if scale not in tables.get(name, {}))
        rows = _together([tables[name][scale] for name in claim.reads if name not in absent])
        tried.append(Entry(paper, about, claim, scale, rows, absent))
    if not tried:
        return Entry(paper, about, claim, None, (), claim.reads)
    return min(tried, key=lambda e: (bool(e.missing), not e.measured, claim.experiment in e.absent))


def _together(tables: Sequence[list[Row]]) -> list[Row]:
    """Rows of several experiments; a run that two of them share is there once, as the first has it."""
    together = list(tables[0])
    for rows in tables[1:]:
        known = {_which(row) for row in together}
        together += [row for row in rows if _which(row) not in known]
    return together


def _which(row: Row) -> tuple[Any, ...]:
    return tuple(value for key, value in row.items() if key not in MEASURED)


def find(name: str) -> Entry:
    """One claim by its id: `symmetry/fig2-rpe-holds`."""
    entries = {each.id: each for each in ledger()}
    if name not in entries:
        raise unknown("claim", name, entries)
    return entries[name]


def ours(entry: Entry) -> str:
    """What we measured, for the rule's cells: `7 digits 99.8%, 10 digits 99.0%; median of 3 seeds`.

    Where something is not as the rule has it given, that first: `5 digits 30.0% (at least 95.0% is given); ...`.
    Of many cells those that do not hold: `40 of 45 hold, not 3 digits 92.1%, ...`.
    """
    shown = [verdict for verdict in entry.shown if verdict.holds is not None]
    if entry.scale is None or not (shown or entry.unmet):
        return ""
    cells = [verdict.ours.cell for verdict in entry.shown]
    others = [verdict.condition.other for verdict in shown if verdict.condition.other]
    keys, other_keys = _varying(cells), _varying(others)
    elsewhere = any(key in other.stated() for other in others for key in PLACES)
    if elsewhere:  # `16 digits 28.2% against 5 digits 97.6%`
        keys, other_keys = ([*PLACES, *each] for each in (keys, other_keys))
    if len(shown) == 1 and others:  # of several cells it is said once, behind them
        other_keys = [*other_keys, *(key for key in COMPARED if key in others[0].stated())]
    numbers = []
    for verdict in shown:
        beside = [_worst(verdict), _final(verdict.ours) if entry.about.chosen else ""]
        brackets = f" ({'; '.join(filter(None, beside))})" if any(beside) else ""
        numbers.append(_labelled(verdict.ours, keys, entry.unit) + brackets)
        if verdict.against is not None:
            same = verdict.against.cell.metric == verdict.ours.cell.metric
            other = _labelled(verdict.against, other_keys, entry.unit, known=same)
            numbers[-1] += f" against {other}"
    if len(numbers) > MANY:
        failed = [one for one, verdict in zip(numbers, shown, strict=True) if not verdict.holds]
        more = [f"{len(failed) - MANY} more"] if len(failed) > MANY else []
        numbers = [f"{len(numbers) - len(failed)} of {len(numbers)} hold"]
        if failed:
            numbers.append(f"not {', '.join(failed[:MANY] + more)}")
    parts = [", ".join(_not_given(entry)), ", ".join(numbers)]
    if 0 < len(shown) < len(entry.shown):
        parts.append(f"{len(shown)} of {len(entry.shown)} cells so far")
    if not elsewhere:
        parts.append(_in_common("at", cells, PLACES, entry.unit))
    if len(others) == len(shown) > 1:
        parts.append(_in_common("against", others, COMPARED, entry.unit))
    takes = {cell.take or "median" for cell in cells}
    if entry.seeds < entry.claim.seeds:
        parts.append(f"{entry.seeds} of {entry.claim.seeds} seeds so far")
    elif len(takes) == 1 and entry.seeds > 1:
        parts.append(f"{takes.pop()} of {min(v.ours.seeds for v in shown)} seeds")
    return "; ".join(filter(None, parts))


def _worst(verdict: Verdict) -> str:
    """`worst seed 72.7%`, where that is another number."""
    return _unlike(verdict.ours, "worst seed", verdict.worst())


def _final(number: Number) -> str:
    """`final weights 72.7%`, where that is another number."""
    return _unlike(number, "final weights", number.final)


def _unlike(number: Number, words: str, value: float | None) -> str:
    if value is None or number.value is None:
        return ""
    text = number.cell.number(value)
    return "" if text == number.cell.number(number.value) else f"{words} {text}"


def _not_given(entry: Entry) -> list[str]:
    return [
        f"{_labelled(verdict.ours, None, entry.unit)} ({verdict.bound(entry.unit)} is given)"
        for verdict in entry.unmet
    ]


def _labelled(number: Number, keys: Sequence[str] | None, unit: str, known: bool = False) -> str:
    """`10 digits 95.0%`; where the value stands alone or is no share, with its metric, unless that is known: `wrong 3`."""
    cell = number.cell
    value = "" if number.value is None else cell.number(number.value)
    words = cell.describe(keys, unit)
    known = known or "metric" in (cell.stated() if keys is None else keys)
    if not known and not (cell.share and words):
        words = ", ".join(filter(None, [words, str(cell.metric or "exact")]))
    return f"{words} {value}".strip()


def _in_common(word: str, cells: Sequence[RuleCell], keys: Sequence[str], unit: str) -> str:
    """`at 10 digits`, `against addition-alibi`, where all cells have the same there."""
    words = {cell.describe(keys, unit) for cell in cells}
    return f"{word} {words.pop()}" if len(words) == 1 and "" not in words else ""


def _varying(cells: Sequence[RuleCell]) -> list[str]:
    """The columns in which cells differ."""
    stated = [cell.stated() for cell in cells]
    return [
        key for key in RuleCell.model_fields if len({str(each.get(key)) for each in stated}) > 1
    ]
