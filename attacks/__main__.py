"""`python -m attacks rounding|sabotage [MODEL ...] [--quick] [--save]`; exit 1 if an attack succeeds."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "2")  # before torch is loaded; more are tried than one

import argparse
import datetime
import re
from pathlib import Path

import torch

from attacks import rounding_attack, sabotage

ATTACKS = {"rounding": rounding_attack, "sabotage": sabotage}
PAGE = Path(__file__).parents[1] / "docs" / "certify.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m attacks", description=__doc__)
    parser.add_argument("attack", choices=ATTACKS)
    parser.add_argument(
        "models", nargs="*", metavar="MODEL", help="shipped models; default: as in the docs"
    )
    parser.add_argument("--quick", action="store_true", help="few contexts or cases")
    parser.add_argument("--save", action="store_true", help=f"update the table in docs/{PAGE.name}")
    asked = parser.parse_args()
    attack = ATTACKS[asked.attack]
    unknown = set(asked.models) - set(attack.MODELS)
    if unknown:
        parser.error(
            f"{', '.join(sorted(unknown))}: not attacked here; there are {', '.join(attack.MODELS)}"
        )
    if asked.save and (asked.quick or asked.models):
        parser.error("only the whole attack is saved: without --quick, without names of models")
    lines, failed = attack.run(asked.models or attack.MODELS, quick=asked.quick)
    lines += ["", _made(asked.attack)]
    print("\n".join(lines))
    if asked.save:
        publish(asked.attack, lines)
    return int(failed)


def _made(name: str) -> str:
    vectors = torch.backends.cpu.get_cpu_capability()
    today = datetime.date.today().isoformat()
    return f"`python -m attacks {name} --save`, {today}, torch {torch.__version__}, a processor with {vectors}."


def publish(name: str, lines: list[str]) -> None:
    """Put a table between its marks in the page."""
    marks = f"<!-- {name} -->", f"<!-- end of {name} -->"
    new = "\n\n".join([marks[0], "\n".join(lines), marks[1]])
    pattern = re.escape(marks[0]) + ".*?" + re.escape(marks[1])
    PAGE.write_text(re.sub(pattern, lambda _: new, PAGE.read_text(), flags=re.DOTALL))


if __name__ == "__main__":
    raise SystemExit(main())
