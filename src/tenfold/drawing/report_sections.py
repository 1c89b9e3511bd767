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
from tenfold.drawing.encoding_style import Style, encoding_styles
from tenfold.drawing.figures import MOST_BANDS, accuracy_by_length, accuracy_panels, heatmap
from tenfold.drawing.html import details, legend, table
from tenfold.drawing.run_groups import Group, band, environment
from tenfold.results.result_text import coverage_text
from tenfold.results.row_schema import Row
from tenfold.runs.run import Answer, Run

LENGTHS = 5  # of worked examples
FLAT = 0.02  # medians of a flat curve differ by this at most
LONG, ENDS = 24, 8  # a longer number is shortened to this many digits at each end


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


def by_task(groups: Sequence[Group]) -> dict[str, list[Group]]:
    """Groups by the name of their task, in the order in which tasks come first."""
    tasks: dict[str, list[Group]] = {}
    for group in groups:
        tasks.setdefault(group.recipe.task.name, []).append(group)
    return tasks


def accuracy_figures(groups: Sequence[Group]) -> dict[str, str]:
    """The names of the figures of accuracy by task: `accuracy`, or one for each of several tasks."""
    return figure_names(
        "accuracy", [t for t, own in by_task(groups).items() if collect.curves(own)]
    )


def figure_names(first: str, tasks: Sequence[str]) -> dict[str, str]:
    """A file's name for each task.

    >>> figure_names("accuracy", ["parity"])
    {'parity': 'accuracy'}
    >>> figure_names("accuracy", ["parity", "sorting"])
    {'parity': 'accuracy-parity', 'sorting': 'accuracy-sorting'}
    """
    if len(tasks) == 1:
        return {tasks[0]: first}
    return dict(zip(tasks, slugs([f"{first}-{task}" for task in tasks]), strict=True))


def accuracy(groups: Sequence[Group], out: Path, title: str) -> str:
    """A part for each task: the figure with its legend, or many curves each alone; then the table."""
    figures, parts = accuracy_figures(groups), []
    tasks = by_task(groups)
    for task, own in tasks.items():
        if task in figures and len(tasks) == 1:
            parts.append(_accuracy(own, out / figures[task], title, 2))
        elif task in figures:
            parts.append(f"<h2>{escape(heading(task))}</h2>")
            parts.append(_accuracy(own, out / figures[task], f"{title}: {task}", 3))
    return "\n".join(parts)


def heading(task: str) -> str:
    """`modular-addition` -> `Modular addition`."""
    return task.replace("-", " ").capitalize()


