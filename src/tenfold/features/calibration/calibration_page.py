"""The page of `tenfold calibrate`: the lines along which the heads of a run attend."""

from __future__ import annotations

from html import escape
from pathlib import Path

from tenfold.drawing.feature_page import (
    FeaturePage,
    captioned,
    cells,
    figure_folder,
    files_of,
    write_page,
)
from tenfold.features.calibration.attention_figures import before_after
from tenfold.features.calibration.calibration import Calibration
from tenfold.features.calibration.calibration_figures import TIMES, draw_calibration
from tenfold.features.calibration.calibration_text import named_lines, thresholds, title
from tenfold.runs.run import Run, Which

QUESTION = "Along which lines do the heads of this model attend, so that a longer model could be told to do the same?"
CAPTION = (
    "One row for each head. Left: its mean attention on problems of the training lengths, answer tokens (rows) by the "
    "tokens they look at (columns); yellow is high, dark blue is low, and empty cells are not seen. Middle: the lines "
    "through this picture with the highest mean; large orange dots are kept, small grey ones are dropped. Right: the "
    f"bias that the kept lines become, on inputs {TIMES} times as long; a head that keeps nothing has no bias."
)
AGAIN = (
    "Above, where one head looks: in the first training at the trained length, the same at twice that length, its lines "
    "as a bias, and the model that was trained again. A white dot marks the column of the answer digit itself; the "
    "percentage is the share of digits at which that column gets the most attention. Below, the share of exactly "
    "right answers by length, before and after; the shaded lengths were trained on."
)


def write_calibration(
    run: Run,
    calibration: Calibration,
    path: Path,
    command: str,
    figures: Path | None = None,
    second: Run | None = None,
    which: Which = "best",
) -> tuple[Path, list[str]]:
    """Write the page beside the file of lines, `path`; `command` trains again with them, `second` is a run that did.

    Returns the page, and the files of figures where a folder `figures` was asked for.
    """
    parts = [
        f"<h2>Train again with these lines</h2><pre>{escape(command)}</pre>",
        _heads(calibration),
    ]
    with figure_folder(figures) as place:
        drawn = draw_calibration(calibration, place)
        captions = [CAPTION, *(f"The same for {each.title}." for each in drawn[1:])]
        shown = [
            f"<h3>{escape(each.title)}</h3>{captioned(each, words)}"
            for each, words in zip(drawn, captions, strict=True)
        ]
        if second is not None:
            drawn.append(before_after(run, second, calibration, place / "before-after"))
            shown.insert(0, captioned(drawn[-1], AGAIN))
    page = FeaturePage(
        f"Calibration of {run.recipe.name}", QUESTION, answer(calibration), [*shown, *parts]
    )
    rules = calibration.rules
    settings = {
        "file of lines": path.name,
        "problems averaged": calibration.samples,
        "attention": f"{rules.scores} of {'the last layer' if rules.source == 'last' else 'each layer'}",
        "thresholds": thresholds(calibration),
        "trained again": second.folder.name if second is not None else None,
    }
    written = write_page(page, path.with_suffix(".html"), run, which, settings)
    return written, files_of(drawn, figures)


def answer(calibration: Calibration) -> list[str]:
    """The accuracy, how many lines are kept, and notes."""
    heads, empty = len(calibration.heads), len(calibration.transparent)
    enough = "" if calibration.interpolates else ", so its attention may be wrong"
    return [
        f"The model is right on {calibration.accuracy}{enough}.",
        f"{heads - empty} of {heads} heads keep {calibration.kept} lines in all.",
        *([f"{empty} keep nothing and stay open: they see everything."] if empty else []),
        *(f"{note[:1].upper()}{note[1:]}." for note in calibration.notes),
    ]


def _heads(calibration: Calibration) -> str:
    """The lines of every head in words."""
    rows = [
        (title(head), named_lines(head.kept, len(head.kept)), named_lines(head.dropped, 2))
        for head in calibration.heads
    ]
    head = ("head", "keeps (mean)", "drops (mean)")
    return f"<h2>The lines of each head</h2>{cells(head, rows)}"
