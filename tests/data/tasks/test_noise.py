"""Noise in answers: how much of it, of which symbols, and nothing else."""

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import TASKS, samplers
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.wrappers.label_noise import Noise


@pytest.mark.parametrize("name", TASKS.names())
@pytest.mark.parametrize("share", [0.05, 0.5])
def test_that_share_of_digits_is_another_of_its_kind(name, share, rng):
    task = TASKS.build(name)
    examples = task.sample(4000, 5, rng, samplers.lengths)
    spoilt = Noise.among(examples, share)(examples, rng)
    inside = np.arange(examples.answer.shape[1]) < examples.answer_length[:, None]
    wrong = spoilt.answer != examples.answer
    assert not wrong[~inside].any()
    assert wrong[inside].mean() == pytest.approx(share, abs=0.015)
    assert set(spoilt.answer[inside]) == set(examples.answer[inside])
    assert spoilt.answer.dtype == examples.answer.dtype
    assert np.array_equal(spoilt.operands, examples.operands)
    assert np.array_equal(spoilt.answer_length, examples.answer_length)


def test_every_other_digit_is_as_likely(rng):
    task = Addition()
    examples = task.parse("1" * 9000 + "+" + "2" * 9000)
    noise = Noise(0.9, np.arange(10))
    shares = np.bincount(noise(examples, rng).answer[0, :9000], minlength=10) / 9000
    assert shares == pytest.approx([0.1] * 10, abs=0.015)


def test_the_truth_is_left_alone(rng):
    examples = Addition().sample(50, 5, rng)
    before = examples.answer.copy()
    Noise(0.9, np.arange(10))(examples, rng)
    assert np.array_equal(examples.answer, before)


def test_a_symbol_that_was_not_seen_is_replaced_too(rng):
    spoilt = Noise(0.999999, np.array([1, 4]))(Addition().parse("4444+4444"), rng)
    assert set(spoilt.answer[0, :4]) <= {1, 4}


def test_one_symbol_alone():
    alone = Addition().parse("4444+4444")
    with pytest.raises(TenfoldError, match=r"noise of 0\.1 in answers that are all of one symbol"):
        Noise.among(alone, 0.1)
