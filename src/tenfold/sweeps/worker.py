"""What a worker of a sweep does with one recipe, wherever the worker runs.

Beside the run it leaves `status.json`, how far it is, a few times a second at most, and `log.txt`, what
it printed. A worker whose driver is gone stops by itself.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Iterator
from contextlib import chdir, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from tenfold.core.errors import Stopped, TenfoldError
from tenfold.core.stored_files import check_no_way_out
from tenfold.runs.lease import InUse, Lost, ended, here, leases
from tenfold.runs.own_components import receive
from tenfold.runs.own_files import OwnSource
from tenfold.runs.recipe import Recipe
from tenfold.runs.train import train
from tenfold.training.distributed import PLACE

STATUS, LOG = "status.json", "log.txt"
EVERY = 0.5  # seconds between two statuses
LOOK = 2.0  # seconds between two looks at the driver
MISSES = 7  # looks at a driver elsewhere that does not renew its lease: more than it takes to renew
GRACE = 60.0  # seconds that an orphan has to save what it did


@dataclass(frozen=True)
class SweepJob:
    """One run of a sweep, as it is sent to a worker."""

    recipe: dict[str, Any]
    folder: Path
    driver: Path  # the folder of the driver's lease
    cwd: Path  # where the driver runs: relative names in a recipe are meant from there
    track: str | None = None
    log_samples: bool = False
    sources: tuple[OwnSource, ...] = ()  # of the recipe's own components


@dataclass(frozen=True)
class Ending:
    """What came of it: `again` if its process died or was stopped, `later` if the folder is another's now."""

    result: Literal["finished", "failed", "again", "later"]
    reason: str = ""
    last: bool = False  # the worker was stopped, and does no more


def do(job: SweepJob) -> Ending:
    """Train one recipe; whatever happens to it becomes an ending."""
    for name in PLACE:
        os.environ.pop(name, None)  # a run of a sweep is no part of the run that a driver may be in
    if not leases(job.driver):
        return Ending("failed", f"{job.driver} is not there: workers must share the folder of runs")
    try:
        job.folder.mkdir(parents=True, exist_ok=True)
        check_no_way_out(job.folder)
        place = chdir(job.cwd) if job.cwd.is_dir() else nullcontext()
        with place, _logging(job.folder / LOG), _guarded(job.driver):
            return _train(job)
    except TenfoldError as error:
        return Ending("failed", str(error))
    except OSError as error:
        return Ending("failed", f"cannot write to {job.folder}: {error.strerror or error}")


def _train(job: SweepJob) -> Ending:
    try:
        receive(job.sources)
        write_status = StatusFile(job.folder)
        train(
            Recipe.of(job.recipe),
            job.folder,
            progress=write_status,
            track=job.track,
            log_samples=job.log_samples,
        )
    except (InUse, Lost) as error:
        return Ending("later", str(error))
    except Stopped:
        return Ending("again", "its process was stopped", last=True)
    except (TenfoldError, KeyboardInterrupt) as error:
        print(f"error: {error}", flush=True)
        return Ending("failed", str(error))
    except Exception as error:
        traceback.print_exc()
        return Ending("failed", f"{type(error).__name__}: {error}")
    (job.folder / STATUS).unlink(missing_ok=True)
    return Ending("finished")


class StatusFile:
    """Leaves the latest of a run's metrics in its folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / STATUS
        self.status: dict[str, Any] = {}
        self.written = 0.0

    def __call__(self, metrics: dict[str, Any]) -> None:
        self.status |= {key: value for key, value in metrics.items() if key != "eval"}
        self.status |= metrics.get("eval", {})
        if time.monotonic() - self.written < EVERY and "measured" not in metrics:
            return
        self.written = time.monotonic()
        temporary = self.path.with_name(f".{STATUS}-{uuid.uuid4().hex}")
        try:
            temporary.write_text(json.dumps(self.status))
            temporary.replace(self.path)
        except OSError:  # on a full disk, say; a missing status is no reason to end
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


@contextmanager
def _logging(path: Path) -> Iterator[None]:
    """Send standard output and error to a file, those of libraries too."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    before = [os.dup(number) for number in (1, 2)]
    with path.open("ab", buffering=0) as file:
        file.write(f"-- {datetime.now(UTC).isoformat(timespec='seconds')}\n".encode())
        try:
            for number in (1, 2):
                os.dup2(file.fileno(), number)
            yield
        finally:
            for stream in (sys.stdout, sys.stderr):
                with suppress(ValueError, OSError):
                    stream.flush()
            for number, handle in zip((1, 2), before, strict=True):
                os.dup2(handle, number)
                os.close(handle)


def _there(driver: Path) -> bool:
    existing = leases(driver)
    return bool(existing) and not ended(existing[-1])


@contextmanager
def _guarded(driver: Path) -> Iterator[None]:
    """Stop this process, as SIGTERM does, once the driver is gone."""
    done = threading.Event()
    existing = leases(driver)
    patience = 1 if existing and here(existing[-1]) else MISSES  # a visible process is certain

    def watch() -> None:
        missed = 0
        while not done.wait(LOOK):
            with suppress(OSError):  # nobody knows; look again
                missed = 0 if _there(driver) else missed + 1
            if missed >= patience:
                print("the driver of the sweep is gone; stopping", flush=True)
                os.kill(os.getpid(), signal.SIGTERM)
                if not done.wait(GRACE):
                    os._exit(1)

    threading.Thread(target=watch, name="guard", daemon=True).start()
    try:
        yield
    finally:
        done.set()
