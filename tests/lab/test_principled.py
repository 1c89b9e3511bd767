"""Every experiment of the `principled` paper that trains, at smoke scale, one seed: rows, figures, and what its claims ask for."""

import pytest

from tenfold.lab import experiments
from tenfold.lab.build import build
from tenfold.lab.claims import read_claims
from tenfold.lab.recipes import recipe
from tenfold.lab.train import train

TABLE = {"truth", "last-digits", "table"}
FIGURES = {
    "addition": {"truth", "last-digits", "table-truth", "table-last-digits"},
    "digits": {"intervention"},
    "modular-addition": TABLE,
    "moduli": {"table"},
    "encodings": {"generic", "aligned", "products"},
    "multiplication": {"truth", "last-digits", "table-truth", "table-last-digits"},
    "modular-multiplication": {"truth", "last-digits"},
}
TWICE = {"exact", "exact-truncated", "exact-predicted", "no-end"}
METRICS = {
    "addition": TWICE,
    "digits": {"moved-by-dropped", "moved-by-kept"},
    "modular-addition": TWICE,
    "moduli": {"exact", "exact-predicted"},
    "encodings": {"exact", "exact-truncated", "no-end"},
    "multiplication": TWICE,
    "modular-multiplication": TWICE,
}
LONG = {"moduli", "modular-multiplication", "encodings"}
UNTRAINED = {  # at smoke scale: 2 digits less 2, and answers that are all alike
    "addition-union, -2 digits: no rows",
    "addition-absolute, explained: no rows",
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Experiments share runs, as in use."""
    return tmp_path_factory.mktemp("runs")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n in LONG else []) for n in FIGURES]
)
def test_an_experiment_at_smoke_scale(name, runs, tmp_path):
    (found,) = experiments.find(f"principled/{name}")

    def sweep(recipes):
        return [train(each, runs / each.run_name) for each in recipes]

    collected, _ = experiments.run(found, "smoke", [0], sweep)
    rows = collected.rows
    assert {r["metric"] for r in rows} >= METRICS[name]
    experiments.draw(found, "smoke", rows, tmp_path)
    assert {path.stem for path in tmp_path.glob("*.png")} == FIGURES[name]
    keys = [(r["run"], r["recipe"], r["length"], r["slice"], r["metric"], r["checkpoint"]) for r in rows]  # fmt: skip
    assert len(keys) == len(set(keys)), "a row is there twice"
    for claim in read_claims("principled").claims:
        if claim.experiment == name and not claim.also:
            assert missing(claim, rows) <= UNTRAINED, claim.id


def missing(claim, rows):
    """The cells of its rule that have no rows."""
    judged = [each.judged(rows, 1) for part in claim.rule() for each in part]
    return {told for verdicts in judged for each in verdicts for told in each.missing}


def test_relative_keys_see_every_column_alike():
    """Numbers are written from their units on: a digit of the answer is as far from its own digits in every column."""
    built = build(recipe("principled/modular-50-relative"))
    batch = built.batcher(built.batcher.parse("123456+7"))
    assert built.batcher.vocabulary.text(batch.sequence.tokens[0, :13]) == "654321+700000"
    at = batch.sequence.places
    column, role, index = (at[axis][0] for axis in ("column", "role", "index"))
    answer = [i for i in range(13, len(index)) if column[i] in (0, 1, 2, 3, 4, 5)]
    back = {int(index[i] - index[j]) for i in answer for j in range(13) if column[j] == column[i] and role[j] >= 0}  # fmt: skip
    assert len(back) == 2  # one for each number
