"""Errors meant for the person at the keyboard: one line that names the thing, the value and what would be right."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

SHOWN = 10  # of known names; a line holds no more


def printable(text: object) -> str:
    r"""A text for a terminal, on one line: names of a stranger's files cannot move its cursor or change its colours.

    >>> print(printable("a\x1b[31mred\nb"))
    a\x1b[31mred b
    """
    line = " ".join(str(text).split()) if "\n" in str(text) else str(text)
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in line
    )


class TenfoldError(Exception):
    """What went wrong, in one line. The command line prints it and exits with `exit_code`."""

    exit_code = 2


class Misfit(TenfoldError):
    """Two parts of a recipe that do not fit each other, each of which is right by itself.

    `keep` names the parts that another recipe may have room for, such as `pe`; `runs/fitting_recipe.py` finds it.
    """

    def __init__(self, message: str, *keep: str) -> None:
        super().__init__(message)
        self.keep = keep


class Stopped(TenfoldError):
    """A signal stopped training; everything up to the last step is saved."""

    def __init__(self, message: str, signal_number: int) -> None:
        super().__init__(message)
        self.exit_code = 128 + signal_number


class Diverged(TenfoldError):
    """The loss or a gradient is no longer finite; the last good checkpoint stands."""

    exit_code = 3


def unknown(kind: str, name: object, known: Iterable[str]) -> TenfoldError:
    """The error for a name that nobody registered.

    >>> print(unknown("encoding", "alibbi", ["alibi", "rotary"]))
    unknown encoding "alibbi"; did you mean "alibi"?
    >>> print(unknown("encoding", "xyz", ["alibi", "rotary"]))
    unknown encoding "xyz"; known: alibi, rotary
    >>> print(unknown("letter", "?", "abcdefghijklmnopqrstuvwxyz"))
    unknown letter "?"; known: a, b, c, d, e, f, g, h, i, j and 16 more
    """
    names = sorted(known)
    close = get_close_matches(str(name), names, n=1)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    hint = f'did you mean "{close[0]}"?' if close else f"known: {', '.join(names[:SHOWN])}{more}"
    return TenfoldError(f'unknown {kind} "{name}"; {hint}')
