"""Runs of your own on a paper's page: their curves before those of the paper's committed runs.

    tenfold report --paper symmetry --with runs

A part for each task and metric. In colour stand your runs, and the committed runs of the recipe that they were changed
from. The other committed runs of the same task and format stand behind them in grey. No claim reads your runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from tenfold.core.errors import TenfoldError
from tenfold.drawing.curves import Curve, Point, curves
from tenfold.drawing.encoding_style import encoding_styles
from tenfold.drawing.figures import Figure, accuracy_by_length
from tenfold.drawing.html import legend, table
from tenfold.drawing.perplexity_curves import perplexity_by_length
from tenfold.drawing.report_sections import by_task, heading, left_out, seeds, slugs, unit_of
from tenfold.drawing.run_groups import Group, Story, gather

PLACE, HEADING = "your-runs", "Your runs beside the paper's"
YOURS, COMMITTED = "your runs", "as committed"


@dataclass(frozen=True)
class Measure:
    """How a metric is drawn and written."""

    metric: str
    words: str
    draw: Callable[..., Figure]
    number: Callable[[float], str]


MEASURES = (
    Measure("exact", "exact match", accuracy_by_length, "{:.1%}".format),
    Measure("perplexity", "perplexity", perplexity_by_length, "{:.4g}".format),
)


def runs_beside(paper: str, places: Sequence[Path | str], results: Path, out: Path) -> str:
    """The section about runs, as HTML; its figures are written to `out` as PNG and SVG.

    Arguments:
        places: run folders, folders of runs, or collected results.
        results: the folder of committed results, of all papers.
    """
    own = gather(places)
    known = gather([results / paper]).groups if (results / paper).is_dir() else []
    parts = [
        part
        for task, groups in by_task(own.groups).items()
        for measure in MEASURES
        if (part := _part(paper, task, groups, known, measure, out))
    ]
    if not parts:
        why = f"; left out: {own.problems[0]}" if own.problems else ""
        raise TenfoldError(f'there are no measured runs to lay over the page of "{paper}"{why}')
    return "\n".join([_opening(own), *parts])


def _opening(own: Story) -> str:
    return (
        f'<h2 id="{PLACE}">{HEADING}</h2>\n<p class="soft">They decide no claim: every status on this page is that '
        f"of the committed results. Best checkpoint, slice uniform.</p>\n{left_out(own.problems)}"
    )


def _part(
    paper: str,
    task: str,
    groups: Sequence[Group],
    known: Sequence[Group],
    measure: Measure,
    out: Path,
) -> str:
    """A figure, its legend, and the numbers; empty if the runs were not measured so."""
    yours = [group for group in groups if curves([group], metric=measure.metric)]
    if not yours:
        return ""
    asked = [(group.recipe.task, group.recipe.format.name) for group in yours]
    alike = [each for each in known if (each.recipe.task, each.recipe.format.name) in asked]
    alike = [_renamed(each) for each in alike if curves([each], metric=measure.metric)]
    names = {_changed_from(group, alike) for group in yours}
    before = [group for group in alike if group.recipe.name in names]
    shown = [*yours, *before]
    drawn_curves = curves(shown, metric=measure.metric)
    others = [group for group in alike if group not in before]
    grey = curves(others, metric=measure.metric)
    styles = encoding_styles({group.name: group.recipe.pe.name for group in shown})
    (name,) = slugs([f"{paper}-with-{task}-{measure.metric}"])
    title = f"{heading(task)}: {measure.words}"
    drawn = measure.draw(drawn_curves, out / name, title, styles, behind=grey)
    return (
        f"<h3>{escape(title)}</h3>\n<figure>{drawn.svg}{legend(shown, styles)}"
        f"<figcaption>{escape(_caption(paper, yours, before, others))}</figcaption></figure>\n"
        f"{_numbers(drawn_curves, len(yours), measure)}"
    )


def _renamed(group: Group) -> Group:
    return replace(group, name=f"{group.name}, {COMMITTED}")


def _changed_from(group: Group, known: Sequence[Group]) -> str:
    """The committed recipe whose name the run's begins with, the longest of them; empty if there is none."""
    own = group.recipe.name
    names = {each.recipe.name for each in known}
    return max((n for n in names if own == n or own.startswith(f"{n}-")), key=len, default="")


def _caption(
    paper: str, yours: Sequence[Group], before: Sequence[Group], others: Sequence[Group]
) -> str:
    words = (
        f"Your runs: {seeds(yours)}. Line: median over seeds. Band: worst to best seed; of one seed, the 95% "
        "interval over samples."
    )
    if others:
        words += (
            f" In grey: {len(others)} other committed recipes of {paper} with this task and format."
        )
    if not before and not others:
        words += f" No committed run of {paper} has this task and format."
    lengths = sorted({group.recipe.data.length for group in (*yours, *before)})
    if len(lengths) > 1:
        words += (
            f" These curves were trained up to different lengths: {', '.join(map(str, lengths))}."
        )
    return words


def _numbers(drawn: Sequence[Curve], yours: int, measure: Measure) -> str:
    """Median and spread by length, your runs first."""
    rows = {
        curve.name: {point.length: _cell(point, measure) for point in curve.points}
        for curve in drawn
    }
    labels = {
        curve.name: YOURS if number < yours else COMMITTED for number, curve in enumerate(drawn)
    }
    return table(rows, labels, unit_of(drawn))


def _cell(point: Point, measure: Measure) -> str:
    low, high = map(measure.number, point.spread)
    return f"{measure.number(point.median)}<small>{low}-{high}</small>"
