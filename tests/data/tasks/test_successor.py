"""The successor against Python integers."""

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.successor import Successor, ending


@pytest.mark.parametrize("base", range(2, 17))
def test_small_ones_exhaustively(base, of_integers, written, check_machine):
    task = Successor(base)
    examples = of_integers(task, [[n] for n in range(600)])
    for n in range(600):
        assert task.question(examples, n) == written(n, base)
        assert task.truth(examples, n) == written(n + 1, base)
    check_machine(task, examples=examples)


@pytest.mark.parametrize("base", [2, 10, 16])
@pytest.mark.parametrize("sampler", [samplers.lengths, samplers.nines])
def test_long_ones(base, sampler, rng, written):
    task = Successor(base)
    examples = task.sample(10, 2000, rng, sampler)
    for row in range(10):
        n = int(task.question(examples, row), base)
        assert task.truth(examples, row) == written(n + 1, base)


@pytest.mark.parametrize("base", [2, 7, 10])
def test_the_machine(base, check_machine):
    check_machine(Successor(base))


def test_a_million_digits():
    task = Successor()
    assert task.truth(task.parse("9" * 1_000_000), 0) == "1" + "0" * 1_000_000


@pytest.mark.parametrize(("text", "answer"), [("0", "1"), (" 009 ", "10"), ("12", "13")])
def test_parse(text, answer):
    task = Successor()
    assert task.truth(task.parse(text), 0) == answer


@pytest.mark.parametrize("text", ["", "-1", "1+2", "a", "1 2", "S1", "1S"])
def test_what_is_no_number(text):
    with pytest.raises(TenfoldError) as caught:
        Successor().parse(text)
    assert f'"{text}" is not a number in base 10; write it as "101"' in str(caught.value)


def test_base_out_of_range():
    with pytest.raises(TenfoldError, match="base 1; 2 to 16"):
        Successor(base=1)


@pytest.mark.parametrize("base", [2, 10])
def test_hard_ones_end_in_nines(base, rng):
    task, last = Successor(base), "1" if base == 2 else "9"
    sizes = {"cascade-1": 1, "cascade-2": 2, "cascade-4": 4}
    for length in (1, 2, 5, 6):
        for label, sampler in task.hard(length)["cascades"].items():
            examples = task.sample(30, length, rng, sampler)
            for row in range(30):
                text = task.question(examples, row)
                assert len(text) == length
                assert len(text) - len(text.rstrip(last)) == sizes[label]
    assert list(task.hard(6)["cascades"]) == list(sizes)
    assert list(task.hard(5)["cascades"]) == list(sizes)[: 2 if base == 2 else 3]


def test_any_number_of_nines(rng):
    digits, lengths = samplers.nines(rng, 500, 4, 1, 10)
    ends = {int(np.append(row[0] != 9, True).argmax()) for row in digits}
    assert ends == {0, 1, 2, 3, 4}
    assert (lengths == 4).all()
    assert (digits[:, 0, -1] > 0).all()


def test_a_single_digit_that_is_no_nine(rng):
    digits, _ = ending(rng, 200, 2, 1, 10, nines=1)
    assert set(digits[:, 0, 1].tolist()) == set(range(1, 9))
