"""Claims: every one of the four papers is well formed, and its rule can hold and can fail."""

import functools
import random
import re
from pathlib import Path

import pytest
import yaml

from tenfold.core.errors import TenfoldError
from tenfold.ledger import experiments
from tenfold.ledger.claim_text import FEWEST, settled
from tenfold.ledger.claims import papers, read_claims
from tenfold.ledger.statuses import entry, ledger
from tenfold.results.row_schema import EMPTY

ROOT = Path(__file__).parents[2]
KEYS = ("bias", "extrapolation", "principled", "symmetry")
EXISTING = [(key, each) for key in KEYS for each in experiments.experiments(key)]


@functools.cache
def entries(key):
    return ledger([key])


@functools.cache
def made(key, name):
    """The recipes of an experiment, by name."""
    (each,) = experiments.find(f"{key}/{name}")
    return {r.name: r for r in each.recipes("laptop")}


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


@pytest.mark.parametrize(
    ("key", "name"), [(key, claim.id) for key in KEYS for claim in read_claims(key).claims]
)
def test_every_rule_can_hold_and_can_fail(key, name):
    """A rule that no numbers meet, or that all do, decides nothing."""
    (each,) = [each for each in entries(key) if each.claim.id == name]
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
        EMPTY | dict(place) | {"seed": seed, "value": value}
        for place, value in values.items()
        for seed in range(each.claim.seeds)
    ]
    tables = {name: {"paper": rows} for name in each.claim.reads}
    return entry(each.paper, each.about, each.claim, tables)


def _place(cell):
    """The columns of a cell's row, as something that can be looked up; trained on 6 digits."""
    said = {k: v for k, v in cell.stated().items() if k not in ("take", "times", "beyond")}
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
    own = [e for e in entries(key) if each.name in e.claim.reads]
    assert any(e.claim.experiment == each.name for e in own), f"no claim asks for {each.id}"
    there = {e.name: e for name, e in EXISTING if name == key}
    for one in own:
        parts = [there.get(name) for name in one.claim.reads]
        if any(
            part is None or vars(part.module).keys() & {"measure", "measure_run"} for part in parts
        ):
            continue  # some are yet to be written; what is measured may have any name
        recipes = {k: r for part in parts for k, r in made(key, part.name).items()}
        for number in (n for v in (*one.given, *one.shown) for n in (v.ours, v.against) if n):
            cell = number.cell
            assert cell.recipe in recipes, f"{one.id} asks for {cell.recipe}"
            assert cell.length in (None, *recipes[cell.recipe].eval.lengths), one.id


@pytest.mark.parametrize(("key", "each"), EXISTING, ids=lambda thing: getattr(thing, "id", thing))
def test_recipes_name_claims_that_exist(key, each):
    known = {f"{key}/{claim.id}" for claim in read_claims(key).claims}
    assert {r.claim for r in made(key, each.name).values()} <= known


def test_an_encoding_whose_perplexity_is_asked_for_has_its_series_decided():
    recipes = {"series": set(), "perplexity": set()}
    for each in entries("extrapolation"):
        if each.claim.experiment in recipes:
            cells = [verdict.ours.cell for verdict in each.shown]
            recipes[each.claim.experiment] |= {cell.recipe for cell in cells}
    models = {
        name for name in recipes["perplexity"] if not name.endswith(("convergent", "divergent"))
    }
    encodings = {name.replace("code-", "").replace("prose-", "") for name in models}
    assert len(encodings) >= 15
    assert (
        encodings - {"extrapolation/learned"} <= recipes["series"]
    )  # which the paper does not try


def test_words_of_the_extrapolation_claims_are_those_of_their_rules():
    """Three encodings against two are not every one against every other; what is to be equal differs by 0."""
    known = {claim.id: claim for claim in read_claims("extrapolation").claims}
    for name, part in (
        ("convergent-below-divergent", "code"),
        ("convergent-below-divergent-prose", "prose"),
    ):
        assert "every" not in known[name].says
        cells = [cell for condition in known[name].rule()[1] for cell in condition.where.each()]
        compared = {f"extrapolation/{part}-{kind}" for kind in ("alibi", "type-1", "type-2")}
        assert {cell.recipe for cell in cells} == compared
    (equal,) = known["trf-closed-form"].shown
    assert equal.at_most == 0
    assert "333 at laptop scale" in known["learning-rate-plays-no-part"].how
    (learned,) = known["learned-fails"].rule()[1]
    assert (learned.factor, len(list(learned.where.each()))) == (1.05, 2)


def test_tables_of_the_bias_paper_are_numbered_alike():
    """Table 1 by method, 2 the unary and 3 the binary tasks of scaffolding; Figure 1 is the plain model by length."""
    rows = {"Successor": "2", "Parity": "2", "Addition": "3", "N x 1": "3"}
    for claim in read_claims("bias").claims:
        assert "table" not in claim.place, claim.id
        assert ("Figure 1" in claim.place) <= claim.id.startswith("vanilla-"), claim.id
        place = re.search(r"Table (\d), row ([^,;]+)", claim.place)
        if place and place[1] != "1":
            assert rows[place[2]] == place[1], claim.id
            windows = ("scaffolding", "sinusoid-windows", "deep-windows")
            assert claim.experiment in windows, claim.id
    page = (ROOT / "papers/bias/README.md").read_text()
    assert [f"Table {n}" in page for n in (1, 2)] == [True, True]
    assert "main table" not in page
    assert "scaffolding table" not in page.lower()


