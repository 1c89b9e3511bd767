"""Rows summarised over seeds, compared with values by hand; mixed cells are named."""

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.evals.statistics import wilson
from tenfold.results.collect import collect
from tenfold.results.selection import select
from tenfold.results.summary import cells, columns_of, mixed


def choose(rows, by, **wanted):
    return select(rows, by, **wanted).rows


def test_cells_by_hand(make, tmp_path):
    for seed, right in enumerate([10, 7, 9]):
        make("alibi", seed, {5: right, 7: 10})
    make("rotary", 0, {5: 2, 7: 0})
    rows = choose(collect([tmp_path / "runs"]).rows, columns_of(["pe", "length"]))
    five, seven, one, none = cells(rows, ["encoding", "length"])
    assert (five["encoding"], five["length"], five["seeds"], five["n"]) == ("alibi", 5, 3, 30)
    assert (five["median"], five["worst"], five["best"]) == (0.9, 0.7, 1.0)
    assert five["success"] == pytest.approx(1 / 3)
    assert (five["seeds_low"], five["seeds_high"], five["seeds_coverage"]) == (0.7, 1.0, 0.75)
    assert (five["samples_low"], five["samples_high"]) == wilson(9, 10)  # the median seed's
    assert seven["success"] == 1.0
    assert (one["seeds"], one["seeds_low"], one["seeds_high"]) == (1, None, None)
    assert one["seeds_coverage"] is None
    assert none["samples_low"] == 0.0


def test_both_checkpoints_and_all_slices(make, measured):
    rows = [measured(4, 5, "best"), measured(3, 5, "final"), measured(1, 5, "best", "nines")]
    rows += [measured(8, 5, "best", metric="digit")]
    measured = collect([make(rows=rows)]).rows
    assert [row["value"] for row in choose(measured, ["length"])] == [0.4]
    assert [row["value"] for row in choose(measured, ["length"], checkpoint="final")] == [0.3]
    assert [row["value"] for row in choose(measured, ["checkpoint"])] == [0.4, 0.3]
    assert [row["value"] for row in choose(measured, ["slice"])] == [0.4, 0.1]
    digit = cells(choose(measured, ["length"], metric="digit"), ["length"])
    assert digit[0]["samples_low"] is None  # digits of one problem are not independent
    with pytest.raises(TenfoldError, match='did you mean "nines"'):
        choose(measured, ["length"], slice="nins")


def test_a_seed_counts_once_in_a_cell(make):
    rows = choose(collect([make(right={5: 10, 7: 4})]).rows, ["encoding"])
    (cell,) = cells(rows, ["encoding"])
    assert (cell["seeds"], cell["n"], cell["median"]) == (1, 20, pytest.approx(0.7))


def test_mixed_cells_are_told(make, tmp_path):
    make("alibi", 0)
    make("alibi", 1)
    collected = collect([tmp_path / "runs"])
    assert mixed(collected, collected.rows, ["length"]) == []
    make({"name": "learned", "limit": 41}, 0, {7: 1}, train={"lr": 0.01, "log_every": 7})
    collected = collect([tmp_path / "runs"])
    assert mixed(collected, collected.rows, ["encoding", "length"]) == []
    assert mixed(collected, collected.rows, ["trained"]) == [
        "a cell mixes different values of length: 5, 7",
        "a cell mixes different values of pe: alibi, learned",
        "a cell mixes different values of train.lr: 0.01, 0.001",
    ]
    collected.runs.clear()  # a table of rows alone
    assert mixed(collected, collected.rows, ["length", "encoding"]) == []
    assert "a cell mixes different values of encoding: alibi, learned" in mixed(
        collected, collected.rows, ["trained"]
    )


def test_rows_alone_tell_what_they_can(make, tmp_path):
    make("alibi", 0)
    make("alibi", 1, data={"length": 7}, label="other", result={"steps": 9})
    collected = collect([tmp_path / "runs"])
    collected.runs.clear()
    assert mixed(collected, collected.rows, ["encoding", "length"]) == [
        "a cell mixes different values of label: other, generic",
        "a cell mixes different values of trained: 5, 7",
        "a cell mixes different values of steps: 3, 9",
    ]
    assert mixed(collected, collected.rows, ["label", "length"]) == []


@pytest.mark.parametrize("wrong", [["lenght"], ["pe", ""]])
def test_unknown_columns(wrong):
    with pytest.raises(TenfoldError, match="unknown column"):
        columns_of(wrong)


@pytest.mark.parametrize("wrong", ["value", "n", "low"])
def test_what_is_measured_makes_no_cells(wrong):
    with pytest.raises(TenfoldError, match=f'"{wrong}" is measured, and cannot be grouped by'):
        columns_of(["pe", wrong])
