"""The ledger: the status of a claim follows from its rule and committed rows alone."""

import json
import statistics
from pathlib import Path

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.ledger.claim_text import count, markdown, settled, status_of
from tenfold.ledger.claims import About, Claim
from tenfold.ledger.rules import RuleCell
from tenfold.ledger.statuses import STATUSES, entry, find, ledger, ours
from tenfold.results.committed import as_csv, committed, read_rows
from tenfold.results.row_schema import EMPTY
from tenfold.runs.recipe import Recipe
from tenfold.runs.recipe_files import names as recipe_names
from tenfold.runs.recipe_files import recipe

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
ADDITION = RESULTS / "symmetry" / "addition" / "laptop"


# the committed results


def test_the_two_claims_of_figure_2_follow_from_the_rows():
    rows = read_rows(ADDITION / "rows.csv")

    def median(name, length):
        values = [
            row["value"]
            for row in rows
            if (row["recipe"], row["length"], row["slice"], row["metric"], row["checkpoint"])
            == (f"symmetry/addition-{name}", length, "uniform", "exact", "best")
        ]
        assert len(values) == 3
        return statistics.median(values)

    assert median("relative", 7) >= 0.85
    assert median("relative", 10) >= 0.9
    assert max(median("absolute", length) for length in (6, 7, 10)) <= 0.05
    relative, absolute = find("symmetry/fig2-rpe-holds"), find("symmetry/fig2-ape-collapses")
    assert (relative.status, absolute.status) == ("partly", "reproduced")  # 15 digits fail
    assert ours(absolute).startswith("6 digits 0.2%")
    assert (relative.scale, len(relative.runs)) == ("laptop", 3)
    assert ours(relative) == (
        "7 digits 99.8%, 10 digits 99.0% (worst seed 97.4%), 12 digits 89.6% (worst seed 78.6%), "
        "15 digits 23.0% (worst seed 18.8%); median of 3 seeds"
    )


def test_other_rows_give_another_status():
    one = find("symmetry/fig2-rpe-holds")
    for spoiled, status in (({7, 10, 12}, "against"), ({10}, "partly"), ({5}, "open")):
        low = {"value": 0.5, "low": 0.45, "high": 0.55}
        rows = [{**r, **low} if r["length"] in spoiled else r for r in one.rows]
        rows = [r for r in rows if r["length"] != 5 or 5 not in spoiled]
        tables = {"addition": {"laptop": rows}}
        assert entry("symmetry", one.about, one.claim, tables).status == status


def test_the_rows_are_those_of_the_table_and_of_the_runs():
    rows = read_rows(ADDITION / "rows.csv")
    line = next(t for t in (ADDITION / "results.md").read_text().splitlines() if "| 12 |" in t)
    cell = RuleCell(recipe="symmetry/addition-relative", length=12)
    values = sorted(row["value"] for row in cell.rows(rows))
    assert f"{100 * values[1]:.1f} ({100 * values[0]:.1f}-{100 * values[2]:.1f})" in line
    runs = json.loads((ADDITION / "runs.json").read_text())["runs"]
    assert {run["fingerprint"] for run in runs} == {row["fingerprint"] for row in rows}
    for run in runs:
        assert Recipe.of(run["recipe"]).fingerprint == run["fingerprint"]
        assert run["run"] in {row["run"] for row in rows}
        assert run["environment"]["commit"]


def test_recipes_of_committed_results_are_those_of_today():
    """A claim is prose: that it became an id left every run's name as it was."""
    fingerprints = {row["fingerprint"] for row in read_rows(ADDITION / "rows.csv")}
    names = ("symmetry/addition-absolute", "symmetry/addition-relative")
    assert {recipe(n, seed=s).fingerprint for n in names for s in range(3)} == fingerprints
    assert fingerprints == {
        "95542c737feb", "3c3f3c02b7ea", "c9114b37b5d3", "dc0635ab6b7c", "5490374ea92f",
        "a86d5243976b",
    }  # fmt: skip


