"""Addition modulo any number, against Python integers."""

import itertools

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.modular_addition import ModularAddition


def expected(task, question, written):
    total = sum(int(text, task.base) for text in question.split("+")) % task.modulus
    return written(total, task.base).rjust(len(written(task.modulus - 1, task.base)), "0")


@pytest.mark.parametrize("base", [2, 10, 16])
@pytest.mark.parametrize("modulus", [2, 3, 7, 10, 16, 20, 64, 97, 100, 1000])
def test_small_ones_exhaustively(base, modulus, of_integers, written, check_machine):
    task = ModularAddition(modulus, base)
    examples = of_integers(task, list(itertools.product(range(0, 130, 3), range(0, 60, 2))))
    for row in range(len(examples)):
        assert task.truth(examples, row) == expected(task, task.question(examples, row), written)
    if task.transducer() is not None:
        check_machine(task, examples=examples)


@pytest.mark.parametrize("base", [2, 10, 16])
@pytest.mark.parametrize("modulus", [2, 97, 10**9 + 7, 2**31, 2**33 + 17, 10**18 + 9, 10**60 + 7])
def test_long_ones(base, modulus, rng, written):
    task = ModularAddition(modulus, base)
    for length in (1, 7, 2000):
        examples = task.sample(4, length, rng, samplers.lengths)
        for row in range(4):
            question = task.question(examples, row)
            assert task.truth(examples, row) == expected(task, question, written)


@pytest.mark.parametrize(
    ("base", "modulus"), [(10, 2), (10, 5), (10, 10), (10, 200), (10, 10**6), (2, 8), (12, 48)]
)
def test_the_machine(base, modulus, check_machine):
    check_machine(ModularAddition(modulus, base))


@pytest.mark.parametrize(("base", "modulus"), [(10, 4), (10, 7), (10, 30), (2, 6), (12, 18)])
def test_no_machine(base, modulus):
    assert ModularAddition(modulus, base).transducer() is None


@pytest.mark.parametrize("modulus", [97, 100, 10**40 + 7])
def test_a_million_digits(modulus):
    """Base 16 because Python reads it in linear time."""
    task = ModularAddition(modulus, 16)
    examples = task.sample(1, 1_000_000, np.random.default_rng(0), samplers.exact)
    a, b = (int(text, 16) for text in task.question(examples, 0).split("+"))
    assert int(task.truth(examples, 0), 16) == (a + b) % modulus


@pytest.mark.parametrize(
    ("text", "answer"), [("97+5", "02"), (" 007 + 1", "08"), ("0+0", "00"), ("12+345", "57")]
)
def test_parse(text, answer):
    task = ModularAddition()
    assert task.truth(task.parse(text), 0) == answer


@pytest.mark.parametrize("text", ["", "12", "1+2+3", "1+a", "1-2"])
def test_what_is_no_sum(text):
    with pytest.raises(TenfoldError) as caught:
        ModularAddition().parse(text)
    assert f'"{text}" is not a sum of 2 numbers in base 10; write it as' in str(caught.value)


@pytest.mark.parametrize("modulus", [1, 0, -5])
def test_modulus_out_of_range(modulus):
    with pytest.raises(TenfoldError, match=f"modulus of {modulus}; at least 2"):
        ModularAddition(modulus)


def test_base_out_of_range():
    with pytest.raises(TenfoldError, match="base 17; 2 to 16"):
        ModularAddition(base=17)
