"""The sections of a report, each as HTML; empty where there is nothing to show."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import yaml

from tenfold.core.errors import TenfoldError
from tenfold.drawing import curves as collect
from tenfold.drawing.curves import Curve, Point
from tenfold.drawing.figures import MOST_BANDS, Style, accuracy_by_length, heatmap, style
from tenfold.drawing.html import details, legend, table
from tenfold.drawing.run_groups import Group, band, environment
from tenfold.results.result_text import coverage_text
from tenfold.results.row_schema import Row
from tenfold.runs.run import Answer, Run

LENGTHS = 5  # of worked examples


def seeds(groups: Sequence[Group]) -> str:
    """`3 seeds each`, `1 to 3 seeds each`."""
    counts = sorted({len(group.runs) for group in groups})
    several = counts[0] if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return "1 seed each" if counts == [1] else f"{several} seeds each"


def left_out(problems: Sequence[str]) -> str:
    if not problems:
        return ""
    lines = "".join(f"<li>{escape(problem)}</li>" for problem in problems)
    return f'<div class="left-out"><p><b>Left out</b></p><ul>{lines}</ul></div>'


def accuracy(groups: Sequence[Group], out: Path, title: str) -> str:
    """The figure, its legend and its table; with many curves also each alone."""
    curves = collect.curves(groups)
    if not curves:
        return ""
    styles = styles_of(groups)
    drawn = accuracy_by_length(curves, out / "accuracy", title, styles)
    many = len(curves) > MOST_BANDS
    several = any(len(group.runs) > 1 for group in groups)
    caption = (
        f"Line: median over seeds. Band{' (below, one by one)' if many else ''}: {band(groups)}."
    )
    parts = [
        f"<figure>{drawn.svg}{legend(_with(groups, [collect.MAIN]), styles)}<figcaption>{caption}</figcaption></figure>",
        _alone(curves, styles, out) if many else "",
        "<h2>By length</h2>",
        f'<p class="soft">% exactly right on the slice {collect.MAIN}, {_problems(curves)} a length and '
        f"seed: median, {band(groups)}"
        f"{_coverage(curves)}.</p>",
        _by_length(curves, _measured),
        details(
            "The final checkpoint",
            _by_length(collect.curves(groups, checkpoint="final"), _measured),
        ),
    ]
    if several:
        parts.append(details("Seeds that are right on 99% or more", _by_length(curves, _solved)))
    return "\n".join(parts)


def styles_of(groups: Sequence[Group]) -> dict[str, Style]:
    """A group looks the same in every figure."""
    return {group.name: style(number) for number, group in enumerate(groups)}


def _alone(curves: Sequence[Curve], styles: Mapping[str, Style], out: Path) -> str:
    drawn = [
        accuracy_by_length(
            curves, out / f"alone-{slug}", curve.name, styles, alone=curve.name, small=True
        )
        for curve, slug in zip(curves, _slugs([c.name for c in curves]), strict=True)
    ]
    return _many([(curve.name, each.svg) for curve, each in zip(curves, drawn, strict=True)])


def _problems(curves: Sequence[Curve]) -> str:
    """`500 problems`, `50 to 500 problems`."""
    counts = sorted({point.n for curve in curves for point in curve.points})
    return f"{' to '.join(f'{n:,}' for n in dict.fromkeys((counts[0], counts[-1])))} problems"


def _by_length(curves: Sequence[Curve], cell: Any) -> str:
    """A row a recipe; a column a length."""
    rows = {curve.name: {point.length: cell(point) for point in curve.points} for curve in curves}
    return table(rows, {curve.name: curve.label for curve in curves})


def _measured(point: Point) -> str:
    seeds, other = point.interval, ""
    if seeds is not None and (seeds.low, seeds.high) != point.spread:
        other = f"<small>[{collect.percents((seeds.low, seeds.high))}]</small>"
    return f"{100 * point.median:.1f}<small>{collect.percents(point.spread)}</small>{other}"


def _coverage(curves: Sequence[Curve]) -> str:
    """How often the ranges and intervals contain the median over all possible seeds; empty if each is of one seed."""
    known = {
        len(point.values): point.interval.coverage
        for curve in curves
        for point in curve.points
        if point.interval is not None
    }
    ranges = {n: known[n] for n in sorted(known) if known[n] == 1 - 2 / 2**n}
    text = ""
    if ranges:
        shares = ", ".join(f"{coverage_text(share)} ({n} seeds)" for n, share in ranges.items())
        text = f"; a range of seeds covers the median over all possible seeds in {shares}"
    if len(ranges) < len(known):
        text += "; [interval that covers this median in 95% or more]"
    return text


def _solved(point: Point) -> str:
    return f"{point.solved} of {len(point.values)}"


def hard(groups: Sequence[Group], out: Path, title: str) -> str:
    """A small figure a slice, and the numbers by recipe."""
    names = [name for name in collect.slices(groups) if name != collect.MAIN]
    if not names:
        return ""
    styles, drawn = styles_of(groups), []
    for name, slug in zip(names, _slugs(names), strict=True):
        curves, path = collect.curves(groups, name), out / f"slice-{slug}"
        figure = accuracy_by_length(curves, path, f"{title}: {name}", styles, small=True)
        drawn.append((name, figure.svg))
    tables = []
    for group in _with(groups, names):
        rows = {
            name: {point.length: f"{100 * point.median:.1f}" for point in curve.points}
            for name in [collect.MAIN, *names]
            for curve in collect.curves([group], name)
        }
        tables.append(f"<h3>{escape(group.name)}</h3>{table(rows)}")
    return "\n".join(
        [
            "<h2>Hard slices</h2>",
            f'<p class="soft">% exactly right, median over seeds, best checkpoint. Band: {band(groups)}.</p>',
            legend(_with(groups, names), styles),
            _many(drawn),
            details("The numbers", "".join(tables)),
        ]
    )


def _with(groups: Sequence[Group], slices: Sequence[str]) -> list[Group]:
    """Return the groups that were measured on one of these slices."""
    return [group for group in groups if any(row["slice"] in slices for row in group.rows)]


def pairs(groups: Sequence[Group], out: Path) -> str:
    """Length by length: a map a recipe."""
    maps = [(group, cells) for group in groups if (cells := collect.pairs(group))]
    drawn = []
    for (group, cells), slug in zip(maps, _slugs([group.name for group, _ in maps]), strict=True):
        path, title = out / f"pairs-{slug}", f"{group.name}, %"
        drawn.append((group.name, heatmap(cells, path, title, group.recipe.data.length).svg))
    if not drawn:
        return ""
    return (
        "<h2>Length by length</h2>"
        '<p class="soft">% exactly right where the first operand has the digits below and the second those at '
        "the left, median over seeds, best checkpoint. Outlined: the lengths of training. Open: not measured.</p>"
        + _many(drawn, "many maps")
    )


def _many(drawn: Sequence[tuple[str, str]], kind: str = "many") -> str:
    """Small figures beside each other, as many as there is room for."""
    figures = "".join(
        f"<figure><figcaption>{escape(name)}</figcaption>{svg}</figure>" for name, svg in drawn
    )
    return f'<div class="{kind}">{figures}</div>'


def _slugs(names: Sequence[str]) -> list[str]:
    """Names of files: `rotary (axis column)` -> `rotary-axis-column`; a second one gets a number."""
    slugs: list[str] = []
    for name in names:
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "unnamed"
        tried = itertools.chain([slug], (f"{slug}-{number}" for number in itertools.count(2)))
        slugs.append(next(one for one in tried if one not in slugs))
    return slugs


def examples(groups: Sequence[Group], runs: Mapping[str, Run], count: int) -> str:
    """Worked examples of one seed of each group whose weights are here."""
    parts = []
    for group in groups:
        opened = [runs[run["fingerprint"]] for run in group.runs if run["fingerprint"] in runs]
        if opened:
            parts.append(_examples(group.name, opened[0], count))
    return "\n".join(["<h2>Worked examples</h2>", *parts]) if parts else ""


def _examples(title: str, run: Run, count: int) -> str:
    """Some problems at the training length, the others beyond it."""
    head = f"<h3>{escape(title)}, seed {run.recipe.seed}</h3>"
    lengths = [n for n in run.recipe.eval.lengths if n >= run.recipe.data.length]
    lengths = lengths or list(run.recipe.eval.lengths)
    lengths = lengths[:: max(1, len(lengths) // LENGTHS)][:LENGTHS]
    each = -(-count // len(lengths))
    try:
        answers = [a for length in lengths for a in run.examples(length, each)][:count]
    except TenfoldError as error:
        return f'{head}<p class="soft">None: {escape(str(error))}</p>'
    rows = "".join(
        f'<tr><td class="digits">{escape(a.question)}</td><td class="digits">{marked(a)}</td>'
        f'<td class="digits">{escape(a.truth or "")}</td></tr>'
        for a in answers
    )
    return (
        f'{head}<div class="wide"><table><tr><th>question</th><th>model</th><th>truth</th></tr>'
        f"{rows}</table></div>"
    )


def marked(answer: Answer) -> str:
    """The model's answer with its wrong digits marked, as HTML."""
    pairs = zip(answer.answer, answer.wrong_digits(), strict=True)
    text = "".join(
        f'<span class="wrong">{escape(c)}</span>' if wrong else escape(c) for c, wrong in pairs
    )
    return text or '<span class="wrong">(nothing)</span>'


def provenance(groups: Sequence[Group]) -> str:
    """Recipe and environment of every run."""
    parts = ["<h2>Where the numbers come from</h2>"]
    for group in groups:
        lines = "".join(map(_run, group.runs))
        parts.append(details(group.name, lines, f"{escape(group.label)}, {seeds([group])}"))
    return "\n".join(parts)


def _run(run: Row) -> str:
    made = environment(run)
    facts = (
        f"{run['parameters']:,} parameters, {run['steps']:,} steps in {run['train_seconds']:.0f} s; "
        f"best checkpoint at step {run['best_step']}; ended {run['reason'] or 'with the last step'}"
    )
    known = _yaml(made)
    recipe = _yaml(json.loads(run["recipe"]))
    body = (
        f'<p class="soft">{escape(facts)}</p><pre>{escape(recipe)}</pre><pre>{escape(known)}</pre>'
    )
    return details(f"seed {run['seed']}", body, f"<code>{escape(run['fingerprint'])}</code>")


def _yaml(values: dict[str, Any]) -> str:
    """Every value on one line: what is wide scrolls."""
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=10**6)
