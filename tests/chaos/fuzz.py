"""Fuzzed commands: every command with values for its own parameters, which are read from the command line's definitions.

No input may end in a traceback, in silence, in more than one line of error, after 30 seconds of work without a word,
or in more than 4 GB.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import stat
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from cyclopts import App
from tests.chaos.damage import DamageAttacks
from tests.chaos.forked import SHOWN, run, tenfold
from tests.chaos.sweeps import fork_workers
from tests.chaos.training import RECIPE
from tests.chaos.words import CHANGES, KEYS, LINES, PYTHON, TEXTS, VALUES, value

from tenfold.cli.app import app

LEFT_ALONE = {"--help", "-h", "--version", "--install-completion"}
WRITTEN = ("fuzzed.yaml", "fuzzed.json", "fuzzed.py")
WRONG = (0.03, 0.1, 0.5)  # shares of a command's values: where most are right, it comes to its work
SKIPPED = {"demo"}  # without parameters; it trains for a minute


def found(parent: App, words: tuple[str, ...] = ()) -> dict[tuple[str, ...], App]:
    """Every command of the app by its words."""
    commands: dict[tuple[str, ...], App] = {}
    for name in parent:
        if name in LEFT_ALONE or name in SKIPPED:
            continue
        inner = found(parent[name], (*words, name))
        commands |= inner or {(*words, name): parent[name]}
    return commands


def turns(parameters: Mapping[tuple[str, ...], int]) -> list[tuple[str, ...]]:
    """Every command as often as it has parameters, in rounds: first each, then each that has two, and so on."""
    rounds = range(max(parameters.values()))
    return [words for n in rounds for words, count in parameters.items() if max(count, 1) > n]


class FuzzAttacks:
    """A folder with runs, recipes and grids, in which fuzzed commands are called."""

    def __init__(self, folder: Path, damage: DamageAttacks) -> None:
        self.whole, self.place = damage.folder, folder / "fuzzed"
        self.commands = {
            words: each.assemble_argument_collection() for words, each in found(app).items()
        }
        self.turns = turns({words: len(each) for words, each in self.commands.items()})
        self.before: list[tuple[Any, ...]] | None = None
        (self.whole / "own.yaml").write_text(RECIPE.as_yaml())
        grid = {"recipe": "own.yaml", "grid": {"pe": ["alibi", "none"]}, "seeds": [0, 1]}
        (self.whole / "grid.yaml").write_text(yaml.safe_dump(grid))
        (self.whole / "text.txt").write_text("a line of text\n" * 50)
        (self.whole / "question.txt").write_text("12+345\n")
        os.environ["TENFOLD_CACHE"] = str(folder / "cache")
        os.environ["HOME"] = str(folder)

    def fuzz(self, number: int, draw: random.Random) -> str | None:
        words = self.turns[number % len(self.turns)]
        line = [*words, *self._arguments(words, draw)]
        self._restore()
        self._write_files(draw)

        def command() -> None:
            fork_workers()
            tenfold(*line)()

        problem = run(command, self.place, shown=draw.choice(SHOWN)).problem()
        if problem is None:
            return None
        kept = self.place.with_name(f"failed-{number}")
        shutil.rmtree(kept, ignore_errors=True)
        self.place.rename(kept)
        return f"{[word if len(word) < 80 else f'{word[:40]}... ({len(word)})' for word in line]}: {problem}"

    def _restore(self) -> None:
        """The folder as it was, made anew if the last command changed it."""
        if self.before is None or _listing(self.place) != self.before:
            shutil.rmtree(self.place, ignore_errors=True)
            shutil.copytree(self.whole, self.place)
            self.before = _listing(self.place)

    def _arguments(self, words: tuple[str, ...], draw: random.Random) -> list[str]:
        positional: list[str] = []
        flags: list[str] = []
        wrong = draw.choice(WRONG)
        for argument in self.commands[words]:
            if not argument.parse or "*" in argument.names:
                continue
            kind, hint = argument.field_info.kind.name, _plain(argument.hint)
            name = argument.names[0].lstrip("-").lower()
            if kind == "POSITIONAL_ONLY" or (kind == "POSITIONAL_OR_KEYWORD" and argument.required):
                if (argument.required and draw.random() < 0.95) or draw.random() < 0.5:
                    positional.append(self._one(name, hint, draw, wrong))
            elif kind == "VAR_POSITIONAL":
                positional += self._several(words, name, hint, draw, wrong)
            elif draw.random() < (0.95 if argument.required else 0.2):
                flags += self._flag(argument.names[0], name, hint, draw, wrong)
        if draw.random() < 0.1 * wrong:
            flags.append(draw.choice(TEXTS))
        mixed = [*positional, *flags]
        if words == ("redraw",) and not any(word.startswith("--out") for word in mixed):
            mixed += ["--out", "new"]  # the results of this checkout are not to be drawn again
        return mixed if words != ("train",) else [*mixed, *self._small(draw)]

    @staticmethod
    def _several(
        words: tuple[str, ...], name: str, hint: Any, draw: random.Random, wrong: float
    ) -> list[str]:
        if name != "overrides":
            if words in LINES and draw.random() >= wrong:
                return draw.choice(LINES[words])
            return [value(name, hint, draw, wrong) for _ in range(draw.choice([0, 1, 1, 2, 3]))]
        changes = []
        for _ in range(draw.choice([0, 1, 1, 2, 3])):
            key, shown = draw.choice(CHANGES)
            if draw.random() < wrong:
                key = draw.choice(KEYS)
                shown = draw.choice(
                    [json.dumps(draw.choice(VALUES)), str(draw.choice(VALUES)), draw.choice(TEXTS)]
                )
            changes += [f"--{key}", shown]
        return changes

    @staticmethod
    def _one(name: str, hint: Any, draw: random.Random, wrong: float) -> str:
        if typing.get_origin(hint) is typing.Literal and draw.random() >= wrong:
            return str(draw.choice(typing.get_args(hint)))
        return value(name, hint, draw, wrong)

    @staticmethod
    def _small(draw: random.Random) -> list[str]:
        """Most trainings only count, or are so small that they end."""
        return draw.choice([["--dry-run"], ["--scale", "smoke"], ["--train.steps", "3"], []])

    def _flag(
        self, flag: str, name: str, hint: Any, draw: random.Random, wrong: float
    ) -> list[str]:
        if hint is bool:
            return [flag]
        origin, inner = typing.get_origin(hint), hint
        if origin in (tuple, list):
            inner = typing.get_args(hint)[0]
        several = 2 if origin is tuple and Ellipsis not in typing.get_args(hint) else 1
        values = [self._one(name, inner, draw, wrong) for _ in range(several)]
        return [f"{flag}={values[0]}"] if several == 1 and draw.random() < 0.5 else [flag, *values]

    def _write_files(self, draw: random.Random) -> None:
        """A recipe or grid in YAML, JSON and Python that are wrong somewhere."""
        values = (
            RECIPE.as_json()
            if draw.random() < 0.7
            else {"recipe": "own.yaml", "seeds": [0], "grid": {}}
        )
        for _ in range(draw.choice([1, 1, 2, 3])):
            *above, last = draw.choice(
                [*KEYS, "grid.pe", "seeds", "cases", "recipe", "scales.smoke", "extends"]
            ).split(".")
            inner = values
            for key in above:
                inner[key] = inner[key] if isinstance(inner.get(key), dict) else {}
                inner = inner[key]
            inner[last] = draw.choice(VALUES)
        text = yaml.safe_dump(values, sort_keys=False)
        if draw.random() < 0.3:
            place = draw.randrange(len(text))
            text = (
                text[:place]
                + draw.choice([*TEXTS, "&a [*a]", "!!python/name:os.system", "\x00", "- "])
                + text[place:]
            )
        recipe, same, python = (self.place / name for name in WRITTEN)
        recipe.write_text(text, errors="surrogateescape")
        same.write_text(json.dumps(values))
        python.write_text(draw.choice(PYTHON))


def _listing(folder: Path) -> list[tuple[Any, ...]]:
    """Everything below a folder but the files that each case writes anew; of files also when they were changed."""
    listing: list[tuple[Any, ...]] = []
    for path in sorted(folder.rglob("*")):
        known = path.lstat()
        if stat.S_ISDIR(known.st_mode):
            listing.append((path, known.st_mode))
        elif path.parent != folder or path.name not in WRITTEN or not stat.S_ISREG(known.st_mode):
            listing.append((path, known.st_mode, known.st_ino, known.st_size, known.st_ctime_ns))
    return listing


def _plain(hint: Any) -> Any:
    """A type without None."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        rest = [each for each in typing.get_args(hint) if each is not type(None)]
        return rest[0]
    return hint
