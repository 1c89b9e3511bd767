"""Tables as LaTeX: rules of booktabs, every character safe to compile."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{character: f"\\{character}" for character in "&%$#_"},
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "±": r"$\pm$",
    "\N{MINUS SIGN}": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\rightarrow$",
    "∞": r"$\infty$",
}
SIGNED = re.compile(r"[+-]\d[\d.,]*")


def latex_text(text: str) -> str:
    r"""Return text in which nothing is a command. A signed number is set as mathematics, with a true minus.

    >>> print(latex_text("power_2 & 50%"), latex_text("-3.1"))
    power\_2 \& 50\% $-3.1$
    """
    if SIGNED.fullmatch(text):
        return f"${text}$"
    return "".join(map(_safe, text))


def _safe(character: str) -> str:
    """A character as LaTeX; one that has no likeness in ASCII by its number."""
    if character in SPECIAL:
        return SPECIAL[character]
    if character.isascii():
        return character if character.isprintable() else " "
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return "".join(map(_safe, plain)) or f"\\texttt{{U+{ord(character):04X}}}"


def tabular(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """A `tabular` of cells that are text; `right` says which columns hold numbers."""
    head, *body = [" & ".join(map(latex_text, row)) + r" \\" for row in (columns, *rows)]
    kinds = "".join("r" if number else "l" for number in right)
    start = [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", head, r"\midrule"]
    return "\n".join([*start, *body, r"\bottomrule", r"\end{tabular}", ""])


def captioned(table: str, caption: str, name: str) -> str:
    """A `tabular` as a float over both columns, with a caption above it and a label."""
    return "\n".join(
        [
            r"\begin{table*}[t]",
            r"\centering",
            r"\small",
            rf"\caption{{{latex_text(caption)}}}",
            rf"\label{{tab:{re.sub('[^a-z0-9]+', '-', name.lower()).strip('-')}}}",
            f"{table}\\end{{table*}}",
            "",
        ]
    )
