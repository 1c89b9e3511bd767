"""What the experiments of Figure 8 at the end of a frame share: cascades in sums of one length, by what was trained on."""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.runs.recipe_files import recipe

SMOKE = 4  # digits


def asked(scale, length):
    """The length of the sums: a few digits at smoke scale."""
    return SMOKE if scale == "smoke" else length


def each_mix(series, scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in series]


def draw_mixes(drawing, series, length):
    """Accuracy by cascade at one length, and of uniform sums by length."""
    length = asked(drawing.scale, length)
    from_rows.by_run(
        drawing.rows,
        series,
        drawing.folder / "figure-8c",
        f"Cascades in sums of {length} digits",
        length=length,
        kind="cascade",
    )
    from_rows.by_length(
        drawing.rows, series, drawing.folder / "uniform", "Uniform sums, by what was trained on"
    )
