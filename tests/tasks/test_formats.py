"""How examples are written and read again."""

import numpy as np
import pytest

from tenfold.errors import TenfoldError
from tenfold.tasks import samplers
from tenfold.tasks.addition import Addition
from tenfold.tasks.formats import InPlace, Interleaved, Reversed

CASES = [  # format, problem, question, answer as written
    (InPlace(5), "12+345", "___12+__345", "___357"),
    (InPlace(3), "999+1", "999+__1", "1000"),
    (InPlace("fit"), "12+345", "_12+345", "_357"),
    (InPlace("fit"), "0+0", "0+0", "_0"),
    (Reversed(), "12+345", "12+345", "753;_"),
    (Reversed(), "999+1", "999+1", "0001;"),
    (Reversed(), "0+0", "0+0", "0;_"),
    (Reversed(width=4), "12+345", "0012+0345", "75300;"),
    (Reversed(operands="reversed"), "12+345", "21+543", "753;_"),
    (Reversed(width=4, operands="reversed"), "12+345", "2100+5430", "75300;"),
    (Interleaved(), "12+345", "+031425", "753;_"),
    (Interleaved(width=4), "12+345", "+00031425", "75300;"),
]


@pytest.mark.parametrize(("written", "problem", "question", "answer"), CASES)
def test_write_and_read(written, problem, question, answer, task):
    examples, v = task.parse(problem), task.vocabulary
    found = written.write(examples, v)
    assert v.text(found.question.tokens[0]) == question
    assert found.asked.tolist() == [len(question)]
    assert v.text(found.answer.tokens[0]) == answer
    read = written.read(found.answer.tokens[0], v)
    assert read.lstrip("0") == task.truth(examples, 0).lstrip("0")
    assert found.graded[0] == len(answer.rstrip("_"))


@pytest.mark.parametrize(
    "written",
    [InPlace(4), Reversed(), Reversed(width=4), Reversed(operands="reversed"), Interleaved()],
)
def test_every_digit_has_its_significance_and_operand(written, rng):
    task = Addition(terms=3, base=7)
    examples = task.sample(30, 4, rng, samplers.lengths)
    line = written.write(examples, task.vocabulary).question
    role, significance, column = (
        np.broadcast_to(fact, line.tokens.shape)
        for fact in (line.role, line.significance, line.column)
    )
    for row in range(30):
        for m in range(3):
            found = {}
            for t, token in enumerate(line.tokens[row]):
                if role[row, t] == 3 + m and significance[row, t] >= 0:
                    found[significance[row, t]] = token
                    if not isinstance(written, InPlace):  # there a token may predict another column
                        assert column[row, t] == significance[row, t]
            length = examples.lengths[row, m]
            assert [found[i] for i in range(length)] == examples.operands[row, m, :length].tolist()
            assert all(found[i] == 0 for i in found if i >= length)


def test_interleaved_columns_stand_together(rng):
    task = Addition(terms=3)
    examples = task.parse("1+23+456")
    found = Interleaved().write(examples, task.vocabulary).question
    assert task.vocabulary.text(found.tokens[0]) == "+004025136"
    assert found.column[0].tolist() == [-1, 2, 2, 2, 1, 1, 1, 0, 0, 0]


def test_three_terms_in_place():
    task = Addition(terms=3)
    examples = task.parse("999+999+999")
    found = InPlace(4).write(examples, task.vocabulary)
    assert task.vocabulary.text(found.question.tokens[0]) == "_999+_999+_999"
    assert task.vocabulary.text(found.answer.tokens[0]) == "_2997"
    assert found.question.column[0].tolist()[-5:] == [4, 3, 2, 1, 0]


@pytest.mark.parametrize("written", [InPlace(3), Reversed(width=3), Interleaved(width=3)])
def test_operand_too_long(written, task):
    assert written.longest() == 3
    message = f'operand of 4 digits does not fit the format "{written.name}", which holds 3'
    with pytest.raises(TenfoldError, match=message):
        written.write(task.parse("1+2345"), task.vocabulary)


@pytest.mark.parametrize("written", [InPlace("fit"), Reversed(), Interleaved()])
def test_no_limit(written):
    assert written.longest() is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: InPlace(0), "frame of 0"),
        (lambda: Reversed(width=0), "width of 0"),
        (lambda: Interleaved(width=-1), "width of -1"),
    ],
)
def test_no_room(make, message):
    with pytest.raises(TenfoldError, match=message):
        make()


def test_what_is_not_a_number_stays_visible(task):
    v = task.vocabulary
    assert Reversed().read(v.ids("7=3;99"), v) == "3=7"
    assert InPlace(3).read(v.ids("__3_7"), v) == "3_7"
    assert Reversed().read(v.ids("777"), v) == "777"


def test_the_budget_does_not_tell_the_answer_length(task):
    """1+1 and 9+9 are written with equally many answer places."""
    for written in (Reversed(), Interleaved()):
        few, many = (written.write(task.parse(p), task.vocabulary) for p in ("1+1", "9+9"))
        assert few.answer.tokens.shape == many.answer.tokens.shape
        assert np.array_equal(few.answer.column, many.answer.column)
