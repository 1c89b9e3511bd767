"""Positional maps of products: which offsets the vectors of each layer are about (Figures 11 and 12, Appendix C.3).

    tenfold reproduce symmetry/maps

Looks at the runs of multiplication-1 and multiplication-3, relative and uniform, seeds 0 to 2; those that are finished are
not done again. Offsets are counted in columns back, so 1 is the column that a carry comes from: the paper's P_-1, since
its numbers are written most significant digit first. Only offsets that occur in the frame count.
"""

from pathlib import Path

from tenfold.features.maps.map_figures import draw_maps
from tenfold.features.maps.positional_maps import measures
from tenfold.features.maps.run_maps import maps
from tenfold.runs.recipe_files import recipe

NAMES = [f"symmetry/multiplication-{k}-{pe}" for k in (1, 3) for pe in ("relative", "uniform")]


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in NAMES]


def measure_run(lab, run):
    learned = maps(run)
    lab.kept.setdefault(run.recipe.name, learned)  # of the first seed
    for metric, value in measures(learned).items():
        yield {
            **lab.about(run), "slice": "uniform", "checkpoint": "best", "metric": metric, "value": value,
        }  # fmt: skip
    for layer in learned:
        for back, size in layer.columns_back().items():
            if abs(back) <= 5:
                yield {
                    **lab.about(run), "slice": layer.name, "checkpoint": "best",
                    "metric": f"length-at-{back}", "value": size,
                }  # fmt: skip


def draw(drawing):
    for name, learned in drawing.kept.items():
        draw_maps(learned, drawing.folder / Path(name).name, name)
