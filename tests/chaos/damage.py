"""Damage to any file of a run folder or an export: every command refuses it in one line, warns, or is not affected.

A command that ends well, says nothing and prints something else than before is a silent failure.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.chaos.forked import run, tenfold

from tenfold.features.proofs.long_problems import LongProblem, write_long_problems
from tenfold.runs.recipe_files import SHELF

TRAINED, EXPORTED = "runs/trained", "runs/exported"
CHANGES = (
    "--name", "chaos/successor", "--stop", "null", "--model.width", "8", "--model.heads", "2", "--train.steps", "6",
    "--train.batch", "8", "--train.checkpoint_every", "3", "--train.log_every", "1", "--eval.lengths", "[2, 3]",
    "--eval.slices", "[uniform]", "--eval.n", "8", "--eval.every", "3", "--eval.validation_n", "8",
    "--eval.validation", "[3]",
)  # fmt: skip
SAID = re.compile(
    r"damaged|unverified|unknown|leads out|cannot be read|no regular file|was changed|is not right|\.(json|yaml) is missing",
    re.IGNORECASE,
)
SECONDS = re.compile(r"\d+(\.\d+)? (s|ms|seconds|minutes)\b|\d{4}-\d\d-\d\d[T ][\d:.+]+")


def commands(folder: str) -> list[tuple[str, ...]]:
    """What can be asked of a run."""
    both = [
        ("show", folder),
        ("show", folder, "--json"),
        ("ls", "runs"),
        ("ask", folder, "78"),
        ("eval", folder, "--lengths", "3", "--n", "8"),
        ("report", folder, "--out", "page"),
        ("certify", "--check", f"{folder}/certificate.json", folder),
        ("export", folder, "--out", "copy"),
    ]
    if folder == EXPORTED:
        return [*both, ("certify", folder, "--independent")]
    return [
        *both,
        ("results", folder),
        ("results", folder, "--format", "json", "--by", "length,slice,metric"),
        ("results", folder, "--sql", 'select length, count(*), sum("right"::int) from samples group by all order by 1'),
        ("train", f"{folder}/recipe.yaml", "--out", folder),
    ]  # fmt: skip


class DamageAttacks:
    """A trained run and an exported one, what commands say of them, and attacks on their files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "whole"
        self.copy = folder / "damaged"
        self.commands = 0
        (self.folder / "runs").mkdir(parents=True)
        shutil.copytree(SHELF / "successor", self.folder / EXPORTED)
        recipe = self.folder / "own.yaml"
        shutil.copy(SHELF / "successor" / "recipe.yaml", recipe)
        trained = ("train", str(recipe), "--out", TRAINED, "--log-samples", *CHANGES)
        for words, allowed in (
            (trained, (0,)),
            (("certify", TRAINED), (0, 1)),
            (("extract", TRAINED), (0,)),
        ):
            ended = run(tenfold(*words), self.folder)
            if ended.code not in allowed:
                raise SystemExit(f"{words} fails undamaged: {ended.err}")
        recipe.unlink()
        problem = LongProblem("9 + 1", 1, 1, 0.5, 0.25, True, True)
        write_long_problems([problem], self.folder / TRAINED)
        self.known: dict[tuple[str, ...], str | None] = {}
        self.files = sorted(
            path.relative_to(self.folder)
            for path in (self.folder / "runs").rglob("*")
            if path.is_file() and not path.name.startswith(("lease-", "."))
        )

    def damage(self, number: int, draw: random.Random) -> str | None:
        """One file is damaged; three commands that may read it are called."""
        name = self.files[number % len(self.files)]
        of = EXPORTED if str(name).startswith(EXPORTED) else TRAINED
        chosen = draw.sample(commands(of), 3)
        usual = [self._usual(words) for words in chosen]
        self._copy()
        how = draw.choice(WAYS)
        how(self.copy / name, draw)
        for words, before in zip(chosen, usual, strict=True):
            if (problem := self._problem(words, before)) is not None:
                return f"{name}, {how.__name__}: `tenfold {' '.join(words)}`: {problem}"
        return None

    def _problem(self, words: Sequence[str], before: str | None) -> str | None:
        for written in ("copy", "page"):
            shutil.rmtree(self.copy / written, ignore_errors=True)
        ended = run(tenfold(*words), self.copy)
        self.commands += 1
        if (problem := ended.problem()) is not None:
            return problem
        said = ended.err.strip() or SAID.search(ended.out)
        if ended.code and ended.out.strip() and not (before or "").startswith(f"{ended.code}\n"):
            return None  # refused
        now = self._output(self.copy, ended.out, ended.code)
        if not said and now != before and not SAID.search(now):
            return f"silent: {_difference(before or '', now)}"
        return None

    def _usual(self, words: tuple[str, ...]) -> str | None:
        """What a command prints and writes with every file whole."""
        if words not in self.known:
            self._copy()
            ended = run(tenfold(*words), self.copy)
            if ended.problem() is not None:
                raise SystemExit(f"{words} fails undamaged: {ended.problem()}")
            self.known[words] = self._output(self.copy, ended.out, ended.code)
        return self.known[words]

    def _copy(self) -> None:
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(self.folder, self.copy)

    @staticmethod
    def _output(folder: Path, printed: str, code: int) -> str:
        page = "".join(each.read_text() for each in sorted((folder / "page").glob("*.html")))
        weights = folder / "copy" / "weights.safetensors"
        copied = weights.read_bytes().hex() if weights.exists() else ""
        return SECONDS.sub("TIME", f"{code}\n{printed}\n{page}\n{copied}")