def test_the_page_of_claims_is_up_to_date():
    advice = "run `tenfold claims --out results/CLAIMS.md`"
    assert (RESULTS / "CLAIMS.md").read_text() == markdown(ledger(results=(RESULTS,))), advice


def test_an_old_recipe_with_a_claim_in_words_still_opens():
    words = {"paper": "symmetry", "place": "Figure 2", "says": "s", "shown": "t"}
    assert Recipe.of({"claim": words}).claim == "symmetry"
    assert Recipe.of({"claim": {**words, "paper": "Our Paper"}}).claim == "our-paper"
    assert Recipe.of({"claim": "symmetry/fig2-rpe-holds"}).claim == "symmetry/fig2-rpe-holds"
    with pytest.raises(TenfoldError, match="claim is 'no claim'"):
        Recipe.of({"claim": "no claim"})


# rules and statuses


def rows_of(*values, **columns):
    """A row a value, a seed each."""
    usual = {"recipe": "p/a", "metric": "exact", "slice": "uniform", "checkpoint": "best"}
    usual |= {"trained": 5, "length": 10}
    return [
        EMPTY | usual | columns | {"seed": seed, "value": v, "run": f"run-{seed}"}
        for seed, v in enumerate(values)
    ]


def make(tables, given=(), scale="paper", seeds=1, shown=None, f=None, **more):
    """A claim of the experiment e, with e's rows by scale; `f` are those of an experiment it also reads."""
    others = {} if f is None else {"f": f}
    claim = {
        **more,
        "id": "c", "place": "p", "says": "s", "theirs": "t", "how": "h", "experiment": "e",
        "also": list(others), "scale": scale, "seeds": seeds, "given": given,
        "shown": shown or [{"where": {"length": [10, 20]}, "at_least": 0.9}],
    }  # fmt: skip
    about = About(title="t", arxiv="1")
    return entry("p", about, Claim.model_validate(claim), {"e": tables, **others})


BOTH = rows_of(1.0) + rows_of(1.0, length=20)
ONE = rows_of(1.0) + rows_of(0.0, length=20)
NONE = rows_of(0.0) + rows_of(0.0, length=20)
GIVEN = [{"where": {"length": 5}, "at_least": 0.99}]
WEAK, STRONG = rows_of(0.5, length=5), rows_of(1.0, length=5)


@pytest.mark.parametrize(
    ("tables", "options", "status"),
    [
        ({"laptop": BOTH}, {}, "reproduced"),
        ({"laptop": ONE}, {}, "partly"),
        ({"paper": ONE}, {}, "partly"),
        ({"laptop": NONE}, {}, "against"),
        ({"paper": NONE}, {}, "contradicted"),
        ({"laptop": NONE}, {"scale": "any"}, "contradicted"),
        ({}, {}, "open"),
        ({"laptop": rows_of(1.0)}, {}, "open"),
        ({"laptop": BOTH}, {"seeds": 2}, "partly"),
        ({"laptop": ONE}, {"seeds": 2}, "partly"),
        ({"laptop": NONE}, {"seeds": 2}, "against"),
        ({"paper": NONE}, {"seeds": 2}, "open"),
        ({"laptop": rows_of(1.0)}, {"seeds": 2}, "open"),
        ({"laptop": BOTH + STRONG}, {"given": GIVEN}, "reproduced"),
        ({"laptop": BOTH + WEAK}, {"given": GIVEN}, "untested"),
        ({"paper": BOTH + WEAK}, {"given": GIVEN}, "untested"),
        ({"laptop": BOTH}, {"given": GIVEN}, "open"),
        ({"laptop": WEAK}, {"given": GIVEN}, "untested"),
        ({"laptop": STRONG}, {"given": GIVEN}, "open"),
        ({}, {"given": GIVEN, "f": {"laptop": WEAK}}, "untested"),
        ({}, {"given": GIVEN, "f": {"laptop": STRONG}}, "open"),
        ({"laptop": NONE + STRONG}, {"given": GIVEN}, "against"),
        ({"paper": BOTH, "laptop": NONE}, {}, "reproduced"),
        ({"paper": NONE, "laptop": BOTH}, {}, "contradicted"),
        ({"paper": rows_of(1.0), "laptop": BOTH}, {}, "reproduced"),
    ],
)
def test_statuses(tables, options, status):
    assert make(tables, **options).status == status


