"""How examples are written and read again."""

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.formats.hinted import Hinted
from tenfold.data.formats.interleaved import Interleaved
from tenfold.data.formats.numeric import InPlace, Reversed
from tenfold.data.formats.spaced import Spaced
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.comparison import Comparison
from tenfold.data.tasks.arithmetic.modular_addition import ModularAddition
from tenfold.data.tasks.arithmetic.multiplication import Multiplication
from tenfold.data.tasks.arithmetic.subtraction import Subtraction
from tenfold.data.tasks.arithmetic.successor import Successor
from tenfold.data.tasks.symbolic.parity import Parity

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
    line = written.write(examples, v)
    assert v.text(line.question.tokens[0]) == question
    assert line.question_length.tolist() == [len(question)]
    assert v.text(line.answer.tokens[0]) == answer
    assert written.read(line.answer.tokens[0], v, examples) == task.truth(examples, 0)
    assert line.graded[0] == len(answer.rstrip("_"))


def test_hints_are_a_run_in_order_and_the_same_at_every_number(task):
    """The same problem alone and among longer ones has the same hints, and all problems together show all hints."""
    written = Hinted(hints=6)
    v, seen = written.vocabulary(task), set()
    together = task.sample(300, 3, np.random.default_rng(0), samplers.lengths)
    line = written.write(together, v)
    for row in range(len(together)):
        alone = written.write(together.rows([row]), v)
        size = int(alone.question_length[0])
        tokens = alone.question.tokens[0]
        assert line.question.tokens[row, -size:].tolist() == tokens.tolist()
        hints = tokens[tokens >= len(v.symbols)] - len(v.symbols)
        first = int(hints[0])
        lengths = together.lengths[row].tolist()
        assert hints.tolist() == [first + i for length in lengths for i in range(length)]
        graded = alone.answer.tokens[0, : int(alone.graded[0])]
        assert (graded[0:-1:2] - len(v.symbols)).tolist() == [
            *range(first, first + len(graded) // 2)
        ]
        assert graded[-1] == v.end
        assert first + max(lengths) <= 6
        seen |= set(hints.tolist())
    assert seen == {0, 1, 2, 3, 4}  # the last is for what overflows
    with pytest.raises(
        TenfoldError, match=r"8 digits does not fit .* with 6 hints; 8 hints would be right"
    ):
        written.write(task.sample(1, 7, np.random.default_rng(0)), v)


def test_spaces_stand_where_the_digits_of_a_problem_say(task):
    written = Spaced(share=0.5)
    v = written.vocabulary(task)
    together = task.sample(300, 4, np.random.default_rng(0), samplers.lengths)
    line, bare = written.write(together, v), Interleaved().write(together, v)
    space, spaces = len(v.symbols), 0
    for row in range(len(together)):
        size = int(line.question_length[row])
        tokens = line.question.tokens[row, len(line.question.tokens[row]) - size :]
        alone = written.write(together.rows([row]), v)
        assert alone.question.tokens[0].tolist() == tokens.tolist()
        plain = bare.question.tokens[row, -int(bare.question_length[row]) :]
        assert tokens[tokens != space].tolist() == plain.tolist()
        spaces += int((tokens == space).sum())
    assert 0.45 < spaces / int(bare.question_length.sum()) < 0.55
    assert np.array_equal(line.answer.tokens, bare.answer.tokens)
    with pytest.raises(TenfoldError, match="share"):
        Spaced(share=1.5)


OTHERS = [  # task, format, problem, question, answer as written
    (Subtraction(), InPlace(5), "1000-999", "_1000-__999", "_0001"),
    (Subtraction(), Reversed(), "1000-999", "1000-999", "1000;"),
    (Subtraction(), Reversed(width=5), "1000-999", "01000-00999", "10000;"),
    (Subtraction(), Interleaved(), "1000-999", "-10090909", "1000;"),
    (Successor(), InPlace(4), "999", "S_999", "_1000"),
    (Successor(), InPlace("fit"), "999", "S999", "1000"),
    (Successor(), Reversed(), "12", "12", "31;_"),
    (Successor(), Reversed(width=3), "12", "012", "3100;"),
    (Successor(), Interleaved(), "12", "12", "31;_"),
    (Parity(), InPlace(5), "1101", "_1101", "_1011"),
    (Parity(), Reversed(), "1101", "1101", "1101;"),
    (Parity(), Reversed(width=6), "1101", "001101", "110111;"),
    (Parity(), Interleaved(width=5), "111", "00111", "10111;"),
    (Multiplication(), InPlace(4), "6*47", "6*__47", "__282"),
    (Multiplication(2), InPlace(4), "6*47", "_6*__47", "___282"),
    (Multiplication(3), InPlace("fit"), "123*4", "123*4", "_492"),
    (Multiplication(), InPlace("fit", spare=1), "6*47", "6*_47", "_282"),
    (Multiplication(2), Reversed(), "6*47", "6*47", "282;_"),
    (Multiplication(2), Reversed(width=3), "6*47", "06*047", "28200;"),
    (Multiplication(), Interleaved(), "6*47", "*6467", "282;"),
    (Multiplication(), Interleaved(width=3), "6*47", "*606467", "2820;"),
    (Multiplication(), Reversed(), "0*47", "0*47", "0;__"),
    (Comparison(), InPlace(4), "21?12", "__21?__12", "__><"),
    (Comparison(), Reversed(), "21?12", "21?12", "<>;"),
    (Comparison(), Reversed(width=4), "21?12", "0021?0012", "<>>>;"),
    (Comparison(), Interleaved(width=3), "7?7", "?000077", "===;"),
    (ModularAddition(), InPlace(3), "97+5", "_97+__5", "__02"),
    (ModularAddition(), Reversed(), "97+5", "97+5", "20;_"),
    (ModularAddition(), Reversed(width=3), "97+5", "097+005", "2000;"),
    (ModularAddition(10**5), InPlace("fit"), "7+5", "++7+5", "00012"),
    (ModularAddition(10**5), Reversed(), "7+5", "7+5", "21000;"),
]


@pytest.mark.parametrize(
    ("task", "written", "problem", "question", "answer"),
    OTHERS,
    ids=lambda part: part if isinstance(part, str) else part.name,
)
def test_other_tasks(task, written, problem, question, answer):
    test_write_and_read(written, problem, question, answer, task)
    line = written.write(task.parse(problem), task.vocabulary)
    assert line.budget.tolist() == [len(answer)]


@pytest.mark.parametrize(
    ("written", "column", "significance"),
    [
        (InPlace(3), [-1, 4, 3, 2, 1, 0], [1, 0, -1, -1, 1, 0]),
        (Reversed(), [-1, -1, -1, 1, 0], [1, 0, -1, 1, 0]),
        (Reversed(operands="reversed"), [-1, -1, -1, 0, 1], [0, 1, -1, 0, 1]),
    ],
)
def test_a_hub_has_no_column(written, column, significance):
    """12*47; in place, an answer of frame + 2 digits reaches back over the multiplier."""
    task = Multiplication(2)
    line = written.write(task.parse("12*47"), task.vocabulary).question
    assert line.role[0].tolist()[:3] == [3, 3, 1]
    assert line.column[0].tolist() == column
    assert line.significance[0].tolist() == significance


def test_an_interleaved_hub_is_in_every_column():
    line = Interleaved().write(Multiplication().parse("6*47"), Multiplication().vocabulary).question
    assert line.role[0].tolist() == [1, 3, 4, 3, 4]
    assert line.column[0].tolist() == [-1, 1, 1, 0, 0]
    assert line.significance[0].tolist() == [-1, 0, 1, 0, 0]


def test_an_interleaved_hub_has_one_digit():
    task = Multiplication(2)
    with pytest.raises(TenfoldError, match="multiplier of up to 2 digits does not fit the format"):
        Interleaved().write(task.parse("6*47"), task.vocabulary)


def test_one_operand_of_ragged_lengths_has_no_operator():
    task = Successor()
    operands = np.array([[[1, 0, 0]], [[1, 2, 3]]], dtype=np.uint8)
    examples = task.solve(operands, np.array([[1], [3]]))
    for written in (Reversed(), Interleaved()):
        line = written.write(examples, task.vocabulary)
        texts = [task.vocabulary.text(row) for row in line.question.tokens]
        assert texts == ["__1", "321"]
        assert line.answer.tokens.shape == (2, 5)
        assert line.budget.tolist() == [3, 5]


def test_a_multiplier_may_be_longer_than_the_frame():
    task = Multiplication(3)
    line = InPlace(1).write(task.parse("123*4"), task.vocabulary)
    assert task.vocabulary.text(line.question.tokens[0]) == "123*4"


@pytest.mark.parametrize(
    ("tokens", "text"), [("10000;", "0001"), ("10009;", "90001"), ("1;", "1"), (";", "")]
)
def test_what_a_model_writes_above_an_answer_stays_visible(tokens, text):
    task = Subtraction()
    v, examples = task.vocabulary, task.parse("1000-999")
    assert Reversed(width=5).read(v.ids(tokens), v, examples) == text


@pytest.mark.parametrize(
    ("tokens", "text"), [("<>>>;", "><"), ("<<>>;", ">><<"), ("<>>0;", "0>><"), (";", "")]
)
def test_what_a_model_writes_above_a_verdict_stays_visible(tokens, text):
    task = Comparison()
    v, examples = task.vocabulary, task.parse("21?12")
    assert Reversed(width=4).read(v.ids(tokens), v, examples) == text


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
            by_significance = {}
            for t, token in enumerate(line.tokens[row]):
                if role[row, t] == 3 + m and significance[row, t] >= 0:
                    by_significance[significance[row, t]] = token
                    if not isinstance(written, InPlace):  # there a token may predict another column
                        assert column[row, t] == significance[row, t]
            length = examples.lengths[row, m]
            assert [by_significance[i] for i in range(length)] == examples.operands[
                row, m, :length
            ].tolist()
            assert all(by_significance[i] == 0 for i in by_significance if i >= length)


def test_interleaved_columns_stand_together(rng):
    task = Addition(terms=3)
    examples = task.parse("1+23+456")
    line = Interleaved().write(examples, task.vocabulary).question
    assert task.vocabulary.text(line.tokens[0]) == "+004025136"
    assert line.column[0].tolist() == [-1, 2, 2, 2, 1, 1, 1, 0, 0, 0]


def test_three_terms_in_place():
    task = Addition(terms=3)
    examples = task.parse("999+999+999")
    line = InPlace(4).write(examples, task.vocabulary)
    assert task.vocabulary.text(line.question.tokens[0]) == "_999+_999+_999"
    assert task.vocabulary.text(line.answer.tokens[0]) == "_2997"
    assert line.question.column[0].tolist()[-5:] == [4, 3, 2, 1, 0]


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
        (lambda: InPlace("fit", spare=-1), "-1 spare places"),
        (lambda: InPlace(9, spare=1), "1 spare places in a frame of 9; .* go with frame: fit"),
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
