"""Workers on this machine: one single-threaded process a core, as far as the memory goes."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from tenfold.runs.machine_memory import available, taken
from tenfold.sweeps.worker import GRACE, Ending, SweepJob, do

DRIVERS = {signal.SIGINT, signal.SIGHUP}  # what a terminal sends to all


@dataclass
class Worker:
    process: Any
    pipe: Connection
    number: int | None = None  # of the run that it works on
    threads: int = 0
    memory: int = 0  # bytes that the run is expected to take


class LocalPool:
    """Starts jobs on processes that live until the sweep ends; importing torch takes a second or two."""

    def __init__(self, workers: int | None = None) -> None:
        self.cores = workers or cores()
        self.workers: list[Worker] = []
        self.context = multiprocessing.get_context("spawn")

    def __enter__(self) -> LocalPool:
        return self

    def __exit__(self, *_: object) -> None:
        """Ask all to stop; those that work save what they did. One that does not answer is ended."""
        for worker in self.workers:
            worker.process.terminate()
        deadline = time.monotonic() + GRACE
        try:
            for worker in self.workers:
                worker.process.join(max(0.0, deadline - time.monotonic()))
        finally:  # also at a second signal
            for worker in self.workers:
                worker.process.kill()
                worker.pipe.close()

    def ready(self, threads: int, memory: int) -> bool:
        """Whether another run fits beside those that run: in cores, and in memory; a first one always does."""
        working = self._working()
        if not working:
            return True
        if sum(worker.threads for worker in working) + threads > self.cores:
            return False
        free = available()
        if free is None:
            return True
        growing = (max(0, w.memory - taken(w.process.pid)) for w in working)
        return free - sum(growing) > memory

    def start(self, number: int, job: SweepJob, threads: int, memory: int) -> None:
        idle = next((worker for worker in self.workers if worker.number is None), None)
        worker = idle or self._start_worker()
        worker.number, worker.threads, worker.memory = number, threads, memory
        with contextlib.suppress(OSError):  # it died meanwhile, which `ended` reports
            worker.pipe.send(job)

    def ended(self, patience: float) -> list[tuple[int, Ending]]:
        """The numbers of the runs that ended, and how."""
        working = self._working()
        endings: list[tuple[int, Ending]] = []
        for pipe in wait([worker.pipe for worker in working], patience):
            worker = next(each for each in working if each.pipe is pipe)
            number = worker.number
            assert number is not None
            try:
                endings.append((number, worker.pipe.recv()))
                worker.number = None
            except (EOFError, OSError):
                worker.process.join()
                endings.append((number, _death(worker.process.exitcode)))
                worker.pipe.close()
                self.workers.remove(worker)
        return endings

    def _working(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.number is not None]

    def _start_worker(self) -> Worker:
        ours, theirs = self.context.Pipe()
        process = self.context.Process(target=_work, args=(theirs,))
        with _signals_blocked():
            process.start()
        theirs.close()
        self.workers.append(Worker(process, ours))
        return self.workers[-1]


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _work(pipe: Connection) -> None:
    """The main loop of a worker. Ctrl-C and a closed terminal are handled by the driver, which ends workers with SIGTERM."""
    for number in DRIVERS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, DRIVERS)
    with contextlib.suppress(EOFError, OSError):  # the driver is done with us, or gone
        while True:
            ending = do(pipe.recv())
            pipe.send(ending)
            if ending.last:
                return


@contextlib.contextmanager
def _signals_blocked() -> Iterator[None]:
    """Processes that start in this block ignore Ctrl-C, also while they import."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, DRIVERS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _death(code: int | None) -> Ending:
    """A worker that was killed, or crashed."""
    names = {-number.value: number.name for number in signal.Signals}
    hint = ", as the system does when memory runs out" if code == -signal.SIGKILL else ""
    how = f"was ended by {names[code]}{hint}" if code in names else f"ended with code {code}"
    return Ending("again", f"its process {how}")
