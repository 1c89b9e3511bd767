"""Frames that vary from batch to batch."""

import collections

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.formats.numeric import InPlace
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.addition import Addition


def frames(written, n=400):
    """The frame of each of many batches of up to 5 digits."""
    task, frames = Addition(), []
    for seed in range(n):
        examples = task.sample(32, 5, np.random.default_rng(seed), samplers.lengths)
        line = written.write(examples, task.vocabulary)
        assert line.question.tokens.shape[1] == 2 * line.answer.tokens.shape[1] - 1
        frames.append(line.answer.tokens.shape[1] - 1)
    return frames


def test_half_fit_and_the_others_are_of_every_size():
    counts = collections.Counter(frames(InPlace(8, vary=True)))
    assert set(counts) == {5, 6, 7, 8}
    assert 200 <= counts[5] <= 300  # a half, and a quarter of the other
    assert min(counts[size] for size in (6, 7, 8)) > 20


def test_the_same_batch_has_the_same_frame():
    assert frames(InPlace(20, vary=True), 40) == frames(InPlace(20, vary=True), 40)


def test_what_is_written_is_a_fixed_frame_of_that_size():
    task = Addition()
    examples = task.sample(9, 5, np.random.default_rng(3))
    line = InPlace(20, vary=True).write(examples, task.vocabulary)
    fixed = InPlace(line.answer.tokens.shape[1] - 1).write(examples, task.vocabulary)
    assert (line.question.tokens == fixed.question.tokens).all()
    assert (line.question.column == fixed.question.column).all()
    assert (line.answer.tokens == fixed.answer.tokens).all()


def test_nothing_longer_than_the_frame_and_no_fit_that_varies():
    task = Addition()
    assert InPlace(6, vary=True).longest() == 6
    with pytest.raises(TenfoldError, match="does not fit"):
        InPlace(6, vary=True).write(task.parse("1234567+1"), task.vocabulary)
    with pytest.raises(TenfoldError, match="does not vary"):
        InPlace("fit", vary=True)
