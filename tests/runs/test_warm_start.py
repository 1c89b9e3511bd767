"""Training that starts from the weights of a finished run."""

import os
import shutil

import pytest
import torch

import tenfold as package
from tenfold.core.errors import TenfoldError
from tenfold.runs.lease import Lease
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import Run
from tenfold.runs.train import train
from tenfold.runs.warm_start import hash_of
from tenfold.sweeps.worker import SweepJob, do


class Crash(Exception):
    pass


@pytest.fixture
def source(recipe, tmp_path, monkeypatch):
    """A finished run whose best checkpoint is not the last one."""
    scores = iter([0.5, 0.9, 0.1])
    with monkeypatch.context() as patched:
        patched.setattr("tenfold.runs.train._validate", lambda *_: (next(scores, 0.0), {}))
        run = train(recipe, tmp_path / "source")
    monkeypatch.chdir(tmp_path)
    return run


def equal(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def first_weights(recipe, folder):
    """The weights before the first step: a learning rate of almost 0 leaves them as they are."""
    still = recipe.replace(train={"steps": 1, "lr": 1e-30, "weight_decay": 0, "average": 0})
    return train(still, folder).weights("final")


def test_training_starts_from_the_weights_of_the_run(source, recipe, tmp_path):
    begun = first_weights(recipe.replace(train={"from": str(source.folder)}), tmp_path / "begun")
    assert equal(begun, source.weights("best"))
    assert not equal(begun, first_weights(recipe, tmp_path / "random"))


def test_the_final_checkpoint(source, recipe, tmp_path):
    assert not equal(source.weights("best"), source.weights("final"))
    start = {"name": str(source.folder), "checkpoint": "final"}
    begun = first_weights(recipe.replace(train={"from": start}), tmp_path / "begun")
    assert equal(begun, source.weights("final"))


def test_a_change_of_the_checkpoint_names_other_weights(source, recipe):
    best = recipe.replace(train={"from": str(source.folder)})
    final = best.replace(train={"from": {"checkpoint": "final"}})
    assert best.train.from_.weights == hash_of(source.weights("best"))
    assert final.train.from_.weights == hash_of(source.weights("final"))


def test_the_fingerprint_is_that_of_the_weights(source, recipe, tmp_path):
    shutil.copytree(source.folder, tmp_path / "copy")
    ours, copied = (
        recipe.replace(train={"from": str(place)}) for place in (source.folder, tmp_path / "copy")
    )
    assert ours.fingerprint == copied.fingerprint != recipe.fingerprint
    other = train(recipe.replace(seed=1), tmp_path / "other")
    assert recipe.replace(train={"from": str(other.folder)}).fingerprint != ours.fingerprint
    assert Recipe.of(ours.as_json()) == ours
    assert ours.replace(train={"from": None}).fingerprint == recipe.fingerprint


def test_three_ways_to_say_it(source, recipe, tmp_path):
    value = train(recipe, tmp_path / "a", from_=source)
    path = train(recipe, tmp_path / "b", from_=source.folder)
    assert value.recipe == path.recipe == recipe.replace(train={"from": str(source.folder)})
    assert equal(value.weights(), path.weights())


def test_resumed_it_equals_the_uninterrupted_run_without_its_source(source, recipe, tmp_path):
    warm = recipe.replace(train={"from": str(source.folder)})
    whole = train(warm, tmp_path / "whole")

    def crash(line):
        if line.get("step") == 6:
            raise Crash

    with pytest.raises(Crash):
        train(warm, tmp_path / "broken", progress=crash)
    shutil.rmtree(source.folder)
    steps = []
    resumed = train(warm, tmp_path / "broken", progress=lambda line: steps.append(line.get("step")))
    assert steps[0] == 5
    for which in ("best", "final"):
        assert equal(resumed.weights(which), whole.weights(which))
    assert equal(resumed.checkpoint().tensors["optimizer"], whole.checkpoint().tensors["optimizer"])
    assert Run.open(resumed.folder).recipe == warm  # its source is gone


def test_the_same_encodings_bring_their_tensors_others_start_fresh(source, recipe, tmp_path):
    other = recipe.replace(
        pe={"name": "learned", "axis": "index", "limit": 64}, train={"from": str(source.folder)}
    )
    with pytest.warns(UserWarning, match=r"its encoding starts fresh: .*table"):
        begun = first_weights(other, tmp_path / "other")
    (table,) = [name for name in begun if "table" in name or ".pe" in name or "encoding" in name][
        :1
    ]
    assert not torch.equal(begun[table], source.weights()[table])
    same = {name for name in begun if torch.equal(begun[name], source.weights()[name])}
    assert same == set(begun) - {table}


def test_an_encoding_without_tensors_takes_the_rest(source, recipe, tmp_path, recwarn):
    begun = first_weights(
        recipe.replace(pe="alibi", train={"from": str(source.folder)}), tmp_path / "alibi"
    )
    assert all(torch.equal(value, source.weights()[name]) for name, value in begun.items())
    assert not [each for each in recwarn if "starts fresh" in str(each.message)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": {"width": 32}}, r"the shape \(\d+, 32\), and \(\d+, 16\) there"),
        ({"model": {"layers": 2}}, r"which has no tensor stack\.blocks\.1\.\S+ \(16"),
        ({"task": {"name": "addition", "base": 8}}, r"has the shape \(\d+, 16\), and"),
    ],
)
def test_what_does_not_fit_is_one_line_and_writes_nothing(
    source, recipe, tmp_path, changes, message
):
    warm = recipe.replace(**changes, train={"from": str(source.folder)})
    with pytest.raises(TenfoldError, match=message) as error:
        train(warm, tmp_path / "warm")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "warm").exists()


