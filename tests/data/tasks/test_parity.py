"""Running parity against a plain count."""

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import Batcher
from tenfold.data.formats import FORMATS
from tenfold.data.tasks import TASKS, samplers
from tenfold.data.tasks.symbolic.parity import Parity


def counted(bits):
    """`1101` -> `1011`: from the units on, whether the ones so far are odd in number."""
    units_first = [bits[::-1][: i + 1].count("1") % 2 for i in range(len(bits))]
    return "".join(map(str, units_first[::-1]))


def test_small_ones_exhaustively(of_integers, check_machine):
    task = Parity()
    examples = of_integers(task, [[n] for n in range(300)])
    for n in range(300):
        assert task.question(examples, n) == f"{n:b}"
        assert task.truth(examples, n) == counted(f"{n:b}")
        assert task.truth(examples, n)[0] == str(n.bit_count() % 2)
    check_machine(task, examples=examples)


@pytest.mark.parametrize("sampler", [samplers.lengths, samplers.nines])
def test_long_ones(sampler, rng):
    task = Parity()
    examples = task.sample(5, 2000, rng, sampler)
    for row in range(5):
        assert task.truth(examples, row) == counted(task.question(examples, row))


def test_the_machine(check_machine):
    check_machine(Parity())


def test_a_million_bits():
    task = Parity()
    assert task.truth(task.parse("1" * 1_000_000), 0) == "01" * 500_000


@pytest.mark.parametrize(("text", "answer"), [("0", "0"), ("1", "1"), (" 0011 ", "01")])
def test_parse(text, answer):
    task = Parity()
    assert task.truth(task.parse(text), 0) == answer


@pytest.mark.parametrize("text", ["", "2", "1 0", "10P1", "-1"])
def test_what_are_no_bits(text):
    with pytest.raises(TenfoldError) as caught:
        Parity().parse(text)
    assert f'"{text}" is not a number in base 2; write it as "1101"' in str(caught.value)


def test_hard_ones_end_in_ones(rng):
    ((label, sampler),) = Parity().hard(6)["nines"].items()
    assert label == "nines"
    examples = Parity().sample(200, 6, rng, sampler)
    assert any(Parity().question(examples, row) == "111111" for row in range(200))


def test_the_final_bit_is_the_parity_of_all(of_integers):
    task = TASKS.build({"name": "parity", "final": True})
    examples = of_integers(task, [[n] for n in range(300)])
    for n in range(300):
        assert task.question(examples, n) == f"{n:b}"
        assert task.truth(examples, n) == str(n.bit_count() % 2)
    assert task.truth(task.parse("1" * 999_999), 0) == "1"


@pytest.mark.parametrize("bits", [1, 3, 5])
def test_the_final_bit_ends_the_answer_whatever_the_width(bits):
    """`00111` -> `1;`: a bit at column 0 and the end, not as many zeros as fill the width."""
    task = Parity(final=True)
    batcher = Batcher(task, FORMATS.build({"name": "reversed", "width": 4, "spare": 0}), "seq2seq")
    examples = task.parse("1" * bits)
    written = batcher.format.write(examples, batcher.vocabulary)
    assert batcher.vocabulary.text(written.question.tokens[0]) == ("1" * bits).rjust(4, "0")
    assert batcher.vocabulary.text(written.answer.tokens[0, :2]) == "1;"
    assert written.graded.tolist() == [2]
    assert written.answer.column[0, 0] == written.answer.significance[0, 0] == 0
    target = batcher(examples).target[0]
    assert batcher.vocabulary.text(target[target >= 0]) == "1;"
    for tokens in ([1, 0], [0, 1]):  # a second bit is no padding
        said = np.array([*tokens, batcher.vocabulary.end])
        assert len(batcher.format.read(said, batcher.vocabulary, examples)) == 2


def test_the_final_bit_alone_is_no_machine_and_says_so():
    assert Parity(final=True).transducer() is None
    assert "a proof takes the running output" in Parity(final=True).no_transducer