def measured(value, low, high, *others, **columns):
    """Rows whose first seed has an interval."""
    first, *rest = rows_of(value, *others, **columns)
    return [{**first, "low": low, "high": high}, *rest]


SHORT = [{"where": {"length": 10}, "at_least": 0.9}]


@pytest.mark.parametrize(
    ("value", "low", "high", "status"),
    [
        (0.95, 0.91, 0.98, "reproduced"),
        (0.95, 0.89, 0.98, "open (1 undecided)"),
        (0.89, 0.85, 0.92, "open (1 undecided)"),
        (0.85, 0.80, 0.89, "against"),
    ],
)
def test_an_interval_that_contains_the_bound_decides_nothing(value, low, high, status):
    one = make({"laptop": measured(value, low, high)}, shown=SHORT)
    assert status_of(one) == f"{status}, laptop, 1 run"


def test_no_interval_excludes_the_end_of_the_range():
    """That all of 500 answers are right is shown by 500 right answers."""
    for bound, value in (({"at_least": 1.0}, 1.0), ({"at_most": 0.0}, 0.0)):
        rows = measured(value, max(value - 0.01, 0.0), min(value + 0.01, 1.0))
        assert make({"laptop": rows}, shown=[bound]).status == "reproduced"
    missed = [{"where": {"length": 10}, "at_least": 1.0}]
    assert make({"laptop": measured(0.998, 0.98, 1.0)}, shown=missed).status == "against"


def test_two_shares_differ_if_the_interval_of_their_difference_excludes_zero():
    """Newcombe's interval of 56/70 - 48/80 is 0.0524 to 0.3339 (Newcombe 1998, method 10)."""
    ours_, theirs = measured(0.8, 0.6918, 0.8768), measured(0.6, 0.4905, 0.7003, recipe="p/b")
    for by, state in ((0.05, "holds"), (0.06, "undecided"), (0.3, "undecided"), (0.34, "fails")):
        shown = [{**COMPARE[0], "by": by}]
        one = make({"laptop": ours_}, shown=shown, f={"laptop": theirs})
        assert [verdict.state for verdict in one.shown] == [state]


def test_other_numbers_are_compared_by_value():
    """Perplexities of two lengths are of one text: their intervals overlap though the difference is sure."""
    columns = {"metric": "perplexity"}
    rows = measured(4.0, 3.6, 4.4, **columns) + measured(5.0, 4.5, 5.5, length=20, **columns)
    shown = [{"where": {**columns, "length": 20}, "above": {"length": 10}, "factor": 1.05}]
    assert make({"laptop": rows}, shown=shown).status == "reproduced"


def test_the_worst_seed_is_judged_beside_the_median():
    good = make({"laptop": rows_of(1.0, 0.95, 0.99)}, shown=SHORT, seeds=3)
    assert (good.worst_seed_fails, status_of(good)) == (False, "reproduced, laptop, 3 runs")
    bad = make({"laptop": rows_of(1.0, 0.0, 0.99)}, shown=SHORT, seeds=3)
    assert status_of(bad) == "reproduced, worst seed fails, laptop, 3 runs"
    assert ours(bad) == "exact 99.0% (worst seed 0.0%); at 10 digits; median of 3 seeds"
    assert bad.as_json()["worst_seed_fails"] is True
    lowest = [{"where": {"length": 10, "take": "lowest"}, "at_least": 0.9}]
    assert make({"laptop": rows_of(1.0, 0.0, 0.99)}, shown=lowest, seeds=3).status == "against"


