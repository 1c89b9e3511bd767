"""What an attack came to: cases tried, cases failed, and how each failed case can be repeated."""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

Case = Callable[[int, random.Random], "str | None"]  # its number and its chance -> what is wrong

MINUTE = 60.0  # seconds


@dataclass
class Outcome:
    name: str
    tried: int = 0
    seconds: float = 0.0
    computed: float = 0.0  # seconds of all processes
    failures: list[tuple[int, str]] = field(default_factory=list)
    commands: int = 0  # that the cases called, where a case calls several

    def row(self) -> str:
        each = self.computed / max(1, self.tried)
        return f"| {self.name} | {self.tried:,} | {len(self.failures)} | {self.seconds:.0f} s | {each:.2f} s |"


def attack(name: str, case: Case, numbers: Iterable[int], seed: int, until: float) -> Outcome:
    """Try the cases one after another until a time; a case is decided by its number and the seed alone."""
    outcome, began, used = Outcome(name), time.monotonic(), _computed()
    said = began
    for number in numbers:
        if time.monotonic() > until:
            break
        try:
            problem = case(number, random.Random(f"{seed} {name} {number}"))
        except KeyboardInterrupt:  # what was tried so far still counts
            break
        outcome.tried += 1
        outcome.seconds, outcome.computed = time.monotonic() - began, _computed() - used
        if problem is not None:
            outcome.failures.append((number, problem))
            print(f"FAILED {name}, case {number}: {problem}", file=sys.stderr, flush=True)
        if time.monotonic() - said > MINUTE:  # what a program that is ended later has tried
            said = time.monotonic()
            print(f"case {number}: {outcome.row()}", file=sys.stderr, flush=True)
    return outcome


def _computed() -> float:
    """Seconds that this process and its children have computed."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)
