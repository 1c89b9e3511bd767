"""What experiments measure of finished runs, on a run of a second."""

import json

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.formats.numeric import InPlace
from tenfold.ledger import measurements as measuring
from tenfold.ledger.experiments import Lab
from tenfold.runs.recipe_files import recipe as shipped
from tenfold.runs.train import train


def trained(folder, name="symmetry/addition-relative", seed=0, **changes):
    small = {"train": {"steps": 6}, "eval": {"n": 12, "every": 2, "validation": [1, 2]}, **changes}
    chosen = shipped(name, "smoke", seed=seed, **small)
    return train(chosen, folder / chosen.run_name)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("runs"))


@pytest.fixture
def lab(run):
    return Lab("smoke", None, lambda recipes: [], [run])


def test_slices_that_a_run_lacks(lab, run):
    rows = list(measuring.more_slices(lab, run, [3, 4, 9], ["pads", "uniform"]))
    exact = {(r["length"], r["slice"], r["checkpoint"]) for r in rows if r["metric"] == "exact"}
    both = ("final", "best")  # 9 does not fit the frame, 4 digits uniform are there already
    assert exact == {
        (n, s, c) for n, s in ((3, "pads-1"), (3, "uniform"), (4, "pads-0")) for c in both
    }
    assert {row["recipe"] for row in rows} == {"symmetry/addition-relative"}
    assert all(row["n"] == 12 for row in rows)


def test_another_frame_is_asked_anew(lab, run):
    rows = list(measuring.more_slices(lab, run, [4], ["uniform"], InPlace(4)))
    assert {row["length"] for row in rows} == {4}
    own = {
        (r["checkpoint"], r["metric"]): r["value"]
        for r in run.result()["rows"]
        if (r["length"], r["slice"]) == (4, "uniform")
    }
    assert {(r["checkpoint"], r["metric"]): r["value"] for r in rows} == own


def test_farther_lengths_are_asked_of_the_best_checkpoint(lab, run):
    rows = [r for r in measuring.farther(lab, run, {3: 7, 4: 5}) if r["metric"] == "exact"]
    assert [(r["length"], r["n"], r["checkpoint"]) for r in rows] == [
        (3, 7, "best"),
        (4, 5, "best"),
    ]
    (best,) = run.evaluate([3], ["uniform"], 7)[:1]
    assert rows[0]["value"] == best.value


def test_every_run_of_carries(lab, run):
    rows = [row for row in measuring.every_run(lab, run, 4) if row["metric"] == "exact"]
    # the run has cascades of 1, 2 and all 4 columns itself
    assert {row["slice"] for row in rows} == {"cascade-3", "carries-1", "carries-2", "carries-3"}
    assert len(rows) == 2 * 4


def test_checkpoints_come_from_the_log(lab, run):
    rows = list(measuring.checkpoints(lab, run))
    assert {(r["checkpoint"], r["steps"], r["length"]) for r in rows} == {
        (f"step-{step}", step, length) for step in (2, 4, 6) for length in (1, 2)
    }
    assert {r["n"] for r in rows} == {20}


def test_spread_is_that_of_the_second_half(lab, run, monkeypatch):
    log = [{"step": 2, "loss": 1.0}]
    log += [
        {"step": step, "eval": {"exact": {"5": value, "10": 1.0}}}
        for step, value in ((2, 0.0), (3, 0.5), (4, 0.9), (6, 0.7))
    ]
    monkeypatch.setattr(run, "metrics", lambda: json.loads(json.dumps(log)))
    rows = {row["length"]: row for row in measuring.spread(lab, run)}
    assert rows[5]["value"] == pytest.approx(0.4)
    assert rows[10]["value"] == 0.0
    assert (rows[5]["metric"], rows[5]["checkpoint"]) == ("exact-spread", "")
    monkeypatch.setattr(run, "metrics", lambda: log[:2])
    with pytest.raises(TenfoldError, match="0 times in its second half"):
        list(measuring.spread(lab, run))


def test_gains_are_seed_by_seed(tmp_path, lab, run):
    other = trained(tmp_path, "symmetry/addition-absolute", seed=0)
    alone = trained(tmp_path, "symmetry/addition-absolute", seed=1)
    lab.runs += [other, alone]
    names = "symmetry/addition-absolute", "symmetry/addition-relative"
    rows = {row["length"]: row for row in measuring.gains(lab, "p/gain", *names)}
    assert set(rows) == {1, 2, 4}

    def exact(of, length):
        wanted = {"length": length, "slice": "uniform", "metric": "exact", "checkpoint": "best"}
        return next(r["value"] for r in of.result()["rows"] if wanted.items() <= r.items())

    for length, row in rows.items():
        assert row["value"] == exact(other, length) - exact(run, length)
        assert (row["recipe"], row["seed"], row["metric"]) == ("p/gain", 0, "exact-gain")
