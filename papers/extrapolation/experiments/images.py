"""Does the series say anything of a vision transformer? Digits at larger resolutions, six encodings, three seeds (beyond the paper).

    tenfold reproduce extrapolation/images

Trained on generated images of 8 x 8 patches (16 x 16 pixels). Asked at up to 24 x 24 patches: the same drawings at 1.5, 2 and 3
times the resolution (slice `uniform`), and drawings of the trained size, anywhere in an image with more patches around them (slice
`canvas`). The encoder looks in both directions with weights by distance in each, b(down) b(across), so that the sum over the
plane converges where the series does; the sinusoids of the last encoding count patches row by row. 18 runs of about 4 minutes each on
an idle core at laptop scale, and 1 to measure each: about 90 minutes of one core.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.runs.build import build
from tenfold.runs.recipe_files import recipe

ENCODINGS = {
    "alibi": "ALiBi",
    "type-1": "Type 1",
    "power-2": "power 2",
    "inverse": "1/n",
    "inverse-log": "1/(n ln n)",
    "sinusoidal": "sinusoidal",
}
NAMES = {f"extrapolation/images-{kind}": words for kind, words in ENCODINGS.items()}


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in NAMES]


def measure_run(lab, run):
    """Digits of the trained size in larger images: another task at the same patches, which training does not tell apart."""
    larger = build(run.recipe.replace(task={"name": "digit-images", "grows": False})).source
    lengths, n = run.recipe.eval.lengths, run.recipe.eval.n
    about = lab.about(run)
    for row in larger.measure(larger.answerer(run.model()), lengths, ["uniform"], n):
        if row.metric == "exact":
            yield {**about, **row.as_json(), "slice": "canvas", "checkpoint": "best"}


def draw(drawing):
    of = "images that are named rightly"
    from_rows.by_length(drawing.rows, NAMES, drawing.folder / "resolution", "Digits at larger resolutions", of=of)  # fmt: skip
    from_rows.by_length(drawing.rows, NAMES, drawing.folder / "canvas", "Digits of one size in larger images", slice="canvas", of=of)  # fmt: skip
