"""The ledger for people: a list, one claim in full, and the page `results/CLAIMS.md`."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tenfold.core.files import replace_text
from tenfold.ledger.headline_numbers import brief
from tenfold.ledger.markdown_page import heading_id
from tenfold.ledger.rules import Verdict
from tenfold.ledger.statuses import STATUSES, Entry, ours

COLOURS = {
    "open": "dim", "reproduced": "green", "partly": "yellow", "against": "magenta", "contradicted": "red",
    "untested": "blue",
}  # fmt: skip
MARKS = {
    "holds": "holds", "fails": "does not hold", "missing": "missing",
    "undecided": "undecided, the 95% interval contains the bound",
}  # fmt: skip
KINDS = {"paper": "of the papers", "closed form": "by computation alone", "own": "our own"}
LEGEND = (
    "A number of ours in percent is exact match, the share of problems whose whole answer is right; "
    "of other numbers the metric is named. It is the median of the seeds, unless `lowest`, `highest` or `mean` is said, and the "
    "worst seed stands in brackets where it differs. `A against B` compares two measurements; n is the training length. "
    "A claim is *reproduced* if every number of its rule is on the right side of its bound, *partly* if some are, *against* if "
    "none is, and *contradicted* if none is at the paper's scale or by computation alone. It is *untested* if a model misses what "
    "the claim presupposes, and *open* if rows are missing or no number is decided. `partly (5 of 7; 1 undecided)`: 5 of 7 "
    "numbers are on the right side, and of 1 the 95% interval contains the bound. The scale *laptop* is a small model that trains "
    "in minutes on a CPU; *paper* is the published size."
)
FEWEST = 3  # seeds of a headline; with fewer its row says why
ENOUGH = 90  # characters of our numbers in the list; one claim in full has them all
UNWRAPPED = 10**6  # columns of a file


def write_claims(path: Path, entries: Sequence[Entry]) -> None:
    """Write the Markdown page of all claims."""
    replace_text(path, markdown(entries))


def print_ledger(entries: Sequence[Entry]) -> None:
    """Each claim as its id and status on one line, then what is claimed and measured; then a count.

    The text is wrapped to the width of the terminal; what goes to a file or a pipe is not wrapped. The line of the id
    is never wrapped or cut, so that an id can be copied and searched for.
    """
    console = Console(highlight=False)
    if not (console.is_terminal or "COLUMNS" in os.environ):
        console.width = UNWRAPPED
    for entry in entries:
        head = Text.assemble((entry.id, "bold"), "  ", (_status(entry), COLOURS[entry.status]))
        if entry.scale:
            head.append(f"  {_rests_on(entry)}", "dim")
        console.print(head, soft_wrap=True)
        for line in _told(entry):
            wrapped = textwrap.wrap(
                line, console.width, initial_indent="  ", subsequent_indent="    ",
                break_long_words=False, break_on_hyphens=False,
            )  # fmt: skip
            console.print("\n".join(wrapped), soft_wrap=True, markup=False)
    console.print(f"\n{count(entries)}", soft_wrap=True)


def _told(entry: Entry) -> list[str]:
    """What is claimed and where, then the published and our numbers in brief."""
    claim, number = entry.claim, ours(entry)
    lines = [f"{claim.says} ({claim.place})", f"theirs: {claim.theirs}"]
    return [*lines, f"ours: {_brief(number)}"] if number else lines


def count(entries: Sequence[Entry]) -> str:
    """The claims of each kind apart: `54 claims of the papers: 40 reproduced, 14 open; 2 our own: 2 partly`."""
    parts = []
    for kind, words in KINDS.items():
        own = [each for each in entries if each.claim.kind == kind]
        if own:
            of = {status: [each for each in own if each.status == status] for status in STATUSES}
            numbers = [
                f"{len(of[each])} {each}{_weak_seeds(of[each])}" for each in STATUSES if of[each]
            ]
            parts.append(f"{len(own)} {words}: {', '.join(numbers)}")
    total = f"{len(entries)} claim{'s' * (len(entries) != 1)}"
    return f"{total}; {'; '.join(parts)}" if parts else f"{total}: none"


def _weak_seeds(entries: Sequence[Entry]) -> str:
    """` (2 of them with a seed that fails)`, of claims that are reproduced."""
    weak = sum(each.status == "reproduced" and each.worst_seed_fails for each in entries)
    return f" ({weak} of them with a seed that fails)" if weak else ""


def print_claim(entry: Entry) -> None:
    """One claim in full: the statement, the rule that decides it, and our numbers."""
    claim = entry.claim
    facts = {
        "paper": f"{entry.about.title}, {entry.about.source}",
        "place": claim.place,
        "says": claim.says,
        "theirs": claim.theirs,
        "how": claim.how,
        "tried": claim.tried or "",
        "checkpoint": entry.about.chosen or "",
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
    """A page of all claims: the headlines first, how to read them, each headline in full, then a table a paper."""
    chosen = [each for each in entries if each.claim.headline]
    text = (
        "# Claims\n\n"
        "Every claim of the papers, with what our committed results make of it. Written by "
        "`tenfold claims --out results/CLAIMS.md`; a status follows from rules and rows, never by hand "
        f"([how](../docs/ledger.md)).\n{headlines(chosen)}\n## How to read the tables\n\n"
        f"{count(entries)}.\n\n{LEGEND}\n{_each_headline(chosen)}"
    )
    for paper in dict.fromkeys(each.paper for each in entries):
        own = [each for each in entries if each.paper == paper]
        about = own[0].about
        text += f"\n## {about.title}\n\n`{paper}`, {about.source}. {count(own)}."
        text += f" {about.chosen}\n\n" if about.chosen else "\n\n"
        text += "| claim | place | the paper says | theirs | ours | status |\n" + "|---" * 6 + "|\n"
        for each in own:
            claim = each.claim
            cells = (claim.id, claim.place, claim.says, claim.theirs, ours(each), status_of(each))
            text += _row(cells)
    return text


HEADLINES = (
    "Our numbers are medians of the seeds; where one seed is worse, its numbers stand beside. `100/0% at 4/8 digits` is 100% at 4 and 0% "
    "at 8. Of a claim with many numbers the least favourable stands here. Each name leads to how it is asked, to all its numbers, and "
    "to what was tried."
)


def headlines(entries: Sequence[Entry]) -> str:
    """The table of headline claims: what was published, what we have, and at which scale."""
    if not entries:
        return ""
    columns = ("headline", "published", "ours", "worst seed", "seeds", "scale", "status")
    text = f"\n## Headlines\n\n{HEADLINES}\n\n" + _row(columns) + "|---" * len(columns) + "|\n"
    for each in entries:
        name, numbers = str(each.claim.headline), brief(each)
        rests_on = (str(each.seeds), scale_of(each)) if numbers.ours else ("", "")
        link = f"[{name}](#{heading_id(name)})"
        text += _row((link, each.claim.theirs, *numbers, *rests_on, _status(each)))
    return text


def _each_headline(entries: Sequence[Entry]) -> str:
    """Of each headline how it is asked, its numbers, and where it is not reached, or has fewer than three seeds, what was tried."""
    if not entries:
        return ""
    text = "\n## The headlines one by one\n"
    for each in entries:
        claim, numbers = each.claim, ours(each)
        tried = claim.tried if claim.tried and not settled(each) else ""
        lines = {
            "Claim": f"`{each.id}`, {_status(each)}",
            "Asked": claim.how,
            "Published": claim.theirs,
            "Ours": numbers,
            "Tried": tried,
        }
        text += f"\n### {claim.headline}\n\n"
        text += "".join(f"- *{key}:* {_sentence(words)}\n" for key, words in lines.items() if words)
    return text


def _sentence(text: str) -> str:
    return f"{text.rstrip('.')}."


def settled(entry: Entry) -> bool:
    """Whether a claim is reproduced, on every seed that its rule asks for and on three at the least."""
    reached = entry.status == "reproduced" and not entry.worst_seed_fails
    return reached and entry.seeds >= FEWEST


def scale_of(entry: Entry) -> str:
    """`laptop; trained on 4 digits, the paper on 6`."""
    return "; ".join(filter(None, [entry.scale or "", entry.reduced]))


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def status_of(entry: Entry) -> str:
    """With what it rests on: `partly (7 of 8), laptop, 6 runs`."""
    return f"{_status(entry)}, {_rests_on(entry)}" if entry.measured else _status(entry)


def _rests_on(entry: Entry) -> str:
    """`laptop, 6 runs`, `laptop; trained on 4 digits, the paper on 6, 6 runs`."""
    runs = f"{len(entry.runs)} run{'s' * (len(entry.runs) != 1)}" if entry.runs else ""
    return ", ".join(filter(None, [scale_of(entry), runs]))


def _status(entry: Entry) -> str:
    """`partly (7 of 8)`, `partly (8 of 8; 1 of 3 seeds)`, `reproduced, worst seed fails`."""
    notes = [f"{entry.holding} of {len(entry.shown)}"] if entry.status == "partly" else []
    if entry.measured and entry.undecided and not entry.unmet:
        notes.append(f"{entry.undecided} undecided")
    if entry.measured and entry.missing:
        notes.append(f"{entry.seeds} of {entry.claim.seeds} seeds")
    worst = ", worst seed fails" if entry.status == "reproduced" and entry.worst_seed_fails else ""
    return entry.status + (f" ({'; '.join(notes)})" if notes else "") + worst


def _brief(text: str) -> str:
    return textwrap.shorten(text, ENOUGH, placeholder=" ...", break_on_hyphens=False)


def _line(verdict: Verdict, unit: str) -> str:
    """`addition-relative, 7 digits: at least 85.0%; 99.8%, holds`."""
    cell, theirs = verdict.ours.cell, verdict.condition.theirs
    rule = f"{cell.describe(unit=unit)}: {verdict.bound(unit)}"
    numbers = [
        cell.number(n.value) for n in (verdict.ours, verdict.against) if n and n.value is not None
    ]
    shown = " against ".join(numbers) + ", " if numbers else ""
    published = f" (published: {cell.number(theirs)})" if theirs is not None else ""
    return f"{rule}; {shown}{MARKS[verdict.state]}{published}"
