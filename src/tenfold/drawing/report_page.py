"""One self-contained HTML page about runs: curves, tables, slices, pairs of lengths, proofs, examples, provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

from tenfold.core.errors import TenfoldError
from tenfold.core.files import write_atomically
from tenfold.core.registry import Registry
from tenfold.drawing import curves as collect
from tenfold.drawing import perplexity_curves as perplexity
from tenfold.drawing import report_sections as sections
from tenfold.drawing.html import document
from tenfold.drawing.run_groups import Story, gather
from tenfold.runs.run import Run

# What features add to a page: a function (story, folder) -> HTML each, "" where there is nothing to say.
SECTIONS: Registry[str] = Registry("report section", "tenfold.report_sections")
TITLE = "Accuracy against length"
BOTH = "Accuracy and perplexity against length"


def write_report(
    runs: Run | Path | str | Sequence[Run | Path | str],
    out: Path | str = "report",
    title: str | None = None,
    examples: int = 10,
) -> dict[str, Path]:
    """Write a self-contained page about runs, with figures and tables; return the files by what they are.

    Arguments:
        runs: a run, or a place as `collect` takes it, or several of them.
        out: the folder to write to.
        title: of the page.
        examples: how many worked examples the page shows of each run.

    >>> write_report("runs", "report")["page"]  # doctest: +SKIP
    PosixPath('report/report.html')
    """
    runs = [runs] if isinstance(runs, Run | Path | str) else runs
    story = gather([run.folder if isinstance(run, Run) else run for run in runs])
    opened = {run.recipe.fingerprint: run for run in runs if isinstance(run, Run)}
    # these know already what they computed
    return write_story(replace(story, runs=story.runs | opened), Path(out), title, examples)


def write_story(
    story: Story, out: Path, title: str | None = None, examples: int = 10
) -> dict[str, Path]:
    """Write the page, its figures (PNG and SVG), the rows (CSV) and tables (Markdown); say where they are."""
    if title is None:
        reads, answers = perplexity.curves(story.groups), collect.curves(story.groups)
        title = BOTH if reads and answers else perplexity.TITLE if reads else TITLE
    if not title.isprintable():
        raise TenfoldError(f"the title {title!r} has characters that cannot be printed")
    if not any(group.rows for group in story.groups):
        left_out = f"; left out: {story.problems[0]}" if story.problems else ""
        raise TenfoldError(f"there are no runs to report on{left_out}")
    try:
        out.mkdir(parents=True, exist_ok=True)
        body = _body(story, out, title, examples)
        written = {"page": out / "report.html", "rows": out / "results.csv"}
        written |= {"table": out / "results.md"}
        texts = {"rows": collect.as_csv([row for group in story.groups for row in group.rows])}
        texts |= {
            "table": collect.results_table(story.groups, title),
            "page": document(title, body),
        }
        for what, text in texts.items():  # the page last: where it is, all that it names is too
            write_atomically(written[what], text.encode())
    except OSError as error:
        raise TenfoldError(f"cannot write to {out}: {error.strerror or error}") from None
    for task, name in (figures := sections.accuracy_figures(story.groups)).items():
        of = f" of {task}" if len(figures) > 1 else ""
        written |= {f"figure{of}": out / f"{name}.png", f"svg{of}": out / f"{name}.svg"}
    for task, name in (figures := perplexity.figures(story.groups)).items():
        of = f" of {task}" if len(figures) > 1 else ""
        written |= {
            f"perplexity{of}": out / f"{name}.png",
            f"perplexity svg{of}": out / f"{name}.svg",
        }
    return written


def _body(story: Story, out: Path, title: str, examples: int) -> str:
    groups = story.groups
    runs = sum(len(group.runs) for group in groups)
    measured = "Exact match: every digit right. " if collect.curves(groups) else ""
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="soft">{runs} run{"s" * (runs != 1)}: {len(groups)} recipe{"s" * (len(groups) != 1)}, '
        f"{sections.seeds(groups)}. {measured}Best checkpoint, chosen on separate "
        "problems. Every figure lies beside this page as PNG and SVG.</p>",
        sections.left_out(story.problems),
        sections.accuracy(groups, out, title),
        perplexity.section(groups, out, title),
        *(SECTIONS[name](story, out) for name in SECTIONS.names()),
        sections.hard(groups, out, title),
        sections.pairs(groups, out),
        sections.examples(groups, story.runs, examples),
        sections.provenance(groups),
    ]
    return "\n".join(filter(None, parts))
