"""Other encodings on tags of words and walks in a graph, beside the calibrated models of `bias/transfer`; three seeds.

    tenfold reproduce bias/transfer-rivals

Rotary positions, ALiBi and relative keys in the same encoder-decoder, with the same training as the plain model. Tags take about 2
minutes a run on one idle core at laptop scale, walks 8; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.runs.recipe_files import recipe

TITLES = {"tagging": "Tags of words", "reachability": "Walks in a graph"}
METHODS = {"rope": "RoPE", "alibi": "ALiBi", "relative": "relative keys"}


def grid(scale):
    return [
        recipe(f"bias/{what}-{method}", scale, seed=seed)
        for seed in range(3)
        for what in TITLES
        for method in METHODS
    ]


def draw(drawing):
    for what, title in TITLES.items():
        series = {f"bias/{what}-{method}": words for method, words in METHODS.items()}
        from_rows.by_length(drawing.rows, series, drawing.folder / f"rivals-{what}", title)
