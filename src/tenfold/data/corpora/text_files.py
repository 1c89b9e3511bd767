"""Text from a file, a folder, or the files that match a pattern."""

from __future__ import annotations

import glob
import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tenfold.core.errors import TenfoldError
from tenfold.data.corpora.corpus import PARTS, TEST, VALIDATION, Corpus, Document, mixed, part_of

LINE_END = re.compile(r"[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")  # as `splitlines` has it
SPACE, ANYWHERE = re.compile(" "), re.compile(".", re.DOTALL)


class Files(Corpus):
    """UTF-8 text below `path`: `notes.txt`, `notes/`, `notes/**/*.md`.

    Each file belongs to training, validation or test as a whole, by the hash of its path below the folder. A single file
    is cut at line ends, or at spaces if it has too few lines; the last tenth is the test part. Duplicate files count once.
    """

    name = "files"

    def __init__(self, path: str) -> None:
        self.path = path

    def stamp(self) -> str:
        return stamped(self._files())

    def largest(self) -> int:
        return max(path.stat().st_size for path in self._files().values())

    def documents(self) -> Iterator[Document]:
        files = self._files()
        if len(files) == 1:
            (name, path), *_ = files.items()
            yield from cut(name, read_text(path))
            return
        yield from distinct(files)

    def _files(self) -> dict[str, Path]:
        """Files by their path below the common folder."""
        given = Path(self.path).expanduser()
        if given.is_file():
            return {given.name: given}
        if given.is_dir():
            root, pattern = given, "**/*"
        else:
            parts = given.parts
            plain = [n for n, part in enumerate(parts) if glob.has_magic(part)]
            if not plain:
                raise TenfoldError(f"there is no file or folder {self.path}")
            root, pattern = Path(*parts[: plain[0]]), str(Path(*parts[plain[0] :]))
        below = {path.relative_to(root).as_posix(): path for path in root.glob(pattern)}
        files = {
            name: path
            for name, path in sorted(below.items())
            if path.is_file() and not any(part.startswith(".") for part in Path(name).parts)
        }
        if not files:
            raise TenfoldError(
                f"{self.path} names no file; a file, a folder, or docs/**/*.txt would be right"
            )
        return files


def read_text(path: Path) -> str:
    """Read a text file. The error for any other content names the file."""
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise TenfoldError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise TenfoldError(
            f"{path} is not UTF-8 text (byte {error.start}); name the files that are, as docs/**/*.txt does"
        ) from None
    if "\0" in text:
        raise TenfoldError(f"{path} is binary; name the files that are text, as docs/**/*.txt does")
    return text.replace("\r\n", "\n")


def distinct(files: dict[str, Path]) -> Iterator[Document]:
    """Files in the order of their hashes, without duplicates of the same text."""
    seen: set[bytes] = set()
    for name in sorted(files, key=mixed):
        text = read_text(files[name])
        digest = hashlib.sha256(text.encode()).digest()
        if text.strip() and digest not in seen:
            seen.add(digest)
            yield Document(name, text, part_of(name))


def cut(name: str, text: str) -> Iterator[Document]:
    """Cut one text into three parts, in order. Cuts are at the start of a line, else of a word, else of a character.

    >>> [(each.text, each.part) for each in cut("one.txt", "abc " * 20)][1:]
    [('abc ', 'validation'), ('abc abc ', 'test')]
    """
    ends = [round(len(text) * share) for share in (1 - TEST - VALIDATION, 1 - TEST)]
    for pattern in (LINE_END, SPACE, ANYWHERE):
        first, second = (_after(pattern, text, end) for end in ends)
        if 0 < first < second < len(text):
            break
    parts = (text[:first], text[first:second], text[second:])
    for part, piece in zip(PARTS, parts, strict=True):
        if piece:
            yield Document(f"{name} ({part})", piece, part)


def _after(pattern: re.Pattern[str], text: str, end: int) -> int:
    """The end of the first match, at `end` or later."""
    match = pattern.search(text, end - 1) if end else None
    return match.end() if match else end and len(text)


def stamped(files: dict[str, Path]) -> str:
    """A stamp from the names, sizes and times of files."""
    lines: Sequence[str] = [
        f"{name} {path.stat().st_size} {path.stat().st_mtime_ns}" for name, path in files.items()
    ]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
