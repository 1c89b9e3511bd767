"""What an attack came to: cases tried, cases failed, and how each failed case can be repeated."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

Case = Callable[[int, random.Random], "str | None"]  # its number and its chance -> what is wrong


@dataclass
class Outcome:
    name: str
    tried: int = 0
    seconds: float = 0.0
    failures: list[tuple[int, str]] = field(default_factory=list)
    commands: int = 0  # that the cases called, where a case calls several

    def row(self) -> str:
        return f"| {self.name} | {self.tried:,} | {len(self.failures)} | {self.seconds:.0f} s |"


def attack(name: str, case: Case, numbers: Iterable[int], seed: int, until: float) -> Outcome:
    """Try the cases one after another until a time; a case is decided by its number and the seed alone."""
    outcome, began = Outcome(name), time.monotonic()
    for number in numbers:
        if time.monotonic() > until:
            break
        problem = case(number, random.Random(f"{seed} {name} {number}"))
        outcome.tried += 1
        outcome.seconds = time.monotonic() - began
        if problem is not None:
            outcome.failures.append((number, problem))
            print(f"FAILED {name}, case {number}: {problem}", file=sys.stderr, flush=True)
    return outcome
