"""The recipes at paper scale have the data that the paper describes."""

import numpy as np
import pytest

from tenfold.runs.build import build
from tenfold.runs.recipe_files import recipe
from tenfold.sweeps.grid import grid


def questions(built, batches):
    """What training asks, as text."""
    source, asked = built.source, []
    for number in range(batches):
        rng = np.random.default_rng((0, number))
        examples = source.batcher.task.sample(64, built.recipe.data.length, rng, source.draw)
        asked += [source.batcher.task.question(examples, row) for row in range(64)]
    return asked


@pytest.mark.parametrize("digits", [1, 2, 3])
@pytest.mark.parametrize("copies", ["", "-augmented"])
def test_multipliers_of_exactly_so_many_digits(digits, copies):
    given = recipe(f"symmetry/multiplication-{digits}-uniform{copies}", "paper")
    built = build(given)
    multipliers = [question.split("*")[0] for question in questions(built, 4)]
    assert {len(multiplier) for multiplier in multipliers} == {digits}
    assert "0" not in multipliers
    assert given.data.sampler.options["count"] == (500_000 if digits == 3 else 100_000)


@pytest.mark.parametrize("scale", ["laptop", "paper"])
def test_stages_come_before_the_problems_of_the_paper(scale):
    """Multipliers have all their digits throughout, so that none is ever padded: `700`, then any."""
    given = recipe("symmetry/multiplication-3-uniform-staged", scale)
    built = build(given.replace(model={"layers": 1, "width": 32}, train={"batch": 16}))
    first, last = (
        built.batch_at(number).sequence.tokens for number in (0, given.train.steps - 100)
    )
    assert first.shape[1] <= 3 + 1 + 8
    assert last.shape[1] == 3 + 1 + 20
    for tokens in (first, last):
        assert ((tokens[:, 0] >= 1) & (tokens[:, 0] <= 9)).all()
    assert (first[:, 1:3] == 0).all()
    assert (last[:, 1:3] > 0).any()


@pytest.mark.parametrize(
    "name",
    ["addition-relative", "addition-mixed", "long-addition-relative", "multiplication-1-uniform"],
)
def test_a_fixed_training_set(name):
    """With 50 problems instead of 100,000, thousands of samples are no more than 50 different ones."""
    given = recipe(f"symmetry/{name}", "paper")
    assert given.data.sampler.options["count"] == 100_000
    few = recipe(f"symmetry/{name}", "paper", data={"sampler": {"count": 50}})
    assert len(set(questions(build(few), 40))) <= 50


@pytest.mark.parametrize(
    ("name", "at_laptop_scale"),
    [
        ("text-addition", True),
        ("text-addition-no-vectors", False),
        ("text-multiplication-1", True),
        ("text-multiplication", False),
        ("text-multiplication-staged", False),
    ],
)
def test_words_have_no_vector(name, at_laptop_scale):
    """In the paper they have none; the paper's own form is there at laptop scale too."""
    for scale, expected in (("paper", False), ("laptop", at_laptop_scale)):
        model = build(recipe(f"symmetry/{name}", scale, model={"layers": 1, "width": 32})).model()
        (pairwise,) = [each for each in model.modules() if hasattr(each, "unrelated")]
        assert pairwise.unrelated is expected


def test_the_four_weight_decays():
    recipes = grid("papers/symmetry/weight-decays.grid.yaml", "paper")
    assert len(recipes) == 12
    assert {each.train.weight_decay for each in recipes} == {3e-6, 1e-5, 3e-5, 1e-4}
