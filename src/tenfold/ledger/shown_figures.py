"""The figures that pages show: only these are committed, as PNG; `tenfold redraw --out DIR` draws all others.

A page shows a figure where it links to it (`results/PAPER/EXPERIMENT/SCALE/NAME.png`), or names it in a mark of the
paper's own page (`<!-- ours: EXPERIMENT/NAME | ... -->`, see `paper_page`).
"""

from __future__ import annotations

import re
from pathlib import Path

from tenfold.ledger.paper_page import MARK

PAGES = ("*.md", "docs/*.md", "papers/*/README.md")
LINK = re.compile(r"results/([^\s\"')]+\.png)")


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
