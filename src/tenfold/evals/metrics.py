"""What each metric of a result row is: which lie between 0 and 1, and of which less is better."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

SHARES = ("exact", "digit")  # between 0 and 1
LOWER = ("perplexity", "loss", "bits-per-byte")  # less is better


@dataclass(frozen=True)
class Measurement:
    """One measurement over n problems: `exact`, with its 95% interval, or `digit`, the share of answer digits right.

    Digits of one problem are not independent trials, so `digit` has no interval.
    """

    length: int
    slice: str
    metric: str
    value: float
    n: int
    low: float | None = None
    high: float | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)
