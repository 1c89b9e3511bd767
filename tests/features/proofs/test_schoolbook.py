"""Products written out by proved models, against Python's integers."""

import itertools

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.features.proofs.run_machine import extract_machine
from tenfold.features.proofs.schoolbook import Schoolbook
from tenfold.runs.run import shipped


@pytest.fixture(scope="module")
def book():
    return Schoolbook(shipped("multiplication"), shipped("addition"))


@pytest.mark.parametrize("machine", [False, True])
def test_small_products(book, machine):
    for a, b in itertools.product([0, 1, 9, 10, 12, 99, 100, 905], repeat=2):
        found = book.ask(f"{a}*{b}", machine=machine)
        assert (found.question, found.answer, found.truth) == (f"{a}*{b}", str(a * b), str(a * b))


def test_long_products(book, rng):
    for first, second in ((30, 200), (200, 30), (64, 64)):
        a, b = (int("".join(map(str, rng.integers(1, 10, n)))) for n in (first, second))
        assert book.ask(f"{a}*{b}", machine=True).answer == str(a * b)


def test_every_digit_comes_from_a_model(book, monkeypatch):
    """An adder that is wrong makes the product wrong: nothing is computed on the side."""
    truth = book.ask("12*34", machine=True)
    machine = extract_machine(book.adder)
    monkeypatch.setattr(
        type(machine), "answer", lambda self, examples, row=0: examples.operands[0, 0, :1]
    )
    assert book.ask("12*34", machine=True).answer != truth.answer


def test_refused(book):
    with pytest.raises(
        TenfoldError, match="a run of multiplication and a run of addition of two numbers"
    ):
        Schoolbook(shipped("addition"), shipped("multiplication"))
    with pytest.raises(TenfoldError, match="different bases"):
        Schoolbook(shipped("multiplication"), shipped("addition-base-2"))
    with pytest.raises(TenfoldError, match="is not a product of 2 numbers"):
        book.ask("12*x")
