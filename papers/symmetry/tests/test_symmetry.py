"""Every experiment of the symmetry paper that trains and measures, at smoke scale, one seed: rows and figures."""

import pytest

from tenfold.ledger.experiments import DrawingContext, Lab, find
from tenfold.runs.train import train

FIGURES = {
    "augmentation": {"figure-2c", "table-1"},
    "checkpoints": {"figure-2b-checkpoints", "averaged"},
    "complexity": {"figure-8a", "figure-8b", "figure-8c", "uniform"},
    "full-length": {"full-length"},
    "long-addition": {"figure-2b"},
    "long-complexity": {"figure-8c", "uniform"},
    "multiplication": {"figure-4"},
    "multiplication-2": {"two-digits"},
    "multiplication-3": {"figure-5"},
    "multiplication-3-augmented": {"figure-5"},
    "multiplication-augmented": {"augmented"},
    "samplers": {"samplers", "samplers-augmented"},
    "norms": {"figure-2", "while-training"},
    "norms-complexity": {"figure-8c", "uniform"},
    "no-carry": {"figure-10"},
    "text-multiplication": {"figure-7b"},
}
METRICS = {
    "augmentation": {"exact", "digit", "digit-1", "digit-2", "digit-3", "digit-4", "digit-5"},
    "checkpoints": {"exact", "digit", "exact-spread"},
    "multiplication": {"exact", "digit", "exact-gain"},
    "multiplication-2": {"exact", "digit", "exact-gain"},
    "multiplication-3": {"exact", "digit", "exact-gain"},
    "samplers": {"exact", "digit", "exact-gain"},
}
QUICK = {"augmentation", "long-addition"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Experiments share runs, as in use."""
    return tmp_path_factory.mktemp("runs")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else [pytest.mark.full]) for n in FIGURES]
)
def test_an_experiment_at_smoke_scale(name, runs, tmp_path):
    (experiment,) = find(f"symmetry/{name}")

    def sweep(recipes):
        return [train(each, runs / each.run_name) for each in recipes]

    lab = Lab("smoke", [0], sweep)
    collected = experiment.run(lab)
    assert {r["metric"] for r in collected.rows} >= METRICS.get(name, {"exact", "digit"})
    experiment.draw(DrawingContext("smoke", collected.rows, tmp_path, lab.kept))
    assert {path.stem for path in tmp_path.glob("*.png")} == FIGURES[name]
    assert {path.stem for path in tmp_path.glob("*.svg")} == FIGURES[name]
    keys = [(r["run"], r["recipe"], r["length"], r["slice"], r["metric"], r["checkpoint"]) for r in collected.rows]  # fmt: skip
    assert len(keys) == len(set(keys)), "a row is there twice"
