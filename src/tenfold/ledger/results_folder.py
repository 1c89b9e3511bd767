"""The folder of an experiment's results: checked before training, and written whole or left as it was.

Only the figures that pages show are committed, as PNG; `tenfold redraw --out DIR` draws all others. A page shows a
figure where it links to it (`results/PAPER/EXPERIMENT/SCALE/NAME.png`), or names it in a mark of the paper's own page
(`<!-- ours: EXPERIMENT/NAME | ... -->`, see `paper_page`).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tenfold.core.errors import TenfoldError
from tenfold.ledger.paper_page import MARK
from tenfold.results.committed import ROWS, RUNS, as_csv, as_runs, read_rows, read_runs
from tenfold.results.tables import Collected
from tenfold.runs.recipe import Recipe

PAGES = ("*.md", "docs/*.md", "papers/*/README.md")
LINK = re.compile(r"results/([^\s\"')]+\.png)")


def check_place(folder: Path, recipes: Sequence[Recipe], add: bool = False) -> None:
    """Check before hours of training that results can be written there and would not drop seeds that are there.

    With `add` these seeds stay, if they were trained with the recipes as they are now.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder.parent).close()
        _settle(folder)
    except OSError as error:
        raise TenfoldError(f"cannot write to {folder}: {error.strerror or error}") from None
    if not (folder / ROWS).is_file():
        return
    ours = {(each.name, each.seed) for each in recipes}
    names = {each.name for each in recipes}
    others = {
        (row["recipe"], row["seed"])
        for row in read_rows(folder / ROWS)
        if row["recipe"] in names and (row["recipe"], row["seed"]) not in ours
    }
    if add:
        _check_alike(folder, recipes, others)
    elif others:
        seeds = ", ".join(map(str, sorted({seed for _, seed in others})))
        raise TenfoldError(
            f"{folder} holds seeds {seeds}, which this command would leave out; keep them with --add, "
            "name them too with --seeds, or another place with --out"
        )


def _check_alike(folder: Path, recipes: Sequence[Recipe], kept: set[tuple[str, int]]) -> None:
    """Refuse kept seeds whose recipes differ in more than the seed."""
    now = {each.name: each.replace(seed=0).fingerprint for each in recipes}
    for run in read_runs(folder / RUNS):
        then = Recipe.of(json.loads(run["recipe"]))
        if (then.name, then.seed) in kept and then.replace(seed=0).fingerprint != now[then.name]:
            raise TenfoldError(
                f"{folder} holds seed {then.seed} of {then.name} as it was before the recipe changed; "
                "seeds that differ in more cannot stand side by side: run all of them, without --add"
            )


def beside(collected: Collected, folder: Path) -> Collected:
    """New rows and runs together with what is committed of other recipes and seeds."""
    if not (folder / ROWS).is_file():
        return collected
    new = {(row["recipe"], row["seed"]) for row in collected.rows}
    rows = [r for r in read_rows(folder / ROWS) if (r["recipe"], r["seed"]) not in new]
    kept = {row["fingerprint"] for row in rows}
    runs = [run for run in read_runs(folder / RUNS) if run["fingerprint"] in kept]
    return Collected(rows + collected.rows, runs + collected.runs)


def commit(collected: Collected, folder: Path, write_more: Callable[[Path], object]) -> Path:
    """Write a results folder whole, or leave the old one as it was; `write_more` adds figures and tables."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _settle(folder)
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise TenfoldError(f"cannot write to {folder}: {error.strerror or error}") from None
    try:
        fresh.chmod(0o755)
        write_more(fresh)
        (fresh / ROWS).write_text(as_csv(collected.rows))
        (fresh / RUNS).write_text(as_runs(collected.rows, collected.runs))
        _swap(fresh, folder)
    except OSError as error:
        raise TenfoldError(f"cannot write to {folder}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return folder


def _swap(fresh: Path, folder: Path) -> None:
    try:
        if folder.exists():
            os.replace(folder, _aside(folder))
        os.replace(fresh, folder)
    except OSError:
        _settle(folder)
        raise
    shutil.rmtree(_aside(folder), ignore_errors=True)


def _settle(folder: Path) -> None:
    """Put old results that a failure or a kill left aside back in their place, or remove them if it is taken."""
    old = _aside(folder)
    if old.exists() and folder.exists():
        shutil.rmtree(old)
    elif old.exists():
        os.replace(old, folder)


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}-old")


def shown_figures(shelf: Path, paper: str, experiment: str, scale: str) -> set[Path] | None:
    """The files of one results folder that pages beside the shelf show; None where no pages are beside it.

    `shelf` is the folder `results` of a checkout. Elsewhere nobody knows what is shown, and everything is kept.
    """
    root = shelf.absolute().parent
    if not (root / "papers" / paper / "README.md").is_file():
        return None
    shown: set[Path] = set()
    own = Path(paper, experiment, scale)
    for page in (path for pattern in PAGES for path in root.glob(pattern)):
        text = page.read_text(errors="replace")
        shown |= {Path(link) for link in LINK.findall(text)}
        if page.parent.name == paper:
            marked = [name for _, names, *_ in MARK.findall(text) for name in names.split()]
            shown |= {
                Path(f"{Path(paper, name.replace('/', f'/{scale}/', 1))}.png") for name in marked
            }
    return {path.relative_to(own) for path in shown if path.is_relative_to(own)}


def keep_shown(folder: Path, shown: set[Path] | None) -> None:
    """Remove drawings (SVG), pages (HTML) and figures that are not shown from a results folder."""
    if shown is None:
        return
    for path in sorted(folder.rglob("*"), reverse=True):  # files before their folders
        bulky = path.suffix in (".svg", ".html") or (
            path.suffix == ".png" and path.relative_to(folder) not in shown
        )
        if path.is_file() and bulky:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()
