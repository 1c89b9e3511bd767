"""Attacks on a run that trains: kills at random times and at every event, power loss, signals.

A run that was attacked and then resumed must have the weights, the metrics and the results of one that was left alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import time
from pathlib import Path
from typing import Any

from tests.chaos.disk import Disk
from tests.chaos.forked import Ended, run, signal_after, tenfold

from tenfold.runs import lease
from tenfold.runs.recipe import Recipe
from tenfold.runs.train import train

STEPS = 12
RECIPE = Recipe.of(
    {
        "name": "chaos",
        "format": "reversed",
        "schemes": [{"name": "shifted", "reach": 20}],
        "pe": {"name": "learned", "axis": "shifted", "limit": 64},
        "data": {"length": 3, "sampler": "lengths"},
        "model": {"kind": "decoder", "layers": 1, "width": 16, "heads": 2, "dropout": 0.1},
        "train": {
            "steps": STEPS, "batch": 8, "average": 0.9, "warmup": 3,
            "checkpoint_every": 3, "log_every": 1, "lr": 0.01,
        },
        "eval": {"lengths": [2, 3], "slices": ["uniform"], "n": 8, "every": 5, "validation_n": 8},
    }
)  # fmt: skip
KILL = signal.SIGKILL
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGSTOP)


class TrainingAttacks:
    """A run that was left alone, to compare with, and the attacks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        recipe = folder / "chaos.yaml"
        recipe.write_text(RECIPE.as_yaml())
        self.command = tenfold("train", str(recipe), "--out", "run", "--log-samples")
        place = self._place("alone")
        self.events = 0
        ended = run(self._watched(place / "run", self._count(place / "events")), place)
        self.seconds = ended.seconds
        if ended.code:
            raise SystemExit(f"training that is left alone fails: {ended.err}")
        self.events = int((place / "events").read_text())
        self.expected = state(place / "run")

    def kill(self, number: int, draw: random.Random) -> str | None:
        """A kill at a random time, twice in a third of the cases."""
        place = self._place(f"kill-{number}")
        for _ in range(draw.choice([1, 1, 2])):
            moment = draw.uniform(0.0, self.seconds)
            run(self.command, place, during=lambda pid, m=moment: signal_after(pid, m, KILL))
        return self._resumed(place)

    def kill_at_event(self, number: int, draw: random.Random) -> str | None:
        """A kill before an event: each in turn. In a third of the cases a part of the last write is missing."""
        place = self._place(f"event-{number}")
        event, torn = number % self.events + 1, draw if draw.random() < 0.3 else None

        def handler(disk: Disk, n: int, kind: str, path: str) -> None:
            if n == event:
                disk.die(torn)

        run(self._watched(place / "run", handler), place)
        return self._resumed(place)

    def power(self, number: int, draw: random.Random) -> str | None:
        """Power loss before a random event; the machine starts again, which the next process can see or not."""
        place = self._place(f"power-{number}")
        event, again = draw.randint(1, self.events), draw.random() < 0.5

        def handler(disk: Disk, n: int, kind: str, path: str) -> None:
            if n == event:
                disk.lose_power(draw)

        run(self._watched(place / "run", handler), place)
        for path in lease.leases(place / "run"):
            os.utime(path, (time.time() - 120,) * 2)

        def resume() -> None:
            if again:  # another boot: what the lease says of a process is of no use
                lease._machine = lambda: "another boot"  # type: ignore[assignment]
                lease.Lease.__init__.__defaults__ = (0.0, 0.3)
            self.command()

        return self._resumed(place, resume)

    def signalled(self, number: int, draw: random.Random) -> str | None:
        """A signal at a random time; half of the cases send another one soon after."""
        place = self._place(f"signal-{number}")
        sent = draw.choice(SIGNALS)
        again = draw.choice([None, signal.SIGTERM, signal.SIGINT])
        moment, soon = draw.uniform(0.0, self.seconds), draw.uniform(0.0, 0.05)

        def during(pid: int) -> None:
            signal_after(pid, moment, sent)
            if sent == signal.SIGSTOP:
                _signal(pid, soon, signal.SIGCONT)
            if again is not None:
                _signal(pid, soon, again)

        ended = run(self.command, place, during=during)
        problem = ended.problem()
        if ended.code < 0 and -ended.code in {sent, again}:
            problem = None  # outside of training a signal does what it does to every process
        if ended.code in (130, 143) and len(ended.err.strip().splitlines()[-1:]) != 1:
            problem = f"says nothing after {sent!r} and {again!r}: {ended}"
        return problem or self._resumed(place)

    def _watched(self, folder: Path, handler: Any) -> Any:
        def action() -> None:
            disk = Disk(folder, lambda n, kind, path: handler(disk, n, kind, path))
            try:
                self.command()
            finally:
                handler(disk, disk.events + 1, "end", "")

        return action

    @staticmethod
    def _count(to: Path) -> Any:
        def handler(disk: Disk, n: int, kind: str, path: str) -> None:
            if kind == "end":
                to.write_text(str(n - 1))

        return handler

    def _place(self, name: str) -> Path:
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        return place

    def _resumed(self, place: Path, resume: Any = None) -> str | None:
        ended = run(resume or self.command, place)
        problem = self._difference(ended, place / "run")
        if problem is None:
            shutil.rmtree(place)
        return problem

    def _difference(self, ended: Ended, folder: Path) -> str | None:
        if ended.problem() or ended.code:
            return f"does not resume: {ended.problem() or ended.err.strip()[-300:]}"
        now = state(folder)
        for name, value in self.expected.items():
            if now.get(name) != value:
                return f"{name} differs from the run that was left alone"
        left = [path.name for path in folder.rglob(".*")]
        return f"left behind: {', '.join(left)}" if left else None


def state(folder: Path) -> dict[str, Any]:
    """What a run came to: everything but times."""
    last = folder / "checkpoints" / f"step-{STEPS:09d}"
    values: dict[str, Any] = {path.name: path.read_bytes() for path in last.glob("*.safetensors")}
    lines = map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
    values["metrics.jsonl"] = [{**line, "seconds": 0} for line in lines]
    values["samples.jsonl"] = (folder / "samples.jsonl").read_text()
    values["recipe.yaml"] = (folder / "recipe.yaml").read_text()
    values["rows"] = json.loads((folder / "result.json").read_text())["rows"]
    return values


def _signal(pid: int, after: float, number: int) -> None:
    time.sleep(after)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def warm(folder: Path) -> None:
    """Train once in this process, so that what torch imports and prepares late is there before any fork."""
    train(RECIPE.replace(train={"steps": 2}), folder / "warm")
