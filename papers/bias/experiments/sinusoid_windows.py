"""Windows on columns with sinusoids, as the paper's code has them: four tasks, three seeds (Tables 2 and 3, w = 1).

    tenfold reproduce bias/sinusoid-windows

Two ways in which the sinusoids of `bias/scaffolding` differ from the paper's, one at a time. `faint`: they are no larger than tokens,
where those of `bias/scaffolding` are 35 times as large. `covered`: all questions have the width of the longest test, so that no
position is new at 60 digits. One to ten minutes a run on one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.papers.bias.experiments.scaffolding import PUBLISHED
from tenfold.papers.bias.experiments.scaffolding import SMOKE as SMOKE_LENGTHS
from tenfold.runs.recipe_files import recipe

TASKS = {
    "successor": "Successor",
    "parity": "Running parity",
    "addition": "Addition",
    "times": "A number times one digit",
}
KINDS = {
    "faint": "w = 1, sinusoids no larger than tokens",
    "covered": "w = 1, sinusoids, positions covered in training",
}
LENGTHS = {n: n for n in (6, 10, 15, 20, 60)}


def series(kind):
    return {f"bias/{task}-window-{kind}": words for task, words in TASKS.items()}


def grid(scale):
    names = [name for kind in KINDS for name in series(kind)]
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in names]


def draw(drawing):
    lengths = SMOKE_LENGTHS if drawing.scale == "smoke" else LENGTHS
    for kind, title in KINDS.items():
        names = series(kind)
        from_rows.by_length(drawing.rows, names, drawing.folder / f"windows-{kind}", title)
        published = {name: PUBLISHED[name.removesuffix(f"-{kind}")] for name in names}
        from_rows.published_table(
            drawing.rows, names, lengths, published, drawing.folder / f"table-{kind}", title
        )
