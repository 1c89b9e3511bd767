"""Read a bias from a file of numbers: one line for each distance, one column for each head."""

from __future__ import annotations

import math
from pathlib import Path

import torch
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.core.stored_files import LARGEST_TEXT, read_stored
from tenfold.encodings.decay_series import Decay, Series, SeriesVerdict, never, unbounded

LONGEST = 1 << 22  # the largest number of distances


def table(path: Path | str, *, weights: bool = False) -> Series:
    """Read a file of biases (or of `weights`, their exponentials): distance 0 in the first line, then 1, 2, ...

    Numbers are separated by spaces or commas. Lines that begin with # are comments. A table is finite, so nothing is
    known about the sum over all distances.
    """
    whole = Path(path).resolve()
    try:
        lines = read_stored(whole.parent, whole.name, LARGEST_TEXT).decode().splitlines()
    except UnicodeDecodeError:
        raise TenfoldError(f"{path} is not text; a table of numbers is") from None
    except FileNotFoundError:
        raise TenfoldError(f"{path} cannot be read: No such file or directory") from None
    rows = [
        _numbers(path, number, line, weights)
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not rows:
        raise TenfoldError(f"{path} holds no numbers; a line for each distance is right")
    if len(rows) == 1:  # all on one line: one head
        rows = [[value] for value in rows[0]]
    if len(rows) > LONGEST:
        raise TenfoldError(f"{path} has {len(rows)} distances; at most {LONGEST}")
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise TenfoldError(
                f"{path} has {len(row)} numbers for distance {number}, {len(rows[0])} for distance 0"
            )
    logs = torch.tensor(rows, dtype=torch.float64).T  # (H, N)
    if bool((logs.amax(1) == -math.inf).any()):
        raise TenfoldError(f"{path} has a head that sees nothing; one weight above 0 is needed")
    return tabled(logs)


def tabled(logs: Tensor) -> Series:
    """The series of biases (H, N) by head and distance.

    >>> series = tabled(torch.tensor([[0.0, -1.0, -2.0]]))
    >>> series.decay.ends, series.verdicts[0].converges
    (3, None)
    """
    logs = logs - logs.amax(1, keepdim=True)
    ends = logs.shape[1]

    def log_b(n: Tensor, by_distance: Tensor) -> Tensor:
        if int(n.max()) >= ends:
            raise TenfoldError(f"the distance {int(n.max())}; the table ends at {ends - 1}")
        return by_distance.gather(1, n.long().expand(len(by_distance), -1))

    def judged(by_distance: Tensor) -> list[SeriesVerdict]:
        return [SeriesVerdict(None, f"undecided: {_evidence(row)}") for row in by_distance]

    why = f"undecided: the table ends at distance {ends - 1}"
    return Series(
        Decay("a table", log_b, unbounded, never, why, wavy=True, judged=judged, ends=ends),
        (logs,),
    )


def _evidence(row: Tensor) -> str:
    """The decay of a head over the last factor of ten of its distances. It is evidence, not a proof."""
    last = len(row) - 1
    text = f"the table ends at distance {last}"
    first = max(1, last // 10)
    if last <= first or not bool(row[[first, last]].isfinite().all()):
        return text
    slope = float(row[last] - row[first]) / math.log(last / first)
    return f"{text}; from {first} to there it goes like n^{slope:.3g}"


def _numbers(path: Path | str, number: int, line: str, weights: bool) -> list[float]:
    numbers = []
    for word in line.replace(",", " ").split():
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if math.isnan(value) or value == math.inf or (weights and value < 0):
            right = "a weight of 0 or more" if weights else "a finite number, or -inf"
            raise TenfoldError(f'{path}, line {number}: "{word}"; {right} is right')
        numbers.append((math.log(value) if value else -math.inf) if weights else value)
    return numbers