def test_final_weights_stand_beside_a_checkpoint_that_was_chosen_at_longer_lengths():
    rows = rows_of(1.0, 0.95, 0.99) + rows_of(0.9, 0.8, 0.7, checkpoint="final")
    usual = make({"laptop": rows}, shown=SHORT, seeds=3)
    assert ours(usual) == "exact 99.0% (worst seed 95.0%); at 10 digits; median of 3 seeds"
    chosen = About(title="t", arxiv="1", chosen="Chosen at 10 digits.")
    one = entry("p", chosen, usual.claim, {"e": {"laptop": rows}})
    words = "exact 99.0% (worst seed 95.0%; final weights 80.0%); at 10 digits; median of 3 seeds"
    assert (ours(one), one.status) == (words, "reproduced")
    assert "Chosen at 10 digits." in markdown([one])
    lone = entry("p", chosen, usual.claim, {"e": {"laptop": rows[:4]}})
    assert "final" not in ours(lone)  # not every seed has final weights


def test_seeds_are_compared_with_the_same_seed_of_the_other_cell():
    """Every seed gains 0.1, though the median of one recipe is below the best seed of the other."""
    rows = rows_of(0.3, 0.5, 0.7) + rows_of(0.2, 0.4, 0.6, recipe="p/b")
    assert not make({"laptop": rows}, shown=COMPARE, seeds=3).worst_seed_fails
    rows = rows_of(0.3, 0.5, 0.7) + rows_of(0.2, 0.4, 0.8, recipe="p/b")
    one = make({"laptop": rows}, shown=COMPARE, seeds=3)
    assert (one.status, one.worst_seed_fails) == ("reproduced", True)


def test_what_is_given_is_judged_by_its_value():
    strong = measured(0.995, 0.98, 0.999, length=5)
    assert make({"laptop": BOTH + strong}, given=GIVEN).status == "reproduced"


def test_a_shorter_training_length_is_told():
    one = make({"laptop": BOTH}, paper_trained=6)
    assert status_of(one) == "reproduced, laptop; trained on 5 digits, the paper on 6, 1 run"
    assert status_of(make({"laptop": BOTH}, paper_trained=5)) == "reproduced, laptop, 1 run"


def test_claims_of_each_kind_are_counted_apart():
    both = [make({"laptop": BOTH}), make({"laptop": NONE}), make({}, kind="own")]
    both.append(make({"laptop": BOTH}, kind="closed form"))
    assert count(both) == (
        "4 claims; 2 of the papers: 1 reproduced, 1 against; 1 by computation alone: 1 reproduced; "
        "1 our own: 1 open"
    )


def test_a_claim_that_a_seed_misses_is_counted_so():
    weak = make({"laptop": rows_of(1.0, 0.0, 0.99)}, shown=SHORT, seeds=3)
    assert count([weak, make({"laptop": BOTH})]) == (
        "2 claims; 2 of the papers: 2 reproduced (1 of them with a seed that fails)"
    )


def test_headlines_come_first():
    page = markdown([make({"laptop": BOTH}), make({"laptop": NONE}, headline="longer sums")])
    before, _, after = page.partition("## How to read the tables")
    row = "| [longer sums](#longer-sums) | t | 0/0% at 10/20 digits |  | 1 | laptop | against |"
    assert row in before
    assert "2 claims; 2 of the papers" in after
    assert all(f"*{word}*" in after for word in STATUSES)  # what each means
    assert "Headlines" not in markdown([make({"laptop": BOTH})])