def _accuracy(groups: Sequence[Group], path: Path, title: str, level: int) -> str:
    curves, styles = collect.curves(groups), styles_of(groups)
    several = any(len(group.runs) > 1 for group in groups)
    caption = f"Line: median over seeds. Band: {band(groups)}."
    if len(curves) > MOST_BANDS:
        accuracy_panels(curves, path, title, styles)
        grey = f"{caption} In grey: the other {len(curves) - 1} curves."
        figure = f'<p class="soft">{grey}</p>{_alone(curves, styles, path)}'
    else:
        drawn = accuracy_by_length(curves, path, title, styles)
        shown = legend(_with(groups, [collect.MAIN]), styles)
        figure = f"<figure>{drawn.svg}{shown}<figcaption>{caption}</figcaption></figure>"
    parts = [
        figure,
        f"<h{level}>By length</h{level}>",
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
    """A group looks the same in every figure, and has the colour and the marker of its encoding."""
    return encoding_styles({group.name: group.recipe.pe.name for group in groups})


def _alone(curves: Sequence[Curve], styles: Mapping[str, Style], path: Path) -> str:
    first = path.name.replace("accuracy", "alone", 1)
    drawn = [
        accuracy_by_length(
            curves, path.with_name(f"{first}-{slug}"), curve.name, styles,
            alone=curve.name, small=True,
        )
        for curve, slug in zip(curves, slugs([c.name for c in curves]), strict=True)
    ]  # fmt: skip
    return many([(curve.name, each.svg) for curve, each in zip(curves, drawn, strict=True)])


def _problems(curves: Sequence[Curve]) -> str:
    """`500 problems`, `50 to 500 problems`."""
    counts = sorted({point.n for curve in curves for point in curve.points})
    return f"{' to '.join(f'{n:,}' for n in dict.fromkeys((counts[0], counts[-1])))} problems"


def _by_length(curves: Sequence[Curve], cell: Any) -> str:
    """A row a recipe; a column a length."""
    rows = {curve.name: {point.length: cell(point) for point in curve.points} for curve in curves}
    return table(rows, {curve.name: curve.label for curve in curves}, unit_of(curves))


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
    """A part for each task: a small figure for each slice, and the numbers by recipe."""
    tasks = {task: own for task, own in by_task(groups).items() if _hard_slices(own)}
    if not tasks:
        return ""
    parts = [
        "<h2>Hard slices</h2>",
        f'<p class="soft">% exactly right, median over seeds, best checkpoint. Band: {band(groups)}.</p>',
    ]
    for task, own in tasks.items():
        several = len(tasks) > 1
        parts += [f"<h3>{escape(heading(task))}</h3>"] if several else []
        parts.append(_hard(own, out, title, f"slice-{task}" if several else "slice"))
    return "\n".join(parts)


def _hard_slices(groups: Sequence[Group]) -> list[str]:
    return [name for name in collect.slices(groups) if name != collect.MAIN]


def _hard(groups: Sequence[Group], out: Path, title: str, first: str) -> str:
    """Figures where they show a shape; one table of the other slices. Many recipes have tables alone."""
    names, styles = _hard_slices(groups), styles_of(groups)
    curves = {name: collect.curves(groups, name) for name in names}
    drawn_names = [name for name in names if has_shape(curves[name])]
    if len(_with(groups, names)) > MOST_BANDS:
        drawn_names = []
    drawn = []
    for name, slug in zip(names, slugs(names), strict=True):
        if name in drawn_names:
            path = out / f"{first}-{slug}"
            figure = accuracy_by_length(curves[name], path, f"{title}: {name}", styles, small=True)
            drawn.append((name, figure.svg))
    flat = {name: curves[name] for name in names if name not in drawn_names}
    tables = []
    for group in _with(groups, names):
        own = {name: collect.curves([group], name) for name in [collect.MAIN, *names]}
        tables.append(f"<h4>{escape(group.name)}</h4>{_slice_table(own)}")
    parts = [legend(_with(groups, drawn_names), styles), many(drawn)] if drawn else []
    parts += [_slice_table(flat, len(groups) > 1)] if flat else []
    return "\n".join([*parts, details("The numbers", "".join(tables))])


def has_shape(curves: Sequence[Curve]) -> bool:
    """Whether a figure of a slice shows more than a table: several curves, or one that is not flat, over several lengths."""
    points = [point for curve in curves for point in curve.points]
    values = [point.median for point in points]
    if len({point.length for point in points}) < 2:
        return False
    return len(curves) > 1 or max(values) - min(values) > FLAT


def _slice_table(curves: Mapping[str, Sequence[Curve]], named: bool = False) -> str:
    """Medians by length, a row for each slice, or for each slice and recipe."""
    rows = {
        f"{name}, {curve.name}" if named else name: {
            point.length: f"{100 * point.median:.1f}" for point in curve.points
        }
        for name, own in curves.items()
        for curve in own
    }
    return table(rows, None, unit_of([curve for own in curves.values() for curve in own]))


def unit_of(curves: Sequence[Curve]) -> str:
    """What lengths count, in one word: `digits`, `tokens`; `length` where curves differ."""
    units = {curve.counted.split()[0] for curve in curves}
    return units.pop() if len(units) == 1 else "length"


def _with(groups: Sequence[Group], slices: Sequence[str]) -> list[Group]:
    """Return the groups that were measured on one of these slices."""
    return [group for group in groups if any(row["slice"] in slices for row in group.rows)]


def pairs(groups: Sequence[Group], out: Path) -> str:
    """Length by length: a map a recipe."""
    maps = [(group, cells) for group in groups if (cells := collect.pairs(group))]
    drawn = []
    for (group, cells), slug in zip(maps, slugs([group.name for group, _ in maps]), strict=True):
        path, title = out / f"pairs-{slug}", f"{group.name}, %"
        drawn.append((group.name, heatmap(cells, path, title, group.recipe.data.length).svg))
    if not drawn:
        return ""
    return (
        "<h2>Length by length</h2>"
        '<p class="soft">% exactly right where the first operand has the digits below and the second those at '
        "the left, median over seeds, best checkpoint. Outlined: the lengths of training. Open: not measured.</p>"
        + many(drawn, "many maps")
    )


def many(drawn: Sequence[tuple[str, str]], kind: str = "many") -> str:
    """Small figures beside each other, as many as there is room for."""
    figures = "".join(
        f"<figure><figcaption>{escape(name)}</figcaption>{svg}</figure>" for name, svg in drawn
    )
    return f'<div class="{kind}">{figures}</div>'


def slugs(names: Sequence[str]) -> list[str]:
    """Names of files: `rotary (axis column)` -> `rotary-axis-column`; a second one gets a number."""
    made: list[str] = []
    for name in names:
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "unnamed"
        tried = itertools.chain([slug], (f"{slug}-{number}" for number in itertools.count(2)))
        made.append(next(one for one in tried if one not in made))
    return made


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
        f'<tr><td class="digits">{marked(a)}</td><td class="digits">{escape(shortened(a.truth or ""))}</td>'
        f'<td class="digits">{escape(shortened(a.question))}</td></tr>'
        for a in answers
    )
    return (
        f'{head}<div class="wide"><table class="worked"><tr><th>model</th><th>truth</th><th>question</th></tr>'
        f"{rows}</table></div>"
    )


def shortened(text: str) -> str:
    """The text with every long number shortened in its middle.

    >>> shortened("12+" + "1234567890" * 4)
    '12+12345678…34567890 (40 digits)'
    """

    def ends(number: re.Match[str]) -> str:
        return f"{number[0][:ENDS]}…{number[0][-ENDS:]} ({len(number[0])} digits)"

    return re.sub(rf"\w{{{LONG + 1},}}", ends, text)


def marked(answer: Answer) -> str:
    """The model's answer with its wrong digits marked, as HTML; of a long answer both ends, and how many are wrong."""
    pairs = list(zip(answer.answer, answer.wrong_digits(), strict=True))
    if len(pairs) > LONG:
        wrong = sum(is_wrong for _, is_wrong in pairs)
        note = f" ({len(pairs)} digits, {wrong} wrong)" if wrong else f" ({len(pairs)} digits)"
        return f"{_spans(pairs[:ENDS])}…{_spans(pairs[-ENDS:])}{note}"
    return _spans(pairs) or '<span class="wrong">(nothing)</span>'


def _spans(pairs: Sequence[tuple[str, bool]]) -> str:
    return "".join(
        f'<span class="wrong">{escape(c)}</span>' if wrong else escape(c) for c, wrong in pairs
    )


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
