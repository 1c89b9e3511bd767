"""Sweeps: many runs, on this machine or on a cluster; the same call again completes what is missing.

Execution is at least once: a worker that dies is replaced, and its run goes on from its last checkpoint.
The commit is exactly once: a run's folder is leased to one attempt at a time, and its `result.json` is
created last, whole, and never written over.
"""

from __future__ import annotations

import shutil
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from tenfold.core.errors import Stopped, TenfoldError, unknown
from tenfold.core.stored_files import LARGEST_TEXT, read_json_mapping, read_stored
from tenfold.results.collect import check_finished
from tenfold.runs.build import build
from tenfold.runs.cost import PROCESS, Count, count
from tenfold.runs.lease import Lease, ended, leases
from tenfold.runs.own_components import for_workers
from tenfold.runs.own_files import does_too_much, executing
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import Run
from tenfold.runs.size_check import check_countable
from tenfold.runs.tracking import TRACKERS
from tenfold.runs.train import clear
from tenfold.sweeps.grid import recipes_of
from tenfold.sweeps.local_pool import LocalPool, cores
from tenfold.sweeps.worker import LOG, STATUS, Ending, SweepJob

State = Literal["waiting", "running", "elsewhere", "finished", "kept", "failed"]
TRIES = 3  # of a run whose worker dies
MOST_A_CORE = 16  # workers on this machine: each is a process that imports PyTorch
TICK = 0.25  # seconds between two looks at the workers
RETURN = 2.0  # seconds after which a run that another process works on is looked at again


@dataclass
class SweepEntry:
    """One run of a sweep, and how it is going; `kept` was finished before."""

    recipe: Recipe
    folder: Path
    counted: Count
    state: State = "waiting"
    tries: int = 0
    after: float = 0.0  # not to be started before
    reason: str = ""
    status: dict[str, Any] = field(default_factory=dict)  # the last status of its worker

    @property
    def name(self) -> str:
        return f"{self.recipe.name}, seed {self.recipe.seed}"

    @property
    def work(self) -> float:
        """Operations of the whole run."""
        return float(self.counted.flops_per_step) * self.recipe.train.steps

    @property
    def share(self) -> float:
        """How much of it is done, 0 to 1."""
        if self.state in ("finished", "kept", "failed"):
            return 1.0
        return min(1.0, self.status.get("step", 0) / self.recipe.train.steps)


Callback = Callable[[Sequence[SweepEntry]], None]


@dataclass(frozen=True)
class Failure:
    name: str
    folder: Path
    reason: str
    log: list[str]  # its last lines


@dataclass(frozen=True)
class Outcome:
    runs: list[Run]  # that are finished, in the order of the recipes
    failures: list[Failure]
    kept: int  # of the runs, those that had been finished before

    def complete(self) -> list[Run]:
        """All runs; an error if one is missing."""
        if self.failures:
            raise SweepFailed(self)
        return self.runs


class SweepFailed(TenfoldError):
    """Some runs of a sweep failed. The others are finished, and the same call tries the failed ones again."""

    def __init__(self, outcome: Outcome) -> None:
        failures = outcome.failures
        of = len(failures) + len(outcome.runs)
        reasons = "; ".join(f"{each.name}: {each.reason}" for each in failures)
        super().__init__(f"{len(failures)} of {of} runs failed; {reasons}")
        self.outcome = outcome
        self.lines = [f"{each.name}: {line}" for each in failures for line in each.log]


class Workers(Protocol):
    """Where runs are run."""

    def __enter__(self) -> Workers: ...
    def __exit__(self, *_: object) -> None: ...
    def ready(self, threads: int, memory: int) -> bool: ...
    def start(self, number: int, job: SweepJob, threads: int, memory: int) -> None: ...
    def ended(self, patience: float) -> list[tuple[int, Ending]]: ...


def _on_ray(workers: int | None, address: str | None) -> Workers:
    from tenfold.sweeps.ray_pool import RayPool

    return RayPool(workers, address)


def _on_this_machine(workers: int | None, address: str | None) -> Workers:
    if address is not None:
        raise TenfoldError(f'the address "{address}" is of a cluster; use it with --on ray')
    most = MOST_A_CORE * cores()
    if workers is not None and workers > most:
        raise TenfoldError(
            f"{workers} workers; this machine starts at most {most}, {MOST_A_CORE} a core"
        )
    return LocalPool(workers)


