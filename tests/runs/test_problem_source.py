"""Asking a question: what counts as right is what an exam takes, not what a person reads."""

from types import SimpleNamespace

import pytest

from tenfold.runs.build import build
from tenfold.runs.recipe_files import recipe
from tenfold.runs.terminal import print_answer


@pytest.fixture
def problems():
    """Sums padded with zeros to one width: 12+34 is answered `64000;`."""
    return build(recipe("principled/addition-absolute", "smoke")).source


def answering(problems, question, *, tokens):
    """So many tokens of the true answer, then the end."""
    (target,) = problems.batcher(problems.batcher.parse(question)).target.clone()
    assert target[-1] == problems.end
    target[tokens:] = problems.end
    return SimpleNamespace(answer=lambda batch: target[None])


def test_an_answer_without_its_zeros_is_not_right(problems, capsys):
    whole = problems.ask(answering(problems, "12+34", tokens=-1), "12+34", None)
    assert (whole.answer, whole.whole, whole.right) == ("46", True, True)
    early = problems.ask(answering(problems, "12+34", tokens=-2), "12+34", None)
    assert (early.answer, early.whole, early.right) == ("46", False, False)
    print_answer(early)
    reported = capsys.readouterr().out
    assert "12+34 = 46\nwrong: its digits are right, the zeros" in reported


def test_a_wrong_digit_is_told_as_such(problems, capsys):
    short = problems.ask(answering(problems, "97+5", tokens=2), "97+5", None)
    assert (short.answer, short.whole, short.right) == ("2", False, False)
    print_answer(short)
    assert "the truth is 102" in capsys.readouterr().out
