"""Every experiment of the `principled` paper that trains, at smoke scale, one seed: rows, figures, and what its claims ask for."""

from types import SimpleNamespace

import numpy as np
import pytest

from tenfold.ledger.claims import read_claims
from tenfold.ledger.experiments import DrawingContext, Lab, find
from tenfold.ledger.statuses import ledger
from tenfold.papers.principled.experiments import (
    convergence,
    coverage,
    coverage_beyond_sums,
    two_steps,
)
from tenfold.runs.build import build
from tenfold.runs.recipe_files import recipe
from tenfold.runs.train import train

TABLE = {"truth", "last-digits", "table"}
FIGURES = {
    "addition": {"truth", "last-digits", "table-truth", "table-last-digits"},
    "digits": {"explained", "intervention"},
    "modular-addition": TABLE | {"encodings"},
    "moduli": {"table"},
    "encodings": {"generic", "aligned", "products"},
    "multiplication": {"truth", "last-digits", "table-truth", "table-last-digits"},
    "modular-multiplication": {"truth", "last-digits"},
    "coverage": {"truth", "covered"},
    "convergence": {"over-training"},
    "least-data": {"in-domain", "upward"},
    "two-operations": {"by-length"},
    "two-steps": {"truth", "last-digits"},
    "coverage-beyond-sums": {"products", "modular-sums", "modular-products"},
    "width": {
        f"{positions}-{against}"
        for positions in ("absolute", "relative")
        for against in ("truth", "last-digits")
    },
    "relative-upward": {"by-length"},
}
TWICE = {"exact", "exact-truncated", "exact-predicted", "no-end"}
METRICS = {
    "addition": TWICE,
    "digits": {"moved-by-dropped", "moved-by-kept", "explained-true"},
    "modular-addition": TWICE,
    "moduli": TWICE,
    "encodings": {"exact", "exact-truncated", "no-end"},
    "multiplication": TWICE,
    "modular-multiplication": TWICE,
    "coverage": {"exact", "exact-covered"},
    "coverage-beyond-sums": {"exact", "exact-covered"},
    "two-steps": TWICE,
    "width": {"exact", "exact-truncated", "no-end"},
}
QUICK = {"convergence", "two-operations", "two-steps", "relative-upward"}
UNTRAINED = {  # at smoke scale: answers that are all alike, nothing fitted, other counts
    "addition-absolute, explained: no rows",
    "addition-followed, exact-at-fit, n + 2 digits: no rows",
    "addition-followed, exact-at-fit, best, n + 2 digits: no rows",
}
OTHER_COUNTS = tuple(f"addition-{which}-from-" for which in ("absolute", "relative", "aligned"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Experiments share runs, as in use."""
    return tmp_path_factory.mktemp("runs")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else [pytest.mark.full]) for n in FIGURES]
)
def test_an_experiment_at_smoke_scale(name, runs, tmp_path):
    (experiment,) = find(f"principled/{name}")

    def sweep(recipes):
        return [train(each, runs / each.run_name) for each in recipes]

    lab = Lab("smoke", [0], sweep)
    collected = experiment.run(lab)
    rows = collected.rows
    assert {r["metric"] for r in rows} >= METRICS.get(name, {"exact"})
    experiment.draw(DrawingContext("smoke", rows, tmp_path, lab.kept))
    assert {path.stem for path in tmp_path.glob("*.png")} == FIGURES[name]
    keys = [(r["run"], r["recipe"], r["length"], r["slice"], r["metric"], r["checkpoint"]) for r in rows]  # fmt: skip
    assert len(keys) == len(set(keys)), "a row is there twice"
    for claim in read_claims("principled").claims:
        if claim.experiment == name and not claim.also:
            lacking = {each for each in missing(claim, rows) if not each.startswith(OTHER_COUNTS)}
            lacking = {each for each in lacking if ", n - 2 digits" not in each}  # n is 2 there
            assert lacking <= UNTRAINED, claim.id


def missing(claim, rows):
    """The cells of its rule that have no rows."""
    judged = [each.judged(rows, 1) for part in claim.rule() for each in part]
    return {lacking for verdicts in judged for each in verdicts for lacking in each.missing}


@pytest.mark.parametrize("each", ledger(["principled"]), ids=lambda each: each.id)
def test_lengths_of_a_rule_are_asked_at_laptop_scale(each):
    """With n = 2 there is no n - 2: a claim that asks for it would stay open for ever."""
    trained = {r.name: r for name in each.claim.reads for r in find(f"principled/{name}")[0].recipes("laptop")}  # fmt: skip
    for number in (n for v in (*each.given, *each.shown) for n in (v.ours, v.against) if n):
        cell, chosen = number.cell, trained.get(number.cell.recipe)
        if chosen is not None and cell.beyond is not None:
            assert chosen.data.length + cell.beyond in chosen.eval.lengths, cell


def test_convergence_is_read_from_the_log():
    """The first look with 99% at n = 2 digits is the fit; what came before and after is not."""
    looks = {10: (0.5, 0.98, 0.3), 20: (1.0, 0.99, 0.4), 30: (1.0, 1.0, 0.9)}
    log = [{"step": step, "eval": {"exact": dict(zip("123", look, strict=True))}} for step, look in looks.items()]  # fmt: skip
    log.insert(1, {"step": 15, "loss": 0.1})
    run = SimpleNamespace(recipe=recipe("principled/addition-followed", "smoke"), metrics=lambda: log)  # fmt: skip
    lab = SimpleNamespace(about=lambda run: {})
    rows = list(convergence.measure_run(lab, run))
    fit = [(r["length"], r["value"], r["steps"], r["checkpoint"]) for r in rows if r["metric"] == "exact-at-fit"]  # fmt: skip
    assert fit == [(1, 1.0, 20, "best"), (2, 0.99, 20, "best"), (3, 0.4, 20, "best")]
    every = [(r["checkpoint"], r["length"], r["value"]) for r in rows if r["metric"] == "exact"]
    assert every == [(f"step-{step}", k, v) for step, look in looks.items() for k, v in enumerate(look, 1)]  # fmt: skip
    del log[2:]
    assert {r["metric"] for r in convergence.measure_run(lab, run)} == {"exact"}


def test_relative_keys_see_every_column_alike():
    """Numbers are written from their units on: a digit of the answer is as far from its own digits in every column."""
    built = build(recipe("principled/modular-50-relative"))
    batch = built.batcher(built.batcher.parse("12345+7"))
    assert built.batcher.vocabulary.text(batch.sequence.tokens[0, :12]) == "^54321+70000"
    at = batch.sequence.places
    column, role, index = (at[axis][0] for axis in ("column", "role", "index"))
    answer = [i for i in range(12, len(index)) if column[i] in (0, 1, 2, 3, 4)]
    back = {int(index[i] - index[j]) for i in answer for j in range(12) if column[j] == column[i] and role[j] >= 0}  # fmt: skip
    assert len(back) == 2  # one for each number


@pytest.mark.parametrize(
    ("name", "digits", "shares"),
    [
        ("addition-absolute", "0123456789", (1, 1)),
        ("addition-no-nine", "012345678", (0.81, 0.5302)),
        ("addition-holes", "6789", (0.16, 0.0067)),
    ],
)
def test_what_training_covers_is_counted(name, digits, shares):
    covered = coverage.covered
    for length, share in zip((1, 3), shares, strict=True):
        assert covered(f"principled/{name}", length) == pytest.approx(share, abs=5e-4)
    pairs = [(a, b) for a in range(100) for b in range(100) if max(a, b) > 9]
    kept = [pair for pair in pairs if {*f"{pair[0]}{pair[1]}"} <= {*digits}]
    assert covered(f"principled/{name}", 2) == pytest.approx(len(kept) / len(pairs))


def test_sums_without_carries_are_counted():
    digits, _ = coverage.sampler("principled/addition-no-carry")(
        np.random.default_rng(0), 50_000, 2, 2, 10
    )
    drawn = {(int(a @ (1, 10)), int(b @ (1, 10))) for a, b in digits.astype(int)}
    share = coverage.covered("principled/addition-no-carry", 2)
    assert share == pytest.approx(len(drawn) / 9900)


@pytest.mark.parametrize(
    ("name", "digits", "share"),
    [
        ("multiplication-holes", "6789", 384 / 9900),
        ("modular-50-no-nine", "012345678", 6480 / 9900),
    ],
)
def test_what_training_covers_beyond_sums(name, digits, share):
    """Counted pair by pair; and nothing else is drawn."""
    name = f"principled/{name}"
    pairs = [(a, b) for a in range(100) for b in range(100) if max(a, b) > 9]
    kept = [pair for pair in pairs if {*f"{pair[0]}{pair[1]}"} <= {*digits}]
    assert len(kept) / len(pairs) == pytest.approx(share)
    assert coverage_beyond_sums.covered(name, 2) == pytest.approx(share)
    built = build(recipe(name))
    drawn = built.batcher.task.sample(500, 2, np.random.default_rng(0), built.draw)
    inside = np.arange(drawn.operands.shape[2]) < drawn.lengths[..., None]
    assert {str(digit) for digit in np.unique(drawn.operands[inside])} <= {*digits}


@pytest.mark.parametrize("digits", [1, 2])
def test_two_steps_are_unchanged_as_often_as_counted(digits):
    """Every problem whose longest number has 2 digits, and all of 1."""
    numbers = np.arange(100)
    a, b, c = np.meshgrid(numbers, numbers, numbers)
    same = (a + b) * c == (a % 10**digits + b % 10**digits) * (c % 10**digits)
    longest = np.maximum(np.maximum(a, b), c)
    for length in (1, 2):
        here = (longest >= 10) if length == 2 else (longest < 10)
        share = two_steps.unchanged(length, digits)
        assert share * int(here.sum()) == int(same[here].sum())


def test_widths_differ_in_their_padding_alone():
    """And own width is as wide as the longest number and one place: four places at n = 3."""
    for positions in ("absolute", "relative"):
        of = {w: recipe(f"principled/addition-width-{w}-{positions}") for w in ("own", "5", "9", "20")}  # fmt: skip
        one = of["9"].as_json()
        for width, each in of.items():
            changed = each.replace(name=one["name"], about=one["about"], format=one["format"], eval=one["eval"])  # fmt: skip
            assert changed.fingerprint == of["9"].fingerprint
            places = {"own": 4}.get(width) or int(width)
            batch = build(each).batch_at(0)
            assert batch.given == 2 * places + 3  # ^, +, =


def test_own_width_moves_digits_apart_and_one_width_does_not():
    """How far the token that writes the tens is from the tens of both numbers, at 3 and at 12 digits."""

    def apart(name, digits):
        built = build(recipe(f"principled/addition-relative-{name}"))
        batch = built.batcher(built.batcher.parse("1" * digits + "+" + "2" * digits))
        at = batch.sequence.places
        column, role, index = (at[axis][0].tolist() for axis in ("column", "role", "index"))
        writes = next(i for i in range(batch.given - 1, len(index)) if column[i] == 1)
        return [index[writes] - index[i] for i in range(batch.given - 1) if column[i] == 1 and role[i] > 2]  # fmt: skip

    assert apart("one-width", 3) == apart("one-width", 12)
    assert apart("own-index", 3) != apart("own-index", 12)


@pytest.mark.parametrize("name", ["addition-absolute", "modular-50", "modular-product-101"])
def test_mini_is_the_size_of_the_paper(name):
    for scale in ("laptop", "paper"):
        model = recipe(f"principled/{name}-mini", scale).model
        assert (model.layers, model.heads, model.width) == (6, 6, 384)


@pytest.mark.parametrize(("name", "least"), [("gpt2", 80e6), ("gpt2-medium", 300e6)])
def test_large_models_start_at_the_paper_scale(tenfold, name, least):
    code, out, _ = tenfold("train", f"principled/addition-{name}", "--scale", "paper", "--dry-run")
    assert code == 0
    assert parameters(out) > least


@pytest.mark.parametrize(("name", "least"), [("gpt2", 80e6), ("gpt2-medium", 300e6)])
def test_a_model_is_as_large_as_its_name_without_a_scale_too(tenfold, name, least):
    _, out, _ = tenfold("train", f"principled/addition-{name}", "--dry-run")
    assert parameters(out) > least


def parameters(out):
    (line,) = (line for line in out.splitlines() if line.startswith("parameters"))
    return int(line.split()[1].replace(",", ""))
