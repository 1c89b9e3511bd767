"""Rules: which rows a cell means, and whether its bound holds, by hand."""

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.evals.statistics import SUCCESS
from tenfold.ledger.rules import Condition
from tenfold.results.row_schema import EMPTY


def rows_of(*values, **columns):
    """A row a value, a seed each."""
    usual = {"recipe": "p/a", "metric": "exact", "slice": "uniform", "checkpoint": "best"}
    row = EMPTY | usual | {"trained": 5, "length": 10} | columns
    return [{**row, "seed": seed, "value": value} for seed, value in enumerate(values)]


def verdict(rows, seeds=1, **condition):
    (verdict,) = Condition.model_validate(condition).judged(rows, seeds)
    return verdict


def holds(rows, **condition):
    return verdict(rows, **condition).holds


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"at_least": 0.5}, True),
        ({"at_least": 0.51}, False),
        ({"at_most": 0.5}, True),
        ({"at_most": 0.49}, False),
        ({"within": [0.6, 0.11]}, True),
        ({"within": [0.6, 0.09]}, False),
        ({"where": {"take": "lowest"}, "at_most": 0.2}, True),
        ({"where": {"take": "highest"}, "at_least": 1.0}, True),
        ({"where": {"take": "mean"}, "within": [1.7 / 3, 1e-9]}, True),
        ({"where": {"take": "spread"}, "within": [0.8, 1e-9]}, True),
        ({"where": {"take": "success"}, "within": [1 / 3, 1e-9]}, True),
        ({"where": {"times": 2}, "at_least": 0.5}, True),
        ({"where": {"times": 3}, "at_least": 0.5}, None),
        ({"where": {"beyond": 5}, "at_least": 0.5}, True),
        ({"where": {"beyond": 4}, "at_least": 0.5}, None),
        ({"above": {"length": 20}}, True),
        ({"above": {"length": 20}, "by": 0.25}, False),
        ({"above": {"length": 20}, "factor": 1.9}, False),
        ({"where": {"length": 20}, "below": {"length": 10}}, True),
        ({"where": {"length": 20}, "below": {"length": 10}, "factor": 0.5}, False),
        ({"near": {"length": 20}, "by": 0.2}, True),
        ({"near": {"length": 20}, "by": 0.1}, False),
        ({"above": {"length": 30}}, None),
    ],
)
def test_bounds_by_hand(condition, expected):
    """0.2, 0.5, 1.0 at 10 digits: median 0.5; 0.3 at 20."""
    rows = rows_of(1.0, 0.2, 0.5) + rows_of(0.3, 0.3, 0.3, length=20)
    where = {"length": 10, **condition.get("where", {})}
    if {"times", "beyond"} & set(where) and "length" not in condition.get("where", {}):
        del where["length"]
    assert holds(rows, **{**condition, "where": where}) is expected


def test_equal_is_not_above():
    rows = rows_of(0.5) + rows_of(0.5, length=20)
    assert holds(rows, where={"length": 10}, above={"length": 20}) is False
    assert holds(rows, where={"length": 10}, below={"length": 20}) is False


def test_a_number_without_slice_and_checkpoint_is_found_too():
    rows = rows_of(2.0, slice="", checkpoint="", metric="trf")
    assert holds(rows, where={"metric": "trf"}, at_least=2) is True
    assert holds(rows_of(2.0, checkpoint="final"), at_least=0) is None
    assert holds(rows_of(2.0, slice="nines"), at_least=0) is None


def test_too_few_seeds_are_named():
    rows = rows_of(1.0, 1.0)
    assert verdict(rows, seeds=2, at_least=0.5).missing == []
    assert verdict(rows, seeds=3, at_least=0.5).missing == [": 2 of 3 seeds"]
    assert holds(rows, seeds=3, at_least=0.5) is True


def test_a_cell_of_two_rows_a_seed_is_refused():
    with pytest.raises(TenfoldError, match="2 rows for 1 seeds; name another column"):
        holds(rows_of(1.0) + rows_of(0.0, length=11), at_least=0.5)


@pytest.mark.parametrize(
    ("value", "condition"),
    [
        (0.71, {"within": [0.81, 0.10]}),
        (0.91, {"within": [0.81, 0.10]}),
        (0.1 + 0.2, {"at_most": 0.3}),
        (1 - 0.9, {"at_least": 0.1}),
        (0.95, {"near": {"length": 20}, "by": 0.05}),
    ],
)
def test_rounding_decides_nothing(value, condition):
    rows = rows_of(value) + rows_of(1.0, length=20)
    assert holds(rows, where={"length": 10}, **condition) is True


@pytest.mark.parametrize(
    ("value", "other", "condition"),
    [
        (0.8, 0.7, {"above": {"length": 20}, "by": 0.1}),
        (0.3, 0.4, {"below": {"length": 20}, "by": 0.1}),
    ],
)
def test_equal_but_for_rounding_is_neither_above_nor_below(value, other, condition):
    rows = rows_of(value) + rows_of(other, length=20)
    assert holds(rows, where={"length": 10}, **condition) is False


@pytest.mark.parametrize("lack", [{"length": None}, {"trained": None}, {"trained": 0}])
@pytest.mark.parametrize("key", ["times", "beyond"])
def test_a_row_without_lengths_is_no_multiple(lack, key):
    """What `measure` adds may have no length: `{**lab.about(run), "metric": "same-list", ...}`."""
    rows = rows_of(1.0, **lack)
    assert holds(rows, where={key: 2}, at_least=0) is None
    assert (
        holds(rows + rows_of(0.5), where={key: {"times": 2, "beyond": 5}[key]}, at_most=0.5) is True
    )


def test_success_is_what_statistics_say():
    rows = rows_of(SUCCESS, SUCCESS - 0.001)
    assert holds(rows, where={"take": "success"}, within=[0.5, 0]) is True
