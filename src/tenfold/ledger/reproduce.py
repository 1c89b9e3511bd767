"""From an experiment to its committed folder: train, measure, write tables and figures, all or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tenfold.drawing.report_page import write_report, write_story
from tenfold.drawing.run_groups import Story, grouped
from tenfold.ledger import experiments
from tenfold.ledger.experiments import Experiment, Sweep
from tenfold.ledger.shown_figures import keep_shown, shown_figures
from tenfold.results.collect import Collected
from tenfold.runs.run import Run


def reproduce(
    experiment: Experiment,
    scale: str,
    seeds: Sequence[int] | None,
    shelf: Path,
    sweep: Sweep,
    add: bool = False,
    only: Sequence[str] = (),
) -> Path:
    """Run an experiment and leave its results; a failure leaves what was there before.

    With `add`, committed recipes and seeds that were not run now stay beside the new ones. In the results of a
    checkout only the figures that pages show are kept; elsewhere all of them are, with drawings and a page.
    """
    found, runs = experiments.run(experiment, scale, seeds, sweep, only)
    folder = experiment.folder(shelf, scale)
    whole = experiments.beside(found, folder) if add else found

    def write_more(fresh: Path) -> None:
        if runs:
            told = experiment.title
            written = (
                write_story(_story(whole, runs), fresh, told)
                if add
                else write_report(runs, fresh, told)
            )
            written["rows"].unlink()  # rows.csv has them, with every column
        experiments.draw(experiment, scale, whole.rows, fresh)
        keep_shown(fresh, shown_figures(shelf, experiment.paper, experiment.name, scale))

    return experiments.commit(whole, folder, write_more)


def _story(whole: Collected, runs: Sequence[Run]) -> Story:
    """Of every run that has rows; the weights of earlier ones are gone."""
    known = {run["fingerprint"] for run in whole.runs}
    rows = [row for row in whole.rows if row["fingerprint"] in known]
    groups, problems = grouped(Collected(rows, whole.runs))
    return Story(groups, {run.recipe.fingerprint: run for run in runs}, problems)
