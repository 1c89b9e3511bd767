"""What a corpus is: documents, each in one part alone, and a stamp that changes when they do."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from tenfold.core.registry import Checked

Part = Literal["train", "validation", "test"]
PARTS: tuple[Part, ...] = get_args(Part)
TEST, VALIDATION = 0.10, 0.05  # shares of the documents


@dataclass(frozen=True)
class Document:
    """A text that is in one part as a whole: a file, a docstring's file, an article."""

    name: str
    text: str
    part: Part


class Corpus(Checked, ABC):
    """Text by documents. Constructing one reads nothing: what is missing is reported when documents are read."""

    name: ClassVar[str]
    counted: ClassVar[str] = "tokens"  # what a length counts
    joined: ClassVar[bool] = False  # documents follow each other without an end between them

    @abstractmethod
    def documents(self) -> Iterator[Document]:
        """All documents, one at a time, always in the same order."""

    @abstractmethod
    def stamp(self) -> str:
        """Says what the documents are without reading them: another stamp, perhaps other documents."""


def part_of(name: str) -> Part:
    """By the hash of a document's name alone: one more document moves no other.

    >>> [part_of(f"{number}.txt") for number in (0, 7, 11)]
    ['train', 'train', 'train']
    """
    place = int.from_bytes(mixed(name)[:8], "big") / 2**64
    return "test" if place < TEST else "validation" if place < TEST + VALIDATION else "train"


def mixed(name: str) -> bytes:
    """A hash: an order that follows neither names nor folders."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()
