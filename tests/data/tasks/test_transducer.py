"""A task's machine against the task, and against Python's integers."""

import itertools

import numpy as np
import pytest

from tenfold.data.tasks import TASKS, samplers
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.transducer import END, Transducer


@pytest.mark.parametrize(("terms", "base"), [(2, 10), (3, 10), (2, 2), (4, 3), (2, 16), (5, 2)])
def test_adders_write_what_the_task_solves(terms, base, rng):
    task = Addition(terms=terms, base=base)
    for length in (1, 2, 7, 40):
        examples = task.sample(200, length, rng, samplers.lengths)
        written = task.transducer().write(examples.operands, examples.lengths)
        for row, size in enumerate(examples.answer_length):
            assert written[row, :size].tolist() == examples.answer[row, :size].tolist()
            assert (written[row, size:] == END).all()


def test_against_integers():
    machine, pairs = Addition().transducer(), list(itertools.product(range(120), repeat=2))
    digits = np.array([[[n % 10, n // 10 % 10, n // 100] for n in pair] for pair in pairs])
    lengths = np.array([[len(str(n)) for n in pair] for pair in pairs])
    for (a, b), row in zip(pairs, machine.write(digits, lengths), strict=True):
        assert "".join(str(d) for d in row[::-1] if d != END) == str(a + b)


def test_symbols_and_digits():
    machine = Addition(terms=3).transducer()
    symbols = np.arange(machine.symbols)
    assert machine.symbols == 11**3
    assert machine.states == 3
    assert (machine.symbol(machine.digits(symbols)) == symbols).all()


def test_from_a_rule():
    copy = Transducer.of(3, 1, 1, lambda q, d: (END if d[0] is None else d[0], 0))
    assert copy.output.tolist() == [[0, 1, 2, END]]


@pytest.mark.parametrize("name", TASKS.names())
def test_every_declared_machine_is_its_task(name, rng):
    task = TASKS.build(name)
    machine = task.transducer()
    if machine is None:
        pytest.skip("no machine")
    examples = task.sample(50, 6, rng, samplers.lengths)
    written = machine.write(examples.operands, examples.lengths)
    for row, size in enumerate(examples.answer_length):
        assert written[row, :size].tolist() == examples.answer[row, :size].tolist()
        assert (written[row, size:] == END).all()