def test_cyclic_windows_are_asked_for_all_at_ten_times_the_length():
    """The paper has 100% there, of thousands of problems; 60 bits are the published length of parity."""
    bounds = {}
    for claim in read_claims("bias").claims:
        if claim.id.startswith(("abs-cyclic-", "abs-window-")):
            cells = [(c.at_least, cell) for c in claim.rule()[1] for cell in c.where.each()]
            bounds |= {
                cell.recipe: bound for bound, cell in cells if cell.times == 10 or cell.length
            }
    cyclic = {name: bound for name, bound in bounds.items() if "cyclic" in name}
    tasks = ("successor", "parity", "addition", "times")
    assert cyclic == {f"bias/{task}-window-cyclic": 1.0 for task in tasks}


@pytest.mark.parametrize(
    ("key", "ids"),
    [
        ("bias", {"abc-parity"}),
        ("extrapolation", {"no-decay-diverges", "code-rises", "convergence-suffices"}),
        (
            "principled",
            {
                "modular-multiplication-not-learned",
                "multiplication-truncates-one-length",
                "addition-both-long-truncates",
                "modular-addition-dividing-downward",
            },
        ),
    ],
)
def test_what_the_sources_state_is_claimed(key, ids):
    assert ids <= {claim.id for claim in read_claims(key).claims}


def test_published_numbers_of_abc_addition_stand_at_their_own_lengths():
    """6, 10, 20 and 60 digits were published; 60 is ten times the training length, 12 was not measured."""
    (claim,) = [each for each in read_claims("bias").claims if each.id == "abc-addition"]
    theirs = {condition.where.times: condition.theirs for condition in claim.shown}
    assert theirs == {1: 1.0, 2: None, 3: None, 10: 0.998}


def test_nothing_of_the_bias_paper_was_published_at_twice_the_training_length():
    for claim in read_claims("bias").claims:
        laid = [condition for some in claim.rule() for condition in some]
        assert all(c.theirs is None for c in laid if c.where.times not in (None, 1, 10)), claim.id


@pytest.mark.parametrize(
    "name",
    ["modular-multiplication-51", "modular-multiplication-101", "modular-addition-predicted"],
)
@pytest.mark.parametrize("accuracy", [0.0, 0.02])
def test_a_model_that_guesses_does_not_meet_the_modular_theory(name, accuracy):
    """It is right as often as the theory says, and computes something else than the truncated function."""
    (one,) = [each for each in entries("principled") if each.claim.id == name]
    rows = {"exact": accuracy, "exact-truncated": accuracy, "exact-predicted": 0.01}
    values = {
        _place(n.cell): rows[n.cell.metric or "exact"] if n.cell.beyond > 0 else 1.0
        for v in (*one.given, *one.shown)
        for n in (v.ours, v.against)
        if n
    }
    assert _with(one, values).status == "partly"
    low = {key: 1.0 if ("metric", "exact-truncated") in key else 0.01 for key in values}
    right = {key: low[key] if dict(key)["length"] > 6 else 1.0 for key in values}
    assert _with(one, right).status == "reproduced"


# what is refused


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
        ([GOOD, GOOD], "one: there are two claims of this id"),
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
        (shown({"at_least": float("nan")}), "shown.0.at_least is nan; .*finite"),
        (shown({"at_most": float("inf")}), "shown.0.at_most is inf; .*finite"),
        (shown({"within": [float("nan"), 0.1]}), "within.0 is nan; .*finite"),
        (shown({"within": [0.5, -0.1]}), "within.1 is -0.1; .*greater than or equal to 0"),
        (shown({"near": {"length": 5}, "by": float("inf")}), "by is inf; .*finite"),
        (shown({"above": {"length": 5}, "factor": float("nan")}), "factor is nan"),
        (shown({"at_least": 1, "theirs": float("nan")}), "theirs is nan; .*finite"),
        (shown({"above": {}}), "one: `above: {}` compares a cell with itself"),
        (
            shown({"where": {"length": [5, 6]}, "near": {"length": 6}, "by": 0.1}),
            "one: `near: {'length': 6}` compares a cell with itself",
        ),
        (
            [{**GOOD, "where": {"length": 5}, "given": [{"below": {"length": 5}}]}],
            "one: `below: {'length': 5}` compares a cell with itself",
        ),
        (shown({"where": {"length": []}, "at_least": 1}), "`length` is \\[\\]; a list names one"),
        (shown({"where": {"length": [5, 5]}, "at_least": 1}), "`length` is .*; .* each once"),
        ([{**GOOD, "also": ["f"]}], 'one: unknown experiment "f"; known: e'),
        ([{**GOOD, "also": ["e"]}], "one: `also` is e; it names experiments beside e, each once"),
        (
            [{**GOOD, "also": ["f", "f"]}, {**GOOD, "id": "two", "experiment": "f"}],
            "one: `also` is f, f; it names",
        ),
        ([{**GOOD, "also": "e"}], "one: also is 'e'"),
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


def test_a_headline_asks_for_three_seeds():
    few = [
        e.id for key in KEYS for e in entries(key) if e.claim.headline and e.claim.seeds < FEWEST
    ]
    assert few == []


def test_a_headline_that_is_not_reached_on_three_seeds_says_what_was_tried():
    silent = [
        each.id
        for key in KEYS
        for each in entries(key)
        if each.claim.headline and not settled(each) and not each.claim.tried
    ]
    assert silent == []


def test_what_a_paper_did_not_try_is_no_claim_of_it():
    strange = [
        claim.id
        for key in KEYS
        for claim in read_claims(key).claims
        if claim.kind == "paper" and claim.theirs.startswith("not ")
    ]
    assert strange == []
