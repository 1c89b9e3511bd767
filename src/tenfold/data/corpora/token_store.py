"""The tokens of a corpus on disk, written once and memory-mapped: a batch reads a few pages of a corpus of any size.

Files are below `TENFOLD_CACHE` (default: `~/.cache/tenfold`), in a folder named by corpus, tokenizer and stamp.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.corpora.corpus import PARTS, Corpus, Part
from tenfold.data.corpora.tokenizers import END, Ids, Writing

HELD = 4  # times its size is what a file takes while it is cut and written as tokens
FORM = 1  # version of the file format; changing it invalidates all earlier files


@dataclass(frozen=True)
class Store:
    """The tokens of the three parts, and their common digest."""

    folder: Path
    digest: str
    counts: dict[str, int]
    dtype: str

    def tokens(self, part: Part) -> Ids:
        """The tokens of a part, memory-mapped and read-only: (N,)."""
        return np.memmap(self.folder / f"{part}.bin", dtype=self.dtype, mode="r")

    def about(self) -> dict[str, Any]:
        """The record of the text that a run stores."""
        return {"text": self.digest, "tokens": dict(self.counts)}


def stored(
    corpus: Corpus,
    writing: Writing,
    named: tuple[Spec, Spec],
    expected: str | None = None,
    memory: int | None = None,
) -> Store:
    """The tokens of a corpus, from the cache if they exist. `writing` then has its learned vocabulary.

    `expected`, if given, is the digest that the text must have. Other text is an error, and is not kept. `memory`, if
    given, are the bytes that may be used. A file that needs more is refused before it is read.
    """
    known = [spec.model_dump(mode="json") for spec in named]
    key = json.dumps([FORM, *known, corpus.stamp()], sort_keys=True)
    folder = (
        cache() / f"{corpus.name}-{writing.name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    )
    if not (folder / "about.json").is_file():
        _check_memory(corpus, memory)
        _write(corpus, writing, folder, expected)
    try:
        about = json.loads((folder / "about.json").read_bytes())
        writing.know(about["learned"])
        store = Store(folder, about["digest"], about["counts"], about["dtype"])
        for part in PARTS:
            if store.tokens(part).size != store.counts[part]:
                raise ValueError(f"{part}.bin is cut short")
    except (OSError, ValueError, KeyError) as error:
        raise TenfoldError(
            f"{folder} is damaged ({error}); remove it, and it is written again"
        ) from None
    _check_expected(corpus, store.digest, expected)
    return store


def _check_memory(corpus: Corpus, memory: int | None) -> None:
    need = HELD * corpus.largest()
    if memory is not None and need > memory:
        raise TenfoldError(
            f'the largest file of the corpus "{corpus.name}" has {corpus.largest():,} bytes, and takes {HELD} times as '
            f"much memory, of which {memory:,} bytes are free; cut it into several files in one folder"
        )


def _check_expected(corpus: Corpus, digest: str, expected: str | None) -> None:
    if expected not in (None, digest):
        raise TenfoldError(
            f'the run was trained on other text than "{corpus.name}" is here and now (its digest was {expected}, '
            f"it is {digest}); train it again with --fresh"
        )


def cache() -> Path:
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tenfold"
    return Path(os.environ.get("TENFOLD_CACHE") or usual)


def _write(corpus: Corpus, writing: Writing, folder: Path, expected: str | None) -> None:
    """Write to a temporary folder and rename it. The first process wins, and no process sees partial files."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise TenfoldError(
            f"cannot write tokens to {folder.parent}: {error.strerror or error}; set TENFOLD_CACHE"
        ) from None
    try:
        learned = writing.learn(d.text for d in corpus.documents() if d.part == "train")
        writing.know(learned)
        digest, counts = _written(corpus, writing, fresh)
        _check_expected(corpus, digest, expected)
        for part in PARTS:
            if counts[part] < 2:
                raise TenfoldError(
                    f'no text for the {part} part of the corpus "{corpus.name}" ({_told(counts)}); parts are chosen '
                    "by file, so give more files, or a single one, which is cut in three"
                )
        about = {
            "digest": digest,
            "counts": counts,
            "dtype": writing.dtype.name,
            "learned": learned,
        }
        (fresh / "about.json").write_text(json.dumps(about))
        with suppress(OSError):  # another process was first
            fresh.rename(folder)
    except OSError as error:
        raise TenfoldError(f"cannot write tokens to {fresh}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _written(corpus: Corpus, writing: Writing, folder: Path) -> tuple[str, dict[str, int]]:
    """Write tokens with one document at a time in memory. Returns the digest and the counts."""
    counts: dict[str, int] = dict.fromkeys(PARTS, 0)
    digests = {part: hashlib.sha256() for part in PARTS}
    end = np.array([END], dtype=writing.dtype)
    files = {part: (folder / f"{part}.bin").open("wb") for part in PARTS}
    try:
        for document in corpus.documents():
            ids = writing.ids(document.text).astype(writing.dtype, copy=False)
            for piece in (ids,) if corpus.joined else (ids, end):
                content = piece.tobytes()
                files[document.part].write(content)
                digests[document.part].update(content)
            counts[document.part] += len(ids) + (not corpus.joined)
    finally:
        for file in files.values():
            file.close()
    if not sum(counts.values()):
        raise TenfoldError(f'the corpus "{corpus.name}" is empty: no document has any text')
    whole = hashlib.sha256("".join(digests[part].hexdigest() for part in PARTS).encode())
    return whole.hexdigest()[:16], counts


def _told(counts: dict[str, int]) -> str:
    return ", ".join(f"{part} {count:,} tokens" for part, count in counts.items())


def windows(tokens: Ids, n: int, length: int, rng: np.random.Generator) -> Ids:
    """Draw `n` windows of `length` + 1 tokens from random positions: (n, length + 1), determined by the generator."""
    if len(tokens) <= length:
        raise TenfoldError(f"a length of {length:,} tokens; the text has {len(tokens):,}")
    starts = rng.integers(0, len(tokens) - length, n)
    return np.stack([tokens[start : start + length + 1] for start in starts])
