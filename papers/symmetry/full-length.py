"""The fall at full length, and the fall removed, three seeds (Figure 2(b), Section 3.1).

    tenfold reproduce symmetry/full-length

Sums whose integers leave 3 to 0 pads of the frame each, all asked in the full frame. `addition-relative` is the paper's.
Where no pad is left the operator must answer the highest digit, which it never did in training, and attention that rested
on pads has nowhere to rest. `addition-significance` changes the vectors alone: by roles and columns, in the same frame.
`addition-frames` trains in frames that vary and often leave no pad, which only relations by column allow: by index, the
other integer would be elsewhere in every frame.
About 15 minutes on two idle cores at laptop scale; finished runs are not done again.
"""

from tenfold.lab.measuring import more_slices
from tenfold.lab.recipes import recipe
from tenfold.report import from_rows
from tenfold.tasks.formats import InPlace

SERIES = {
    "symmetry/addition-relative": "by index",
    "symmetry/addition-significance": "by column",
    "symmetry/addition-frames": "by column, frames vary",
}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure(lab):
    for run in lab.runs:
        frame = run.built.batcher.format.longest()
        for row in more_slices(lab, run, range(frame - 3, frame + 1), ["pads"], InPlace(frame)):
            yield {**row, "format": "in-place"}


def draw(_scale, rows, folder):
    """Against length, up to the frame: one curve through `pads-3` to `pads-0`."""
    shown = [{**row, "slice": "pads"} for row in rows if row["slice"].startswith("pads-")]
    title = "Both integers of so many digits, in a frame of 20"
    from_rows.by_length(shown, SERIES, folder / "full-length", title, slice="pads")
