"""Workers on a Ray cluster, local or existing; runs and checkpoints are in a folder that all nodes share."""

from __future__ import annotations

import os
import re
import socket
import time
import warnings
from typing import Any

from tenfold.core.errors import TenfoldError
from tenfold.sweeps.local_pool import cores
from tenfold.sweeps.worker import GRACE, Ending, SweepJob, do

STORE = 2**27  # bytes of shared memory; the runs themselves go through files
REACH = 5.0  # seconds in which a cluster must answer


class RayPool:
    """Starts jobs as Ray tasks: a core a thread, a GPU for a recipe that is on one.

    A task that dies with its worker or its node is reported; the sweep starts it again, and it goes on
    from its last checkpoint.
    """

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self.workers = workers
        self.address = address or os.environ.get("RAY_ADDRESS")
        self.tasks: dict[Any, int] = {}  # a task's reference, and the number of its run
        self.threads: dict[int, int] = {}  # of every run that was started
        self.largest = 0.0  # cores of a node, as far as we have seen

    def __enter__(self) -> RayPool:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ImportError:
            raise TenfoldError(
                "Ray is not installed; `pip install 'tenfold[ray]'`, or use --on local"
            ) from None
        self.ray = ray
        self.joined = not ray.is_initialized()
        if self.joined:
            self._join()
        self.remote = ray.remote(max_retries=0)(do)
        return self

    def __exit__(self, *_: object) -> None:
        """Ask all to stop, and wait until they have saved what they did."""
        for task in self.tasks:
            self.ray.cancel(task, force=False)
        if self.tasks:
            self.ray.wait(list(self.tasks), num_returns=len(self.tasks), timeout=GRACE)
        if self.joined:
            self.ray.shutdown()

    def ready(self, threads: int, memory: int) -> bool:
        """Whether the cluster has room; Ray itself chooses the node. Nodes that went may come back."""
        there = max((node.get("CPU", 0.0) for node in self._nodes()), default=0.0)
        self.largest = max(self.largest, there)
        if there < threads <= self.largest:
            return False
        if self.workers is not None:
            return len(self.tasks) < self.workers
        taken = sum(self.threads[number] for number in self.tasks.values())
        return not taken or taken + threads <= self.ray.cluster_resources().get("CPU", 1)

    def start(self, number: int, job: SweepJob, threads: int, memory: int) -> None:
        gpus = int(str(job.recipe["train"]["device"]).startswith("cuda"))
        fit = [n for n in self._nodes() if n.get("CPU", 0) >= threads and n.get("GPU", 0) >= gpus]
        if not fit:
            needs = f"{threads} cores" + (f" and {gpus} GPU" if gpus else "")
            raise TenfoldError(f"a run needs {needs}; no node of the cluster has that")
        most = max(int(node.get("memory", 0)) for node in fit)
        wanted = self.remote.options(num_cpus=threads, num_gpus=gpus, memory=min(memory, most))
        self.tasks[wanted.remote(job)] = number
        self.threads[number] = threads

    def ended(self, patience: float) -> list[tuple[int, Ending]]:
        """The numbers of the runs that ended, and how."""
        if not self.tasks:
            time.sleep(patience)
            return []
        try:
            done, _ = self.ray.wait(list(self.tasks), timeout=patience)
        except SystemError as error:  # Ray's form of what a signal raises while it waits
            raise error.__cause__ or error from None
        return [(self.tasks.pop(task), self._ending(task)) for task in done]

    def _nodes(self) -> list[dict[str, float]]:
        """What the nodes have that are alive."""
        return [node["Resources"] for node in self.ray.nodes() if node["Alive"]]

    def _ending(self, task: Any) -> Ending:
        errors = self.ray.exceptions
        try:
            return self.ray.get(task)
        except errors.RayTaskError as error:
            return Ending("failed", str(error.cause))
        except errors.TaskCancelledError:
            return Ending("again", "it was cancelled")
        except errors.RayError as error:
            return Ending("again", f"its worker died ({type(error).__name__})")

    def _join(self) -> None:
        """Connect to the cluster, or start one here."""
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        here = {"num_cpus": cores(), "include_dashboard": False, "object_store_memory": STORE}
        try:
            if self.address is not None:
                _check_reachable(self.address)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Ray's own notices are not for our users
                self.ray.init(self.address or "local", **quiet, **({} if self.address else here))
        except Exception as error:  # Ray raises that itself, where a part of it starts too slowly
            reason = " ".join(str(error).split())[:160]
            where = (
                f'the Ray cluster "{self.address}" cannot be reached'
                if self.address
                else "Ray failed"
            )
            raise TenfoldError(f"{where}: {reason}") from None


def _check_reachable(address: str) -> None:
    """Raise unless host:port accepts connections; Ray itself would try for minutes."""
    match = re.fullmatch(r"(?:ray://)?([^:/]+):(\d+)", address)
    if match is not None:
        socket.create_connection((match[1], int(match[2])), REACH).close()
