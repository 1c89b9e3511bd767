"""From an experiment to its committed folder: train, measure, write tables and figures, all or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tenfold.lab import experiments
from tenfold.lab.experiments import Experiment, Sweep
from tenfold.lab.run import Run
from tenfold.report.page import write_report


def reproduce(
    experiment: Experiment, scale: str, seeds: Sequence[int] | None, shelf: Path, sweep: Sweep
) -> Path:
    """Run an experiment and leave its results; a failure leaves what was there before."""
    found, runs = experiments.run(experiment, scale, seeds, sweep)
    folder = experiment.folder(shelf, scale)

    def write_more(fresh: Path) -> None:
        if runs:
            _report(runs, fresh, experiment)
        experiments.draw(experiment, scale, found.rows, fresh)

    return experiments.commit(found, folder, write_more)


def _report(runs: Sequence[Run], folder: Path, experiment: Experiment) -> None:
    written = write_report(runs, folder, experiment.title)
    written["rows"].unlink()  # rows.csv has them, with every column
