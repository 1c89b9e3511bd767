"""The ledger: every claim is well formed, and its status follows from rules and rows alone."""

import json
import random
import statistics
from pathlib import Path

import pytest
import yaml

from tenfold.errors import TenfoldError
from tenfold.lab import experiments
from tenfold.lab.claims import About, Claim, papers, read_claims
from tenfold.lab.committed import COLUMNS, as_csv, committed, read_rows
from tenfold.lab.ledger import entry, find, ledger, ours
from tenfold.lab.recipe import Recipe
from tenfold.lab.recipes import recipe
from tenfold.lab.rules import Cell, Condition
from tenfold.report.claims import markdown

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
ADDITION = RESULTS / "symmetry" / "addition" / "laptop"
KEYS = ("bias", "extrapolation", "principled", "symmetry")
EXISTING = [(key, each) for key in KEYS for each in experiments.experiments(key)]


# the claims as they are written


def test_all_four_papers_have_their_claims():
    assert [key for key in papers() if key in KEYS] == list(KEYS)
    counts = {key: len(read_claims(key).claims) for key in KEYS}
    assert sum(counts.values()) >= 100
    assert min(counts.values()) >= 15


@pytest.mark.parametrize("key", KEYS)
def test_a_paper_says_where_and_what_and_how(key):
    sheet = read_claims(key)
    assert sheet.paper.arxiv in (ROOT / "papers" / key / "README.md").read_text()
    said = [claim.says for claim in sheet.claims]
    assert len(set(said)) == len(said)
    for claim in sheet.claims:
        assert claim.place
        assert claim.theirs
        assert claim.how


@pytest.mark.parametrize("each", ledger(KEYS), ids=lambda each: each.id)
def test_every_rule_can_hold_and_can_fail(each):
    """A rule that no numbers meet, or that all do, decides nothing."""
    rng = random.Random(0)
    cells = [n.cell for v in (*each.given, *each.shown) for n in (v.ours, v.against) if n]
    values = {_place(cell): rng.random() for cell in cells}
    for _ in range(300):
        tried = _with(each, values)
        wrong = [v for v in (*tried.given, *tried.shown) if not v.holds]
        if not wrong:
            break
        _mend(rng.choice(wrong), values, rng)
    assert _with(each, values).status == "reproduced"
    others = [{place: 3 * rng.random() for place in values} for _ in range(60)]
    assert any(_with(each, some).status != "reproduced" for some in others)


def _with(each, values):
    rows = [
        dict.fromkeys(COLUMNS, "") | dict(place) | {"seed": seed, "value": value}
        for place, value in values.items()
        for seed in range(each.claim.seeds)
    ]
    return entry(each.paper, each.about, each.claim, {"paper": rows})


def _place(cell):
    """The columns of a cell's row, as something that can be looked up; trained on 6 digits."""
    said = {k: v for k, v in cell.said().items() if k not in ("take", "times", "beyond")}
    usual = {"metric": "exact", "slice": "uniform", "checkpoint": "best", "trained": 6, "length": 6}
    usual["length"] = 6 * (cell.times or 1) + (cell.beyond or 0)
    return tuple(sorted((usual | said).items()))


def _mend(verdict, values, rng):
    """Move a cell, or the one it is compared with, to where the condition holds."""
    rule, ours = verdict.condition, _place(verdict.ours.cell)
    if verdict.against is None:
        values[ours] = rule.within[0] if rule.within else getattr(rule, rule.bound)
        return
    other = _place(verdict.against.cell)
    step = {"above": rule.by + 0.01, "below": -rule.by - 0.01, "near": 0.0}[rule.bound]
    if rng.random() < 0.5:
        values[ours] = rule.factor * values[other] + step
    else:
        values[other] = (values[ours] - step) / rule.factor
    if verdict.ours.cell.share:
        values |= {key: min(1.0, max(0.0, values[key])) for key in (ours, other)}


