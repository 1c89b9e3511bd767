"""`python -m tests.chaos`: see the package."""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from pathlib import Path

import torch
from tests.chaos.outcome import attack
from tests.chaos.training import TrainingAttacks, warm

from tenfold.cli.app import COMMANDS

FULL = {"kills": 500, "events": 500, "power": 200, "signals": 200}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--count", type=int, default=100, help="1000: the full size of every attack"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=",".join(FULL), help="attacks, separated by commas")
    parser.add_argument("--case", type=int, help="only the case with this number")
    parser.add_argument("--minutes", type=float, default=600.0, help="no new case after this time")
    options = parser.parse_args()
    for module in COMMANDS:
        importlib.import_module(module)
    torch.set_num_threads(1)
    until, outcomes = time.monotonic() + 60 * options.minutes, []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        warm(folder)
        training = TrainingAttacks(folder)
        print(
            f"a run: {training.seconds:.2f} s, {training.events} events",
            file=sys.stderr,
            flush=True,
        )
        cases = {
            "kills": training.kill, "events": training.kill_at_event,
            "power": training.power, "signals": training.signalled,
        }  # fmt: skip
        for name in options.only.split(","):
            numbers = (
                [options.case]
                if options.case is not None
                else range(max(1, FULL[name] * options.count // 1000))
            )
            outcomes.append(attack(name, cases[name], numbers, options.seed, until))
            print(outcomes[-1].row(), flush=True)
    raise SystemExit(any(each.failures for each in outcomes))


if __name__ == "__main__":
    main()
