"""`data: {noise: 0.05}`: in training alone, the same every time, to the bit after a stop."""

import json

import numpy as np
import pytest
import torch

from tenfold.core.errors import Stopped, TenfoldError
from tenfold.runs.build import build
from tenfold.runs.recipe import Recipe
from tenfold.runs.train import train

LAYOUTS = {
    "encoder": {"name": "in-place", "frame": 5},
    "decoder": {"name": "reversed"},
    "seq2seq": {"name": "reversed"},
}


def noisy(noise=0.2, kind="seq2seq", **more):
    return Recipe(
        format=LAYOUTS[kind],
        data={"length": 4, "sampler": "lengths", "noise": noise},
        pe="sinusoidal",
        model={"kind": kind, "layers": 1, "width": 16, "heads": 2},
        train={"steps": 6, "batch": 256, "warmup": 1, "checkpoint_every": 2},
        eval={"lengths": [4], "slices": ["uniform"], "n": 20, "every": 3},
    ).replace(**more)


@pytest.mark.parametrize("kind", LAYOUTS)
def test_the_same_problems_with_wrong_digits(kind):
    clean, spoilt = build(noisy(0.0, kind)), build(noisy(0.2, kind))
    digits = wrong = 0
    for number in range(10):
        ours, theirs = spoilt.batch_at(number), clean.batch_at(number)
        for mine, its in ((ours.sequence, theirs.sequence), (ours.source, theirs.source)):
            if mine is not None:
                given = ours.given if mine is ours.sequence else mine.tokens.shape[1]
                assert torch.equal(mine.tokens[:, :given], its.tokens[:, :given])
                assert all(torch.equal(mine.places[axis], its.places[axis]) for axis in mine.places)
        is_digit = (theirs.target >= 0) & (theirs.target < 10)
        differs = ours.target != theirs.target
        assert not differs[~is_digit].any()  # nor the end, nor padding
        assert (ours.target[is_digit] < 10).all()
        digits, wrong = digits + int(is_digit.sum()), wrong + int(differs.sum())
    assert wrong / digits == pytest.approx(0.2, abs=0.02)


def test_the_same_every_time_and_for_every_step_and_seed_another():
    built = build(noisy())
    once, again, next_one = built.batch_at(3), build(noisy()).batch_at(3), built.batch_at(4)
    assert torch.equal(once.target, again.target)
    assert once.target.shape != next_one.target.shape or not torch.equal(
        once.target, next_one.target
    )
    examples = built.batcher.task.sample(200, 4, np.random.default_rng(0))
    answers = [built.noise(examples, np.random.default_rng((0, step))).answer for step in (3, 4, 3)]
    assert np.array_equal(answers[0], answers[2])
    assert not np.array_equal(answers[0], answers[1])


def test_what_is_measured_is_the_truth():
    clean, spoilt = (build(noisy(share)).examiner() for share in (0.0, 0.9))
    requested = [
        [next(iter(each.batches(examples))).target for *_, examples in each.questions([4], ["uniform"], 50)]
        for each in (clean, spoilt)
    ]  # fmt: skip
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(*requested, strict=True))


def test_resumed_to_the_bit(tmp_path):
    def stop_at_3(line):
        if line.get("step") == 3:
            raise Stopped("enough", 15)

    whole = train(noisy(), tmp_path / "whole")
    with pytest.raises(Stopped):
        train(noisy(), tmp_path / "parts", progress=stop_at_3)
    parts = train(noisy(), tmp_path / "parts")
    ours, theirs = (run.model("final").state_dict() for run in (whole, parts))
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    losses = [
        [json.loads(line)["loss"] for line in (run.folder / "metrics.jsonl").read_text().splitlines()]
        for run in (whole, parts)
    ]  # fmt: skip
    assert losses[0] == losses[1]
    clean = train(noisy(0.0), tmp_path / "clean").model("final").state_dict()
    assert any(not torch.equal(ours[name], clean[name]) for name in ours)


def test_part_of_the_fingerprint_only_when_set():
    plain = Recipe()
    assert plain.fingerprint == "44136fa355b3"  # of no difference at all
    assert plain.replace(data={"noise": 0.0}).fingerprint == plain.fingerprint
    assert plain.replace(data={"noise": 0.05}).fingerprint != plain.fingerprint
    assert plain.replace(data={"noise": 0.05}).difference(plain) == "data.noise is 0.05, not 0.0"


@pytest.mark.parametrize("share", [-0.1, 1.0, 5, float("nan")])
def test_out_of_range(share):
    with pytest.raises(TenfoldError) as caught:
        Recipe().replace(data={"noise": share})
    message = str(caught.value)
    assert message.startswith(f"recipe: data.noise is {share!r}; input should be ")
    assert "\n" not in message


def test_from_the_command_line(tenfold):
    words = ["train", "symmetry/addition-relative", "--scale", "smoke", "--data.noise", "2"]
    code, _, err = tenfold(*words)
    assert code != 0
    assert "data.noise is 2; input should be less than 1" in err
