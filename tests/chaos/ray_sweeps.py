"""Disturbed sweeps on a Ray cluster of this machine: a worker, a node or the driver is killed, two drivers work at once.

One cluster serves all cases: a head without cores, and two nodes of one core. Every driver is a process of its own.
A case is disturbed once a run has begun, so that something is lost.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.chaos.forked import has_ended, run
from tests.chaos.sweeps import SweepAttacks, results, sweep

PATIENT = 150.0  # seconds of a driver's own time, or four times as many of any; workers import torch first


class RayAttacks:
    """A cluster, the results of a sweep that was left alone, and the ways to disturb another."""

    def __init__(self, folder: Path) -> None:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 (Ray spells it so; its own is 15)
        self.expected = SweepAttacks(folder).expected
        self.folder = folder / "ray"
        self.folder.mkdir()
        self.cluster = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.ray_cluster"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for this process, which then ends the cluster
        )
        self.state = self._told()
        self.driver = sweep("ray", self.state["address"])

    def close(self) -> None:
        """End the cluster and wait for it."""
        self.cluster.communicate()

    def _told(self) -> Any:
        assert self.cluster.stdout is not None
        for line in self.cluster.stdout:
            if line.startswith("{"):
                return json.loads(line)
        raise SystemExit("the Ray cluster did not start")

    def disturbed(self, number: int, draw: random.Random) -> str | None:
        name, disturb = list(self.ways().items())[number % len(self.ways())]
        place = self.folder / f"{name.replace(' ', '-')}-{number}"
        place.mkdir()
        done: list[bool] = []

        def during(pid: int) -> None:
            if _begins(pid, place):
                time.sleep(draw.uniform(0.0, 0.3))
                done.append(disturb(pid, place, draw))

        run(self.driver, place, during=during, hang=PATIENT)
        if not any(done):
            return f"{name}: nothing was there to disturb"
        again = run(self.driver, place, hang=PATIENT)
        if again.code:
            return f"{name}: does not complete: {again.problem() or again.err.strip()[-300:]}"
        if results(place / "runs") != self.expected:
            return f"{name}: other results than those of the sweep that was left alone"
        shutil.rmtree(place)
        return None

    def ways(self) -> dict[str, Callable[[int, Path, random.Random], bool]]:
        return {
            "worker killed": self._kill_worker,
            "driver killed": lambda pid, place, draw: _signal(pid, signal.SIGKILL),
            "driver stopped": lambda pid, place, draw: _signal(pid, signal.SIGTERM),
            "two drivers": self._second_driver,
            "node killed": self._kill_node,
        }

    def _kill_worker(self, pid: int, place: Path, draw: random.Random) -> bool:
        """A process that Ray made for a run, of our own cluster."""
        nodes = self.state["nodes"]
        working = [child for node in nodes for child in _children(node) if _works(child)]
        return bool(working) and _signal(draw.choice(working), signal.SIGKILL)

    def _second_driver(self, pid: int, place: Path, draw: random.Random) -> bool:
        """It has the same folder and waits for the runs that the first has."""
        other = place / "other"
        other.mkdir()
        (other / "runs").symlink_to(place / "runs")
        ended = run(self.driver, other, hang=PATIENT)
        shutil.rmtree(other)
        return not ended.problem()

    def _kill_node(self, pid: int, place: Path, draw: random.Random) -> bool:
        assert self.cluster.stdin is not None
        print("lose one", file=self.cluster.stdin, flush=True)
        self.state = self._told()
        return True


def _begins(pid: int, place: Path) -> bool:
    """Wait until a run has begun; False if the driver ended before, or does not come to it."""
    until = time.monotonic() + 4 * PATIENT
    while not any((place / "runs").glob("*/recipe.yaml")):
        if has_ended(pid) or time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def _children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _works(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::do")
    return False


def _signal(pid: int, number: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False
