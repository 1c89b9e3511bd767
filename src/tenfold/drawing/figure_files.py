"""Figures for a paper as files: PDF and SVG with text as text, or PNG; the same figure gives the same bytes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from tenfold.core.errors import TenfoldError, unknown
from tenfold.core.files import write_atomically

KINDS: dict[str, dict[str, Any]] = {  # what says when or with what a file was made is left out
    "pdf": {"metadata": {"CreationDate": None}},
    "svg": {"metadata": {"Date": None}},
    "png": {"metadata": {"Software": None}, "dpi": 300},
}
AS_TEXT: dict[Any, Any] = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "tenfold"}


def figure_kind(path: Path) -> str:
    """The kind of a figure by the ending of its file.

    >>> figure_kind(Path("rank.pdf"))
    'pdf'
    """
    kind = path.suffix.removeprefix(".").lower()
    if not kind:
        raise TenfoldError(f"{path} has no ending that names a kind of figure: pdf, svg or png")
    if kind not in KINDS:
        raise unknown("kind of figure", kind, KINDS)
    return kind


def write_figure(figure: Any, path: Path) -> Path:
    """Write a figure whole or not at all, and close it; folders are made."""
    from matplotlib import pyplot, rc_context  # not before something is drawn

    data, kind = io.BytesIO(), figure_kind(path)
    with rc_context(AS_TEXT):
        figure.savefig(data, format=kind, **KINDS[kind])
    pyplot.close(figure)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TenfoldError(f"cannot write {path}: {error.strerror or error}") from None
    write_atomically(path, data.getvalue())
    return path
