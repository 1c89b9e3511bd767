"""The second stage of calibration: what is trained again, and what is said of it."""

import pytest

from tenfold.features.calibration.calibrate import calibrate
from tenfold.ledger import experiments
from tenfold.papers.bias.experiments import early as early_stops
from tenfold.papers.bias.second_stage import (
    calibrated_rows,
    rows_of_all,
    second,
    steps_again,
    steps_until,
    train_second,
)
from tenfold.results.collect import collect
from tenfold.runs.recipe_files import recipe
from tenfold.runs.train import train


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    chosen = recipe("bias/successor-vanilla", "smoke", train={"steps": 24})
    return train(chosen, tmp_path_factory.mktemp("first") / "run")


@pytest.fixture
def lab(tmp_path):
    def trains(recipes):
        return [train(each, tmp_path / each.run_name) for each in reversed(recipes)]

    return experiments.Lab("smoke", None, trains)


def test_the_second_stage_has_the_lines_and_a_quarter_of_the_steps(first):
    stage = second(first, "bias/again", kappa_self=0.0)
    assert stage.recipe.name == "bias/again"
    assert (stage.recipe.train.steps, stage.recipe.eval.every) == (6, 5)
    assert steps_again(first.recipe) == 6
    assert (stage.recipe.pe.name, stage.recipe.train.schedule) == ("calibrated", "cosine")
    same = calibrate(first, kappa_self=0.0, allow_imperfect=True)
    assert stage.recipe.pe.options["lines"] == same.encoding()["lines"]
    assert second(first, "bias/again", steps=3).recipe.train.steps == 3
    assert second(first, "bias/again", positions="keep").recipe.pe.name == "compose"


@pytest.mark.parametrize(
    ("name", "which", "stages"),
    [
        ("published-calibration", "successor-vanilla-covered", 4),
        (
            "published-calibration",
            "addition-vanilla-covered",
            7,
        ),  # one of four is as long as the first
        ("calibration", "addition-vanilla", 4),
        ("calibration", "successor-vanilla", 1),
        ("kappa", "addition-vanilla", 8),
        ("division", "division-rope", 0),
        ("text", "text-vanilla", 4),  # as long as the first
    ],
)
def test_the_expected_time_has_every_second_training(name, which, stages):
    (experiment,) = experiments.find(f"bias/{name}")
    one = next(each for each in experiment.recipes("laptop") if each.name == f"bias/{which}")
    assert experiment.steps_later(one) == stages * steps_again(one)


def test_each_stage_has_its_own_run_whatever_their_order(first, lab):
    stages = [second(first, "bias/a"), second(first, "bias/b", source="last")]
    pairs = list(train_second(lab, stages))
    assert [(s.recipe.name, run.recipe.name) for s, run in pairs] == [
        ("bias/a",) * 2,
        ("bias/b",) * 2,
    ]
    stage, run = pairs[0]
    rows = {row["metric"]: row for row in calibrated_rows(lab, stage, run)}
    assert rows["first-exact"]["value"] == stage.calibration.accuracy.value
    assert rows["lines"]["value"] == len(stage.calibration.lines)
    assert rows["transparent"]["value"] == len(stage.calibration.transparent) / len(
        stage.calibration.heads
    )
    assert "share-of-steps" not in rows  # neither came to 99%


def test_settings_that_keep_the_same_lines_have_rows_of_their_own(first, lab):
    """They are one training, of which `collect` has the first name alone."""
    kappas = {"bias/none": 90.0, "bias/none-either": 99.0, "bias/some": 0.0}
    stages = [second(first, name, kappa_cross=kappa) for name, kappa in kappas.items()]
    assert stages[0].recipe.fingerprint == stages[1].recipe.fingerprint
    added = list(rows_of_all(lab, stages))
    assert sorted(run.recipe.name for run in lab.runs) == ["bias/none", "bias/some"]
    rows = collect([run.folder for run in lab.runs]).rows + added
    for metric in ("lines", "exact"):
        assert {row["recipe"] for row in rows if row["metric"] == metric} == set(kappas)
    values = {
        name: [row["value"] for row in rows if (row["recipe"], row["metric"]) == (name, "exact")]
        for name in kappas
    }
    assert values["bias/none"] == values["bias/none-either"]


def test_steps_until_enough_is_right_at_the_training_length(first, monkeypatch):
    seen = [(5, {2: 0.2, 4: 1.0}), (10, {2: 0.95, 4: 0.0}), (15, {2: 0.99}), (20, {2: 0.5})]
    monkeypatch.setattr("tenfold.papers.bias.second_stage.looked_at", lambda run: seen)
    assert [steps_until(first, enough) for enough in (0.1, 0.5, 0.99, 1.0)] == [5, 10, 15, None]
    assert steps_until(first) == 15


def test_a_training_that_is_stopped_early_is_the_same_so_far(tmp_path, monkeypatch):
    whole = train(recipe("bias/addition-vanilla", "smoke"), tmp_path / "whole")
    seen = {0: 5, 5: 10, 25: 10, 50: 10, 75: 20, 90: None}
    monkeypatch.setattr(early_stops, "steps_until", lambda run, enough: seen[round(100 * enough)])
    early = list(early_stops.stops(whole))
    assert [(each.name[-5:], each.train.steps) for each in early] == [
        ("-at-0", 5),
        ("at-50", 10),
        ("at-75", 20),
    ]  # one run a step: the same twice would count once
    seen |= {75: 10, 90: 20}
    names = [each.name[-5:] for each in early_stops.stops(whole)]
    assert names == ["-at-0", "at-50", "at-90"]  # which claims read, before 75
    stopped = train(early[1], tmp_path / "early")
    curve = {line["step"]: line["loss"] for line in whole.metrics() if "loss" in line}
    ours = {line["step"]: line["loss"] for line in stopped.metrics() if "loss" in line}
    assert ours
    assert ours == {step: curve[step] for step in ours}
