"""Python's integers as the truth, and a task's machine against the task."""

import numpy as np
import pytest

from tenfold.data.tasks import samplers
from tenfold.data.tasks.task import DIGITS, significant
from tenfold.data.tasks.transducer import END


@pytest.fixture
def written():
    """`written(255, 16)` -> "ff", of any size."""

    def write(value, base):
        digits = []
        while value:
            value, digit = divmod(value, base)
            digits.append(DIGITS[digit])
        return "".join(reversed(digits)) or "0"

    return write


@pytest.fixture
def of_integers():
    """`of_integers(task, rows)`: the problems with these operands, one a row."""

    def make(task, rows):
        rows = np.array(rows)
        places = np.arange(len(np.base_repr(rows.max(), task.base)))
        digits = (rows[..., None] // task.base**places % task.base).astype(np.uint8)
        return task.solve(digits, significant(digits))

    return make


@pytest.fixture
def check_machine(rng):
    """A task's machine writes what the task solves."""

    def check(task, lengths=(1, 2, 7, 40), n=60, examples=None):
        machine = task.transducer()
        assert machine.hub == task.hub
        assert machine.operands == task.drawn
        drawn = [task.sample(n, length, rng, samplers.lengths) for length in lengths]
        for problems in drawn if examples is None else [examples]:
            output = machine.write(problems.operands, problems.lengths)
            for row, size in enumerate(problems.answer_length):
                assert output[row, :size].tolist() == problems.answer[row, :size].tolist()
                assert (output[row, size:] == END).all()
                assert output.shape[1] > size

    return check