WAYS: dict[str, Callable[[int | None, str | None], Workers]] = {
    "local": _on_this_machine,
    "ray": _on_ray,
}


def pool_of(on: str, workers: int | None, address: str | None = None) -> Workers:
    """The pool of workers for a sweep; none is started yet."""
    if on not in WAYS:
        raise unknown("place for a sweep", on, WAYS)
    if workers is not None and workers < 1:
        raise TenfoldError(f"{workers} workers; at least 1 is needed")
    return WAYS[on](workers, address)


def sweep(
    recipes: Path | str | Sequence[Recipe | str],
    folder: Path | str = Path("runs"),
    *,
    scale: str | None = None,
    seeds: Sequence[int] | None = None,
    on: str = "local",
    workers: int | None = None,
    address: str | None = None,
    fresh: bool = False,
    track: str | None = None,
    log_samples: bool = False,
    progress: Callback | None = None,
) -> list[Run]:
    """Train every recipe below `folder` and return the finished runs; `SweepFailed` names the runs that failed.

    Arguments:
        recipes: a grid file, a recipe's name or file, or a list of recipes and names.
        folder: where the runs are written, each in a folder of its own.
        scale: of the grid and of recipes that are given by name.
        seeds: train every recipe with each of them, in place of its own.
        on: "local", or "ray" with the `address` of a cluster.
        workers: how many cores to use; by default all of them.
        fresh, track, log_samples: as in `train`, for every run.
        progress: is called with all entries a few times a second; `sweep_progress.Board` displays them.
    """
    return run_sweep(
        recipes_of(recipes, scale, seeds), folder, on=on, workers=workers, address=address, fresh=fresh,
        track=track, log_samples=log_samples, progress=progress,
    ).complete()  # fmt: skip


