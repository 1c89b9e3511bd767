"""The interface of a corpus: documents, each in exactly one part, and a stamp that changes when they change."""

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
    """A text that belongs to one part as a whole: a file, the docstrings of a file, an article."""

    name: str
    text: str
    part: Part


class Corpus(Checked, ABC):
    """A collection of documents. The constructor reads nothing; missing files are reported when documents are read."""

    name: ClassVar[str]
    counted: ClassVar[str] = "tokens"  # the unit of lengths
    private: ClassVar[bool] = True  # whether its text may be a person's own files
    joined: ClassVar[bool] = False  # whether documents are joined without an end token between them

    @abstractmethod
    def documents(self) -> Iterator[Document]:
        """All documents, one at a time, always in the same order."""

    def largest(self) -> int:
        """Bytes of the largest document, which is held in memory; 0 where it is not known beforehand."""
        return 0

    @abstractmethod
    def stamp(self) -> str:
        """An identifier of the documents, computed without reading them. It changes if they may have changed."""


def part_of(name: str) -> Part:
    """The part of a document, by the hash of its name alone, so that a new document does not move any other.

    >>> [part_of(f"{number}.txt") for number in (0, 7, 11)]
    ['train', 'train', 'train']
    """
    place = int.from_bytes(mixed(name)[:8], "big") / 2**64
    return "test" if place < TEST else "validation" if place < TEST + VALIDATION else "train"


def mixed(name: str) -> bytes:
    """A hash of the name, for an order that follows neither names nor folders."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()
