"""Windows on columns without positions, at the depth of the paper: addition and N x 1, three seeds (Table 3, NoPE + w = 1).

    tenfold reproduce bias/deep-windows

Six layers and 10,000 steps, where `bias/scaffolding` has three layers and 3,000; nothing else differs. About 20 minutes a run on
one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.papers.bias.experiments.scaffolding import LENGTHS, PUBLISHED, SMOKE
from tenfold.runs.recipe_files import recipe

SERIES = {
    "bias/addition-window-none-deep": "Addition",
    "bias/times-window-none-deep": "A number times one digit",
}
TITLE = "w = 1, no positions, six layers"


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def draw(drawing):
    from_rows.by_length(drawing.rows, SERIES, drawing.folder / "deep-windows", TITLE)
    lengths = SMOKE if drawing.scale == "smoke" else LENGTHS
    published = {name: PUBLISHED[name.removesuffix("-deep")] for name in SERIES}
    from_rows.published_table(
        drawing.rows, SERIES, lengths, published, drawing.folder / "table", TITLE
    )