def run_sweep(
    recipes: Sequence[Recipe],
    folder: Path | str = Path("runs"),
    *,
    folders: Sequence[Path] | None = None,
    on: str = "local",
    workers: int | None = None,
    address: str | None = None,
    fresh: bool = False,
    track: str | None = None,
    log_samples: bool = False,
    progress: Callback | None = None,
    planning: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Train every recipe in a folder of its own below `folder` (or in `folders`); failures stop no other run.

    `progress` is called with all entries a few times a second, `planning` after every recipe that was counted.
    SIGTERM, SIGHUP and Ctrl-C end the workers, which save first.
    """
    if executing:
        raise does_too_much("starts a sweep")
    pool = pool_of(on, workers, address)
    if track is not None:
        TRACKERS[track]  # raises for an unknown name
    entries = plan(recipes, folder, folders, planning)
    home = _home(entries[0].folder.parent)
    extras = {"driver": home, "cwd": Path.cwd(), "track": track, "log_samples": log_samples}
    try:
        with Lease(home), pool as started, _obeying():
            _look_around(entries, fresh)
            while _unfinished(entries):
                _start(entries, started, extras)
                for number, how in started.ended(TICK):
                    _end(entries[number], how)
                if progress is not None:
                    _look(entries)
                    progress(entries)
    except KeyboardInterrupt:
        raise _stopped(signal.SIGINT) from None
    finally:
        shutil.rmtree(home, ignore_errors=True)
    if progress is not None:
        progress(entries)
    return _outcome(entries)


def plan(
    recipes: Sequence[Recipe],
    folder: Path | str = Path("runs"),
    folders: Sequence[Path] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[SweepEntry]:
    """Every recipe built and counted, before any is started."""
    if not recipes:
        raise TenfoldError("an empty sweep: there is no recipe in it")
    places = list(folders or (Path(folder) / recipe.run_name for recipe in recipes))
    counted: dict[str, Count] = {}
    entries: dict[Path, SweepEntry] = {}
    for done, (recipe, place) in enumerate(zip(recipes, places, strict=True), start=1):
        if place in entries:
            name = entries[place].name
            raise TenfoldError(f"{name} is there twice: {place} would hold two runs")
        alike = recipe.replace(seed=0).fingerprint
        if alike not in counted:
            try:
                check_countable(recipe)
                counted[alike] = count(build(recipe))
                for_workers(recipe.include)  # raises for what cannot be sent to a worker
            except TenfoldError as error:
                raise TenfoldError(f'"{recipe.name}": {error}') from None
        entries[place] = SweepEntry(recipe, place, counted[alike])
        if progress is not None:
            progress(done, len(recipes))
    return list(entries.values())


def _home(folder: Path) -> Path:
    """A folder for the driver's lease, by which workers know that the driver is alive; folders of killed drivers are removed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(".sweep-*"):
            existing = leases(left)
            if existing and ended(existing[-1]):
                shutil.rmtree(left, ignore_errors=True)
        home = folder.resolve() / f".sweep-{uuid.uuid4().hex}"
        home.mkdir()
    except OSError as error:
        raise TenfoldError(f"cannot write to {folder}: {error.strerror or error}") from None
    return home


def _look_around(entries: Sequence[SweepEntry], fresh: bool) -> None:
    """What is there already. To start over, all folders must be ours before anything in one is removed."""
    if fresh:
        with ExitStack() as leased:
            for entry in entries:
                if entry.folder.is_dir():
                    leased.enter_context(Lease(entry.folder))
            for entry in entries:
                clear(entry.folder)
    for entry in entries:
        _settle(entry)


def _settle(entry: SweepEntry) -> bool:
    """Whether there is nothing to do for a run: it is finished, or what is there cannot be gone on with."""
    run = Run(entry.folder, entry.recipe)
    if not run.finished:
        return False
    try:
        run.check_result()
        check_finished(entry.folder)
        entry.state = "kept"
    except TenfoldError as error:
        entry.state, entry.reason = "failed", f"{error}; --fresh starts it over"
    return True


def _unfinished(entries: Sequence[SweepEntry]) -> bool:
    return any(entry.state in ("waiting", "running", "elsewhere") for entry in entries)


def _start(entries: Sequence[SweepEntry], pool: Workers, extras: dict[str, Any]) -> None:
    """Give workers what they have room for."""
    now = time.monotonic()
    for number, entry in enumerate(entries):
        if entry.state not in ("waiting", "elsewhere") or entry.after > now:
            continue
        if entry.state == "elsewhere" and _settle(entry):
            continue
        threads, memory = entry.recipe.train.threads, PROCESS + entry.counted.memory_bytes
        if not pool.ready(threads, memory):
            break
        sources = for_workers(entry.recipe.include)
        job = SweepJob(entry.recipe.as_json(), entry.folder.resolve(), sources=sources, **extras)
        entry.state = "running"
        try:
            pool.start(number, job, threads, memory)
        except TenfoldError as error:
            entry.state, entry.reason = "failed", str(error)


def _end(entry: SweepEntry, how: Ending) -> None:
    """What became of a run; one whose worker died, or whose folder was another's, is tried again."""
    entry.reason = how.reason
    if how.result == "later":
        entry.state, entry.after = "elsewhere", time.monotonic() + RETURN
    elif how.result == "again":
        entry.tries += 1
        entry.state = "waiting" if entry.tries < TRIES else "failed"
        entry.reason += f", {entry.tries} times" if entry.tries > 1 else ""
    else:
        entry.state = how.result


def _look(entries: Sequence[SweepEntry]) -> None:
    for entry in entries:
        if entry.state in ("running", "elsewhere"):
            entry.status = read_status(entry.folder)


def _outcome(entries: Sequence[SweepEntry]) -> Outcome:
    done = [entry for entry in entries if entry.state in ("finished", "kept")]
    return Outcome(
        [Run(entry.folder, entry.recipe) for entry in done],
        [
            Failure(entry.name, entry.folder, entry.reason, last_lines(entry.folder))
            for entry in entries
            if entry.state == "failed"
        ],
        sum(entry.state == "kept" for entry in entries),
    )


@contextmanager
def _obeying() -> Iterator[None]:
    """Let SIGTERM, and SIGHUP of a terminal that is closed, raise, so that the workers are ended with us."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, _frame: object) -> None:
        raise _stopped(number)

    handled = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) != signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stopped(number: int) -> Stopped:
    name = "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
    return Stopped(f"stopped by {name}; the same command goes on from there", number)


def read_status(folder: Path) -> dict[str, Any]:
    """The last status that a worker wrote for a run; empty where there is none."""
    try:
        return read_json_mapping(folder, STATUS, "a status")
    except (OSError, TenfoldError):
        return {}


def last_lines(folder: Path, count: int = 5) -> list[str]:
    """The end of what the last attempt at a run printed."""
    with suppress(OSError, TenfoldError):
        text = "\n" + read_stored(folder, LOG, LARGEST_TEXT)[-8192:].decode(errors="replace")
        return text.rpartition("\n-- ")[2].splitlines()[1:][-count:]
    return []