def test_the_training_length_of_the_paper_is_that_of_its_scale():
    there = set(recipe_names())
    for each in ledger():
        names = {row["recipe"] for v in each.shown for row in v.ours.cell.rows(each.rows)}
        known = names & there
        lengths = {recipe(name, "paper").data.length for name in known}
        if each.claim.paper_trained is not None and lengths:
            assert lengths == {each.claim.paper_trained}, each.id


def test_what_is_missing_is_named():
    assert make({}).missing == ["the experiment p/e has no committed results"]
    assert make({"laptop": rows_of(1.0)}).missing == ["20 digits: no rows"]
    assert make({"laptop": BOTH}, seeds=3).missing == [
        "10 digits: 1 of 3 seeds",
        "20 digits: 1 of 3 seeds",
    ]
    assert ours(make({})) == ""


def test_a_claim_that_is_open_shows_the_cells_it_has():
    assert ours(make({"laptop": rows_of(1.0)})) == "10 digits 100.0%; 1 of 2 cells so far"


def test_a_headline_says_how_it_is_asked_and_if_not_reached_what_was_tried():
    tried = {"headline": "longer sums", "tried": "20,000 steps, seed 0: 3%."}
    page = markdown([make({"laptop": NONE}, **tried)])
    for words in (
        "### longer sums\n\n- *Claim:* `p/c`, against.\n- *Asked:* h.\n- *Published:* t.\n",
        "- *Ours:* 10 digits 0.0%, 20 digits 0.0%.\n- *Tried:* 20,000 steps, seed 0: 3%.\n",
    ):
        assert words in page
    three = [{**row, "seed": seed} for row in BOTH for seed in range(3)]
    reached = markdown([make({"laptop": three}, **tried)])
    assert "*Asked:* h.\n" in reached
    assert "*Tried:*" not in reached
    assert "*Tried:*" in markdown([make({"laptop": BOTH}, **tried)])  # one seed
    assert "*Tried:*" in markdown([make({"laptop": BOTH}, seeds=3, **tried)])


def test_what_all_cells_have_in_common_is_said_once():
    """At which length, and with what they are compared; where the two cells differ in length, each has its own."""
    both = (
        rows_of(0.9)
        + rows_of(0.8, length=20)
        + rows_of(0.2, recipe="p/b")
        + rows_of(0.1, recipe="p/b", length=20)
    )
    beside = [{"where": {"recipe": "p/a", "length": [10, 20]}, "above": {"recipe": "p/b"}}]
    assert ours(make({"laptop": both}, shown=beside)) == (
        "10 digits 90.0% against 20.0%, 20 digits 80.0% against 10.0%; against b"
    )
    mixed = [
        {"where": {"length": 10}, "at_least": 0.5},
        {"where": {"length": 20}, "below": {"length": 10}},
    ]
    assert ours(make({"laptop": both[:2]}, shown=mixed)) == (
        "10 digits 90.0%, 20 digits 80.0% against 10 digits 90.0%"
    )
    long = [{"where": {"times": [1, 2]}, "at_least": 0.5}]
    named = [{**row, "trained": 10} for row in both[:2]]
    assert ours(make({"laptop": named}, shown=long)) == (
        "the training length 90.0%, 2 times the training length 80.0%"
    )


def test_every_committed_headline_is_reached_or_says_what_was_tried():
    silent = [each.id for each in ledger() if each.claim.headline and not (settled(each) or each.claim.tried)]  # fmt: skip
    assert silent == []


def test_what_is_not_as_given_is_told_first():
    weak = make({"laptop": BOTH + WEAK}, given=GIVEN)
    assert (
        ours(weak) == "5 digits 50.0% (at least 99.0% is given); 10 digits 100.0%, 20 digits 100.0%"
    )
    early = make({"laptop": WEAK}, given=GIVEN, seeds=3)
    assert ours(early) == "5 digits 50.0% (at least 99.0% is given); 1 of 3 seeds so far"
    assert status_of(early) == "untested (1 of 3 seeds), laptop, 1 run"


