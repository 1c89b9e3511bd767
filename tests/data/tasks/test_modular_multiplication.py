"""Modular multiplication against Python integers."""

import itertools

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.modular_multiplication import ModularMultiplication
from tenfold.data.tasks.operation import Operation


def expected(task, question, written):
    a, b = (int(text, task.base) for text in question.split("*"))
    size = len(written(task.modulus - 1, task.base))
    return written(a * b % task.modulus, task.base).rjust(size, "0")


@pytest.mark.parametrize("base", [2, 10, 16])
@pytest.mark.parametrize("modulus", [2, 7, 10, 64, 97, 100, 1000])
def test_small_ones_exhaustively(base, modulus, of_integers, written):
    task = ModularMultiplication(modulus, base)
    examples = of_integers(task, list(itertools.product(range(0, 130, 3), range(0, 60, 2))))
    for row in range(len(examples)):
        assert task.truth(examples, row) == expected(task, task.question(examples, row), written)


@pytest.mark.parametrize("base", [2, 10, 16])
@pytest.mark.parametrize("modulus", [2, 97, 2**31 - 1, 2**31, 2**33 + 17, 10**60 + 7])
def test_long_ones(base, modulus, rng, written):
    task = ModularMultiplication(modulus, base)
    for length in (1, 7, 2000):
        examples = task.sample(4, length, rng, samplers.lengths)
        for row in range(4):
            question = task.question(examples, row)
            assert task.truth(examples, row) == expected(task, question, written)


def test_a_million_digits():
    """Base 16 because Python reads it in linear time."""
    task = ModularMultiplication(10**40 + 7, 16)
    examples = task.sample(1, 1_000_000, np.random.default_rng(0), samplers.exact)
    a, b = (int(text, 16) % task.modulus for text in task.question(examples, 0).split("*"))
    assert int(task.truth(examples, 0), 16) == a * b % task.modulus


@pytest.mark.parametrize("modulus", [1, 0, -5])
def test_modulus_out_of_range(modulus):
    with pytest.raises(TenfoldError, match=f"modulus of {modulus}; at least 2"):
        ModularMultiplication(modulus)


@pytest.mark.parametrize("text", ["", "12", "1*2*3", "1*a", "1+2"])
def test_what_is_no_product(text):
    with pytest.raises(TenfoldError, match="is not a product of 2 numbers in base 10"):
        ModularMultiplication().parse(text)


def test_it_says_what_it_computes():
    assert ModularMultiplication(51).operation() == Operation(product=True, modulus=51)
