"""Operands padded with zeros to a width that grows with them (`bias` paper), and operators that have a column."""

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.formats.interleaved import Interleaved
from tenfold.data.formats.numeric import Reversed
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.multiplication import Multiplication
from tenfold.data.tasks.arithmetic.successor import Successor
from tenfold.data.tasks.symbolic.parity import Parity

CASES = [  # task, format, problem, question, answer as written
    (Addition(), Reversed(4, spare=1), "123+748", "0123+0748", "1780;"),  # the paper's own example
    (Addition(), Reversed(4, spare=1), "1234+8", "01234+00008", "24210;"),
    (Addition(), Reversed(4, spare=0), "1234+8", "1234+0008", "24210;"),
    (Addition(), Reversed(2, spare=3), "12+8", "00012+00008", "02000;"),
    (Addition(), Reversed(4, "reversed", spare=1), "123+748", "3210+8470", "1780;"),
    (Addition(), Reversed(4, start=True), "123+748", "^0123+0748", "17800;"),
    (Addition(3), Reversed(3, spare=1), "99+99+99", "099+099+099", "792;"),
    (Addition(), Interleaved(4, spare=1), "123+748", "+00172438", "1780;"),
    (Addition(), Interleaved(2, spare=1, mark=True), "123+8", "+00102038", "1310;"),
    (Successor(), Reversed(3, spare=1), "99", "099", "001;"),
    (Successor(), Interleaved(3, spare=1, mark=True), "99", "S099", "001;"),
    (Successor(), Interleaved(mark=True), "99", "S99", "001;"),
    (Parity(), Reversed(6, spare=0), "1101", "001101", "110111;"),
    (Parity(), Reversed(2, spare=0), "1101", "1101", "1101;"),
    (Multiplication(), Reversed(3, spare=1), "6*47", "6*047", "282;"),
    (Multiplication(2), Reversed(3, spare=1), "6*47", "06*047", "2820;"),
    (Multiplication(), Interleaved(3, spare=1), "6*479", "*60646769", "4782;"),
]


@pytest.mark.parametrize(("task", "written", "problem", "question", "answer"), CASES)
def test_write_and_read(task, written, problem, question, answer):
    examples, v = task.parse(problem), task.vocabulary
    line = written.write(examples, v)
    assert v.text(line.question.tokens[0]) == question
    assert v.text(line.answer.tokens[0]) == answer
    assert line.graded.tolist() == line.budget.tolist() == [len(answer)]
    assert written.read(line.answer.tokens[0], v, examples) == task.truth(examples, 0)


def test_rows_of_other_widths_are_written_as_alone():
    task, written = Addition(), Interleaved(3, spare=1, mark=True)
    examples = task.sample(50, 6, np.random.default_rng(0), samplers.lengths)
    together = written.write(examples, task.vocabulary)
    assert len(set(together.question_length.tolist())) > 2
    for row in range(50):
        alone = written.write(examples.rows([row]), task.vocabulary)
        for name in ("tokens", "role", "significance", "column"):
            whole, own = (getattr(each.question, name) for each in (together, alone))
            assert whole[row, -own.shape[1] :].tolist() == own[0].tolist()
        assert alone.budget[0] == together.budget[row] == max(3, examples.longest[row] + 1) + 1


def test_a_mark_has_the_column_above_all_digits():
    task = Addition()
    plain, marked = (
        Interleaved(mark=mark).write(task.parse("12+345"), task.vocabulary).question
        for mark in (False, True)
    )
    assert plain.column[0].tolist() == [-1, 2, 2, 1, 1, 0, 0]
    assert marked.column[0].tolist() == [3, 2, 2, 1, 1, 0, 0]
    assert plain.tokens.tolist() == marked.tokens.tolist()


def test_there_is_no_longest_operand():
    assert Reversed(4).longest() == 4
    assert Reversed(4, spare=1).longest() is None
    assert Reversed(4, spare=1).ends() is None
    task = Addition()
    long = task.sample(2, 1000, np.random.default_rng(0), samplers.exact)
    assert Reversed(4, spare=1).write(long, task.vocabulary).question_length.tolist() == [
        2003,
        2003,
    ]


@pytest.mark.parametrize("kind", [Reversed, Interleaved])
def test_errors(kind):
    with pytest.raises(TenfoldError, match="-1 spare places; at least 0"):
        kind(width=4, spare=-1)
    with pytest.raises(TenfoldError, match="they go with a width"):
        kind(spare=1)
    with pytest.raises(TenfoldError, match="a width of 0; at least 1"):
        kind(width=0)
