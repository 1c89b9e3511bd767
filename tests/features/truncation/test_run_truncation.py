"""Runs of the `principled` paper at smoke scale: recipes, rows against the truncated function, the command line."""

import json
import re

import numpy as np
import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.domains import Domain
from tenfold.features.influence.run_influence import influence, truncated
from tenfold.features.truncation import run_truncation as truncation
from tenfold.features.truncation.prediction import operation, predict
from tenfold.ledger import experiments
from tenfold.runs.build import build
from tenfold.runs.recipe_files import recipe
from tenfold.runs.train import train


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    names = ("addition-absolute", "modular-70-absolute", "multiplication-absolute")
    return {name: train(recipe(f"principled/{name}", "smoke"), folder / name) for name in names}


class Oracle:
    """Answers `^00012+00034=` with a function of the two numbers, from the units on, and ends."""

    def __init__(self, run, function):
        self.width, self.end = run.recipe.format.options["width"], run.built.batcher.vocabulary.end
        self.function = function

    def answer(self, batch):
        tokens = batch.sequence.tokens.numpy()
        powers = 10 ** np.arange(self.width)[::-1]
        a, b = (tokens[:, at : at + self.width] @ powers for at in (1, self.width + 2))
        answer = self.function(a, b)[:, None] // 10 ** np.arange(batch.read) % 10
        answer[:, -1] = self.end
        return torch.from_numpy(answer)


@pytest.fixture
def answering(runs, monkeypatch):
    """`answering("addition-absolute", lambda a, b: a + b)`: that run, with a model that computes it."""

    def make(name, function):
        oracle = Oracle(runs[name], function)
        monkeypatch.setattr(runs[name], "answerer", lambda which="best": oracle)
        return runs[name]

    return make


@pytest.fixture
def lab(runs):
    return experiments.Lab("smoke", None, lambda recipes: [], list(runs.values()))


def keys(rows):
    return [(r["length"], r["slice"], r["metric"], r["checkpoint"]) for r in rows]


@pytest.mark.parametrize("name", ["addition-absolute", "modular-70-absolute", "multiplication-absolute"])  # fmt: skip
def test_rows_against_the_truncated_function(runs, lab, name):
    run = runs[name]
    rows = list(truncation.truncated(lab, run))
    lengths, metrics = run.recipe.eval.lengths, ("exact-truncated", "no-end")
    wanted = {(k, "uniform", m, c) for k in lengths for m in metrics for c in ("best", "final")}
    assert sorted(keys(rows)) == sorted(wanted)
    own = {(r["length"], r["checkpoint"]): r["value"] for r in run.result()["rows"] if r["metric"] == "exact"}  # fmt: skip
    for row in rows:
        assert row["trained"] == run.recipe.data.length == 2
        assert 0 <= row["value"] <= 1
        if row["metric"] == "exact-truncated" and row["length"] <= 2:  # nothing is dropped
            assert row["value"] == own[row["length"], row["checkpoint"]]


def test_exact_too_where_the_run_did_not_measure_it(runs, lab):
    rows = list(truncation.truncated(lab, runs["addition-absolute"], [3], ["full", "nines"]))
    assert {(r["slice"], r["metric"]) for r in rows} == {
        ("nines", "exact"), ("nines", "exact-truncated"), ("nines", "no-end"),
    }  # fmt: skip


def test_predicted_rows(runs, lab):
    rows = list(truncation.predicted(lab, runs["modular-70-absolute"]))
    wanted = predict(operation("modular-addition", 70), 2, range(1, 6), slice="uniform")
    assert [r["value"] for r in rows] == [each.accuracy for each in wanted]
    assert {(r["metric"], r["checkpoint"], r["slice"]) for r in rows} == {("exact-predicted", "", "uniform")}  # fmt: skip
    assert list(truncation.predicted(lab, runs["modular-70-absolute"], slice="nines")) == []


def test_rows_of_a_domain(runs, lab):
    rows = list(truncation.of_domain(lab, runs["addition-absolute"], "digits-6-9", Domain([2], digits="6789")))  # fmt: skip
    assert {(r["length"], r["slice"]) for r in rows} == {(2, "digits-6-9")}
    assert {r["metric"] for r in rows} == {"exact", "exact-truncated", "no-end"}


def test_rows_of_the_digit_analysis(answering, lab):
    """An adder whose answers are true, and one whose tens have nothing to do with the tens of the question."""
    run = answering("addition-absolute", lambda a, b: a + b)
    rows = list(truncation.digit_analysis(lab, run, n=500))
    assert {(r["length"], r["slice"], r["checkpoint"], r["n"]) for r in rows} == {(2, "uniform", "best", 500)}  # fmt: skip
    found = {r["metric"]: r["value"] for r in rows}
    each = {"explained-1": 1.0, "explained-2": 1.0, "explained": 1.0}
    assert each.items() <= found.items()  # two digits carry from one column below at the most
    assert 0.5 < found["explained-3"] < 1.0  # the overflow does not see the tens' own carry
    true = {m.removeprefix("explained-true"): v for m, v in found.items() if "true" in m}
    assert true == {m.removeprefix("explained"): v for m, v in found.items() if "true" not in m}

    noise = np.random.default_rng(0).integers(0, 10, 10**6)
    run = answering("addition-absolute", lambda a, b: (a + b) % 10 + 10 * noise[1000 * a + b])
    said = {r["metric"]: r["value"] for r in truncation.digit_analysis(lab, run, n=500)}
    assert said["explained-1"] == 1.0
    assert said["explained-2"] < 0.2
    assert said["explained"] == pytest.approx((1.0 + said["explained-2"]) / 2)
    assert {m: v for m, v in said.items() if "true" in m} == {m: v for m, v in found.items() if "true" in m}  # fmt: skip


