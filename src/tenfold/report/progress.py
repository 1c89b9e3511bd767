"""Progress of training: bars with an ETA on a terminal, plain lines elsewhere; always on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

QUIET_SECONDS = 10.0  # between two plain lines of a run


class Watch:
    """`with Watch(names, steps) as watch: watch(0, metrics)`; one bar a run."""

    def __init__(self, names: Sequence[str], steps: Sequence[int]) -> None:
        self.names, self.steps = names, steps
        self.console = Console(stderr=True)
        self.bars: Progress | None = None
        self.spoke = [0.0] * len(names)
        self.began = [0.0] * len(names)
        self.first = [0] * len(names)
        self.accuracy = [""] * len(names)

    def __enter__(self) -> Watch:
        if self.console.is_terminal:
            self.bars = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.fields[told]}"),
                console=self.console,
            )
            for name, steps in zip(self.names, self.steps, strict=True):
                self.bars.add_task(name, total=steps, told="")
            self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.bars is not None:
            self.bars.stop()

    def __call__(self, number: int, metrics: dict[str, Any]) -> None:
        if "measured" in metrics:
            self._measuring(number, metrics)
            return
        if "eval" in metrics:
            self.accuracy[number] = found(metrics["eval"])
        told = f"loss {metrics['loss']:.4f} {self.accuracy[number]}"
        if self.bars is not None:
            tasks = list(self.bars.task_ids)
            self.bars.update(tasks[number], completed=metrics["step"], told=told)
        else:
            self._line(number, metrics, told)

    def counting(self, doing: str) -> Callable[[int, int], None]:
        """For a single bar: `tell(done, of)`; 0 where the whole is not known."""

        def tell(done: int, of: int) -> None:
            self(0, {"measured": done, "of": of or None, "doing": doing})

        return tell

    def say(self, text: str) -> None:
        """A line beside the bars."""
        self.console.print(text, highlight=False)

    def _measuring(self, number: int, metrics: dict[str, Any]) -> None:
        """After training: how much of the evaluation is done."""
        done, of = metrics["measured"], metrics["of"]
        told = metrics["doing"]
        if self.bars is not None:
            task = list(self.bars.task_ids)[number]
            if done == 1:
                self.bars.reset(task)
            self.bars.update(task, completed=done, total=of, told=told)
        elif time.monotonic() - self.spoke[number] > QUIET_SECONDS:
            self.spoke[number] = time.monotonic()
            count = f"{done}/{of}" if of else str(done)
            print(f"{self.names[number]}: {told}, {count}", file=sys.stderr, flush=True)

    def _line(self, number: int, metrics: dict[str, Any], told: str) -> None:
        now, step, steps = time.monotonic(), metrics["step"], self.steps[number]
        if self.began[number] == 0.0:
            self.began[number], self.first[number], self.spoke[number] = now, step, now
        if now - self.spoke[number] < QUIET_SECONDS and step < steps:
            return
        self.spoke[number] = now
        done = step - self.first[number]
        left = (now - self.began[number]) / done * (steps - step) if done else 0.0
        line = f"{self.names[number]}: step {step}/{steps}, {told}, {left:.0f} s left"
        print(line, file=sys.stderr, flush=True)


def found(details: dict[str, Any]) -> str:
    """What was measured on the way, in words.

    >>> found({"exact": {5: 0.31}}), found({"perplexity": {128: 5.731}}), found({})
    ('right at 5: 31%', 'perplexity at 128: 5.73', '')
    """
    told = []
    if exact := details.get("exact"):
        shown = ", ".join(f"{length}: {100 * value:.0f}%" for length, value in exact.items())
        told.append(f"right at {shown}")
    if perplexity := details.get("perplexity"):
        shown = ", ".join(f"{length}: {value:.2f}" for length, value in perplexity.items())
        told.append(f"perplexity at {shown}")
    return ", ".join(told)
