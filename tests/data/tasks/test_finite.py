"""A training set of so many problems."""

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import SAMPLERS, TASKS
from tenfold.runs.build import build
from tenfold.runs.recipe_files import recipe


def drawn(rng, n=2000, **options):
    draw = SAMPLERS.bind({"name": "finite", **options})
    digits, lengths = draw(rng, n, 3, 2, 10)
    assert ((digits > 0) <= (np.arange(3) < lengths[..., None])).all()
    return {tuple(row) for row in digits.reshape(n, -1).tolist()}


def test_every_problem_is_one_of_so_many(rng):
    first = drawn(rng, count=40)
    assert 35 <= len(first) <= 40  # two may be alike
    assert drawn(rng, count=40) == first


def test_a_smaller_set_is_part_of_a_larger_one(rng):
    assert drawn(rng, count=10) < drawn(rng, n=20_000, count=600)


def test_another_seed_is_another_set(rng):
    assert not drawn(rng, count=10, seed=1) & drawn(rng, count=10)


def test_what_is_drawn_from(rng):
    ones = drawn(rng, count=100, inner={"name": "domain", "digits": "1"})
    assert {digit for row in ones for digit in row} == {0, 1}


def test_batches_of_a_run_are_of_one_set():
    named = {"name": "finite", "count": 5}
    built = build(recipe("principled/addition-absolute", "smoke", data={"sampler": named}))
    rows = [row for k in range(4) for row in built.batch_at(k).sequence.tokens.tolist()]
    assert len({tuple(row) for row in rows}) == 5


@pytest.mark.parametrize("task", ["multiplication", "reversing", "reachability"])
def test_what_the_task_draws_is_fixed_too(task, rng):
    """A multiplier, a graph, a sequence that is no number: `finite` fixes whole problems."""
    made = TASKS.build(task)
    draw = SAMPLERS.bind({"name": "finite", "count": 50, "inner": "lengths"})
    sets = []
    for _ in range(2):
        examples = made.sample(2000, 5, rng, draw)
        sets.append({made.question(examples, row) for row in range(2000)})
    assert 25 <= len(sets[0]) <= 50  # short ones may be alike
    assert sets[0] == sets[1]


def test_none_is_refused():
    with pytest.raises(TenfoldError, match="count"):
        SAMPLERS.bind({"name": "finite", "count": 0})


@pytest.mark.parametrize(
    "outer",
    [
        lambda inner: {"name": "appended", "to": 9, "inner": inner},
        lambda inner: {"name": "mixed", "easy": inner, "hard": "numbers"},
        lambda inner: {"name": "mixed", "easy": "numbers", "hard": inner},
        lambda inner: {"name": "patterns", "of": {"a": 1}, "inner": inner},
    ],
)
def test_inside_of_another_sampler_products_are_refused(outer, rng):
    """The multiplier would be a new one every time: 50 problems gave 19,751 of 20,000."""
    made = TASKS.build("multiplication")
    draw = SAMPLERS.bind(outer({"name": "finite", "count": 50, "inner": "numbers"}))
    with pytest.raises(TenfoldError, match='"finite" inside of another one would not fix'):
        made.sample(10, 5, rng, draw)
    around = SAMPLERS.bind({"name": "finite", "count": 50, "inner": outer("numbers")})
    fixed = made.sample(2000, 5, rng, around)
    assert len({each.tobytes() for each in fixed.operands}) <= 50