@pytest.mark.parametrize("seed", [0, 1])
def test_the_digits_of_a_model_that_cuts(answering, lab, tmp_path, monkeypatch, seed):
    """The experiment's rows and figures, of an adder of the last 2 digits; the picture says whose it is."""
    run = answering("addition-absolute", lambda a, b: a % 100 + b % 100)
    monkeypatch.setattr(run, "recipe", run.recipe.replace(seed=seed))
    (found,) = experiments.find("principled/digits")
    rows = list(found.module.measure_run(lab, run))
    values = {r["metric"]: r["value"] for r in rows}
    assert (values["moved-by-dropped"], values["moved-by-kept"]) == (0.0, 1.0)
    assert values["explained"] == values["explained-true"] > 0.99
    found.draw(experiments.DrawingContext("smoke", rows, tmp_path, lab.kept))
    drawn = (tmp_path / "explained.svg").read_text()
    assert "true answers" in drawn
    assert "the model" in drawn
    title = f"seed {seed}, trained on 2 digits, asked 4"
    assert title in (tmp_path / "intervention.svg").read_text()


def test_rows_of_interventions(runs, lab):
    rows = list(truncation.intervened(lab, runs["addition-absolute"], n=5))
    assert [(r["metric"], r["length"]) for r in rows] == [
        ("moved-by-dropped", 4), ("moved-by-kept", 4),
    ]  # fmt: skip


def test_prediction_alone_reproduces(tmp_path):
    (found,) = experiments.find("principled/prediction")
    collected = found.run(experiments.Lab("laptop", None, lambda recipes: []))
    values = {(row["recipe"].split("/")[1], row["length"]): row["value"] for row in collected.rows}
    assert len(values) == 4 * 9
    assert values["predict-3-digits-51", 4] == pytest.approx(0.024, abs=0.0005)
    assert values["predict-3-digits-101", 9] == pytest.approx(0.010, abs=0.0005)
    assert values["predict-2-digits-101", 3] == 0


def test_a_run_of_the_truncated_task_is_the_same_training():
    """Where nothing is dropped the two are one function: so its log follows accuracy against it over training."""
    plain = build(recipe("principled/addition-absolute", "smoke"))
    cut = {"name": "truncated", "of": "addition", "digits": 2}
    other = build(recipe("principled/addition-absolute", "smoke", task=cut))
    for number in range(3):
        ours, theirs = plain.batch_at(number), other.batch_at(number)
        assert torch.equal(ours.sequence.tokens, theirs.sequence.tokens)
        assert torch.equal(ours.target, theirs.target)
    weights = zip(plain.model().parameters(), other.model().parameters(), strict=True)
    assert all(torch.equal(one, two) for one, two in weights)
    four = [built.source.one(4) for built in (plain, other)]
    assert torch.equal(four[0].sequence.tokens[:, :11], four[1].sequence.tokens[:, :11])
    assert not torch.equal(four[0].target, four[1].target)


def test_no_problems(runs):
    with pytest.raises(TenfoldError, match="0 problems; at least 1 is needed"):
        truncation.compared(runs["addition-absolute"], [3], 0)


def test_both_numbers_of_the_length_as_theory_has_it(answering):
    """Measured and predicted are of the same problems, also where the format has padding left."""
    run = answering("modular-70-absolute", lambda a, b: (a % 100 + b % 100) % 70)
    rows = truncation.compared(run, [1, 2, 3, 4], 2000, slice="full")
    found = {(row.length, row.metric): row.value for row in rows}
    assert {row.slice for row in rows} == {"full"}
    wanted = [each.accuracy for each in predict(operation("modular-addition", 70), 2, [1, 2, 3, 4])]
    for length, accuracy in enumerate(wanted, 1):
        assert found[length, "exact-truncated"] == 1.0
        assert found[length, "exact-predicted"] == accuracy
        assert abs(found[length, "exact"] - accuracy) < 4 * (0.25 / 2000) ** 0.5
    with pytest.raises(TenfoldError, match="a length of 6 digits does not fit the format"):
        truncation.compared(run, [6], 10, slice="full")


# the command line


