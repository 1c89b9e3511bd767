"""One run on several processes: `torchrun --nproc-per-node 2 -m tenfold train RECIPE`.

Every process draws the same whole batch, which costs little, and takes its share of the rows; 5 rows:

    process 0: rows 0 1        process 1: rows 2 3 4

The loss is summed over graded tokens and divided by those of the whole batch, so the processes' gradients
add up to those of one process. The first process alone owns the folder, measures and prints.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import Batch
from tenfold.training.options import Training

MEETING = timedelta(minutes=10)  # for all processes to start, and to add up one step's gradients
WAITING = timedelta(days=30)  # for the first process to measure, or to prove
BACKENDS = {"cpu": "gloo", "cuda": "nccl"}
PLACE = ("WORLD_SIZE", "RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")  # what torchrun sets
T = TypeVar("T")


class LostProcess(TenfoldError):
    """Another process of the run has ended: by an error that it printed, or because it was killed."""


@dataclass(frozen=True)
class Place:
    """Which of a run's processes this one is."""

    rank: int = 0
    size: int = 1
    local: int = 0  # among those on this machine


@dataclass(frozen=True)
class Team:
    """The processes of a run. A single process is a team of one, for which every method returns at once."""

    rank: int = 0
    size: int = 1
    group: Any = (
        None  # for flags and numbers between processes; gradients have a group of their own
    )

    @property
    def first(self) -> bool:
        return self.rank == 0

    def share(self, batch: Batch) -> Batch:
        """This process's rows of a batch."""
        if self.size == 1:
            return batch
        first, stop = (len(batch) * end // self.size for end in (self.rank, self.rank + 1))
        return batch.rows(slice(first, stop))

    def total(self, value: float) -> float:
        """The sum of a number over all processes."""
        return value if self.size == 1 else self._reduced([value], dist.ReduceOp.SUM)[0]

    def most(self, *values: int) -> list[int]:
        """The largest of each value over all processes."""
        if self.size == 1:
            return list(values)
        return [int(value) for value in self._reduced(values, dist.ReduceOp.MAX)]

    def broadcast(self, flag: bool) -> bool:
        """The flag of the first process, on every process."""
        return bool(self.most(flag and self.first)[0])

    def wait(self) -> None:
        """Wait until every process is here."""
        self.most(0)

    def in_turn(self, do: Callable[[], T]) -> T:
        """Call `do` in the first process and then in the others, so that an error of all is raised once."""
        if self.first:
            done = do()
            self.wait()
            return done
        self.wait()
        return do()

    def spread(self, model: nn.Module, loss: Callable[[nn.Module], Tensor]) -> nn.Module:
        """The model, with a backward pass that averages gradients over the processes; `loss` is any to try it with."""
        if self.size == 1:
            return model
        loss(model).backward()
        unused = any(p.requires_grad and p.grad is None for p in model.parameters())
        network = DistributedDataParallel(
            model, find_unused_parameters=bool(self.most(unused)[0])
        )  # which costs time and is rarely needed
        # The first pass settles in which order gradients are added. It is not a step of the run, so that
        # every step of a resumed run adds as it would have.
        loss(network).backward()
        model.zero_grad()
        return network

    def later(self, network: nn.Module, last: bool) -> AbstractContextManager[Any]:
        """Around a pass: gradients stay with this process, until the last of those that make a step."""
        if last or not isinstance(network, DistributedDataParallel):
            return nullcontext()
        return network.no_sync()

    def _reduced(self, values: Any, how: Any) -> list[float]:
        reduced = torch.tensor(values, dtype=torch.float64)
        dist.all_reduce(reduced, how, group=self.group)
        return reduced.tolist()


def place() -> Place:
    """Where torchrun put this process; without it, alone."""
    if os.environ.get("WORLD_SIZE", "1").strip() == "1":
        return Place()
    size = _number("WORLD_SIZE", 1, None)
    for name in PLACE:
        if not os.environ.get(name):
            raise TenfoldError(
                f"WORLD_SIZE is {size}, but {name} is not set; start all processes with "
                f"`torchrun --nproc-per-node {size} -m tenfold train ...`, or unset WORLD_SIZE"
            )
    return Place(_number("RANK", 0, size), size, _number("LOCAL_RANK", 0, size))


def _number(name: str, least: int, below: int | None) -> int:
    text = os.environ[name]
    if not text.isdecimal() or int(text) < least or (below is not None and int(text) >= below):
        fits = f"a number of at least {least} is" if below is None else f"{least} to {below - 1} is"
        raise TenfoldError(f'{name} is "{text}"; {fits} what torchrun sets it to')
    return int(text)


@contextmanager
def together(options: Training) -> Iterator[Team]:
    """Meet the other processes of this run, if torchrun started several."""
    at = place()
    if at.size == 1:
        yield Team()
        return
    team = _meet(at, options.device)
    try:
        if team.first and options.batch < team.size:
            raise TenfoldError(
                f"train.batch is {options.batch}, fewer rows than the {team.size} processes; "
                f"at least {team.size} are needed"
            )
        team.wait()
        yield team
    except BaseException as error:
        atexit.unregister(dist.destroy_process_group)  # it might wait for processes that ended
        if not _of_the_connection(error):
            raise
        raise LostProcess(
            f"another process of this run has ended, so process {team.rank} does too; "
            "the same command goes on from the last checkpoint"
        ) from None
    finally:
        dist.destroy_process_group(
            team.group
        )  # processes that still wait for this one get an error


def _meet(at: Place, device: str) -> Team:
    if device not in BACKENDS:
        raise TenfoldError(
            f'train.device is "{device}", and there are {at.size} processes; it is one of '
            f"{', '.join(BACKENDS)}, and each process takes a device of its own"
        )
    if device == "cuda":
        there = torch.cuda.device_count()
        if at.local >= there:
            raise TenfoldError(
                f'train.device is "cuda", torch sees {there} GPUs on this machine, and this is its '
                f"process {at.local + 1}; each needs a GPU of its own"
            )
        torch.cuda.set_device(at.local)  # from here on "cuda" is this process's own
    try:
        if not dist.is_initialized():  # once in a process's life: where they met stays occupied
            dist.init_process_group(BACKENDS[device], timeout=MEETING)
            atexit.register(dist.destroy_process_group)
        return Team(at.rank, at.size, dist.new_group(backend="gloo", timeout=WAITING))
    except (RuntimeError, ValueError) as error:
        where = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
        reason = " ".join(str(error).split())
        raise TenfoldError(
            f"process {at.rank} of {at.size} cannot meet the others at {where}: {reason[:160]}"
        ) from None


def _of_the_connection(error: BaseException) -> bool:
    """Whether an error is about the connection to another process; gloo's errors have no class of their own."""
    by_text = isinstance(error, RuntimeError) and ("gloo" in str(error) or "NCCL" in str(error))
    return by_text or isinstance(error, dist.DistError)