def _difference(before: str, now: str) -> str:
    pairs = zip(before.splitlines(), now.splitlines(), strict=False)
    first = next(((a, b) for a, b in pairs if a != b), ("(shorter)", "(shorter)"))
    return f"{first[0][:150]!r} became {first[1][:150]!r}"


def flip_a_bit(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)


def zero_a_part(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    start = draw.randrange(len(data))
    end = min(len(data), start + draw.choice([1, 8, 64, 4096]))
    data[start:end] = bytes(end - start)
    path.write_bytes(data)


def cut(path: Path, draw: random.Random) -> None:
    os.truncate(path, draw.randrange(path.stat().st_size))


def empty(path: Path, draw: random.Random) -> None:
    path.write_bytes(b"")


def remove(path: Path, draw: random.Random) -> None:
    path.unlink()


def change_a_digit(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    digits = [n for n, byte in enumerate(data) if 48 <= byte < 58] or [0]
    place = draw.choice(digits)
    data[place] = draw.choice([byte for byte in b"0123456789" if byte != data[place]])
    path.write_bytes(data)


def change_a_letter(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    letters = [n for n, byte in enumerate(data) if 97 <= byte < 123] or [0]
    data[draw.choice(letters)] = draw.choice(b"abcdefghijklmnopqrstuvwxyz")
    path.write_bytes(data)


def insert_noise(path: Path, draw: random.Random) -> None:
    data, place = path.read_bytes(), draw.randrange(path.stat().st_size)
    path.write_bytes(data[:place] + draw.randbytes(draw.randint(1, 64)) + data[place:])


def append_a_copy(path: Path, draw: random.Random) -> None:
    path.write_bytes(path.read_bytes() * 2)


def exchange(path: Path, draw: random.Random) -> None:
    others = [each for each in path.parent.iterdir() if each.is_file() and each != path]
    path.write_bytes(draw.choice(others).read_bytes())


def make_a_folder(path: Path, draw: random.Random) -> None:
    path.unlink()
    path.mkdir()


def lead_out(path: Path, draw: random.Random) -> None:
    outside = Path(str(path.parents[0]).split("/runs/")[0]) / f"outside-{path.name}"
    shutil.move(path, outside)
    path.symlink_to(outside)


def make_a_pipe(path: Path, draw: random.Random) -> None:
    path.unlink()
    os.mkfifo(path)


WAYS: tuple[Callable[[Path, random.Random], None], ...] = (
    flip_a_bit, zero_a_part, cut, empty, remove, change_a_digit, change_a_digit, change_a_letter, insert_noise,
    append_a_copy, exchange, make_a_folder, lead_out, make_a_pipe,
)  # fmt: skip
