"""The ledger for people: a table, one claim in full, and the page `results/CLAIMS.md`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tenfold.core.files import replace_text
from tenfold.ledger.rules import Verdict
from tenfold.ledger.statuses import STATUSES, Entry, ours

COLOURS = {
    "open": "dim", "reproduced": "green", "partly": "yellow", "contradicted": "red",
    "not shown at this scale": "magenta",
}  # fmt: skip
MARKS = {True: "holds", False: "does not hold", None: "missing"}
ENOUGH = 90  # characters of our numbers in a table; one claim in full has them all


def write_claims(path: Path, entries: Sequence[Entry]) -> None:
    """Write the Markdown page of all claims."""
    replace_text(path, markdown(entries))


def print_ledger(entries: Sequence[Entry]) -> None:
    """A table of claims, a line or two each, and a count."""
    table = Table("claim", "place", "status", "ours", "theirs", "scale", box=None, pad_edge=False)
    table.add_column("runs", justify="right")
    for each in entries:
        status = Text(_status(each), style=COLOURS[each.status])
        table.add_row(
            each.id, each.claim.place, status, _brief(ours(each)), each.claim.theirs,
            each.scale or "", str(len(each.runs) or ""),
        )  # fmt: skip
    Console(width=None if sys.stdout.isatty() else 200, highlight=False).print(table)
    print(f"\n{count(entries)}")


def count(entries: Sequence[Entry]) -> str:
    """`117 claims: 112 open, 5 reproduced`."""
    statuses = [each.status for each in entries]
    parts = [f"{statuses.count(each)} {each}" for each in STATUSES if each in statuses]
    return f"{len(statuses)} claim{'s' * (len(statuses) != 1)}: {', '.join(parts) or 'none'}"


def print_claim(entry: Entry) -> None:
    """One claim in full: the statement, the rule that decides it, and our numbers."""
    claim = entry.claim
    facts = {
        "paper": f"{entry.about.title}, arXiv {entry.about.arxiv}",
        "place": claim.place,
        "says": claim.says,
        "theirs": claim.theirs,
        "how": claim.how,
        "experiment": " with ".join(f"{entry.paper}/{name}" for name in claim.reads),
        "status": _status(entry),
        "ours": ours(entry),
        "scale": entry.scale or "",
    }
    print(entry.id)
    for key, value in facts.items():
        if value:
            print(f"  {key + ':':12}{value}")
    for title, verdicts in (("given", entry.given), ("shown if", entry.shown)):
        if verdicts:
            print(f"  {title} ({claim.seeds} or more seeds a cell):")
        for verdict in verdicts:
            print(f"    {_line(verdict, entry.unit)}")
    for what in entry.missing:
        print(f"  missing: {what}")
    for run in entry.runs:
        print(f"  run: {run}")


def markdown(entries: Sequence[Entry]) -> str:
    """A page of all claims, a table a paper."""
    text = (
        "# Claims\n\n"
        "Every claim of the papers, with what our committed results make of it. Written by "
        "`tenfold claims --out results/CLAIMS.md`; a status follows from rules and rows, never by hand "
        "([how](../docs/ledger.md)).\n\n"
        f"{count(entries)}.\n"
    )
    for paper in dict.fromkeys(each.paper for each in entries):
        own = [each for each in entries if each.paper == paper]
        about = own[0].about
        text += f"\n## {about.title}\n\n`{paper}`, arXiv {about.arxiv}. {count(own)}.\n\n"
        text += "| claim | place | the paper says | theirs | ours | status |\n" + "|---" * 6 + "|\n"
        for each in own:
            cells = (
                each.claim.id,
                each.claim.place,
                each.claim.says,
                each.claim.theirs,
                ours(each),
            )
            text += "| " + " | ".join(cell.replace("|", "\\|") for cell in cells)
            text += f" | {status_of(each)} |\n"
    return text


def status_of(entry: Entry) -> str:
    """With what it rests on: `partly (7 of 8), laptop, 6 runs`."""
    if entry.status == "open":
        return _status(entry)
    runs = f", {len(entry.runs)} run{'s' * (len(entry.runs) != 1)}" if entry.runs else ""
    return f"{_status(entry)}, {entry.scale}{runs}"


def _status(entry: Entry) -> str:
    """`partly (7 of 8)`, `partly (8 of 8; 1 of 3 seeds)`."""
    notes = [f"{entry.holding} of {len(entry.shown)}"] if entry.status == "partly" else []
    if entry.measured and entry.missing:
        notes.append(f"{entry.seeds} of {entry.claim.seeds} seeds")
    return entry.status + (f" ({'; '.join(notes)})" if notes else "")


def _brief(text: str) -> str:
    return text if len(text) <= ENOUGH else text[: ENOUGH - 3] + "..."


def _line(verdict: Verdict, unit: str) -> str:
    """`addition-relative, 7 digits: at least 85.0%; 99.8%, holds`."""
    cell, theirs = verdict.ours.cell, verdict.condition.theirs
    rule = f"{cell.describe(unit=unit)}: {verdict.bound(unit)}"
    numbers = [
        cell.number(n.value) for n in (verdict.ours, verdict.against) if n and n.value is not None
    ]
    shown = " against ".join(numbers) + ", " if numbers else ""
    published = f" (published: {cell.number(theirs)})" if theirs is not None else ""
    return f"{rule}; {shown}{MARKS[verdict.holds]}{published}"
