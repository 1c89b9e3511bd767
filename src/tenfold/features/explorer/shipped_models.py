"""The models of the default page: a proved adder, one with absolute positions, and one that is calibrated.

The last two were trained by the commands in `MADE`. This module exports them from their runs and measures all three:

    python -m tenfold.features.explorer.shipped_models runs/absolute runs/calibrated

A folder in `models` holds the weights, the recipe, and `curve.json`: evaluation rows of this very model, how it was made,
and the command that measured it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tenfold.core.errors import TenfoldError
from tenfold.core.files import remove, write_atomically
from tenfold.runs.environment import environment
from tenfold.runs.run import Run, open_run

MODELS = Path(__file__).with_name("models")
CURVE = "curve.json"
PROVED = "addition"  # a proved model of the package
TITLES = {
    "proved": "Proved adder",
    "absolute": "Absolute positions",
    "calibrated": "Calibrated",
}
ABOUT = {
    "proved": "A decoder of one layer that sees two columns of digits, trained until it was proved right at every length.",
    "absolute": "An encoder-decoder of one layer with sinusoidal absolute positions. It fits the lengths that it was trained on.",
    "calibrated": "The same encoder-decoder, trained again along the lines that calibration found in the attention of the first.",
}
MADE = {
    "absolute": "tenfold train bias/addition-vanilla --model.layers 1 --name explorer/addition-absolute "
    '--eval.lengths "[1,2,3,4,5,6,8,10,12,20,40]" --out runs/absolute',
    "calibrated": "tenfold calibrate runs/absolute --scores weights --kappa-self 0.5 --kappa-cross 1 "
    "--directions diagonal,anti-diagonal --out lines.json && "
    "tenfold train bias/addition-vanilla --model.layers 1 --name explorer/addition-calibrated --calibrated lines.json "
    '--train.steps 1000 --train.schedule cosine --eval.lengths "[1,2,3,4,5,6,8,10,12,20,40,100]" --out runs/calibrated',
}
LENGTHS = {1000: (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 40), 100: (100, 300, 1000)}  # by n


def shipped(name: str) -> Run:
    """One of the default models, by its name in `TITLES`."""
    return open_run(PROVED) if name == "proved" else Run.open(MODELS / name)


def measured(name: str) -> dict[str, Any]:
    """The rows and the origin of a default model."""
    try:
        return dict(json.loads((MODELS / name / CURVE).read_bytes()))
    except (OSError, ValueError) as error:
        raise TenfoldError(f"{MODELS / name / CURVE} cannot be read: {error}") from None


def ship(name: str, run: Run) -> None:
    """Export a run as a default model and measure it; the proved one is shipped already and only measured."""
    folder = MODELS / name
    if name != "proved":
        remove(folder)
        run.export(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        asdict(row)
        for n, lengths in LENGTHS.items()
        for row in run.evaluate(lengths, ["uniform"], n)
        if row.metric == "exact"
    ]
    keys = ("length", "slice", "metric", "value", "n", "low", "high")
    known = run.environment() or _certified(run)
    made = {key: known.get(key) for key in ("commit", "date", "torch")}
    curve = {
        "made": {**made, "command": MADE.get(name)},
        "measured": {key: environment().get(key) for key in ("commit", "date", "torch")},
        "rows": [{key: row[key] for key in keys} for row in rows],
    }
    write_atomically(folder / CURVE, json.dumps(curve, indent=1).encode() + b"\n")


def _certified(run: Run) -> dict[str, Any]:
    """Of a proved model, what its certificate says about its origin."""
    return dict(json.loads((run.folder / "certificate.json").read_bytes())["about"])


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit("name two runs: the one with absolute positions and the calibrated one")
    for name, run in zip(TITLES, [open_run(PROVED), *map(Run.open, sys.argv[1:])], strict=True):
        ship(name, run)
        print(MODELS / name)


if __name__ == "__main__":
    main()
