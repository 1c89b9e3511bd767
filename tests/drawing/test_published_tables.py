"""Tables of accuracies beside published ones."""

import math

import pytest

from tenfold.drawing import figures_from_rows as from_rows

SERIES = {"bias/a": "first", "bias/b": "second"}


def row(recipe, length, value, seed=0, **other):
    return {
        "recipe": recipe, "length": length, "value": value, "seed": seed,
        "slice": "uniform", "metric": "exact", "checkpoint": "best", **other,
    }  # fmt: skip


ROWS = [
    *(row("bias/a", 4, value, seed) for seed, value in enumerate((0.1, 0.9, 0.998))),
    row("bias/a", 4, 0.0, checkpoint="final"),
    row("bias/a", 4, 0.0, slice="nines"),
    row("bias/a", 4, 0.0, metric="digit"),
    row("bias/b", 8, 1.0),
]


def test_the_median_of_seeds_at_their_best_checkpoint():
    assert from_rows.median(ROWS, "bias/a", 4) == 0.9
    assert math.isnan(from_rows.median(ROWS, "bias/a", 8))


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ([0.998], 1.0, "99.8 / 100"),
        ([1.0, 1.0, 0.972], 1.0, "100 (97.2) / 100"),
        ([0.9996, 1.0, 0.9998], None, "100 / -"),
        ([0.0], None, "0 / -"),
        ([], 0.2923, "- / 29.2"),
    ],
)
def test_a_cell(ours, theirs, expected):
    assert from_rows.cell(ours, theirs) == expected


def test_a_table_shows_both(tmp_path, monkeypatch):
    monkeypatch.setitem(from_rows.pyplot.rcParams, "svg.fonttype", "none")  # words stay words
    files = from_rows.published_table(
        ROWS, SERIES, {4: 6, 8: 8}, {"bias/a": {6: 1.0}}, tmp_path / "table", "A table"
    )
    assert {path.name for path in files} == {"table.png", "table.svg"}
    text = (tmp_path / "table.svg").read_text()
    for part in ("90 (10) / 100", "- / -", "100 / -", "(6)", "first", "second", "A table"):
        assert part in text
    assert "(8)" not in text


def test_nothing_measured_nothing_drawn(tmp_path):
    assert (
        from_rows.published_table(
            ROWS, {"bias/c": "third"}, {4: 6}, {}, tmp_path / "table", "A table"
        )
        == []
    )
    assert not list(tmp_path.iterdir())
