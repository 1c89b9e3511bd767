"""The numbers of a headline in brief: the least favourable ones stay, and every number is the rule's own."""

import re

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.ledger.claim_text import headlines
from tenfold.ledger.claims import About, Claim, Sheet, _check
from tenfold.ledger.headline_numbers import brief, weakest
from tenfold.ledger.statuses import entry, ledger
from tenfold.results.row_schema import EMPTY


def rows_of(*values, **columns):
    """A row a value, a seed each."""
    usual = {"recipe": "p/sums-a", "metric": "exact", "slice": "uniform", "checkpoint": "best"}
    usual |= {"trained": 5, "length": 10}
    return [
        EMPTY | usual | columns | {"seed": seed, "value": v, "run": f"run-{seed}"}
        for seed, v in enumerate(values)
    ]


def claim_of(shown, **more):
    values = {
        "id": "c",
        "place": "p",
        "says": "s",
        "theirs": "t",
        "how": "h",
        "experiment": "e",
        "headline": "sums",
    }
    return Claim.model_validate({**values, "seeds": 1, "shown": shown, **more})  # fmt: skip


def made(rows, shown, **more):
    about = About(title="t", arxiv="1")
    return entry("p", about, claim_of(shown, **more), {"e": {"laptop": rows}})


LONG = [{"where": {"recipe": ["p/sums-a", "p/sums-b"], "times": [1, 2]}, "at_least": 0.9}]
TWO = (
    rows_of(1.0, length=5)
    + rows_of(0.972)
    + rows_of(0.19, recipe="p/sums-b", length=5)
    + rows_of(0.0, recipe="p/sums-b")
)


def test_series_have_the_part_of_the_name_that_is_their_own_and_real_lengths():
    assert brief(made(TWO, LONG)) == ("a 100/97.2%, b 19/0% at 5/10 digits", "")
    named = made(TWO, LONG, names={"p/sums-a": "relative"})
    assert brief(named).ours == "relative 100/97.2%, b 19/0% at 5/10 digits"


def test_the_worst_seed_stands_beside_where_it_differs():
    assert brief(made(rows_of(1.0, 0.3, 0.9), [{"where": {"length": 10}, "at_least": 0.5}])) == (
        "90% at 10 digits",
        "30%",
    )


def test_what_a_number_is_compared_with_is_shown():
    rows = rows_of(0.976, length=5) + rows_of(0.282)
    shown = [{"where": {"length": 10}, "above": {"length": 5}, "factor": 0.9}]
    assert brief(made(rows, shown)).ours == "97.6/28.2% at 5/10 digits"
    rows = rows_of(0.5, 0.6) + rows_of(0.4, 0.7, recipe="p/sums-b")
    shown = [{"where": {"recipe": "p/sums-a", "take": "lowest"}, "above": {"recipe": "p/sums-b", "take": "highest"}}]  # fmt: skip
    assert brief(made(rows, shown)).ours == "a (lowest seed) 50%, b (highest seed) 70% at 10 digits"


def test_of_many_numbers_the_least_favourable_is_shown():
    lengths = range(5, 12)
    rows = [row for n in lengths for row in rows_of(0.99 - (n == 8) / 10, length=n)]
    one = made(rows, [{"where": {"length": list(lengths)}, "at_least": 0.9}])
    assert brief(one).ours == "89% at 8 digits (least favourable of 7)"
    at_most = [{"where": {"length": list(lengths)}, "at_most": 0.9}]
    # of equal ones the last
    assert brief(made(rows, at_most)).ours == "99% at 11 digits (least favourable of 7)"
    rises = [
        row
        for n in range(6)
        for row in rows_of(1 + n / 100, recipe=f"p/far-{n}", metric="largest-rise")
    ]
    shown = [{"where": {"recipe": [f"p/far-{n}" for n in range(6)], "metric": "largest-rise"}, "at_most": 1.05}]  # fmt: skip
    assert brief(made(rises, shown)).ours == "largest rise: 5 1.05 at 10 digits (least favourable of 6)"  # fmt: skip


@pytest.mark.parametrize(
    ("bound", "values", "worst"),
    [
        ({"at_least": 0.9}, (0.95, 0.91, 0.99), 1),
        ({"at_most": 0.5}, (0.1, 0.2, 0.4), 2),
        ({"within": [0.5, 0.1]}, (0.5, 0.58, 0.45), 1),
    ],
)
def test_the_weakest_is_the_nearest_to_its_bound(bound, values, worst):
    rows = [row for n, value in enumerate(values) for row in rows_of(value, length=n + 1)]
    one = made(rows, [{"where": {"length": [1, 2, 3]}, **bound}])
    assert weakest(one.shown) is one.shown[worst]


def test_nothing_measured_is_empty():
    one = made([], [{"where": {"length": 10}, "at_least": 0.5}])
    assert brief(one) == ("", "")
    assert "| [sums](#sums) | t |  |  |  |  | open |" in headlines([one])


def test_a_name_is_of_a_recipe_that_the_rule_reads():
    sheet = Sheet(paper=About(title="t"), claims=(claim_of(LONG, names={"p/sums-c": "c"}),))
    with pytest.raises(TenfoldError, match="p/sums-c"):
        _check(sheet.claims[0], sheet)


def test_cells_of_the_committed_headlines_are_short_and_their_links_lead_to_headings():
    chosen = [each for each in ledger() if each.claim.headline]
    assert max(len(brief(each).ours) for each in chosen) < 180
    links = re.findall(r"\[([^]]+)\]\(#([^)]+)\)", headlines(chosen))
    assert len({target for _, target in links}) == len(links) == len(chosen)
