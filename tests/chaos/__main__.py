"""`python -m tests.chaos`: see the package."""

from __future__ import annotations

import argparse
import atexit
import importlib
import pkgutil
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from tests.chaos.outcome import Case, attack
from tests.chaos.training import TrainingAttacks, warm

import tenfold
from tenfold.cli.app import COMMANDS

FULL = {
    "kills": 1000,
    "events": 500,
    "power": 200,
    "signals": 200,
    "damage": 1000,
    "fuzz": 10000,
    "sweeps": 80,
    "ray": 10,
}
SHORT = {"kills": 3, "events": 5, "power": 4, "signals": 3, "damage": 4, "fuzz": 29, "sweeps": 3}
MAKERS: dict[str, Callable[[Path], dict[str, Case]]] = {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--count", type=int, default=100, help="1000: the full size of every attack"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=",".join(FULL), help="attacks, separated by commas")
    parser.add_argument("--case", type=int, help="only the case with this number")
    parser.add_argument("--first", type=int, default=0, help="go on from the case with this number")
    parser.add_argument("--minutes", type=float, default=600.0, help="no new case after this time")
    parser.add_argument("--short", action="store_true", help="a few cases of each, without Ray")
    options = parser.parse_args()
    if options.short:
        options.only = ",".join(SHORT)
    for each in (signal.SIGINT, signal.SIGTERM):  # a shell may have them ignored
        signal.signal(each, signal.default_int_handler)
    _import_all()
    torch.set_num_threads(1)
    until, outcomes = time.monotonic() + 60 * options.minutes, []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        warm(folder)
        cases: dict[str, Case] = {}
        for name in options.only.split(","):
            if name not in cases:
                cases |= MAKERS[name](folder)
            several = range(
                SHORT[name] if options.short else max(1, FULL[name] * options.count // 1000)
            )
            numbers = several[options.first :] if options.case is None else [options.case]
            outcomes.append(attack(name, cases[name], numbers, options.seed, until))
            print(outcomes[-1].row(), flush=True)
    raise SystemExit(any(each.failures for each in outcomes))


def _import_all() -> None:
    """Import every module, so that no case has to."""
    for module in (*COMMANDS, "duckdb", "matplotlib.pyplot", "torch._dynamo"):
        importlib.import_module(module)
    for module in pkgutil.walk_packages(tenfold.__path__, "tenfold."):
        if not module.name.startswith("tenfold.papers") and not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def _training(folder: Path) -> dict[str, Case]:
    attacks = TrainingAttacks(folder)
    return {
        "kills": attacks.kill,
        "events": attacks.kill_at_event,
        "power": attacks.power,
        "signals": attacks.signalled,
    }


def _damage(folder: Path) -> dict[str, Case]:
    from tests.chaos.damage import DamageAttacks
    from tests.chaos.fuzz import FuzzAttacks

    damage = DamageAttacks(folder)
    return {"damage": damage.damage, "fuzz": FuzzAttacks(folder, damage).fuzz}


def _sweeps(folder: Path) -> dict[str, Case]:
    from tests.chaos.sweeps import SweepAttacks

    return {"sweeps": SweepAttacks(folder).local}


def _ray(folder: Path) -> dict[str, Case]:
    from tests.chaos.ray_sweeps import RayAttacks

    attacks = RayAttacks(folder)
    atexit.register(attacks.close)
    return {"ray": attacks.disturbed}


MAKERS |= {"sweeps": _sweeps, "ray": _ray}
MAKERS |= dict.fromkeys(("kills", "events", "power", "signals"), _training)
MAKERS |= dict.fromkeys(("damage", "fuzz"), _damage)


if __name__ == "__main__":
    main()
