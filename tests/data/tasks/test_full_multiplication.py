"""Products of two long numbers against Python integers."""

import itertools

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.formats import FORMATS
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.full_multiplication import FEW, FullMultiplication, convolved
from tenfold.data.tasks.operation import Operation


@pytest.mark.parametrize("base", [2, 10, 16])
def test_small_ones_exhaustively(base, of_integers, written):
    task = FullMultiplication(base=base)
    pairs = list(itertools.product(range(0, 130, 3), range(60)))
    examples = of_integers(task, pairs)
    for row, (a, b) in enumerate(pairs):
        assert task.question(examples, row) == f"{written(a, base)}*{written(b, base)}"
        assert task.truth(examples, row) == written(a * b, base)


@pytest.mark.parametrize("base", [2, 10, 16])
@pytest.mark.parametrize("length", [FEW, FEW + 1, 300])  # digit by digit, and by a transform
def test_long_ones(base, length, rng, written):
    task = FullMultiplication(length, base)
    for sampler in (samplers.lengths, samplers.nines):
        examples = task.sample(6, length, rng, sampler)
        for row in range(6):
            a, b = (int(text, base) for text in task.question(examples, row).split("*"))
            assert task.truth(examples, row) == written(a * b, base)


def test_a_hundred_thousand_digits(rng):
    """Base 16 because Python reads it in linear time."""
    task = FullMultiplication(100_000, 16)
    examples = task.sample(1, 100_000, rng, samplers.nines)
    a, b = (int(text, 16) for text in task.question(examples, 0).split("*"))
    assert int(task.truth(examples, 0), 16) == a * b


def test_the_transform_agrees_with_sums_column_by_column(rng, monkeypatch):
    a, b = rng.integers(0, 16, (2, 5, FEW), dtype=np.uint8)
    slow = convolved(a, b)
    monkeypatch.setattr("tenfold.data.tasks.arithmetic.full_multiplication.FEW", 1)
    assert (convolved(a, b) == slow).all()


def test_one_may_be_longer_than_digits():
    task = FullMultiplication(digits=2)
    assert task.truth(task.parse("99*999999"), 0) == "98999901"
    assert task.truth(task.parse("999999*99"), 0) == "98999901"
    with pytest.raises(TenfoldError, match=r"numbers of 3 digits or more; one .* 2 at the most, or set digits to 3"):  # fmt: skip
        task.parse("100*999999")


def test_written_as_in_the_paper():
    task = FullMultiplication(digits=4)
    format = FORMATS.build({"name": "reversed", "width": 4})
    line = format.write(task.parse("12*345"), task.vocabulary)
    assert task.vocabulary.text(line.question.tokens[0]) == "0012*0345"
    assert task.vocabulary.text(line.answer.tokens[0]) == "04140000;"


@pytest.mark.parametrize("text", ["", "12", "1*2*3", "1*a", "1+2"])
def test_what_is_no_product(text):
    with pytest.raises(TenfoldError, match="is not a product of 2 numbers in base 10"):
        FullMultiplication().parse(text)


def test_options_out_of_range():
    with pytest.raises(TenfoldError, match="a factor of 0 digits; at least 1"):
        FullMultiplication(0)
    with pytest.raises(TenfoldError, match="base 17; 2 to 16"):
        FullMultiplication(base=17)


def test_it_says_what_it_computes():
    assert FullMultiplication().operation() == Operation(product=True)
    assert FullMultiplication().transducer() is None
