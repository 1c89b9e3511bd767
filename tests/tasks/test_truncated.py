"""Tasks of the last digits of their numbers."""

import numpy as np
import pytest

from tenfold.errors import TenfoldError
from tenfold.tasks import TASKS, samplers
from tenfold.tasks.addition import Addition
from tenfold.tasks.full_multiplication import FullMultiplication
from tenfold.tasks.modular_addition import ModularAddition
from tenfold.tasks.multiplication import Multiplication
from tenfold.tasks.truncated import Truncated

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
            asked = cut.question(examples, row)
            a, b = map(int, asked.split(task.operator))
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
