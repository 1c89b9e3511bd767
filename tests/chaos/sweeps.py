"""Disturbed sweeps: workers and drivers that are killed, two drivers, a full disk, a read-only folder, clocks that jump.

However it was disturbed, the sweep that is called again completes every run exactly once, with the results of a sweep
that was left alone. Workers are forked here, so that they need not import torch; `ray_sweeps.py` has those of Ray.
"""

from __future__ import annotations

import contextlib
import errno
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.chaos.disk import Disk
from tests.chaos.forked import Action, run
from tests.chaos.training import RECIPE

from tenfold.core.errors import TenfoldError
from tenfold.runs import lease
from tenfold.sweeps import local_pool
from tenfold.sweeps.sweep import run_sweep

SEEDS = 3
WORK = local_pool._work
Disturb = Callable[[int, Path, random.Random], None]  # the driver's number, the folder of runs


class SweepAttacks:
    """The results of a sweep that was left alone, and the ways to disturb another."""

    def __init__(self, folder: Path) -> None:
        self.groups: list[int] = []  # processes of drivers that were disturbed
        self.folder = folder / "sweeps"
        self.folder.mkdir(exist_ok=True)
        place = self._place("alone")
        began = time.monotonic()
        ended = run(sweep(), place)
        self.seconds = time.monotonic() - began
        if ended.code:
            raise SystemExit(f"a sweep that is left alone fails: {ended.err}")
        self.expected = results(place / "runs")

    def local(self, number: int, draw: random.Random) -> str | None:
        name, way = list(self.ways().items())[number % len(self.ways())]
        place = self._place(f"{name}-{number}")
        try:
            problem = way(place, draw) or self._completed(place)
        finally:
            self._end_workers()
        if problem is None:
            shutil.rmtree(place)
        return problem and f"{name}: {problem}"

    def _end_workers(self) -> None:
        """End what a killed driver left: a forked worker has the pipes of the others, and waits for work without an end."""
        for group in self.groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
        self.groups.clear()

    def ways(self) -> dict[str, Callable[[Path, random.Random], str | None]]:
        return {
            "worker killed": lambda place, draw: self._during(place, draw, _kill_worker),
            "driver killed": lambda place, draw: self._during(place, draw, _kill_driver),
            "driver stopped": lambda place, draw: self._during(place, draw, _stop_driver),
            "clock forward": lambda place, draw: self._during(place, draw, _jump(3600.0)),
            "clock back": lambda place, draw: self._during(place, draw, _jump(-3600.0)),
            "two drivers": self._two_drivers,
            "full disk": lambda place, draw: self._failing(place, draw, errno.ENOSPC),
            "read-only folder": lambda place, draw: self._failing(place, draw, errno.EROFS),
        }

    def _during(self, place: Path, draw: random.Random, disturb: Disturb) -> str | None:
        ended = run(sweep(), place, during=lambda pid: self._later(pid, place, draw, disturb))
        return None if ended.code < 0 else ended.problem()

    def _later(self, pid: int, place: Path, draw: random.Random, disturb: Disturb) -> None:
        self.groups.append(pid)
        time.sleep(draw.uniform(0.0, self.seconds))
        with contextlib.suppress(OSError):
            disturb(pid, place / "runs", draw)

    def _two_drivers(self, place: Path, draw: random.Random) -> str | None:
        wait = draw.uniform(0.0, self.seconds)

        def both() -> None:
            if (other := os.fork()) == 0:
                time.sleep(wait)
                with contextlib.suppress(BaseException):
                    sweep()()
                os._exit(0)
            sweep()()
            os.waitpid(other, 0)

        ended = run(both, place)
        return ended.problem()

    def _failing(self, place: Path, draw: random.Random, number: int) -> str | None:
        """From some event on, every change of the folder fails."""
        first = draw.randint(1, 150)

        def action() -> None:
            def handler(n: int, kind: str, path: str) -> None:
                if n >= first and kind not in ("os.remove", "os.rmdir"):
                    raise OSError(number, os.strerror(number), path)

            Disk(place / "runs", handler)
            sweep()()

        ended = run(action, place)
        return None if "Traceback" not in ended.err else f"traceback: {ended.err.strip()[-200:]}"

    def _completed(self, place: Path) -> str | None:
        for path in place.rglob("lease-*"):
            os.utime(path)
        ended = run(sweep(), place)
        if ended.code:
            return f"does not complete: {ended.problem() or ended.err.strip()[-300:]}"
        now = results(place / "runs")
        if now != self.expected:
            return f"other results: {len(now)} of {len(self.expected)} runs are there"
        left = [path.name for path in (place / "runs").glob(".sweep-*")]
        return f"left behind: {', '.join(left)}" if left else None

    def _place(self, name: str) -> Path:
        place = self.folder / name.replace(" ", "-")
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        return place


def sweep(on: str = "local", address: str | None = None) -> Action:
    def action() -> None:
        try:  # as the command line has it
            if on == "local":
                fork_workers()
            lease.Lease.__init__.__defaults__ = (0.0, 3.0)  # seconds without a renewal, no minute
            recipes = [RECIPE.replace(seed=seed) for seed in range(SEEDS)]
            run_sweep(recipes, Path("runs"), on=on, workers=2, address=address).complete()
        except TenfoldError as error:
            print(f"error: {error}", file=sys.stderr)
            raise SystemExit(error.exit_code) from None
        except KeyboardInterrupt:
            raise SystemExit(130) from None

    return action


def fork_workers() -> None:
    """Have the workers of local sweeps forked from this process, so that they need not import torch."""
    context = multiprocessing.get_context("fork")
    local_pool.multiprocessing = _Forking(context)  # type: ignore[assignment]
    local_pool._work = _work


class _Forking:
    """Stands for `multiprocessing`, whose workers are forked."""

    def __init__(self, context: Any) -> None:
        self.context = context

    def get_context(self, _method: str) -> Any:
        return self.context


def _work(pipe: Any) -> None:
    """A worker that was forked has the driver's handlers, which one that was spawned does not have."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    WORK(pipe)


def _children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _kill_worker(pid: int, runs: Path, draw: random.Random) -> None:
    if workers := _children(pid):
        os.kill(draw.choice(workers), signal.SIGKILL)


def _kill_driver(pid: int, runs: Path, draw: random.Random) -> None:
    os.kill(pid, signal.SIGKILL)


def _stop_driver(pid: int, runs: Path, draw: random.Random) -> None:
    os.kill(pid, draw.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP]))


def _jump(seconds: float) -> Disturb:
    def disturb(pid: int, runs: Path, draw: random.Random) -> None:
        for path in runs.rglob("lease-*"):
            os.utime(path, (time.time() + seconds,) * 2)

    return disturb


def results(runs: Path) -> dict[str, Any]:
    """The rows and the number of results of every run."""
    return {
        path.parent.name: json.loads(path.read_bytes())["rows"]
        for path in sorted(runs.glob("*/result.json"))
    }