@pytest.mark.parametrize(("key", "each"), EXISTING, ids=lambda thing: getattr(thing, "id", thing))
def test_an_experiment_is_for_claims_and_makes_what_they_ask_for(key, each):
    own = [e for e in ledger([key]) if e.claim.experiment == each.name]
    assert own, f"no claim asks for {each.id}"
    if "measure" in each.holds:
        return  # it may give rows of any name
    made = {r.name: r for r in each.recipes("laptop")}
    for one in own:
        for number in (n for v in (*one.given, *one.shown) for n in (v.ours, v.against) if n):
            cell = number.cell
            assert cell.recipe in made, f"{one.id} asks for {cell.recipe}"
            assert cell.length in (None, *made[cell.recipe].eval.lengths), one.id


@pytest.mark.parametrize(("key", "each"), EXISTING, ids=lambda thing: getattr(thing, "id", thing))
def test_recipes_name_claims_that_exist(key, each):
    known = {f"{key}/{claim.id}" for claim in read_claims(key).claims}
    assert {r.claim for r in each.recipes("laptop")} <= known


# the committed results


def test_the_two_claims_of_figure_2_follow_from_the_rows():
    rows = read_rows(ADDITION / "rows.csv")

    def median(name, length):
        found = [
            row["value"]
            for row in rows
            if (row["recipe"], row["length"], row["slice"], row["metric"], row["checkpoint"])
            == (f"symmetry/addition-{name}", length, "uniform", "exact", "best")
        ]
        assert len(found) == 3
        return statistics.median(found)

    assert median("relative", 7) >= 0.85
    assert median("relative", 10) >= 0.6
    assert max(median("absolute", 7), median("absolute", 10)) <= 0.05
    relative, absolute = find("symmetry/fig2-rpe-holds"), find("symmetry/fig2-ape-collapses")
    assert (relative.status, absolute.status) == ("reproduced", "reproduced")
    assert (relative.scale, len(relative.runs)) == ("laptop", 3)
    assert ours(relative) == "7 digits 99.8%, 10 digits 99.0%; median of 3 seeds"


def test_other_rows_give_another_status():
    one = find("symmetry/fig2-rpe-holds")
    for spoiled, status in (({7, 10}, "not shown at this scale"), ({10}, "partly"), ({5}, "open")):
        rows = [{**r, "value": 0.5 if r["length"] in spoiled else r["value"]} for r in one.rows]
        rows = [r for r in rows if r["length"] != 5 or 5 not in spoiled]
        assert entry("symmetry", one.about, one.claim, {"laptop": rows}).status == status


def test_the_rows_are_those_of_the_table_and_of_the_runs():
    rows = read_rows(ADDITION / "rows.csv")
    line = next(t for t in (ADDITION / "results.md").read_text().splitlines() if "| 12 |" in t)
    cell = Cell(recipe="symmetry/addition-relative", length=12)
    values = sorted(row["value"] for row in cell.rows(rows))
    assert f"{100 * values[1]:.1f} ({100 * values[0]:.1f}-{100 * values[2]:.1f})" in line
    runs = json.loads((ADDITION / "runs.json").read_text())
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
    told = "run `tenfold claims --out results/CLAIMS.md`"
    assert (RESULTS / "CLAIMS.md").read_text() == markdown(ledger(results=(RESULTS,))), told


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
        dict.fromkeys(COLUMNS, "")
        | usual
        | columns
        | {"seed": seed, "value": v, "run": f"run-{seed}"}
        for seed, v in enumerate(values)
    ]


def holds(rows, seeds=1, **condition):
    (verdict,) = Condition.model_validate(condition).judged(rows, seeds)
    return verdict.holds


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


def test_too_few_seeds_are_missing():
    assert holds(rows_of(1.0, 1.0), seeds=3, at_least=0.5) is None
    assert holds(rows_of(1.0, 1.0), seeds=2, at_least=0.5) is True


def test_a_cell_of_two_rows_a_seed_is_refused():
    with pytest.raises(TenfoldError, match="2 rows for 1 seeds; name another column"):
        holds(rows_of(1.0) + rows_of(0.0, length=11), at_least=0.5)


