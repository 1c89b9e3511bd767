"""`data.stages`: what the first steps of training draw instead of the recipe's own problems."""

import json

import pytest

from tenfold.core.errors import Stopped, TenfoldError
from tenfold.runs.build import build
from tenfold.runs.cost import cost
from tenfold.runs.recipe import Recipe
from tenfold.runs.train import train

ONE = {"name": "patterns", "of": {"a": 1}, "inner": "lengths"}
SPARSE = {"name": "patterns", "of": {"a0": 1}, "inner": "lengths"}
STAGES = [
    {"steps": 2, "format": {"frame": 4}, "length": 2, "sampler": ONE},
    {"steps": 3, "format": {"frame": 6}, "sampler": SPARSE},
]


def staged(stages=STAGES, **more):
    return Recipe(
        task={"name": "multiplication", "multiplier": 2},
        format={"name": "in-place", "frame": 9},
        data={"length": 4, "stages": stages},
        pe={"name": "pairwise", "relation": {"name": "relative", "reach": 12}},
        model={"layers": 1, "width": 16, "heads": 2},
        train={"steps": 8, "batch": 32, "warmup": 1, "checkpoint_every": 2},
        eval={"lengths": [4, 9], "slices": ["uniform"], "n": 8, "every": 4, "validation": [4]},
    ).replace(**more)


def seen(built, number):
    """The multipliers and the tokens of a batch, as text."""
    tokens = built.batch_at(number).sequence.tokens
    lines = [built.batcher.vocabulary.text(row) for row in tokens.tolist()]
    return {line.split("*")[0].strip("_") for line in lines}, len(lines[0])


def test_each_stage_has_its_own_problems_and_frame():
    built = build(staged())
    for number in range(12):
        multipliers, size = seen(built, number)
        if number < 2:
            assert size == 2 + 1 + 4
            assert all(len(each) == 1 for each in multipliers)
        elif number < 5:
            assert size == 2 + 1 + 6
            assert all(each[1:] == "0" for each in multipliers)
        else:
            assert size == 2 + 1 + 9
            assert any(each[1:] not in ("", "0") for each in multipliers)


def test_steps_are_counted_and_not_batches():
    built = build(staged(train={"accumulate": 2}))
    assert [seen(built, number)[1] for number in range(12)] == [7] * 4 + [9] * 6 + [12] * 2


def test_the_rest_draws_what_a_recipe_without_stages_draws():
    with_stages, without = build(staged()), build(staged(()))
    assert (with_stages.batch_at(5).sequence.tokens == without.batch_at(5).sequence.tokens).all()
    assert with_stages.batcher.format.longest() == 9  # measured is the recipe's own


def test_stages_are_part_of_the_fingerprint_and_no_stages_are_not():
    plain = staged(())
    assert plain.fingerprint != staged().fingerprint
    assert staged().fingerprint != staged(STAGES[:1]).fingerprint
    assert "stages" not in plain.model_dump(exclude_defaults=True)["data"]
    assert Recipe.of(staged().as_json()).fingerprint == staged().fingerprint


def test_a_stopped_run_resumes_in_its_stage(tmp_path):
    whole = train(staged(), tmp_path / "whole")

    def stop(line):
        if line.get("step") == 4:
            raise Stopped("enough", 15)

    with pytest.raises(Stopped):
        train(staged(), tmp_path / "parts", progress=stop)
    parts = train(staged(), tmp_path / "parts")
    values = [json.loads(json.dumps(run.result()["rows"])) for run in (whole, parts)]
    assert values[0] == values[1]
    ours, theirs = whole.model("final").state_dict(), parts.model("final").state_dict()
    assert all((ours[name] == theirs[name]).all() for name in ours)


def test_the_cost_is_that_of_all_stages():
    """Operations are the mean over the steps of three frames; bytes are those of the largest."""
    ends = {"eval": {"lengths": [4]}, "data": {"stages": []}}
    alone = [build(staged(format={"frame": frame}, **ends)) for frame in (4, 6, 9)]
    small, middle, large = (cost(each) for each in alone)
    together = cost(build(staged()))
    flops = 2 * small.flops_per_step + 3 * middle.flops_per_step + 3 * large.flops_per_step
    assert together.flops_per_step == pytest.approx(flops / 8, rel=0.01)
    assert together.memory_bytes == large.memory_bytes


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ({"steps": 8}, "data.stages take 8 steps and leave none of the 8 of train.steps"),
        ({"steps": 2, "length": 40}, "40 digits"),
        ({"steps": 2, "task": {"base": 8}}, "tokens"),
        ({"steps": 2, "sampler": "number"}, 'did you mean "numbers"'),
        ({"steps": 2, "format": {"frame": 20}}, "reach 12, the input spans 22"),
        ({"steps": 2, "frame": 8}, "data.stages.0.frame"),
    ],
)
def test_what_cannot_be_is_refused(stage, words):
    with pytest.raises(TenfoldError, match=words):
        build(Recipe.of({**staged(()).as_json(), "data": {"length": 4, "stages": [stage]}}))