def test_fewer_seeds_than_wanted_are_told_beside_numbers_and_status():
    early = make({"laptop": BOTH}, seeds=3)
    assert ours(early) == "10 digits 100.0%, 20 digits 100.0%; 1 of 3 seeds so far"
    assert status_of(early) == "partly (2 of 2; 1 of 3 seeds), laptop, 1 run"
    assert status_of(make({"paper": NONE}, seeds=3)) == "open (1 of 3 seeds), paper, 1 run"
    assert status_of(make({"laptop": BOTH})) == "reproduced, laptop, 1 run"


COMPARE = [{"where": {"recipe": "p/a"}, "above": {"recipe": "p/b"}}]
OURS, HIGH, LOW = rows_of(0.5), rows_of(0.9, recipe="p/b"), rows_of(0.1, recipe="p/b")


@pytest.mark.parametrize(
    ("tables", "other", "status"),
    [
        ({"laptop": OURS}, {"laptop": LOW}, "reproduced"),
        ({"laptop": OURS}, {"laptop": HIGH}, "against"),
        ({"paper": OURS}, {"paper": HIGH}, "contradicted"),
        ({"laptop": OURS}, {}, "open"),
        ({"laptop": OURS}, {"paper": LOW}, "open"),
        ({}, {"laptop": LOW}, "open"),
        ({"paper": OURS, "laptop": OURS}, {"laptop": LOW}, "reproduced"),
        ({"paper": OURS, "laptop": OURS}, {"paper": HIGH, "laptop": LOW}, "contradicted"),
    ],
)
def test_a_claim_reads_the_experiments_that_it_also_names(tables, other, status):
    assert make(tables, shown=COMPARE, f=other).status == status


def test_without_also_other_rows_are_not_seen():
    alone = make({"laptop": OURS}, shown=COMPARE)
    assert (alone.status, alone.missing) == ("open", ["b: no rows"])


def test_an_experiment_that_is_also_read_and_missing_is_named():
    there, elsewhere = make({"laptop": OURS}, f={}), make({"laptop": OURS}, f={"paper": LOW})
    reasons = ["the experiment p/f has no committed results at laptop scale"]
    assert there.missing == elsewhere.missing == reasons
    neither = make({}, f={})
    assert neither.missing == [f"the experiment p/{name} has no committed results" for name in "ef"]
    assert make({}, f={"laptop": LOW}).missing == [reasons[0].replace("p/f", "p/e")]
    assert make({"laptop": BOTH}, f={}).status == "open"  # though all its cells are there


def test_a_row_of_two_experiments_counts_once_as_its_own_has_it():
    theirs = rows_of(0.2, date="later", commit="other") + LOW
    one = make({"laptop": OURS}, shown=COMPARE, f={"laptop": theirs})
    assert (one.status, ours(one)) == ("reproduced", "exact 50.0% against b 10.0%")
    other_recipe = rows_of(0.2, fingerprint="another") + LOW
    with pytest.raises(TenfoldError, match="2 rows for 1 seeds"):
        make({"laptop": OURS}, shown=COMPARE, f={"laptop": other_recipe})


def test_experiments_that_are_also_read_are_told():
    one = make({"laptop": OURS}, shown=COMPARE, f={"laptop": LOW})
    assert (one.as_json()["experiment"], one.as_json()["also"]) == ("p/e", ["p/f"])


def test_the_runs_and_numbers_behind_a_claim():
    rows = rows_of(1.0, 0.9) + rows_of(0.5, 0.7, length=20)
    one = make({"laptop": rows}, seeds=2)
    assert one.runs == ["run-0", "run-1"]
    assert one.holding == 1
    assert (
        ours(one)
        == "10 digits 95.0% (worst seed 90.0%), 20 digits 60.0% (worst seed 50.0%); median of 2 seeds"
    )
    against = [{"where": {"length": 10}, "above": {"length": 20}}]
    assert (
        ours(make({"laptop": rows}, shown=against))
        == "10 digits 95.0% (worst seed 90.0%) against 20 digits 60.0%; median of 2 seeds"
    )


