"""One self-contained HTML page about a few runs: the curve, the table, worked examples, provenance."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from tenfold.errors import TenfoldError
from tenfold.lab.run import Answer, Run
from tenfold.report import collect
from tenfold.report.figures import accuracy_by_length
from tenfold.report.proof import proof

STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --soft: #666; --line: #ddd; --paper: #fff; --bad: #c0392b; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --soft: #a0a0a0; --line: #444; --paper: #161616; --bad: #ff7b6b; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
p.soft, figcaption { color: var(--soft); font-size: .9rem; }
figure { margin: 1rem 0; } figure svg { width: 100%; height: auto; background: #fff; border-radius: 6px; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { white-space: normal; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; }
code, .digits { font-family: ui-monospace, monospace; }
.wrong { color: var(--bad); font-weight: 700; text-decoration: underline; }
figure img { max-width: 100%; border-radius: 6px; background: #fff; }
table.facts th, table.facts td { text-align: left; white-space: normal; vertical-align: top; }
details { margin: .5rem 0; } pre { overflow-x: auto; font-size: .8rem; }
"""


def write_report(
    runs: Sequence[Run], out: Path, title: str = "Accuracy against length", examples: int = 10
) -> dict[str, Path]:
    """Write the page, its figure (PNG and SVG), the rows (CSV) and the table (Markdown); say where they are."""
    found = collect.curves(runs)
    if not found:
        raise TenfoldError("the runs have no results on the slice uniform; nothing to draw")
    try:
        out.mkdir(parents=True, exist_ok=True)
        png, svg = accuracy_by_length(found, out / "accuracy", title)
        written = {"page": out / "report.html", "figure": png, "svg": svg}
        written |= {"rows": out / "results.csv", "table": out / "results.md"}
        written["rows"].write_text(collect.as_csv(runs))
        written["table"].write_text(_markdown(runs, title))
        written["page"].write_text(_page(runs, title, svg, examples))
    except OSError as error:
        raise TenfoldError(f"cannot write to {out}: {error.strerror or error}") from None
    return written


def _page(runs: Sequence[Run], title: str, svg: Path, examples: int) -> str:
    drawing = svg.read_text()
    drawing = drawing[drawing.index("<svg") :]
    seeds = len({run.recipe.seed for run in runs})
    band = "worst to best seed" if seeds > 1 else "95% Wilson interval"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="soft">{len(runs)} runs, {seeds} seed(s) each. Exact match: every digit right. '
        "Best checkpoint, chosen on separate problems; the final one stands beside it below.</p>",
        f"<figure>{drawing}<figcaption>Line: median over seeds. Band: {band}.</figcaption></figure>",
        "<h2>By length</h2>",
        f'<p class="soft">% exactly right on the slice uniform, {runs[0].recipe.eval.n} problems '
        f"a length and seed: median ({band}).</p>",
        _by_length(runs),
    ]
    parts += [text for run in runs if (text := proof(run))]
    if len(collect.slices(runs)) > 1:
        parts += ["<h2>Hard slices</h2>"]
        parts += ['<p class="soft">% exactly right, median over seeds, best checkpoint.</p>']
        parts += [_by_slice(name, group) for name, group in collect.groups(runs).items()]
    parts.append("<h2>Worked examples</h2>")
    parts += [_examples(name, group[0], examples) for name, group in collect.groups(runs).items()]
    parts.append("<h2>Where the numbers come from</h2>")
    parts += [_provenance(run) for run in runs]
    return document(title, "\n".join(parts))


