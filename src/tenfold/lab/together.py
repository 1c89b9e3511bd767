"""Several runs at once: one single-threaded process a core."""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tenfold.errors import Stopped, TenfoldError
from tenfold.lab.recipe import Recipe
from tenfold.lab.run import Run
from tenfold.lab.train import train

Tell = Callable[[int, dict[str, Any]], None]  # the number of the recipe, and its metrics


def train_together(
    recipes: Sequence[Recipe],
    folders: Sequence[Path] | None = None,
    *,
    workers: int | None = None,
    fresh: bool = False,
    tell: Tell | None = None,
) -> list[Run]:
    """Train every recipe, as many at a time as there are cores; all end before a failure is raised.

    SIGTERM and Ctrl-C end the workers, which save first; the same call goes on from there.
    """
    places = list(folders or (Path("runs") / recipe.run_name for recipe in recipes))
    context = multiprocessing.get_context("spawn")
    told: Any = context.Queue()
    waiting = list(range(len(recipes)))
    running: dict[int, Any] = {}
    failures: list[str] = []
    limit = workers or cores()
    before = _obey_sigterm()
    try:
        while waiting or running:
            while waiting and len(running) < limit:
                number = waiting.pop(0)
                values = recipes[number].as_json()
                running[number] = context.Process(
                    target=_work, args=(number, values, places[number], fresh, told)
                )
                running[number].start()
            failures += _listen(told, tell)
            for number, process in list(running.items()):
                if not process.is_alive():
                    process.join()
                    del running[number]
                    if process.exitcode not in (0, 1):
                        failures.append(f"{places[number]} ended with code {process.exitcode}")
        failures += _listen(told, tell)
    except BaseException:
        for process in running.values():
            process.terminate()  # each saves a checkpoint
        for process in running.values():
            process.join()
        raise
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)
    if failures:
        raise TenfoldError("; ".join(failures))
    return [Run(place, recipe) for place, recipe in zip(places, recipes, strict=True)]


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _obey_sigterm() -> Any:
    """Let SIGTERM raise, so that the workers are ended with us; gives the handler to put back."""
    if threading.current_thread() is not threading.main_thread():
        return None

    def stop(number: int, _frame: object) -> None:
        raise Stopped("stopped by SIGTERM; the same command goes on from there", number)

    return signal.signal(signal.SIGTERM, stop)


def _listen(told: Any, tell: Tell | None, patience: float = 0.2) -> list[str]:
    """Pass on what the workers say; return what went wrong."""
    failures: list[str] = []
    while True:
        try:
            number, message = told.get(timeout=patience)
        except queue.Empty:
            return failures
        patience = 0.01
        if isinstance(message, str):
            failures.append(message)
        elif tell is not None:
            tell(number, message)


def _work(number: int, values: dict[str, Any], folder: Path, fresh: bool, told: Any) -> None:
    """A worker's whole life. Ctrl-C reaches the parent, which ends us with SIGTERM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def tell(line: dict[str, Any]) -> None:
        if parent is not None and not parent.is_alive():  # killed: nobody waits for us any more
            raise Stopped("the process that started this one is gone", signal.SIGTERM)
        told.put((number, line))

    try:
        train(Recipe.of(values), folder, fresh=fresh, tell=tell)
    except Stopped:
        told.cancel_join_thread()  # nobody listens any more: do not wait until all is told
        raise SystemExit(0) from None
    except TenfoldError as error:
        told.put((number, f"{folder}: {error}"))
        raise SystemExit(1) from None
    except Exception:
        told.put((number, f"{folder}: {traceback.format_exc(limit=-3)}"))
        raise SystemExit(1) from None
