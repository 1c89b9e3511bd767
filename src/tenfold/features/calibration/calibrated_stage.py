"""Calibration as a stage of an entry in the league: the lines of a run in place of its encodings (ABC)."""

from __future__ import annotations

from typing import Any

from tenfold.features.calibration.calibrate import calibrate, with_lines
from tenfold.runs.run import Run


def calibrated_lines(run: Run) -> dict[str, Any]:
    """Changes of a recipe, so that it trains with the lines of a finished run. The run may be wrong on some problems.

    The lines are those of each layer, on problems of trained lengths.
    """
    calibration = calibrate(run, allow_imperfect=True)
    changed = with_lines(run.recipe, calibration, "drop").as_json()
    return {key: changed[key] for key in ("pe", "encoder_pe", "cross_pe", "label")}
