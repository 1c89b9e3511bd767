"""The fall at full length, and the fall removed, three seeds (Figure 2(b), Section 3.1).

    tenfold reproduce symmetry/full-length

Sums whose integers leave 3 to 0 pads of a frame of 10 each: at laptop scale the paper's adder (`addition-narrow`) does not
reach the end of a wider one. `addition-significance` has vectors by roles and columns in the same frame, which is not
enough: where no pad is left the operator must answer the highest digit, which it never did in training, and attention that
went to pads has nowhere to go. `addition-frames` trains in frames that vary, up to 20, and often leave no pad; only
relations by column allow that. About 15 minutes on two idle cores at laptop scale; finished runs are not done again.
"""

from tenfold.data.formats.numeric import InPlace
from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.measurements import more_slices
from tenfold.runs.recipe_files import recipe

SERIES = {
    "symmetry/addition-narrow": "by index",
    "symmetry/addition-significance": "by column",
    "symmetry/addition-frames": "by column, frames vary",
}
FRAME = {"smoke": 4}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure_run(lab, run):
    frame = FRAME.get(lab.scale, 10)
    for row in more_slices(lab, run, range(frame - 3, frame + 1), ["pads"], InPlace(frame)):
        yield {**row, "format": "in-place"}


def draw(drawing):
    """Against length, up to the frame: one curve through `pads-3` to `pads-0`."""
    shown = [{**row, "slice": "pads"} for row in drawing.rows if row["slice"].startswith("pads-")]
    title = "Both integers of so many digits, in a frame of 10"
    from_rows.by_length(shown, SERIES, drawing.folder / "full-length", title, slice="pads")
