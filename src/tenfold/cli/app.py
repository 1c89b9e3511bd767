"""The command line: the app, the options that commands share, and `main`.

Commands import what they need when they run, so `tenfold --help` does not wait for torch.
"""

from __future__ import annotations

import importlib
import io
import json
import re
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from cyclopts import App, CycloptsError, Parameter

from tenfold import __version__
from tenfold.core.errors import TenfoldError, printable

app = App(
    name="tenfold",
    version=__version__,
    help="Train short, test long, and know why: length generalization of transformers.",
    help_format="markdown",
    suppress_keyboard_interrupt=False,  # `main` has a word for it
)
app.meta.suppress_keyboard_interrupt = False
app.register_install_completion_command(help="Install shell completion (bash, zsh, fish).")
theory = App(name="theory", help="What can be known without training a transformer.")
app.command(theory)

Overrides = Annotated[
    str,
    Parameter(
        allow_leading_hyphen=True,
        help="Changes of the recipe, as dotted flags: --train.lr 0.003 --pe alibi --model.width 64",
    ),
]
Include = Annotated[
    tuple[Path, ...],
    Parameter(
        negative=(),
        help="A Python file with components of your own, which is executed; again for more.",
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
Scale = Annotated[
    str | None,
    Parameter(
        help="The size of the experiment: smoke (seconds), demo, laptop (the default) or paper, as far as the recipe has them."
    ),
]
ProblemSeed = Annotated[int, Parameter(help="The seed that the problems are drawn with.")]
Figures = Annotated[
    Path | None, Parameter(help="Also write every figure into this folder, as PNG and SVG.")
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
    numbers: list[int] = []
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
        if len(numbers) + (last - first) // step >= MOST:
            raise TenfoldError(f'"{part}" is too many {what}s; {MOST:,} at the most')
        numbers += range(first, last + 1, step)
    return numbers


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=1, default=_plain_value))


def _plain_value(value: Any) -> Any:
    """What JSON has no word for: a component with its options as values, anything else as text."""
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if callable(dump) and not isinstance(value, type) else str(value)


def print_notes(what: str, lines: Iterable[str]) -> None:
    """Lines on standard error, such as `left out: ...`."""
    for line in lines:
        print(f"{what}: {printable(line)}", file=sys.stderr)


def as_text(written: dict[str, Path]) -> dict[str, str]:
    """Paths by what they are, for JSON."""
    return {what: str(path) for what, path in written.items()}


def print_page(written: dict[str, Path], figures: list[str]) -> None:
    """The page of a feature with its data, then the files of figures that were asked for."""
    print_written(written, as_json=False)
    print(*figures, sep="\n", end="\n" * bool(figures))


def print_written(written: dict[str, Path], as_json: bool) -> None:
    if as_json:
        return print_json(as_text(written))
    width = max(map(len, written))
    for what, path in written.items():
        print(f"{what + ':':{width + 2}}{path}")
    return None


def include_files(files: Iterable[Path]) -> None:
    """Execute own files and register their components; a command without any imports nothing for it."""
    for file in files:
        from tenfold.runs.own_components import include as register_all

        register_all(file)


@app.meta.default
def _command(
    *words: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)], include: Include = ()
) -> None:
    """Every command takes --include. One whose last words may be flags, as `train`, has to take it by itself."""
    include_files(include)
    app(words, exit_on_error=False, print_error=False)


# Modules that add commands to the app; those of a feature stand in its folder.
COMMANDS = (
    "tenfold.cli.run_commands",
    "tenfold.cli.sweep_commands",
    "tenfold.cli.results_commands",
    "tenfold.cli.listing_commands",
    "tenfold.cli.ledger_commands",
    "tenfold.cli.redraw_commands",
    "tenfold.cli.export_commands",
    "tenfold.cli.league_commands",
    "tenfold.features.calibration.calibration_commands",
    "tenfold.features.complexity.complexity_commands",
    "tenfold.features.harness.harness_commands",
    "tenfold.features.explorer.explorer_commands",
    "tenfold.features.influence.influence_commands",
    "tenfold.features.linear_attention.ring_commands",
    "tenfold.features.maps.map_commands",
    "tenfold.features.probe.probe_commands",
    "tenfold.features.proofs.proof_commands",
    "tenfold.features.reach.reach_commands",
    "tenfold.features.truncation.truncation_commands",
)


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"warning: {printable(message)}", file=sys.stderr)


def main() -> None:
    """Run a command; whatever the person can mend is one line on standard error."""
    for module in COMMANDS:
        importlib.import_module(module)
    if isinstance(sys.stdout, io.TextIOWrapper):  # names of files need not be UTF-8
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            app.meta(sys.argv[1:], exit_on_error=False, print_error=False)
    except TenfoldError as error:
        _fail(error, error.exit_code)
    except CycloptsError as error:
        _fail(" ".join(str(error).split()))
    except UnicodeError:
        _fail("a text has characters that are not UTF-8")
    except RecursionError:
        _fail("something is nested too deep")
    except MemoryError:
        _fail("this needs more memory than there is")
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(141) from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(f"{where}{error.strerror or error}")


def _fail(problem: object, exit_code: int = 2) -> NoReturn:
    """One line on standard error, whatever the names in it."""
    print(f"error: {printable(problem)}", file=sys.stderr)
    raise SystemExit(exit_code) from None
