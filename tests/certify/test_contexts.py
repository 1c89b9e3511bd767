"""The reachable contexts against a plain enumeration of all short inputs."""

import itertools

import numpy as np
import pytest

from tenfold.batch import Batcher
from tenfold.certify import View, certify, reachable
from tenfold.certify.contexts import TooMany
from tenfold.errors import TenfoldError
from tenfold.models import Decoder, Shape
from tenfold.pe import ENCODINGS, SIZES
from tenfold.registry import Spec
from tenfold.tasks import FORMATS
from tenfold.tasks.addition import Addition
from tenfold.tasks.transducer import END, Transducer


def numbers(base, longest):
    """All numbers of up to so many digits, least significant first, none with a leading zero."""
    for length in range(1, longest + 1):
        for digits in itertools.product(range(base), repeat=length):
            if length == 1 or digits[-1]:
                yield digits


def by_loops(base, longest, reach, answers):
    """What is seen at each place of every sum of two such numbers, with what is to be written there."""
    seen = {}
    for a, b in itertools.product(numbers(base, longest), repeat=2):
        carry, written, place = 0, [], 0
        while not (written and written[-1] == END):
            digits = [x[place] if place < len(x) else None for x in (a, b)]
            total = carry + sum(d or 0 for d in digits)
            ended = carry == 0 and digits == [None, None]
            columns = tuple(
                tuple(x[c] if c < len(x) else None for x in (a, b))
                for c in range(max(0, place - reach), place + 1)
            )
            start = place if place <= reach else None  # how far away the answer's beginning is
            view = start, columns, tuple(written[-answers:])
            written.append(END if ended else total % base)
            seen.setdefault(view, set()).add(written[-1])
            carry, place = total // base, place + 1
    return seen


@pytest.mark.parametrize(
    ("base", "reach", "answers"), [(2, 1, 2), (2, 1, 1), (2, 2, 3), (2, 2, 1), (3, 1, 2), (3, 1, 1)]
)
def test_as_many_as_a_plain_enumeration_finds(base, reach, answers):
    expected = by_loops(base, reach + 4, reach, answers)
    assert all(len(outputs) == 1 for outputs in expected.values())
    found = reachable(Addition(base=base).transducer(), View(reach, answers))
    assert found.conflict is None
    assert len(found) == len(expected)


def test_each_has_a_problem_that_brings_it_about(rng):
    task = Addition(base=3)
    found = reachable(task.transducer(), View(1, 2))
    lengths = found.depths()
    assert (np.diff(lengths) >= 0).all()  # the shortest come first
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        examples = task.solve(*found.problems(rows))
        written = task.transducer().write(examples.operands, examples.lengths)
        assert (written[:, length - 1] == found.output[rows]).all()
        top = np.take_along_axis(examples.operands, examples.lengths[..., None] - 1, -1)[..., 0]
        assert ((top > 0) | (examples.lengths == 1)).all()  # numbers as they are written


def test_one_column_does_not_decide_a_sum():
    conflict = reachable(Addition().transducer(), View(0, 1)).conflict
    (first, one), (second, other) = conflict.first, conflict.second
    assert one != other
    assert first[-1] == second[-1]


def test_no_window_decides_a_multiple_of_seven():
    """A machine whose state no window of its input shows: the number so far, modulo 7."""
    rule = lambda q, d: (END, q) if d[0] is None else ((2 * q + d[0]) % 7 % 2, (2 * q + d[0]) % 7)  # noqa: E731
    assert reachable(Transducer.of(2, 1, 7, rule), View(1, 2)).conflict is not None


def test_too_many():
    with pytest.raises(TooMany, match="more than 1,000 contexts of 2 columns; raise the limit"):
        reachable(Addition().transducer(), View(1, 2), limit=1000)


def test_contexts_that_cannot_be_numbered_are_refused():
    """Keys are 64-bit numbers; two contexts with one key would be one unproved."""
    with pytest.raises(
        TooMany, match="contexts of 15 columns and 15 answers are too many to number"
    ):
        reachable(Addition(base=2).transducer(), View(14, 15))


def test_a_machine_that_is_not_its_task_is_refused():
    class Wrong(Addition):
        name = "wrong"

        def transducer(self):
            return MISTAKEN

    batcher = Batcher(Wrong(base=2), FORMATS.build("reversed"), "causal")
    window = {"name": "window", "behind": 1, "ahead": 0, "axis": "column"}
    make = ENCODINGS.factory(Spec.of(window), SIZES)
    model = Decoder(len(batcher.task.vocabulary), batcher.task.vocabulary.end, Shape(1, 8, 1), make)
    with pytest.raises(TenfoldError, match='the task "wrong" declares does not write its answers'):
        certify(model, batcher)


# as an adder, but for the end: a sum without a carry gets a 0 in front
MISTAKEN = Transducer.of(
    2, 2, 3,
    lambda q, d: (END, 2) if q == 2 else (q, 2) if d == (None, None)
    else ((q + sum(x or 0 for x in d)) % 2, (q + sum(x or 0 for x in d)) // 2),
)  # fmt: skip
