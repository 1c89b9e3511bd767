"""Tokenizers: bytes, characters, or learned pieces (BPE). Token 0 ends a document.

The option `size` states the size of the vocabulary, so that a model can be built before any text is read.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Checked

Ids = NDArray[np.unsignedinteger[Any]]
END = 0
LEARNED_FROM = 50_000_000  # at most this many characters of the training text


class Writing(Checked, ABC):
    name: ClassVar[str]
    size: int  # size of the vocabulary
    lossless: ClassVar[bool] = True  # whether the text can be restored from its tokens

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(
            np.uint8 if self.size <= 2**8 else np.uint16 if self.size <= 2**16 else np.uint32
        )

    def learn(self, texts: Iterable[str]) -> str:
        """Learn a vocabulary from the training text. Returns it as text that `know` accepts."""
        return ""

    def know(self, learned: str) -> None:
        """Use a learned vocabulary."""
        return

    @abstractmethod
    def ids(self, text: str) -> Ids:
        """The tokens of a text."""

    @abstractmethod
    def text(self, ids: Ids) -> str:
        """The text of tokens. The end of a document becomes a form feed."""

    @abstractmethod
    def widths(self) -> NDArray[np.int64]:
        """The number of bytes of text that each token represents: (V,)."""


class Bytes(Writing):
    """UTF-8 bytes, which can represent any text: 256 tokens.

    >>> Bytes().ids("def").tolist()
    [100, 101, 102]
    """

    name = "bytes"
    size = 256

    def __init__(self) -> None: ...

    def ids(self, text: str) -> Ids:
        return np.frombuffer(text.encode(), dtype=np.uint8)

    def text(self, ids: Ids) -> str:
        return bytes(int(i) or 12 for i in ids).decode(errors="replace")

    def widths(self) -> NDArray[np.int64]:
        return (np.arange(self.size) != END).astype(np.int64)


class Characters(Writing):
    """The `size` - 2 most common characters of the training text. Token 1 is any other character."""

    name = "characters"
    lossless = False

    def __init__(self, size: Annotated[int, Field(ge=3, le=2**16)] = 256) -> None:
        self.size = size
        self.known = ""

    def learn(self, texts: Iterable[str]) -> str:
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(text)
        common = sorted(counts, key=lambda character: (-counts[character], character))
        return "".join(common[: self.size - 2])

    def know(self, learned: str) -> None:
        self.known = learned
        self._numbers = {character: number for number, character in enumerate(learned, start=2)}

    def ids(self, text: str) -> Ids:
        return np.fromiter((self._numbers.get(c, 1) for c in text), self.dtype, len(text))

    def text(self, ids: Ids) -> str:
        symbols = "\f\ufffd" + self.known
        return "".join(symbols[int(i)] if i < len(symbols) else "\ufffd" for i in ids)

    def widths(self) -> NDArray[np.int64]:
        sizes = np.ones(self.size, dtype=np.int64)
        sizes[END] = 0
        sizes[2 : 2 + len(self.known)] = [len(character.encode()) for character in self.known]
        return sizes


class BPE(Writing):
    """Byte pair encoding (Sennrich et al. 2016), learned from the training text, over bytes: no text is unknown."""

    name = "bpe"

    def __init__(self, size: Annotated[int, Field(ge=257, le=2**20)] = 4096) -> None:
        self.size = size
        self._pieces: Any = None

    def learn(self, texts: Iterable[str]) -> str:
        from tokenizers import trainers

        pieces = self._blank()
        trainer = trainers.BpeTrainer(
            vocab_size=self.size,
            special_tokens=["\0"],  # does not occur in text
            initial_alphabet=sorted(_alphabet()),
            show_progress=False,
        )
        pieces.train_from_iterator(_first(texts, LEARNED_FROM), trainer)
        return str(pieces.to_str())

    def know(self, learned: str) -> None:
        self._blank()  # raises an error that names a missing package
        from tokenizers import Tokenizer

        self._pieces = Tokenizer.from_str(learned)

    def _blank(self) -> Any:
        try:
            from tokenizers import Tokenizer, decoders, models, pre_tokenizers
        except ImportError:
            raise TenfoldError(
                "the format bpe needs the tokenizers library, which is not installed; "
                "pip install 'tenfold[language]'"
            ) from None
        pieces = Tokenizer(models.BPE())
        pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        pieces.decoder = decoders.ByteLevel()
        return pieces

    def ids(self, text: str) -> Ids:
        return np.array(self._pieces.encode(text).ids, dtype=self.dtype)

    def text(self, ids: Ids) -> str:
        parts = np.split(ids, np.flatnonzero(ids == END))
        texts = [self._pieces.decode([int(i) for i in part if i != END]) for part in parts]
        return "\f".join(texts)

    def widths(self) -> NDArray[np.int64]:
        """The number of bytes of each token; each symbol of the alphabet represents one byte."""
        sizes = np.zeros(self.size, dtype=np.int64)
        for piece, number in json.loads(self._pieces.to_str())["model"]["vocab"].items():
            sizes[number] = 0 if number == END else len(piece)
        return sizes


def _alphabet() -> list[str]:
    from tokenizers import pre_tokenizers

    return list(pre_tokenizers.ByteLevel.alphabet())


def _first(texts: Iterable[str], characters: int) -> Iterable[str]:
    for text in texts:
        yield text[:characters]
        characters -= len(text)
        if characters <= 0:
            return
