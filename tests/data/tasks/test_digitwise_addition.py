"""Digit-wise sums against plain loops."""

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.formats.numeric import InPlace
from tenfold.data.tasks import TASKS
from tenfold.data.tasks.arithmetic.digitwise_addition import DigitwiseAddition


@pytest.mark.parametrize(("terms", "base"), [(2, 10), (3, 2), (4, 16)])
def test_columns_by_a_loop(terms, base, rng):
    task = DigitwiseAddition(terms, base)
    examples = task.sample(50, 7, rng)
    for row in range(50):
        wide = int(examples.lengths[row].max())
        assert examples.answer_length[row] == wide
        for place in range(wide):
            column = sum(int(digits[place]) for digits in examples.operands[row])
            assert examples.answer[row, place] == column % base


def test_no_column_depends_on_another(rng):
    task = DigitwiseAddition()
    examples = task.sample(20, 6, rng)
    other = examples.operands.copy()
    other[:, :, 2] = rng.integers(0, 10, other[:, :, 2].shape)
    changed = task.solve(other, examples.lengths)
    assert (np.delete(changed.answer, 2, 1) == np.delete(examples.answer, 2, 1)).all()


def test_leading_zeros_are_written_in_place():
    task = DigitwiseAddition()
    written = InPlace(4).write(task.parse("58+52"), task.vocabulary)
    assert task.vocabulary.text(written.answer.tokens[0]) == "__00"
    assert task.vocabulary.text(written.question.tokens[0]) == "__58+__52"


def test_the_machine_agrees():
    task = DigitwiseAddition()
    machine = task.transducer()
    assert machine.output.shape[0] == 1
    assert TASKS.build("digitwise-addition").terms == 2
    with pytest.raises(TenfoldError, match="at least 2"):
        DigitwiseAddition(terms=1)
