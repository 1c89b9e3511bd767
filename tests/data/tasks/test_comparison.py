"""Comparison against Python integers."""

import itertools

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.comparison import Comparison, alike


def verdicts(a, b, places, base):
    """Highest first: the verdict on a and b modulo base^(i+1)."""
    powers = [base ** (i + 1) for i in reversed(range(places))]
    return "".join("=><"[(a % p > b % p) - (a % p < b % p)] for p in powers)


@pytest.mark.parametrize("base", [2, 3, 10, 16])
def test_small_ones_exhaustively(base, of_integers, written, check_machine):
    task = Comparison(base)
    pairs = list(itertools.product(range(45), repeat=2))
    examples = of_integers(task, pairs)
    for row, (a, b) in enumerate(pairs):
        texts = written(a, base), written(b, base)
        assert task.question(examples, row) == "?".join(texts)
        assert task.truth(examples, row) == verdicts(a, b, max(map(len, texts)), base)
        assert task.truth(examples, row)[0] == "=><"[(a > b) - (a < b)]
    check_machine(task, examples=examples)


@pytest.mark.parametrize("base", [2, 10, 16])
def test_long_ones(base, rng):
    task = Comparison(base)
    for sampler in (samplers.lengths, task.hard(2000)["cascades"]["cascade-1024"]):
        examples = task.sample(2, 2000, rng, sampler)
        for row in range(2):
            a, b = (int(text, base) for text in task.question(examples, row).split("?"))
            places = int(examples.longest[row])
            assert task.truth(examples, row) == verdicts(a, b, places, base)


@pytest.mark.parametrize("base", [2, 7, 10])
def test_the_machine(base, check_machine):
    check_machine(Comparison(base))


def test_tokens():
    v = Comparison().vocabulary
    assert "".join(v.symbols) == "0123456789_;^=?<>"
    assert v.symbols[v.equals] == "="
    machine = Comparison().transducer()
    assert machine.tokens == len(v)
    assert sorted(set(machine.output.ravel().tolist())) == [-1, v.equals, *v.ids("<>").tolist()]


def test_a_million_digits():
    task = Comparison()
    nines = "9" * 999_999
    assert task.truth(task.parse(f"{nines}1?{nines}2"), 0) == "<" * 1_000_000
    assert task.truth(task.parse(f"{nines}?{nines}"), 0) == "=" * 999_999


@pytest.mark.parametrize(
    ("text", "answer"), [("12?345", "<<<"), (" 21 ? 0012", "><"), ("0?0", "="), ("10?9", "><")]
)
def test_parse(text, answer):
    task = Comparison()
    assert task.truth(task.parse(text), 0) == answer


@pytest.mark.parametrize("text", ["", "12", "1?2?3", "12<3", "1?a", "?"])
def test_what_is_no_comparison(text):
    with pytest.raises(TenfoldError) as caught:
        Comparison().parse(text)
    assert f'"{text}" is not a comparison of 2 numbers in base 10; write' in str(caught.value)


def test_base_out_of_range():
    with pytest.raises(TenfoldError, match="base 0; 2 to 16"):
        Comparison(base=0)


@pytest.mark.parametrize("base", [2, 10])
def test_hard_ones_are_alike_in_their_highest_digits(base, rng):
    for highest in range(1, 6):
        digits, lengths = alike(rng, 50, 5, 2, base, highest=highest)
        same = digits[:, 0] == digits[:, 1]
        assert same[:, 5 - highest :].all()
        assert not same[:, : 5 - highest][:, -1:].any()
        assert (lengths == 5).all()
        assert (digits[..., -1] > 0).all()
    labels = ["cascade-1", "cascade-2", "cascade-4", "cascade-all", "equal"]
    assert list(Comparison(base).hard(5)["cascades"]) == labels
    assert list(Comparison(base).hard(1)["cascades"]) == ["equal"]


def test_equal_numbers(rng):
    task = Comparison()
    examples = task.sample(20, 5, rng, task.hard(5)["cascades"]["equal"])
    assert {task.truth(examples, row) for row in range(20)} == {"====="}
    assert len(np.unique(examples.operands[:, 0], axis=0)) > 10