def make(tables, given=(), scale="paper", seeds=1, shown=None):
    claim = {
        "id": "c", "place": "p", "says": "s", "theirs": "t", "how": "h", "experiment": "e",
        "scale": scale, "seeds": seeds, "given": given,
        "shown": shown or [{"where": {"length": [10, 20]}, "at_least": 0.9}],
    }  # fmt: skip
    about = About(title="t", arxiv="1")
    return entry("p", about, Claim.model_validate(claim), tables)


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
        ({"laptop": NONE}, {}, "not shown at this scale"),
        ({"paper": NONE}, {}, "contradicted"),
        ({"laptop": NONE}, {"scale": "any"}, "contradicted"),
        ({}, {}, "open"),
        ({"laptop": rows_of(1.0)}, {}, "open"),
        ({"laptop": BOTH}, {"seeds": 2}, "open"),
        ({"laptop": BOTH + STRONG}, {"given": GIVEN}, "reproduced"),
        ({"laptop": BOTH + WEAK}, {"given": GIVEN}, "not shown at this scale"),
        ({"paper": BOTH + WEAK}, {"given": GIVEN}, "open"),
        ({"laptop": BOTH}, {"given": GIVEN}, "open"),
        ({"laptop": NONE + STRONG}, {"given": GIVEN}, "not shown at this scale"),
        ({"paper": BOTH, "laptop": NONE}, {}, "reproduced"),
        ({"paper": NONE, "laptop": BOTH}, {}, "contradicted"),
        ({"paper": rows_of(1.0), "laptop": BOTH}, {}, "reproduced"),
    ],
)
def test_statuses(tables, options, status):
    assert make(tables, **options).status == status


def test_what_is_missing_is_named():
    assert make({}).missing == ["the experiment p/e has no committed results"]
    assert make({"laptop": rows_of(1.0)}).missing == ["20 digits: no rows"]
    assert make({"laptop": BOTH}, seeds=3).missing == [
        "10 digits: 1 of 3 seeds",
        "20 digits: 1 of 3 seeds",
    ]
    assert ours(make({"laptop": rows_of(1.0)})) == ""


def test_the_runs_and_numbers_behind_a_claim():
    rows = rows_of(1.0, 0.9) + rows_of(0.5, 0.7, length=20)
    one = make({"laptop": rows}, seeds=2)
    assert one.runs == ["run-0", "run-1"]
    assert one.held == 1
    assert ours(one) == "10 digits 95.0%, 20 digits 60.0%; median of 2 seeds"
    against = [{"where": {"length": 10}, "above": {"length": 20}}]
    assert ours(make({"laptop": rows}, shown=against)) == "95.0% against 60.0%; median of 2 seeds"


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


GOOD = {
    "id": "one", "place": "p", "says": "s", "theirs": "t", "how": "h", "experiment": "e",
    "shown": [{"where": {"length": 5}, "at_least": 0.5}],
}  # fmt: skip


def without(key):
    return {k: v for k, v in GOOD.items() if k != key}


def shown(*conditions):
    return [{**GOOD, "shown": list(conditions)}]


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ([without("place")], "one: place is missing"),
        ([{**GOOD, "plaice": 1}], r'unknown key "one\.plaice"; did you mean "one\.place"'),
        ([{**GOOD, "id": "Not Kebab"}], "Not Kebab: id is 'Not Kebab'"),
        ([GOOD, GOOD], 'the claim "one" is there twice'),
        ([{**GOOD, "shown": []}], "one: shown"),
        ([], "claims"),
        (
            shown({"where": {"lenght": 5}, "at_least": 1}),
            r'"one\.shown\.where\.lenght"; did you mean',
        ),
        (shown({"where": {"length": 5}}), "one bound, not none"),
        (shown({"at_least": 1, "at_most": 2}), "one bound, not at_least and at_most"),
        (shown({"at_least": 1, "by": 2}), "go with above, below or near"),
        (shown({"near": {"length": 5}}), "`near` wants `by`"),
        (shown({"above": {"length": [5, 6]}}), "names one cell, not a list"),
        (shown({"where": {"take": "middle"}, "at_least": 1}), "take is 'middle'"),
        (shown({"at_leest": 1}), r'"one\.shown\.at_leest"; did you mean "one\.shown\.at_least"'),
        ([{**GOOD, "seeds": 0}], "one: seeds is 0"),
    ],
)
def test_what_is_refused(tmp_path, claims, message):
    path = tmp_path / "p" / "claims.yaml"
    path.parent.mkdir()
    path.write_text(yaml.safe_dump({"paper": {"title": "t", "arxiv": "1"}, "claims": claims}))
    with pytest.raises(TenfoldError, match=message) as caught:
        ledger(shelves=(tmp_path,))
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
