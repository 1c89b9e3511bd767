"""An answer of a model, beside the truth where one is known."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from tenfold.core.errors import TenfoldError
from tenfold.core.stored_files import LARGEST_TEXT


@dataclass(frozen=True)
class Answer:
    """A model's answer to one question, beside the truth."""

    question: str
    answer: str
    truth: str | None  # None: what somebody began to write has none
    whole: bool = True  # whether every token is right, also zeros in front and the end

    @property
    def right(self) -> bool | None:
        """As an exam grades it."""
        return None if self.truth is None else self.whole and self.answer == self.truth

    def wrong_digits(self) -> list[bool]:
        """For each character of the answer, whether it is wrong, aligned at the units."""
        if self.truth is None:
            return [False] * len(self.answer)
        width = max(len(self.answer), len(self.truth))
        answer, truth = self.answer.rjust(width), self.truth.rjust(width)
        marks = [a != t for a, t in zip(answer, truth, strict=True)]
        return marks[width - len(self.answer) :]


@dataclass(frozen=True)
class Continuation(Answer):
    """How a model goes on with a text. Another way to go on is not wrong: what differs is not marked."""

    def wrong_digits(self) -> list[bool]:
        return [False] * len(self.answer)


@dataclass(frozen=True)
class GoingOn:
    """How to go on with a text: so many tokens, the likeliest ones, or drawn at a temperature."""

    tokens: int = 100
    temperature: float = 0.0
    seed: int = 0


def answers_in(file: Path, answer: Callable[[str], Answer]) -> Iterator[Answer]:
    """An answer to every line of a file, one at a time; `-` is standard input. An error names its line."""
    for number, question in enumerate(_lines(file), start=1):
        try:
            if question:
                yield answer(question)
        except TenfoldError as error:
            raise TenfoldError(f"line {number}: {error}") from None


def _lines(file: Path) -> Iterator[str]:
    if str(file) == "-":
        yield from _questions(sys.stdin)
        return
    try:
        with file.open() as lines:
            yield from _questions(lines)
    except UnicodeDecodeError:
        raise TenfoldError(f"{file} is not a text file") from None


def _questions(lines: TextIO) -> Iterator[str]:
    """Lines up to a length: /dev/zero would be one without an end."""
    while line := lines.readline(LARGEST_TEXT):
        if len(line) == LARGEST_TEXT:
            raise TenfoldError(f"a question is longer than {LARGEST_TEXT:,} characters")
        yield line.strip()
