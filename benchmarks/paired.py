"""Paired timing on a noisy machine: which of several functions is faster, and by how much.

All arms run in one process, on the same inputs, interleaved: every round calls each arm once in a random
order and once more in the reverse of it (ABBA), so that slow moments hit all arms alike. A ratio is the
median over rounds of time(base) / time(arm), with a bootstrap interval. The base runs twice, under two
names: if the ratio of these twins leaves 0.97-1.03 the machine was too noisy, and the run is repeated.

Two clocks are read: the wall clock, and the CPU time of the process. Arms are single-threaded and do not
wait for anything, so on an idle machine both say the same; under other load the CPU's is the steadier.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

TWIN = "A/A"  # the base once more
QUIET = (0.97, 1.03)
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


@dataclass(frozen=True)
class Ratio:
    """How many times as fast as the base: above 1 is faster."""

    median: float
    low: float  # 95% bootstrap interval of the median
    high: float

    def times(self, factor: float) -> Ratio:
        return Ratio(self.median * factor, self.low * factor, self.high * factor)

    def __str__(self) -> str:
        return f"{self.median:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Measured:
    """Seconds by clock, arm and round; `quiet` says whether the A/A arm stayed within bounds."""

    base: str
    seconds: dict[str, dict[str, np.ndarray]]
    attempts: int

    def ratio(self, arm: str, base: str | None = None, clock: str = "wall") -> Ratio:
        times = self.seconds[clock]
        return bootstrap(times[base or self.base] / times[arm])

    def median(self, arm: str, clock: str = "wall") -> float:
        """Seconds a call."""
        return float(np.median(self.seconds[clock][arm]))

    def least(self, arm: str, clock: str = "wall") -> float:
        return float(np.min(self.seconds[clock][arm]))

    @property
    def quiet(self) -> bool:
        low, high = QUIET
        return all(low <= self.ratio(TWIN, clock=clock).median <= high for clock in CLOCKS)

    def as_json(self) -> dict[str, Any]:
        arms = [arm for arm in self.seconds["wall"] if arm != self.base]
        return {
            "base": self.base,
            "rounds": len(self.seconds["wall"][self.base]),
            "attempts": self.attempts,
            "quiet": self.quiet,
            "ratios": {
                clock: {arm: asdict(self.ratio(arm, clock=clock)) for arm in arms}
                for clock in CLOCKS
            },
            "median_seconds": {
                clock: {arm: self.median(arm, clock) for arm in [self.base, *arms]}
                for clock in CLOCKS
            },
        }


def measure(
    arms: Mapping[str, Callable[[], object]],
    rounds: int = 30,
    warmup: int = 3,
    attempts: int = 3,
    seed: int = 0,
) -> Measured:
    """Time the arms against the first of them; noisy runs are thrown away, up to `attempts` times."""
    base = next(iter(arms))
    both = {**arms, TWIN: arms[base]}
    for call in arms.values():
        for _ in range(warmup):
            call()
    for attempt in range(1, attempts + 1):
        measured = Measured(base, _rounds(both, rounds, np.random.default_rng(seed)), attempt)
        if measured.quiet:
            break
    return measured


def _rounds(
    arms: Mapping[str, Callable[[], object]], rounds: int, rng: np.random.Generator
) -> dict[str, dict[str, np.ndarray]]:
    names = list(arms)
    seconds = {clock: {name: np.zeros(rounds) for name in names} for clock in CLOCKS}
    gc.collect()
    gc.disable()
    try:
        for number in range(rounds):
            order = [names[i] for i in rng.permutation(len(names))]
            for name in order + order[::-1]:
                before = {clock: read() for clock, read in CLOCKS.items()}
                arms[name]()
                for clock, read in CLOCKS.items():
                    seconds[clock][name][number] += (read() - before[clock]) / 2
    finally:
        gc.enable()
    return seconds


def bootstrap(ratios: np.ndarray, draws: int = 2000, seed: int = 0) -> Ratio:
    """The median and its 95% interval.

    >>> bootstrap(np.array([1.0, 1.0, 1.0]))
    Ratio(median=1.0, low=1.0, high=1.0)
    """
    rng = np.random.default_rng(seed)
    medians = np.median(rng.choice(ratios, (draws, len(ratios))), axis=1)
    low, high = np.quantile(medians, (0.025, 0.975))
    return Ratio(float(np.median(ratios)), float(low), float(high))
