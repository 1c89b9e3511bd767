"""The training curve of a run, `metrics.jsonl`: one line of JSON for each logged step.

A checkpoint knows how many bytes of the file it has seen, and their hash. These bytes are on the disk before the
checkpoint is. A run that resumes cuts the file back to them. Where they were damaged, it keeps what is whole and says so.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from tenfold.core.errors import TenfoldError
from tenfold.core.files import sync, write_atomically
from tenfold.core.stored_files import LARGEST_TEXT, read_stored

METRICS = "metrics.jsonl"
Metrics = dict[str, Any]


class MetricsFile:
    """The open file. `seen` bytes with the hash `sha256` belong to the checkpoint of `step` that training goes on from."""

    def __init__(self, path: Path, step: int, seen: int, sha256: str) -> None:
        self.path = path
        try:
            lines = self._reconciled(step, seen, sha256)
            self.file = path.open("ab")
            self.file.truncate(len(lines))
            self.file.seek(len(lines))
        except OSError as error:
            raise TenfoldError(f"cannot write {path}: {error.strerror or error}") from None
        self.hash = hashlib.sha256(lines)

    def _reconciled(self, step: int, seen: int, sha256: str) -> bytes:
        """What the checkpoint had seen; of a damaged file its whole lines, which then are the file."""
        try:
            data = read_stored(self.path.parent, self.path.name, LARGEST_TEXT)
        except FileNotFoundError:
            data = b""
        lines = data[:seen]
        known = hashlib.sha256(lines).hexdigest() if sha256 else ""  # version 0.1 had no hash
        if known == sha256 and len(lines) == seen and (not lines or lines.endswith(b"\n")):
            return lines
        lines = whole_lines(data, step)
        warnings.warn(
            f"{self.path} was damaged: of {seen:,} bytes up to step {step}, {len(lines):,} bytes in whole lines "
            "are left; the curve has a gap",
            stacklevel=2,
        )
        write_atomically(self.path, lines)
        return lines

    def write(self, line: Metrics) -> None:
        data = json.dumps(line).encode() + b"\n"
        try:
            self.file.write(data)
            self.file.flush()
        except OSError as error:
            raise self._unwritable(error) from None
        self.hash.update(data)

    def secure(self) -> tuple[int, str]:
        """Bring every line to the disk; the number of bytes, and their hash."""
        try:
            os.fsync(self.file.fileno())
            sync(self.path.parent)
        except OSError as error:
            raise self._unwritable(error) from None
        return self.file.tell(), self.hash.hexdigest()

    def _unwritable(self, error: OSError) -> TenfoldError:
        reason = error.strerror or error
        return TenfoldError(f"cannot write {self.path}: {reason}; the last checkpoint stands")

    def __enter__(self) -> MetricsFile:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # every line was flushed, or its failure was raised
            self.file.close()


def parse_lines(data: bytes, path: Path) -> list[Metrics]:
    """The values of whole lines; `path` is for the error."""
    lines = [line for line in data.splitlines(keepends=True) if line.endswith(b"\n")]
    try:
        values = [json.loads(line) for line in lines]
    except (ValueError, RecursionError) as error:
        raise TenfoldError(f"{path} is damaged: {error}") from None
    for number, value in enumerate(values, start=1):
        if not isinstance(value, dict) or not isinstance(value.get("step"), int):
            raise TenfoldError(f"{path} is damaged: line {number} is of no step")
    return values


def whole_lines(data: bytes, last: int) -> bytes:
    r"""The lines of metrics that are whole and in order, up to a step.

    >>> whole_lines(b'{"step": 1}\n{"st\n{"step": 2}\n{"step": 3}\n', 2)
    b'{"step": 1}\n{"step": 2}\n'
    """
    lines, before = [], 0
    for torn in data.splitlines(keepends=True):
        line = torn.lstrip(b"\0")  # of lines that a power cut left as zeros
        try:
            step = json.loads(line)["step"] if line.endswith(b"\n") else None
        except (ValueError, LookupError, TypeError, RecursionError):
            continue
        if isinstance(step, int) and before < step <= last:
            lines.append(line)
            before = step
    return b"".join(lines)
