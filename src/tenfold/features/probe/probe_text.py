"""The text that a model reads: a file, the files of a folder, a corpus by name, or strings; as tokens of its tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.corpora import CORPORA
from tenfold.data.corpora.text_files import Files, read_text

PIECE = 2**18  # characters that are written as tokens at a time


def named_texts(name: str) -> Iterator[str]:
    """The texts of a file, a folder or a pattern, all of them; or the test part of a corpus."""
    if Path(name).is_file():
        return iter([read_text(Path(name))])
    if name in CORPORA.names() and not Path(name).exists():
        corpus = CORPORA.build(Spec(name=name))
        return (each.text for each in corpus.documents() if each.part == "test")
    if not Path(name).exists() and not any(letter in name for letter in "*?["):
        known = ", ".join(each for each in CORPORA.names() if each != Files.name)
        raise TenfoldError(f'there is no file or folder "{name}", and no corpus of that name; corpora are {known}')  # fmt: skip
    return (each.text for each in Files(name).documents())


def written(tokenizer: Any, texts: Iterable[str], most: int) -> NDArray[np.int64]:
    """The first `most` tokens of texts, without tokens that the tokenizer adds; its end token stands between texts."""
    end = tokenizer.eos_token_id
    tokens: list[int] = []
    for text in texts:
        if tokens and end is not None:
            tokens.append(end)
        for start in range(0, len(text), PIECE):
            piece = text[start : start + PIECE]
            tokens += tokenizer(piece, add_special_tokens=False, verbose=False)["input_ids"]
            if len(tokens) >= most:
                return np.array(tokens[:most], np.int64)
    return np.array(tokens, np.int64)


def start_token(tokenizer: Any) -> int | None:
    """The token that the tokenizer puts before every text; None where it puts none there."""
    added = tokenizer("a", verbose=False)["input_ids"][:1]
    bare = tokenizer("a", add_special_tokens=False, verbose=False)["input_ids"][:1]
    return int(added[0]) if added and added != bare else None
