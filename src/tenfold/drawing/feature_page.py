"""The page of a command that asks one question of a run: the question, the answer, figures, tables, how it was made.

    maps RUN -> maps.html   influence RUN -> influence.html   extract RUN -> machine.html   calibrate RUN -> calibration.html

Such a page holds its figures. Files of them are written only where somebody asks for a folder of figures.
"""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from tenfold.core.errors import TenfoldError
from tenfold.core.files import write_atomically
from tenfold.drawing.figures import Figure
from tenfold.drawing.html import document
from tenfold.runs.environment import environment
from tenfold.runs.run import Run, Which

LEAST, LARGEST = 1.35, 1.7  # pixels of a point of a figure: 7 points are read at 9 pixels
WIDEST = 53.5  # rem: the text of a page


@dataclass(frozen=True)
class FeaturePage:
    """What a page says, above how it was made. `parts` are HTML; everything else is text."""

    title: str
    question: str
    answer: Sequence[str]  # sentences
    parts: Sequence[str]


def write_page(
    page: FeaturePage,
    path: Path,
    run: Run,
    which: Which = "best",
    settings: Mapping[str, Any] | None = None,
) -> Path:
    """Write a page about a run. `settings` are further facts on how it was made, such as the number of problems."""
    return write_made(page, path, _provenance(run, which) | dict(settings or {}))


def write_made(page: FeaturePage, path: Path, made: Mapping[str, Any]) -> Path:
    """Write a page, with facts on how it was made at its end."""
    body = "\n".join(
        [
            f"<h1>{escape(page.title)}</h1>",
            f"<p><b>{escape(page.question)}</b></p>",
            f"<p>{escape(' '.join(page.answer))}</p>",
            *page.parts,
            "<h2>How it was made</h2>",
            facts(made),
        ]
    )
    with _writing(path):
        write_atomically(path, document(page.title, body).encode())
    return path


def write_data(path: Path, data: Any) -> Path:
    """Write the numbers of a page as JSON."""
    with _writing(path):
        write_atomically(path, json.dumps(data).encode())
    return path


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise TenfoldError(f"cannot write to {path}: {error.strerror or error}") from None


def page_folder(run: Run, asked: Path | None, usual: str) -> Path:
    """The folder that was asked for, or the run's own; `usual` in the working folder for an exported model."""
    return asked or (Path(usual) if run.published else run.folder)


@contextlib.contextmanager
def figure_folder(asked: Path | None) -> Iterator[Path]:
    """A folder to draw into: the one that was asked for, or one that is gone afterwards."""
    if asked is not None:
        yield asked
        return
    with tempfile.TemporaryDirectory() as place:
        yield Path(place)


def files_of(figures: Iterable[Figure], asked: Path | None) -> list[str]:
    """The files of figures, where a folder for them was asked for."""
    return [] if asked is None else [str(file) for figure in figures for file in figure.files]


def captioned(figure: Figure, caption: str, legend: str = "") -> str:
    """A figure over its caption, with a legend (HTML) between. It scrolls in its own box where the screen is narrow."""
    wide = float(re.findall(r'viewBox="[\d.]+ [\d.]+ ([\d.]+) ', figure.drawing)[0])  # points
    size = f"max-width: {wide * LARGEST / 16:.1f}rem; min-width: {min(WIDEST, wide * LEAST / 16):.1f}rem"
    svg = figure.svg.replace("<svg", f'<svg style="{size}"', 1)
    words = f"<figcaption>{escape(caption)}</figcaption>"
    return f'<figure><div class="wide">{svg}</div>{legend}{words}</figure>'


def cells(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of words."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="wide"><table class="facts"><tr>{top}</tr>{body}</table></div>'


def facts(known: Mapping[str, Any]) -> str:
    """A table of facts by name; what is None is left out."""
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>"
        for name, value in known.items()
        if value is not None
    )
    return f'<div class="wide"><table class="facts">{rows}</table></div>'


def made_here() -> dict[str, Any]:
    """The command and the code that make a page."""
    here = environment()
    return {"command": here["command"], "page made with": _code(here)}


def _provenance(run: Run, which: Which) -> dict[str, Any]:
    """The command, the run and the code: of this page, and of the training."""
    here = environment()
    trained = run.environment()
    return {
        "command": here["command"],
        "run": run.folder.name,
        "recipe": f"{run.recipe.name} ({run.recipe.fingerprint})",
        "seed": run.recipe.seed,
        "checkpoint": which,
        "trained with": _code(trained) if trained else None,
        "page made with": _code(here),
    }


def _code(made: Mapping[str, Any]) -> str:
    commit = f", commit {made['commit']}" if made.get("commit") else ""
    return f"tenfold {made.get('tenfold')}{commit}, {made.get('date')}"
