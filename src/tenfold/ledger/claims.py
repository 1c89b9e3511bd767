"""Claims, as `papers/PAPER/claims.yaml` writes them: the statement, its place, and the rule that decides it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic

from tenfold.core.errors import TenfoldError, unknown
from tenfold.core.registry import first_problem
from tenfold.core.stored_files import read_mapping
from tenfold.ledger.rules import Condition, RuleCell
from tenfold.runs.recipe import Strict
from tenfold.runs.recipe_files import SHELVES

CLAIMS = "claims.yaml"
Name = Annotated[str, pydantic.StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Text = Annotated[str, pydantic.StringConstraints(min_length=1, strip_whitespace=True)]


# paper: a statement that the paper tests by training; closed form: one that computation alone decides; own: one of
# ours, beyond the paper.
Kind = Literal["paper", "closed form", "own"]


class Claim(Strict):
    """A statement of a paper, its place, the published numbers, how we test it, and the rule that decides it."""

    id: Name
    kind: Kind = "paper"
    headline: Text | None = None  # its name in the table of headlines, if it is one
    # of a headline: what its recipes are called in that table
    names: dict[str, Text] = pydantic.Field(default_factory=dict)
    place: Text
    says: Text
    theirs: Text
    how: Text
    # of a headline that is not reached: what was tried, the best of it, what it cost; of one with two seeds: why
    tried: Text | None = None
    experiment: Name
    also: tuple[Name, ...] = ()  # experiments of the same paper whose rows are read too
    paper_trained: pydantic.PositiveInt | None = None  # the training length of the paper
    scale: Literal["paper", "any"] = "paper"  # any: it needs no large model; a miss contradicts it
    seeds: pydantic.PositiveInt = 3  # so many at the least, in every cell
    unit: str | None = None  # of lengths, if not the paper's
    where: RuleCell = RuleCell()  # laid under every condition
    given: tuple[Condition, ...] = ()  # without these the experiment does not decide the claim
    shown: Annotated[tuple[Condition, ...], pydantic.Field(min_length=1)]

    @property
    def reads(self) -> tuple[str, ...]:
        """Every experiment whose rows decide it, its own first."""
        return (self.experiment, *self.also)

    def rule(self) -> tuple[list[Condition], list[Condition]]:
        """What is given and what is to be shown, each laid over `where`."""
        given = [condition.over(self.where) for condition in self.given]
        return given, [condition.over(self.where) for condition in self.shown]


class About(Strict):
    title: Text
    arxiv: Text | None = None  # None: claims of our own, without a paper
    authors: tuple[Text, ...] = ()  # as the paper names them; empty if our sources do not say
    unit: str = "digits"
    # How checkpoints are chosen, if at longer lengths than the trained ones. Final weights then stand beside the chosen ones.
    chosen: Text | None = None

    @property
    def source(self) -> str:
        return "ours" if self.arxiv is None else f"arXiv {self.arxiv}"


class Sheet(Strict):
    """A claims file, as it is written."""

    paper: About
    claims: Annotated[tuple[Claim, ...], pydantic.Field(min_length=1)]


def papers(shelves: Sequence[Path] = ()) -> list[str]:
    """Every paper that has claims."""
    paths = [path for shelf in shelves or SHELVES for path in shelf.glob(f"*/{CLAIMS}")]
    return sorted({path.parent.name for path in paths})


def read_claims(paper: str, shelves: Sequence[Path] = ()) -> Sheet:
    places = [shelf / paper / CLAIMS for shelf in shelves or SHELVES]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise unknown("paper", paper, papers())
    values = read_mapping(path, "claims")
    try:
        _refuse_unknown(Sheet, values, "")
        sheet = Sheet.model_validate(values)
    except pydantic.ValidationError as error:
        raise TenfoldError(f"{path}: {_named(values, first_problem(error))}") from None
    except TenfoldError as error:
        raise TenfoldError(f"{path}: {error}") from None
    for claim in sheet.claims:
        try:
            _check(claim, sheet)
        except TenfoldError as error:
            raise TenfoldError(f"{path}: {claim.id}: {error}") from None
    return sheet


def _check(claim: Claim, sheet: Sheet) -> None:
    """Check what depends on the sheet's other claims, or on the rule as a whole."""
    if [other.id for other in sheet.claims].count(claim.id) > 1:
        raise TenfoldError("there are two claims of this id")
    known = {other.experiment for other in sheet.claims}
    for name in claim.also:
        if name not in known:
            raise unknown("experiment", name, known)
    if len(set(claim.reads)) < len(claim.reads):
        names = ", ".join(claim.also)
        raise TenfoldError(
            f"`also` is {names}; it names experiments beside {claim.experiment}, each once"
        )
    given, shown = claim.rule()
    cells = [cell for each in (*given, *shown) for cell in (each.where, each.other) if cell]
    read = {name for cell in cells for name in _list(cell.recipe)}
    for name in claim.names:
        if name not in read:
            raise unknown("recipe of the rule", name, read)


def _list(value: str | list[str] | None) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else value


def _named(values: dict[str, Any], problem: str) -> str:
    """The message `claims.3.place ...` with the id of the claim in place of its number."""
    for number, claim in enumerate(values.get("claims") or ()):
        if isinstance(claim, dict) and problem.startswith(f"claims.{number}."):
            return problem.replace(f"claims.{number}.", f"{claim.get('id', number)}: ", 1)
    return problem


def _refuse_unknown(kind: type[pydantic.BaseModel], values: Any, where: str) -> None:
    """Refuse unknown keys first, so that the message can suggest the right one."""
    if isinstance(values, list):
        for each in values:
            name = each.get("id") if isinstance(each, dict) else None
            _refuse_unknown(kind, each, f"{name}." if name else where)
    if not isinstance(values, dict):
        return
    for key, value in values.items():
        if key not in kind.model_fields:
            raise unknown("key", where + str(key), [where + k for k in kind.model_fields])
        if key in INSIDE:
            _refuse_unknown(INSIDE[key], value, f"{where}{key}.")


INSIDE: dict[str, type[pydantic.BaseModel]] = {
    "paper": About, "claims": Claim, "given": Condition, "shown": Condition, "where": RuleCell,
    "above": RuleCell, "below": RuleCell, "near": RuleCell,
}  # fmt: skip
