"""Multiplication against Python integers."""

import itertools

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.formats.numeric import InPlace
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.multiplication import Multiplication
from tenfold.data.tasks.transducer import END


@pytest.mark.parametrize("base", [2, 3, 10, 16])
def test_small_ones_exhaustively(base, of_integers, written, check_machine):
    task = Multiplication(base=base)
    pairs = list(itertools.product(range(base), range(150)))
    examples = of_integers(task, pairs)
    for row, (m, n) in enumerate(pairs):
        assert task.question(examples, row) == f"{written(m, base)}*{written(n, base)}"
        assert task.truth(examples, row) == written(m * n, base)
    check_machine(task, examples=examples)


@pytest.mark.parametrize("base", [2, 7, 10, 16])
@pytest.mark.parametrize("multiplier", [1, 2, 3, 4])
def test_long_ones(base, multiplier, rng, written):
    task = Multiplication(multiplier, base)
    for sampler in (samplers.lengths, samplers.nines):
        examples = task.sample(6, 2000, rng, sampler)
        assert examples.room == multiplier
        for row in range(6):
            m, n = (int(text, base) for text in task.question(examples, row).split("*"))
            assert task.truth(examples, row) == written(m * n, base)


@pytest.mark.parametrize("base", [2, 5, 10])
@pytest.mark.parametrize("multiplier", [1, 2])
def test_the_machine(base, multiplier, check_machine):
    check_machine(Multiplication(multiplier, base))


@pytest.mark.parametrize(("least", "most"), [(1, None), (3, 7), (8, 12)])
def test_the_machine_of_multipliers_from_a_least_one_on(least, most, check_machine):
    """A start for each multiplier that is allowed, and for no other."""
    task = Multiplication(2, 10, most=most, least=least)
    check_machine(task)
    machine = task.transducer()
    assert machine.least == least
    assert machine.value[machine.starts].tolist() == list(range(least, (most or 99) + 1))


def test_the_machine_of_three_digits(check_machine):
    check_machine(Multiplication(3, 4))
    assert Multiplication(3, 16).transducer() is None  # 8 million states


@pytest.mark.parametrize("multiplier", [1, 2])
def test_the_state_is_the_multiplier_and_a_carry_below_it(multiplier):
    machine = Multiplication(multiplier).transducer()
    values = np.arange(10**multiplier)
    assert (machine.value[machine.starts] == values).all()
    assert np.bincount(machine.value).tolist() == [2, *range(1, 10**multiplier)]
    assert (machine.value[machine.next] == machine.value[:, None]).all()  # it is kept
    assert machine.output.min() == END  # nothing is refused
    assert machine.output.max() == 9


@pytest.mark.parametrize("multiplier", [1, 2, 3])
def test_the_largest_product_has_room(multiplier):
    task = Multiplication(multiplier)
    examples = task.parse("9" * multiplier + "*" + "9" * 8)
    assert task.truth(examples, 0) == str((10**multiplier - 1) * (10**8 - 1))
    assert examples.longest.tolist() == [8]
    assert examples.answer.shape[1] == 8 + multiplier


def test_multipliers_are_drawn_of_every_length(rng):
    task = Multiplication(3)
    for length in (1, 5):  # also where the other number is shorter
        examples = task.sample(3000, length, rng, samplers.exact)
        counts = np.bincount(examples.lengths[:, 0])
        assert (abs(counts[1:] - 1000) < 150).all()
        assert (examples.lengths[:, 1] == length).all()
    assert set(Multiplication().sample(500, 3, rng).operands[:, 0, 0].tolist()) == set(range(10))


def test_a_million_digits():
    task = Multiplication()
    assert task.truth(task.parse("9*" + "9" * 1_000_000), 0) == "8" + "9" * 999_999 + "1"
    task = Multiplication(3, base=16)
    examples = task.sample(1, 1_000_000, np.random.default_rng(0), samplers.exact)
    m, n = (int(text, 16) for text in task.question(examples, 0).split("*"))
    assert int(task.truth(examples, 0), 16) == m * n


@pytest.mark.parametrize(
    ("text", "answer"), [("6*47", "282"), (" 006 * 047", "282"), ("0*999", "0"), ("7*0", "0")]
)
def test_parse(text, answer):
    task = Multiplication()
    assert task.truth(task.parse(text), 0) == answer


@pytest.mark.parametrize("text", ["", "12", "1*2*3", "1**2", "12*3a", "6*-1", "1+2"])
def test_what_is_no_product(text):
    with pytest.raises(TenfoldError) as caught:
        Multiplication().parse(text)
    assert f'"{text}" is not a product of 2 numbers in base 10; write it' in str(caught.value)


def test_a_multiplier_that_is_too_long():
    with pytest.raises(TenfoldError, match="the multiplier 12 has 2 digits; at most 1"):
        Multiplication().parse("12*345")
    assert Multiplication(2).truth(Multiplication(2).parse("12*345"), 0) == "4140"


@pytest.mark.parametrize("multiplier", [0, 5])
def test_multiplier_out_of_range(multiplier):
    with pytest.raises(TenfoldError, match=f"multiplier of {multiplier} digits; 1 to 4"):
        Multiplication(multiplier)


@pytest.mark.parametrize(("digits", "least"), [(1, 1), (2, 10), (3, 100), (4, 1000)])
def test_exactly_so_many_digits(digits, least, rng):
    """The form of the `symmetry` paper: uniform numbers of exactly so many digits, and so no padding before them."""
    task = Multiplication(digits, least=least)
    examples = task.sample(4000, 5, rng)
    value = (examples.operands[:, 0, :digits] * 10 ** np.arange(digits)).sum(1)
    assert (examples.lengths[:, 0] == digits).all()
    assert least <= value.min() < least * 1.05
    assert value.max() > 9.5 * least - 1
    assert abs(value.mean() / least - (5 if digits == 1 else 5.5)) < 0.2  # of 1 to 9, of 10 to 99
    written = InPlace(frame=5).write(examples, task.vocabulary)
    assert (written.question.tokens[:, :digits] < 10).all()


def test_hard_problems_keep_to_the_least(rng):
    task = Multiplication(2, least=10)
    slices = task.hard(4) | {"levels": task.by_levels(4)}
    assert list(slices["multipliers"]) == ["multiplier-2"]
    assert "multiplier-1" in Multiplication(1, least=1).hard(4)["multipliers"]
    for samplers_of in slices.values():
        for draw in samplers_of.values():
            task.sample(500, 4, rng, draw)  # a smaller multiplier would be refused


def test_the_machine_begins_with_the_least():
    machine = Multiplication(1, least=3).transducer()
    assert machine.value[machine.starts].tolist() == [3, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"least": 10}, "a multiplier of 10 at the least; 0 to 9 can be"),
        ({"least": -1}, "a multiplier of -1 at the least; 0 to 9 can be"),
        ({"least": 5, "most": 4}, "a multiplier of 5 at the least; 0 to 4 can be"),
    ],
)
def test_the_least_out_of_range(options, message):
    with pytest.raises(TenfoldError, match=message):
        Multiplication(**options)


def test_a_multiplier_below_the_least():
    with pytest.raises(TenfoldError, match="the multiplier 9 is too small; at least 10"):
        Multiplication(2, least=10).parse("9*345")


def test_base_out_of_range():
    with pytest.raises(TenfoldError, match="base 17; 2 to 16"):
        Multiplication(base=17)
