"""What the commands share: the app, common options, runs by name, JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from tenfold import __version__
from tenfold.errors import TenfoldError, unknown

if TYPE_CHECKING:
    from tenfold.lab.run import Run

app = App(
    name="tenfold",
    version=__version__,
    help="Train short, test long, and know why: length generalization of transformers.",
    help_format="markdown",
    suppress_keyboard_interrupt=False,  # `main` has a word for it
)
app.register_install_completion_command(help="Install shell completion (bash, zsh, fish).")

Overrides = Annotated[
    str,
    Parameter(
        allow_leading_hyphen=True,
        help="Changes of the recipe by dotted flags: --train.lr 0.003 --pe alibi --model.width 64",
    ),
]
Json = Annotated[bool, Parameter(negative=(), help="Print JSON on standard output.")]
RunName = Annotated[
    str, Parameter(help="A run's folder, the beginning of its name in runs/, or a proved model.")
]
Checkpoint = Annotated[
    Literal["best", "final"],
    Parameter(help="The checkpoint that was best on validation problems, or the last one."),
]


MOST = 10**5  # lengths or seeds that one command is given


def parse_lengths(text: str) -> list[int]:
    """Lengths and ranges, in order.

    >>> parse_lengths("5,10,20-40:10")
    [5, 10, 20, 30, 40]
    """
    return parse_numbers(text, "length", 1)


def parse_numbers(text: str, what: str, least: int) -> list[int]:
    """Numbers and ranges of them, in order.

    >>> parse_numbers("0-2,7", "seed", 0)
    [0, 1, 2, 7]
    """
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,18})(?:-(\d{1,18})(?::(\d{1,18}))?)?\s*", part)
        if match is None:
            raise TenfoldError(f'"{part}" is not a {what}; write 5, or 5-10, or 20-40:10')
        first, last, step = (int(group) if group else None for group in match.groups())
        assert first is not None
        if last is not None and last < first:
            raise TenfoldError(f'"{part}" is not a range of {what}s; {first} is above {last}')
        if first < least:
            raise TenfoldError(f'"{part}" begins below the least {what}, {least}')
        if step == 0:
            raise TenfoldError(f'"{part}" is not a range of {what}s; its step is 0')
        last, step = first if last is None else last, step or 1
        if len(found) + (last - first) // step >= MOST:
            raise TenfoldError(f'"{part}" is too many {what}s; {MOST:,} at the most')
        found += range(first, last + 1, step)
    return found


def open_run(name: str) -> Run:
    """A run by folder, by the beginning of its name in runs/, or a proved model that comes with the package."""
    from tenfold.lab import shipped
    from tenfold.lab.run import Run

    if Path(name).is_dir() or "/" in name:
        return Run.open(name)
    found = sorted(path.parent for path in Path("runs").glob(f"{name}*/recipe.yaml"))
    if len(found) == 1:
        return Run.open(found[0])
    if found:
        raise TenfoldError(
            f'"{name}" is the beginning of {len(found)} runs; name one: {found[0]}, ...'
        )
    held = shipped.shipped(name)
    if held is not None:
        return held
    known = [path.parent.name for path in Path("runs").glob("*/recipe.yaml")]
    raise unknown("run", name, [*known, *shipped.names()])


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=1))


def print_written(written: dict[str, Path], as_json: bool) -> None:
    if as_json:
        return print_json({what: str(path) for what, path in written.items()})
    width = max(map(len, written))
    for what, path in written.items():
        print(f"{what + ':':{width + 2}}{path}")
    return None