@pytest.mark.parametrize("lengths", ["3", "1-3"])
@pytest.mark.parametrize(("slips", "told"), [(0, "100.0% right"), (1, "99.0% right"), (2, "98.0% right: not converged, the prediction is not about this model")])  # fmt: skip
def test_the_training_length_is_told_first(tenfold, answering, monkeypatch, lengths, slips, told):
    """Asked or not: 2 digits, of which a model gets so many of 100 wrong."""

    def adds(a, b):
        total = a % 100 + b % 100
        if max(a.max(), b.max()) < 100:
            total[:slips] += 1
        return total

    run = answering("addition-absolute", adds)
    monkeypatch.setattr("tenfold.runs.run.open_run", lambda name: run)
    _, out, _ = tenfold("truncation", "it", "--lengths", lengths, "--n", 100)
    assert out.splitlines()[0] == f"at 2 digits (training): {told}"


def test_every_slice_of_a_length_has_a_line(tenfold, runs):
    words = ("truncation", runs["addition-absolute"].folder, "--lengths", "3,4", "--n", 10)
    _, out, _ = tenfold(*words, "--slice", "cascades", "--json")
    learned, *others = json.loads(out)
    assert (learned["length"], learned["slice"]) == (2, "uniform")  # whether it has converged
    asked = dict.fromkeys((row["length"], row["slice"]) for row in others)
    assert len(asked) == 3 + 3
    _, out, _ = tenfold(*words, "--slice", "cascades")
    head, *lines = [line.split() for line in out.splitlines()[-7:]]
    assert head[:2] == ["digits", "slice"]
    assert [(int(line[0]), line[1]) for line in lines] == list(asked)
    code, out, _ = tenfold(*words, "--slice", "full")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[-2:]] == ["3", "4"]
    code, _, err = tenfold(*words, "--slice", "sentences")
    assert err == 'error: the slice "sentences" asks nothing at these lengths of this task\n'


def test_truncation_on_the_command_line(tenfold, runs):
    code, out, _ = tenfold("truncation", runs["modular-70-absolute"].folder, "--lengths", "2,4", "--n", 20)  # fmt: skip
    assert code == 0
    learned, *lines = out.splitlines()
    assert re.fullmatch(
        r"at 2 digits \(training\): \d\d?\.\d% right: not converged, the .*", learned
    )
    assert lines[0] == "% of 20 problems a length"
    assert lines[1].split() == ["digits", "truth", "predicted", "last", "2", "no", "end"]
    assert len(lines) == 4
    trained = runs["multiplication-absolute"].recipe.data.length
    _, out, _ = tenfold(
        "truncation", runs["multiplication-absolute"].folder, "--lengths", 3, "--digits", 1, "--n", 20, "--json",
    )  # fmt: skip
    learned, *rows = json.loads(out)  # first, whether it has converged
    assert (learned["length"], learned["slice"], learned["metric"]) == (trained, "uniform", "exact")
    assert [row["metric"] for row in rows] == ["exact", "exact-truncated", "no-end", "exact-predicted"]  # fmt: skip


def test_explained_on_the_command_line(tenfold, runs):
    code, out, _ = tenfold("explained", runs["addition-absolute"].folder, "--n", 300)
    assert code == 0
    assert out.splitlines()[0].split() == ["answer", "digit", "model", "truth"]
    assert out.splitlines()[-1].split()[::2] == ["1", "1.000"]
    _, out, _ = tenfold("explained", runs["addition-absolute"].folder, "--n", 300, "--json")
    assert json.loads(out)["truth"][:2] == [1.0, 1.0]


@pytest.mark.parametrize("n", [0, -5, 5, 9])
def test_too_few_problems_to_explain(tenfold, runs, n):
    code, _, err = tenfold("explained", runs["addition-absolute"].folder, f"--n={n}")
    assert code != 0
    assert err == f"error: {n} problems; at least 10 are needed, a fifth of them to ask\n"


@pytest.mark.parametrize("name", ["modular-70-absolute", "multiplication-absolute"])
def test_what_is_no_sum_is_not_explained(tenfold, runs, name):
    code, out, err = tenfold("explained", runs[name].folder, "--n", 50)
    assert (code != 0, out) == (True, "")
    assert err.startswith("error: digit sum and carry explain sums of two numbers, and the task ")
    assert err.count("\n") == 1


def test_the_intervention_picture(tenfold, runs, tmp_path):
    run = runs["addition-absolute"]
    asked = ("influence", run.folder, "--length", 4, "--digits", 2, "--n", 5)
    code, out, _ = tenfold(*asked, "--out", tmp_path / "drawn")
    assert code == 0
    assert "operand 1, last 2: % of changes that move each answer digit" in out
    assert "last 2, operand 2" in (tmp_path / "drawn" / "influence.html").read_text()
    _, out, _ = tenfold(*asked, "--json")
    told = json.loads(out)
    matrix = np.array(told["last 2"], dtype=float)
    np.testing.assert_array_equal(matrix, truncated(run, 4, 2, 5))
    assert matrix.shape == influence(run, 4, 5).model.shape
    assert (matrix[:, 2:] == 0).all()
    assert np.array(told["truth"], dtype=float)[:, 3, 3].tolist() == [1.0, 1.0]
    code, _, err = tenfold(*asked, "--lists")
    assert "leave --digits out" in err
