"""Draw figures, tables and pages again from committed rows; nothing is trained.

    tenfold redraw                              # what pages show, in results/ and papers/
    tenfold redraw symmetry/addition --out all  # every figure (PNG, SVG), table and page (HTML), in all/

A figure of what is inside a trained model (its attention, its learned maps) is not in the rows. Such a figure stays
as it is; `tenfold reproduce` draws it when it has the runs.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tenfold.core.errors import TenfoldError
from tenfold.core.files import write_atomically
from tenfold.drawing.report_page import write_story
from tenfold.drawing.run_groups import story_of
from tenfold.ledger import experiments
from tenfold.ledger.claim_text import markdown
from tenfold.ledger.claims import papers
from tenfold.ledger.experiments import DrawingContext, Experiment
from tenfold.ledger.paper_page import PAGE, fill
from tenfold.ledger.paper_report import write_paper
from tenfold.ledger.results_folder import shown_figures
from tenfold.ledger.statuses import ledger
from tenfold.results.committed import INSTALLED, ROWS, SCALES, SHELVES, read_committed

TABLE = "results.md"


@dataclass(frozen=True)
class Redrawn:
    """The figures and tables of one experiment at one scale, drawn again."""

    experiment: str
    scale: str
    folder: Path
    written: tuple[Path, ...]  # in the folder
    left: tuple[Path, ...]  # shown by a page, but not drawn from rows: these stay as they are


def redraw(
    name: str | None = None,
    out: Path | str | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[Redrawn]:
    """Draw a paper (`symmetry`), one experiment (`symmetry/addition`) or everything again, from committed rows.

    Without `out`, files that pages show are replaced in `results/`, and the papers' pages and the page of all claims
    are filled in again. With `out`, everything is written there: every figure, and a page for each paper. `progress` is
    called with the name of each experiment, before it is drawn.
    """
    shelf = next((place for place in SHELVES if place.is_dir()), None)
    if shelf is None:
        raise TenfoldError("there are no committed results here; `tenfold reproduce` makes some")
    if out is None and shelf == INSTALLED:
        raise TenfoldError("figures are not kept in an installed package; name a folder with --out")
    chosen = list(_experiments(name))
    to = shelf if out is None else Path(out)
    try:
        done = []
        for each in chosen:
            if progress is not None:
                progress(each.id)
            done += _redraw(each, shelf, to, everything=out is not None)
        if not done:
            raise TenfoldError(f"{name or shelf} has no committed rows to draw from")
        _pages([each.paper for each in chosen], shelf, None if out is None else to)
    except OSError as error:
        raise TenfoldError(f"cannot write to {to}: {error.strerror or error}") from None
    return done


def _experiments(name: str | None) -> Iterator[Experiment]:
    if name is not None:
        yield from experiments.find(name)
    else:
        for paper in papers():
            yield from experiments.experiments(paper)


def _redraw(experiment: Experiment, shelf: Path, to: Path, everything: bool) -> Iterator[Redrawn]:
    for scale in SCALES:
        committed, target = experiment.folder(shelf, scale), experiment.folder(to, scale)
        if not (committed / ROWS).is_file():
            continue
        shown = shown_figures(shelf, experiment.paper, experiment.name, scale) or set()
        with tempfile.TemporaryDirectory() as place:
            fresh = Path(place)
            _draw(experiment, scale, committed, fresh)
            drawn = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()}
            kept = drawn if everything else drawn & (shown | {Path(TABLE)})
            for path in sorted(kept):
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(fresh / path, target / path)
        yield Redrawn(
            experiment.id, scale, target, tuple(sorted(kept)), tuple(sorted(shown - drawn))
        )


def _draw(experiment: Experiment, scale: str, committed: Path, fresh: Path) -> None:
    """All that can be drawn from the rows."""
    collected = read_committed(committed)
    if collected.problems:
        raise TenfoldError(f"{experiment.id}: {collected.problems[0]}")
    story = story_of(collected)
    if story.groups:
        written = write_story(story, fresh, experiment.title)
        written["rows"].unlink()  # rows.csv has them, with every column
    experiment.draw(DrawingContext(scale, collected.rows, fresh))


def _pages(names: Sequence[str], shelf: Path, out: Path | None) -> None:
    """The papers' pages: as HTML in `out`, or filled in where they are, with the page of all claims."""
    for paper in dict.fromkeys(names):
        page = shelf.parent / "papers" / paper / PAGE
        if out is not None:
            write_paper(paper, out, drawings=out)
        elif page.is_file():
            text = fill(page, ledger([paper], (shelf,)), shelf)
            write_atomically(page, text.encode())
    if out is None and (claims := shelf / "CLAIMS.md").is_file():
        write_atomically(claims, markdown(ledger(results=(shelf,))).encode())