def test_a_run_whose_new_source_does_not_fit_stays(source, recipe, tmp_path):
    """`fresh` removes the old run only after the weights to start from were found to fit."""
    old = train(recipe, tmp_path / "old")
    before = sorted(old.folder.rglob("*"))
    warm = recipe.replace(model={"width": 32}, train={"from": str(source.folder)})
    with pytest.raises(TenfoldError, match="cannot start from"):
        train(warm, old.folder, fresh=True)
    assert sorted(old.folder.rglob("*")) == before


def test_a_run_that_is_not_there_or_has_not_finished(source, recipe):
    with pytest.raises(TenfoldError, match=r'train.from: unknown run "nowhere"'):
        recipe.replace(train={"from": "nowhere"})
    os.unlink(source.folder / "result.json")
    with pytest.raises(TenfoldError, match=r"train.from: \S+source has not finished"):
        recipe.replace(train={"from": str(source.folder)})


def test_a_source_that_was_trained_again(source, recipe, tmp_path):
    warm = recipe.replace(train={"from": str(source.folder)})
    train(recipe.replace(seed=5), source.folder, fresh=True)
    with pytest.raises(TenfoldError, match="the run was trained again since"):
        train(warm, tmp_path / "warm")


def test_from_an_exported_model_and_a_shipped_one(source, recipe, tmp_path):
    source.export(tmp_path / "exported")
    exported = recipe.replace(train={"from": str(tmp_path / "exported")})
    assert exported.fingerprint == recipe.replace(train={"from": str(source.folder)}).fingerprint
    shipped = package.recipe("certified/addition", scale="smoke", train={"from": "addition"})
    assert shipped.train.from_.name == "addition"


def test_sweeps_read_the_source_where_the_command_runs(source, recipe, tmp_path):
    recipes = [recipe.replace(seed=seed, train={"from": "./source"}) for seed in (1, 2)]
    runs = package.sweep(recipes, tmp_path / "swept", workers=1)
    alone = train(recipes[0], tmp_path / "alone")
    assert equal(runs[0].weights(), alone.weights())
    assert Run.open(runs[0].folder).recipe.train.from_.name == "./source"


def test_the_command(source, tenfold, tmp_path):
    (tmp_path / "r.yaml").write_text(source.recipe.as_yaml())
    code, _, err = tenfold("train", "r.yaml", "--from", "./source", "--out", "warm")
    assert code == 0, err
    assert Run.open(tmp_path / "warm").recipe.train.from_.weights == hash_of(source.weights())
    code, _, err = tenfold("train", "r.yaml", "--from", "nowhere")
    assert (code, err.count("\n")) == (2, 1)
    assert "train.from" in err


def test_a_worker_elsewhere_finds_the_source(source, recipe, tmp_path, monkeypatch):
    """As on a cluster, where a worker starts in another folder than the driver."""
    warm = recipe.replace(train={"from": "./source"})
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with Lease(tmp_path / "driver"):
        ending = do(SweepJob(warm.as_json(), tmp_path / "run", tmp_path / "driver", tmp_path))
    assert ending.result == "finished", ending.reason
    assert Run.open(tmp_path / "run").recipe == warm
