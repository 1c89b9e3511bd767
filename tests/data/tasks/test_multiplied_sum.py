"""A sum times a number, against Python integers."""

import itertools

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.formats import FORMATS
from tenfold.data.tasks import TASKS, samplers
from tenfold.data.tasks.arithmetic.multiplied_sum import MultipliedSum
from tenfold.data.tasks.wrappers.truncated import Truncated


def numbers_of(question, base):
    first, rest = question[1:].split("+")
    second, third = rest.split(")*")
    return [int(text, base) for text in (first, second, third)]


@pytest.mark.parametrize("base", [2, 10, 16])
def test_small_ones_exhaustively(base, of_integers, written):
    task = MultipliedSum(base=base)
    triples = list(itertools.product(range(0, 120, 7), range(0, 60, 5), range(12)))
    examples = of_integers(task, triples)
    for row, (a, b, c) in enumerate(triples):
        texts = [written(value, base) for value in (a, b, c)]
        assert task.question(examples, row) == f"({texts[0]}+{texts[1]})*{texts[2]}"
        assert task.truth(examples, row) == written((a + b) * c, base)


@pytest.mark.parametrize("base", [2, 10, 16])
@pytest.mark.parametrize("sampler", [samplers.lengths, samplers.nines])
def test_long_ones(base, sampler, rng, written):
    task = MultipliedSum(80, base)
    examples = task.sample(10, 80, rng, sampler)
    for row in range(10):
        a, b, c = numbers_of(task.question(examples, row), base)
        assert task.truth(examples, row) == written((a + b) * c, base)


def test_the_answer_always_has_room():
    """999...9 everywhere is the largest; the third number may be shorter than the others, not longer than `digits`."""
    task = MultipliedSum(digits=2)
    assert task.truth(task.parse("(99999+99999)*99"), 0) == str((99999 + 99999) * 99)
    assert task.truth(task.parse("(9+9)*99"), 0) == str(18 * 99)
    with pytest.raises(TenfoldError, match="a sum times a number of 3 digits; at most 2, or set digits to 3"):  # fmt: skip
        task.parse("(1+2)*100")


@pytest.mark.parametrize(
    ("format", "question", "answer"),
    [
        ({"name": "reversed"}, "12+345*6", "2412;"),
        ({"name": "reversed", "width": 3}, "012+345*006", "2412000;"),
        ({"name": "reversed", "operands": "reversed"}, "21+543*6", "2412;"),
        ({"name": "in-place", "frame": 3}, "_12+345*__6", "___2142"),
    ],
)
def test_each_operator_stands_in_its_gap(format, question, answer):
    task = MultipliedSum(digits=3)
    line = FORMATS.build(format).write(task.parse("(12+345)*6"), task.vocabulary)
    assert task.vocabulary.text(line.question.tokens[0]) == question
    assert task.vocabulary.text(line.answer.tokens[0]).rstrip("_") == answer


def test_it_reads_what_formats_write():
    task = MultipliedSum()
    for text in ("(12+34)*5", "12+34*5", " (12 + 34) * 5 ", "(0012+34)*05"):
        examples = task.parse(text)
        assert (task.question(examples, 0), task.truth(examples, 0)) == ("(12+34)*5", "230")


@pytest.mark.parametrize("text", ["", "12", "1*2+3", "1+2", "(1+2)", "1+(2*3)", "(1+2*3", "1+2*a"])
def test_what_is_none(text):
    with pytest.raises(TenfoldError, match="is not a sum of 2 numbers, times a third, in base 10"):
        MultipliedSum().parse(text)


def test_options_out_of_range():
    with pytest.raises(TenfoldError, match="a factor of 0 digits; at least 1"):
        MultipliedSum(0)
    with pytest.raises(TenfoldError, match="base 17; 2 to 16"):
        MultipliedSum(base=17)


def test_the_last_digits_of_all_three_numbers():
    """(a mod 100 + b mod 100) * (c mod 100): the sum itself keeps its carry."""
    task = Truncated.to(2, MultipliedSum())
    examples = task.parse("(199+299)*312")
    assert task.question(examples, 0) == "(199+299)*312"
    assert task.truth(examples, 0) == str((99 + 99) * 12)


def test_a_task_of_several_operators_is_no_part_of_another():
    with pytest.raises(TenfoldError, match='"steps" is of the task "multiplied-sum", which has several operators'):  # fmt: skip
        TASKS.build({"name": "several", "of": {"steps": "multiplied-sum", "sum": "addition"}})
