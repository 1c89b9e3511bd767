"""Tasks of the last digits of their numbers."""

from dataclasses import fields

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import TASKS, samplers
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.full_multiplication import FullMultiplication
from tenfold.data.tasks.arithmetic.modular_addition import ModularAddition
from tenfold.data.tasks.arithmetic.multiplication import Multiplication
from tenfold.data.tasks.wrappers.truncated import Truncated

TRUE = {
    Addition(): lambda a, b: str(a + b),
    FullMultiplication(): lambda a, b: str(a * b),
    ModularAddition(51): lambda a, b: f"{(a + b) % 51:02}",
}


@pytest.mark.parametrize("task", TRUE, ids=lambda task: task.name)
@pytest.mark.parametrize("digits", [1, 3, 9])
def test_questions_stay_and_answers_are_of_the_last_digits(task, digits, rng):
    cut = Truncated.to(digits, task)
    for sampler in (samplers.lengths, samplers.longest):
        examples = cut.sample(50, 6, rng, sampler)
        for row in range(50):
            question = cut.question(examples, row)
            a, b = map(int, question.split(task.operator))
            assert cut.truth(examples, row) == TRUE[task](a % 10**digits, b % 10**digits)
        again = task.solve(examples.operands, examples.lengths)
        assert (again.operands == examples.operands).all()
        assert again.answer.shape == examples.answer.shape


def test_the_same_problems_as_the_task_itself():
    plain, cut = (
        task.sample(20, 5, np.random.default_rng(3), samplers.longest)
        for task in (Addition(), Truncated.to(2, Addition()))
    )
    assert (plain.operands == cut.operands).all()
    assert (plain.answer != cut.answer).any()


BOTH = {"sum": "addition", "product": "full-multiplication", "three": {"name": "addition", "terms": 3}}  # fmt: skip
SEVERAL = {"name": "several", "of": BOTH}


def able(name):
    try:
        Truncated.to(9, TASKS.build(name))
    except TenfoldError:
        return False
    return True


@pytest.mark.parametrize("spec", [*filter(able, TASKS.names()), SEVERAL], ids=str)
def test_where_nothing_is_dropped_it_is_the_task_itself(spec):
    task = TASKS.build(spec)
    for sampler in (None, samplers.lengths):
        plain, cut = (
            each.sample(60, 5, np.random.default_rng(3), sampler)
            for each in (task, Truncated.to(5, task))
        )
        for field in fields(plain):
            np.testing.assert_array_equal(*(getattr(each, field.name) for each in (plain, cut)))
        for row in range(0, 60, 20):
            text = task.question(plain, row)
            assert Truncated.to(9, task).truth(task.parse(text), 0) == task.truth(plain, row)


@pytest.mark.parametrize(
    ("text", "digits", "truth"),
    [("610*35", 9, "21350"), ("610*35", 1, "0"), ("612*35", 2, "420"), ("612+35", 1, "7"), ("12+13+14", 1, "9")],
)  # fmt: skip
def test_what_is_asked_stays_as_it_is(text, digits, truth, rng):
    cut = Truncated.to(digits, TASKS.build(SEVERAL))
    assert cut.question(cut.parse(text), 0) == text
    assert cut.truth(cut.parse(text), 0) == truth
    examples, signs = cut.sample(40, 4, rng), {"+": sum, "*": np.prod}
    for row in range(40):
        question = cut.question(examples, row)
        sign = "*" if "*" in question else "+"
        terms = [int(term) % 10**digits for term in question.split(sign)]
        assert int(cut.truth(examples, row)) == signs[sign](terms)


def test_in_a_recipe():
    options = {"name": "truncated", "of": {"name": "addition", "base": 2}, "digits": 2}
    task = TASKS.build(options)
    assert task.base == 2
    assert task.truth(task.parse("1111+1011"), 0) == "110"


@pytest.mark.parametrize("text", ["12", "1-2"])
def test_what_is_no_question(text):
    with pytest.raises(TenfoldError, match="is not a sum of 2 numbers"):
        Truncated().parse(text)


def test_what_cannot_be_truncated():
    with pytest.raises(TenfoldError, match="truncated to 0 digits; at least 1"):
        Truncated.to(0, Addition())
    with pytest.raises(TenfoldError, match='"multiplication" has a multiplier of its own length'):
        Truncated.to(2, Multiplication())
    with pytest.raises(TenfoldError, match='"several" has a multiplier of its own length'):
        Truncated.to(2, TASKS.build("several"))
