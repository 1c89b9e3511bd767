"""Subtraction against Python integers."""

import itertools

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.subtraction import Subtraction, borrows, power
from tenfold.data.tasks.transducer import REFUSED


def differences(task, examples):
    for row in range(len(examples)):
        a, b = task.question(examples, row).split("-")
        yield a, b, task.truth(examples, row)


@pytest.mark.parametrize("base", [2, 3, 10, 16])
def test_small_ones_exhaustively(base, of_integers, written, check_machine):
    task = Subtraction(base)
    pairs = [(a, b) for a in range(70) for b in range(a + 1)]
    examples = of_integers(task, pairs)
    for (a, b), (left, right, answer) in zip(pairs, differences(task, examples), strict=True):
        assert (left, right) == (written(a, base), written(b, base))
        assert answer == written(a - b, base).rjust(len(left), "0")
    check_machine(task, examples=examples)


@pytest.mark.parametrize("base", [2, 7, 10, 16])
def test_long_ones(base, rng, written, check_machine):
    task = Subtraction(base)
    for sampler in (samplers.numbers, samplers.lengths):
        examples = task.sample(5, 2000, rng, sampler)
        for row, (a, b, answer) in enumerate(differences(task, examples)):
            assert len(answer) == len(a) == examples.answer_length[row]
            x, y = (int(text, base) for text in (a, b))
            assert answer == written(x - y, base).rjust(len(a), "0")
    check_machine(task)


@pytest.mark.parametrize("base", [2, 10])
def test_the_machine_refuses_what_is_negative_and_nothing_else(base, written):
    """Column by column: 7-12 goes on after its first number has ended, 12-13 ends with a borrow."""
    machine = Subtraction(base).transducer()
    for a, b in itertools.product(range(40), repeat=2):
        texts = [written(n, base)[::-1] for n in (a, b)]
        digits = np.zeros((1, 2, max(map(len, texts))), dtype=np.uint8)
        for m, text in enumerate(texts):
            digits[0, m, : len(text)] = [int(digit) for digit in text]
        lengths = np.array([[len(text) for text in texts]])
        assert (REFUSED in machine.write(digits, lengths)) == (a < b)


def test_a_million_digits(written):
    task = Subtraction()
    examples = task.parse("1" + "0" * 999_999 + "-1")
    assert task.truth(examples, 0) == "0" + "9" * 999_999
    examples = Subtraction(16).sample(1, 1_000_000, np.random.default_rng(0), samplers.exact)
    a, b, answer = next(differences(Subtraction(16), examples))
    assert int(answer, 16) == int(a, 16) - int(b, 16)


@pytest.mark.parametrize(
    ("text", "answer"), [("12-5", "07"), (" 007 - 7 ", "0"), ("0-0", "0"), ("100-100", "000")]
)
def test_parse(text, answer):
    task = Subtraction()
    assert task.truth(task.parse(text), 0) == answer


@pytest.mark.parametrize("text", ["7-12", "0-1", "12-13", "999-1000"])
def test_negative(text):
    with pytest.raises(TenfoldError, match=f"^{text} is negative; write the larger number first$"):
        Subtraction().parse(text)


def test_negative_is_shown_short():
    with pytest.raises(TenfoldError) as caught:
        Subtraction().parse("1-" + "9" * 10_000)
    assert len(str(caught.value)) < 100


@pytest.mark.parametrize("text", ["", "12", "1-2-3", "1--2", "12-3a", "-1", "1+2"])
def test_what_is_no_difference(text):
    with pytest.raises(TenfoldError) as caught:
        Subtraction().parse(text)
    assert f'"{text}" is not a difference of 2 numbers in base 10; write it' in str(caught.value)


def test_base_out_of_range():
    with pytest.raises(TenfoldError, match="base 17; 2 to 16"):
        Subtraction(base=17)


def longest_borrow(a, b):
    """The longest run of columns that borrow, started anew by every digit that is too small."""
    longest = run = 0
    for x, y in zip(a, b, strict=True):
        run = 1 if x < y else run + 1 if x == y and run else 0
        longest = max(longest, run)
    return longest


@pytest.mark.parametrize("base", [2, 3, 10])
@pytest.mark.parametrize("length", [2, 5, 9])
def test_borrows_run_as_far_as_they_say(base, length, rng):
    for size in range(1, length):
        digits, lengths = borrows(rng, 50, length, 2, base, cascade=size)
        assert {longest_borrow(*pair) for pair in digits.tolist()} == {size}
        assert (lengths[:, 0] == length).all()
        Subtraction(base).solve(digits, lengths)  # none is negative


def test_hard_ones(rng):
    hard = Subtraction().hard(5)["cascades"]
    assert list(hard) == ["cascade-1", "cascade-2", "cascade-4", "cascade-all", "power"]
    task = Subtraction()
    examples = task.sample(50, 5, rng, power)
    assert {a for a, _, _ in differences(task, examples)} == {"10000"}
    assert list(task.hard(1)["cascades"]) == ["power"]
    task.sample(50, 1, rng, power)