def test_of_many_cells_those_that_do_not_hold_are_told():
    lengths = list(range(10, 24))
    rows = [
        row for length in lengths for row in rows_of(0.5 if length == 12 else 1.0, length=length)
    ]
    shown = [{"where": {"length": lengths}, "at_least": 0.9}]
    assert ours(make({"laptop": rows}, shown=shown)) == "13 of 14 hold, not 12 digits 50.0%"
    none = ours(make({"laptop": rows}, shown=[{**shown[0], "at_least": 1.5}]))
    assert none.startswith("0 of 14 hold, not 10 digits 100.0%")
    assert none.endswith("21 digits 100.0%, 2 more")
    assert ours(make({"laptop": rows}, shown=[{**shown[0], "at_least": 0.1}])) == "14 of 14 hold"


def test_a_number_that_is_no_share_says_what_it_counts():
    rows = rows_of(0.55, metric="in-common") + rows_of(0.5, metric="by-chance")
    rows += rows_of(0.25, metric="in-common", length=20)
    alone = {"where": {"metric": "in-common", "length": 10}, "at_least": 0.5}
    assert ours(make({"laptop": rows}, shown=[alone])) == "in-common 0.55; at 10 digits"
    chance = [{**alone, "where": {**alone["where"], "length": [10, 20]}}]
    numbers = ours(make({"laptop": rows}, shown=chance))
    assert numbers == "10 digits, in-common 0.55, 20 digits, in-common 0.25"
    other = [{"where": alone["where"], "above": {"metric": "by-chance"}}]
    assert ours(make({"laptop": rows}, shown=other)) == (
        "in-common 0.55 against by-chance 0.5; at 10 digits"
    )
    shorter = [{"where": {**alone["where"], "length": 20}, "below": {"length": 10}}]
    assert ours(make({"laptop": rows}, shown=shorter)) == (
        "20 digits, in-common 0.25 against 10 digits 0.55"
    )


def test_an_empty_column_is_not_told():
    cell = RuleCell(metric="spread", checkpoint="", length=5)
    assert cell.describe() == "spread, 5 digits"
    rows = rows_of(0.5, metric="spread", checkpoint="", length=5)
    shown = [
        {"where": {"metric": ["spread", "other"], "checkpoint": "", "length": 5}, "at_most": 1}
    ]
    missing = make({"laptop": rows}, shown=shown).missing
    assert missing == ["other, 5 digits: no rows"]


def test_smoke_results_decide_nothing(tmp_path):
    for scale in ("smoke", "laptop"):
        folder = tmp_path / "p" / "e" / scale
        folder.mkdir(parents=True)
        (folder / "rows.csv").write_text(as_csv(rows_of(1.0)))
    assert list(committed("p", "e", (tmp_path,))) == ["laptop"]


# files


def test_rows_read_back_exactly(tmp_path):
    path = tmp_path / "rows.csv"
    rows = rows_of(1 / 3, 0.1 + 0.2, 1e-300, n=500, low=0.1, high=None, steps=2000)
    path.write_text(as_csv(rows))
    assert read_rows(path) == rows
    assert as_csv(read_rows(path)) == path.read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("metric,", "metrik,", 1), "lacks metric"),
        (lambda text: text.replace("0.25", "a quarter"), "damaged: could not convert"),
        (lambda text: text[: text.rindex(",uniform")], "damaged: a line is cut short"),
        (lambda text: "", "lacks run, paper"),
    ],
)
def test_damaged_rows_are_one_clear_line(tmp_path, change, message):
    path = tmp_path / "rows.csv"
    path.write_text(change(as_csv(rows_of(0.25))))
    with pytest.raises(TenfoldError, match=message) as caught:
        read_rows(path)
    assert str(path) in str(caught.value)
