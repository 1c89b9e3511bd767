"""Figures 13 and 14 from rows, and the experiment that measures them."""

from types import SimpleNamespace

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.features.complexity.complexity_figures import draw
from tenfold.papers.symmetry.experiments import distributions
from tenfold.results.row_schema import EMPTY


@pytest.fixture(scope="module")
def rows():
    return [
        {**EMPTY, **row}
        for row in distributions.measure(SimpleNamespace(scale="smoke", seeds=None))
    ]


def test_both_figures(rows, tmp_path):
    files = draw(rows, tmp_path)
    assert [each.name for each in files] == [
        f"figure-{number}.{kind}" for number in (13, 14) for kind in ("png", "svg")
    ]
    assert all(each.stat().st_size > 10_000 for each in files)
    sums, products = files[1].read_text(), files[3].read_text()
    assert "50 digits: 0.21% of sums cascade past 4" in sums
    assert "5 digits: 0.0045% of sums cascade past 4" in sums
    assert "20 digits: 0.16% of one-digit products past 4" in products
    assert "5 digits: 0.01% of one-digit products past 4" in products


def test_a_row_that_is_not_there(rows, tmp_path):
    fewer = [row for row in rows if row["recipe"] != "symmetry/levels"]
    with pytest.raises(TenfoldError, match='no row "at-most-4" of symmetry/levels at 20 digits'):
        draw(fewer, tmp_path)


def test_what_is_drawn_lies_around_what_is_counted(rows):
    by = {(row["recipe"], row["slice"], row["length"], row["metric"]): row for row in rows}
    assert len(by) == len(rows)
    for (recipe, where, length, metric), row in by.items():
        if where in ("drawn", "drawn-multiplier-1"):
            counted = by.get((recipe, "", length, metric), {"value": 0.0})  # longer than can be
            share = counted["value"]
            assert abs(row["value"] - share) < 5 * (share / row["n"]) ** 0.5 + 1 / row["n"]


def test_the_printed_algorithms_are_wrong_and_ours_are_not(rows):
    right = {
        (row["recipe"].removeprefix("symmetry/"), row["slice"], row["length"]): row["value"]
        for row in rows
        if row["metric"] == "exact"
    }
    for number in (1, 2):
        assert right[f"algorithm-{number}", "uniform", 20] == 1
        assert right[f"algorithm-{number}-printed", "mended", 20] < 0.6
        assert right[f"algorithm-{number}-printed", "uniform", 20] < 0.4