def document(title: str, body: str) -> str:
    """A page in our style."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>\n{body}\n</body></html>\n"
    )


def _by_length(runs: Sequence[Run]) -> str:
    """A row a length; a column a recipe and checkpoint."""
    columns = {
        f"{curve.name}, {checkpoint}": {p.length: collect.cell(p) for p in curve.points}
        for checkpoint in ("best", "final")
        for curve in collect.curves(runs, checkpoint=checkpoint)
    }
    return _table(columns)


def _by_slice(title: str, runs: Sequence[Run]) -> str:
    """One group of runs: a row a length, a column a slice."""
    columns = {
        name: {
            p.length: f"{100 * p.median:.1f}" for c in collect.curves(runs, name) for p in c.points
        }
        for name in collect.slices(runs)
    }
    return f"<p><b>{escape(title)}</b></p>{_table(columns)}"


def _table(columns: dict[str, dict[int, str]]) -> str:
    lengths = sorted({length for column in columns.values() for length in column})
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = "".join(
        f"<tr><td>{length}</td>"
        + "".join(f"<td>{column.get(length, '')}</td>" for column in columns.values())
        + "</tr>"
        for length in lengths
    )
    return f'<div class="wide"><table><tr><th>digits</th>{head}</tr>{rows}</table></div>'


def _examples(title: str, run: Run, count: int) -> str:
    """Some problems at the training length, the others beyond it."""
    lengths = [n for n in run.recipe.eval.lengths if n >= run.recipe.data.length]
    lengths = lengths or list(run.recipe.eval.lengths)
    lengths = lengths[:: max(1, len(lengths) // 5)][:5]
    each = -(-count // len(lengths))
    answers = [a for length in lengths for a in run.examples(length, each)][:count]
    rows = "".join(
        f'<tr><td class="digits">{escape(a.question)}</td><td class="digits">{marked(a)}</td>'
        f'<td class="digits">{escape(a.truth)}</td></tr>'
        for a in answers
    )
    return (
        f"<p><b>{escape(title)}</b>, seed {run.recipe.seed}</p>"
        '<div class="wide"><table><tr><th>question</th><th>model</th><th>truth</th></tr>'
        f"{rows}</table></div>"
    )


def marked(answer: Answer) -> str:
    """The model's answer with its wrong digits marked, as HTML."""
    pairs = zip(answer.answer, answer.wrong_digits(), strict=True)
    text = "".join(
        f'<span class="wrong">{escape(c)}</span>' if wrong else escape(c) for c, wrong in pairs
    )
    return text or '<span class="wrong">(nothing)</span>'


def _provenance(run: Run) -> str:
    result = run.result()
    made = result["environment"]
    facts = (
        f"{result['parameters']:,} parameters, {result['steps']:,} steps in "
        f"{result['train_seconds']:.0f} s on {run.recipe.train.threads} thread(s); tenfold "
        f"{made['tenfold']}, commit {made['commit']}, torch {made['torch']}, {made['date']}"
    )
    return (
        f"<details><summary>{escape(run.recipe.name)}, seed {run.recipe.seed} "
        f'(<code>{result["fingerprint"]}</code>)</summary><p class="soft">{escape(facts)}</p>'
        f"<pre>{escape(run.recipe.as_yaml())}</pre></details>"
    )


def _markdown(runs: Sequence[Run], title: str) -> str:
    """The tables as Markdown, with where they come from."""
    several = len({run.recipe.seed for run in runs}) > 1
    spread = "worst-best seed" if several else "95% Wilson interval"
    text = f"# {title}\n\n% exactly right, median ({spread}); n = {runs[0].recipe.eval.n} a cell.\n"
    for checkpoint in ("best", "final"):
        text += f"\n## Slice uniform, {checkpoint} checkpoint\n\n"
        text += collect.as_markdown(collect.curves(runs, checkpoint=checkpoint))
    for name in collect.slices(runs):
        if name != "uniform":
            text += f"\n## Slice {name}, best checkpoint\n\n"
            text += collect.as_markdown(collect.curves(runs, name))
    text += "\n## Runs\n\n| recipe | seed | fingerprint | steps | seconds | commit | date |\n"
    text += "|---" * 7 + "|\n"
    for run in runs:
        result = run.result()
        made = result["environment"]
        text += (
            f"| {run.recipe.name} | {run.recipe.seed} | {result['fingerprint']} | {result['steps']} "
            f"| {result['train_seconds']:.0f} | {made['commit']} | {made['date']} |\n"
        )
    return text
