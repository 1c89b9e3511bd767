"""Progress of a sweep: a live table with an ETA for the whole on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tenfold.runs.cost import span
from tenfold.runs.terminal import QUIET_SECONDS, accuracy_text
from tenfold.sweeps.sweep import SweepEntry

SHOWN = 20  # runs in the table; the rest is counted
ENDED = ("finished", "kept", "failed")


class Board:
    """`with Board() as board: sweep(recipes, progress=board)`."""

    def __init__(self) -> None:
        self.console = Console(stderr=True)
        self.live: Live | None = None
        self.began = time.monotonic()
        self.printed = self.began
        self.before: dict[
            int, float
        ] = {}  # the share of each run that was done when we first saw it
        self.ended: set[int] = set()

    def __enter__(self) -> Board:
        if self.console.is_terminal:
            self.live = Live(console=self.console, refresh_per_second=4, transient=False)
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.live is not None:
            self.live.stop()

    def __call__(self, entries: Sequence[SweepEntry]) -> None:
        if self.live is not None:
            self.live.update(self._table(entries))
            return
        for number, entry in enumerate(entries):
            if entry.state in ENDED and number not in self.ended:
                self.ended.add(number)
                if entry.state != "kept":
                    self._print(f"{entry.name}: {entry.state}{_reason(entry)}")
        if time.monotonic() - self.printed > QUIET_SECONDS:
            self.printed = time.monotonic()
            running = [f"{e.name}: {_doing(e)}" for e in entries if e.state == "running"]
            self._print("; ".join([self.summary(entries), *running[:4]]))

    def planning(self, done: int, of: int) -> None:
        """Before anything starts: recipes that were built and counted."""
        if self.live is not None:
            self.live.update(Text(f"{done} of {of} recipes counted"))
        elif time.monotonic() - self.printed > QUIET_SECONDS:
            self.printed = time.monotonic()
            self._print(f"{done} of {of} recipes counted")

    def summary(self, entries: Sequence[SweepEntry]) -> str:
        """`7 of 15 done (3 before), 2 running, 1 failed; about 40 seconds left`."""
        states = Counter(entry.state for entry in entries)
        done = states["finished"] + states["kept"]
        text = f"{done} of {len(entries)} done"
        text += f" ({states['kept']} before)" if states["kept"] else ""
        for state in ("running", "waiting", "failed"):
            text += f", {states[state]} {state}" if states[state] else ""
        text += f", {states['elsewhere']} in another process" if states["elsewhere"] else ""
        left = self.left(entries)
        return text + (f"; {span(left)} left" if left else "")

    def left(self, entries: Sequence[SweepEntry]) -> float | None:
        """Seconds, by the work that was done since we began; None as long as nobody can know."""
        if not self.before:
            self.began = time.monotonic()
        for number, entry in enumerate(entries):
            if (
                entry.status or entry.state in ENDED
            ):  # a run that was interrupted begins in the middle
                self.before.setdefault(number, 0.0 if entry.state == "finished" else entry.share)
        spent = sum(
            entries[n].work * (entries[n].share - share) for n, share in self.before.items()
        )
        ahead = sum(entry.work * (1 - entry.share) for entry in entries)
        if spent <= 0 or ahead <= 0:
            return None
        return ahead * (time.monotonic() - self.began) / spent

    def _table(self, entries: Sequence[SweepEntry]) -> Table:
        table = Table(title=self.summary(entries), title_justify="left", box=None, expand=True)
        table.add_column("run", overflow="ellipsis", no_wrap=True, max_width=40)
        for heading in ("seed", "step", "loss"):
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("", overflow="ellipsis", no_wrap=True, ratio=1)
        order = ("running", "elsewhere", "failed")
        shown = [entry for state in order for entry in entries if entry.state == state]
        heads = {entry.recipe.name.rpartition("/")[0] for entry in entries}
        common = f"{heads.pop()}/" if len(heads) == 1 else ""  # a prefix that all have is left out
        for entry in shown[:SHOWN]:
            status = entry.status
            loss = f"{status['loss']:.4f}" if "loss" in status else ""
            step = f"{status.get('step', 0)}/{entry.recipe.train.steps}"
            doing = (
                entry.reason
                if entry.state == "failed"
                else _measuring(status) or accuracy_text(status)
            )
            name = entry.recipe.name.removeprefix(common)
            row = (name, str(entry.recipe.seed), step, loss, doing or entry.state)
            table.add_row(*row, style="red" if entry.state == "failed" else None)
        if len(shown) > SHOWN:
            table.add_row(f"and {len(shown) - SHOWN} more")
        return table

    def _print(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def _reason(entry: SweepEntry) -> str:
    return f": {entry.reason}" if entry.state == "failed" else ""


def _doing(entry: SweepEntry) -> str:
    status = entry.status
    step = f"step {status.get('step', 0)}/{entry.recipe.train.steps}"
    loss = f"loss {status['loss']:.4f}" if "loss" in status else ""
    return ", ".join(filter(None, [step, loss, accuracy_text(status), _measuring(status)]))


def _measuring(status: dict[str, Any]) -> str:
    return f"{status['doing']}, {status['measured']}/{status['of']}" if "measured" in status else ""
