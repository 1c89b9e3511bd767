"""The calibration section of a run's page, if `tenfold calibrate` has written a calibration to the run's folder."""

from __future__ import annotations

from html import escape
from pathlib import Path

from tenfold.core.errors import TenfoldError
from tenfold.drawing.html import details, panels_in_full
from tenfold.drawing.run_groups import Story
from tenfold.features.calibration.calibrate import FILE
from tenfold.features.calibration.calibration import Calibration
from tenfold.features.calibration.calibration_figures import draw_calibration
from tenfold.features.calibration.calibration_text import calibration_lines


def section(story: Story, out: Path) -> str:
    """The section of a page about one run: its heads, attention before, lines, and the bias after."""
    runs = story.runs
    paths = [run.folder / FILE for run in runs.values() if (run.folder / FILE).exists()]
    if len(runs) != 1 or not paths:
        return ""
    head = '<h2>Calibration</h2><p class="soft">What each head looks at, and the lines that are kept of it.</p>'
    try:
        calibration = Calibration.read(paths[0])
    except TenfoldError as error:
        return f'{head}<p class="soft">None: {escape(str(error))}</p>'
    figures = "".join(panels_in_full(drawn.svg) for drawn in draw_calibration(calibration, out))
    lines = escape("\n".join(calibration_lines(calibration)))
    return f"{head}{figures}{details('In words', f'<pre>{lines}</pre>')}"
