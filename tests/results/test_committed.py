"""Committed rows: whole and finite, or one clear line; no verdict rests on half a table."""

import json
import re

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.results.committed import as_csv, as_runs, read_rows, read_runs
from tenfold.results.row_schema import COLUMNS


def row(**columns):
    known = {"recipe": "p/r", "metric": "exact", "seed": 3, "value": 0.25, "date": "2026-01-01"}
    empty = {
        "trained": None,
        "length": 5,
        "n": 10,
        "low": None,
        "high": None,
        "steps": None,
        "whole": None,
    }
    return dict.fromkeys(COLUMNS, "") | empty | known | columns


@pytest.fixture
def place(tmp_path):
    """`place(rows)`: rows and what stands beside them, as they are committed."""

    def write(rows):
        (tmp_path / "rows.csv").write_text(as_csv(rows))
        (tmp_path / "runs.json").write_text(as_runs(rows, []))
        return tmp_path / "rows.csv"

    return write


def test_whole_rows_are_read(place):
    rows = [row(), row(metric="loss", value=-3.5), row(length=None, seed=0)]
    assert read_rows(place(rows)) == rows


def test_what_was_read_whole_is_stored(place):
    """A column that older files do not have: zero is stored, and rows without it are read as before."""
    rows = [row(whole=8), row(metric="digit", whole=0), row(length=7)]
    path = place(rows)
    assert path.read_text().splitlines()[0].endswith(",whole")
    assert read_rows(path) == rows
    assert "whole" not in place([row()]).read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": float("nan")}, "a row has the value nan"),
        ({"value": float("inf")}, "a row has the value inf"),
        ({"value": None}, "a row has no value"),
        ({"value": 7.5}, "exact is a share, and 7.5 is none"),
        ({"seed": None}, "a row has no seed"),
        ({"recipe": ""}, "a row has no recipe"),
        ({"metric": ""}, "a row has no metric"),
    ],
)
def test_a_row_that_says_nothing_is_refused(place, change, message):
    path = place([row(), row(**change)])
    with pytest.raises(TenfoldError, match=re.escape(f"{path} is damaged: {message}")):
        read_rows(path)


def test_every_cut_is_noticed(place):
    path = place([row(), row(seed=1), row(seed=2)])
    text = path.read_text()
    for at in range(text.index("\n") + 1, len(text)):
        path.write_text(text[:at])
        with pytest.raises(TenfoldError, match="is damaged"):
            read_rows(path)


def test_a_cut_within_the_last_column_needs_no_count(place):
    path = place([row()])
    path.with_name("runs.json").unlink()
    path.write_text(path.read_text()[:-4])
    with pytest.raises(TenfoldError, match="a line is cut short"):
        read_rows(path)


def test_as_many_rows_as_are_told(place):
    path = place([row(), row(seed=1)])
    path.write_text(as_csv([row()]))
    with pytest.raises(TenfoldError, match=r"damaged: 1 rows, but runs\.json says 2"):
        read_rows(path)
    path.with_name("runs.json").write_text("{")
    with pytest.raises(TenfoldError, match="damaged"):
        read_rows(path)
    path.with_name("runs.json").write_text(json.dumps([]))  # from before the count
    assert read_rows(path) == [row()]


def test_a_line_with_too_many_values(place):
    path = place([row()])
    path.write_text(path.read_text()[:-1] + ",more\n")
    with pytest.raises(TenfoldError, match="a line has too many values"):
        read_rows(path)


@pytest.mark.parametrize("runs", [3, [3], ["a"], [{}], [{"recipe": {}, "environment": {}}]])
def test_damaged_runs_are_one_line(place, runs):
    path = place([row()]).with_name("runs.json")
    path.write_text(json.dumps({"rows": 1, "runs": runs}))
    with pytest.raises(TenfoldError, match=r"runs\.json is damaged: ") as caught:
        read_runs(path)
    assert "\n" not in str(caught.value)
