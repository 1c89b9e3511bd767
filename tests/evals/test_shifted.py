"""The slice of shifted problems: half of the digits drawn, the rest zeros."""

import pytest

from tenfold.data.formats.numeric import InPlace
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.multiplication import Multiplication
from tenfold.evals.exact_match import SLICES


@pytest.mark.parametrize("task", [Addition(), Multiplication(multiplier=3)])
@pytest.mark.parametrize(("length", "drawn"), [(10, 5), (5, 3), (3, 2)])
def test_half_of_the_digits_are_zeros(task, length, drawn, rng):
    (sampler,) = SLICES["shifted"](length, task, InPlace(20)).values()
    examples = task.sample(200, length, rng, sampler)
    columns = examples.operands[:, task.terms - task.drawn :, :length]
    assert (examples.longest == length).all()
    assert not columns[..., : length - drawn].any()
    assert columns[..., length - drawn].any()
    assert (columns[..., length - 1].max(1) > 0).all()


@pytest.mark.parametrize("length", [1, 2])
def test_single_digits_are_not_shifted(length):
    assert SLICES["shifted"](length, Addition(), InPlace(20)) == {}
