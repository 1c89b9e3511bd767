"""The table of measured, predicted and published accuracies."""

import math

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.papers.principled import predicted_tables as beside

SERIES = {"principled/a": "modulo 30", "principled/b": "modulo 50", "principled/none": "not run"}


def row(recipe, length, value, seed=0, **other):
    return {
        "recipe": recipe, "length": length, "value": value, "seed": seed,
        "slice": "uniform", "metric": "exact", "checkpoint": "best", **other,
    }  # fmt: skip


def predicted(recipe, length, value):
    return row(recipe, length, value, metric="exact-predicted", checkpoint="")


ROWS = [
    *(row("principled/a", 4, value, seed) for seed, value in enumerate((0.30, 0.331, 0.34))),
    predicted("principled/a", 4, 1 / 3),
    row("principled/b", 3, 1.0),
    predicted("principled/b", 3, 1.0),
    row("principled/a", 4, 0.97, metric="exact-truncated"),
]


def test_every_cell_has_three_numbers(tmp_path):
    published = {"principled/b": {3: 0.997}}
    files = beside.table(ROWS, SERIES, published, tmp_path / "table", "Moduli")
    drawn = next(path for path in files if path.suffix == ".svg").read_text()
    for cell in ("33.1 (30) / 33.3 / -", "100 / 100 / 99.7", "- / - / -", "modulo 50"):
        assert cell in drawn
    assert "not run" not in drawn


def test_what_theory_does_not_count():
    assert math.isnan(beside.predicted(ROWS, "principled/b", 4))


def test_nothing_to_show_is_no_figure(tmp_path):
    assert beside.table([], SERIES, {}, tmp_path / "table", "Moduli") == []


def test_another_share_in_the_place_of_exact_match():
    (row,) = from_rows.measured_as(ROWS, "exact-truncated")
    assert (row["metric"], row["value"]) == ("exact", 0.97)
