"""The reachable contexts against a plain enumeration of all short inputs."""

import inspect
import itertools
from dataclasses import fields

import numpy as np
import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.batch import Batcher
from tenfold.data.formats import FORMATS
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.comparison import Comparison
from tenfold.data.tasks.arithmetic.modular_addition import ModularAddition
from tenfold.data.tasks.arithmetic.multiplication import Multiplication
from tenfold.data.tasks.arithmetic.subtraction import Subtraction
from tenfold.data.tasks.arithmetic.successor import Successor
from tenfold.data.tasks.symbolic.parity import Parity
from tenfold.data.tasks.task import Task
from tenfold.data.tasks.transducer import END, Transducer
from tenfold.encodings import ENCODINGS, SIZES
from tenfold.features.proofs.certify import certify_model
from tenfold.features.proofs.contexts import TooMany, View, reachable
from tenfold.features.proofs.prover import problems, view_of
from tenfold.models import Decoder, Shape
from tenfold.runs.build import build


def numbers(base, longest):
    """All numbers of up to so many digits, least significant first, none with a leading zero."""
    for length in range(1, longest + 1):
        for digits in itertools.product(range(base), repeat=length):
            if length == 1 or digits[-1]:
                yield digits


def digits_of(value, base):
    """A number's digits, least significant first."""
    digits = [value % base]
    while value := value // base:
        digits.append(value % base)
    return digits


def value_of(digits, base):
    return sum(d * base**i for i, d in enumerate(digits))


def answer(task, operands):
    """The true answer's tokens by Python's integers, or None where these are no problem of the task."""
    base, longest = task.base, max(map(len, operands))
    values = [value_of(x, base) for x in operands]
    lower = lambda place: [value_of(x[: place + 1], base) for x in operands]  # noqa: E731
    match task.name:
        case "addition":
            return digits_of(sum(values), base)
        case "successor":
            return digits_of(values[0] + 1, base)
        case "multiplication":
            return digits_of(values[0] * values[1], base)
        case "parity":
            return [sum(operands[0][: place + 1]) % 2 for place in range(longest)]
        case "comparison":
            signs = [">" if a > b else "<" if a < b else "=" for a, b in map(lower, range(longest))]
            return task.vocabulary.ids("".join(signs)).tolist()
        case "modular-addition":
            return (digits_of(sum(values) % task.modulus, base) + [0] * task.digits)[: task.digits]
        case "subtraction":
            left = values[0] - values[1]
            padded = digits_of(max(left, 0), base) + [0] * len(operands[0])
            return padded[: len(operands[0])] if left >= 0 else None


def look(task, operands, place, view, tokens=None):
    """What a model with this view sees of a problem when it writes at a place; what was written is true."""
    written = (answer(task, operands) if tokens is None else tokens)[:place]
    hub = None if task.hub is None else operands[task.hub]
    shown = [list(x) for m, x in enumerate(operands) if m != task.hub]
    if view.together:
        longest = max(map(len, shown))
        shown = [x + [0] * (longest - len(x)) for x in shown]
    columns = tuple(
        tuple(x[c] if c < len(x) else None for x in shown)
        for c in range(max(0, place - view.columns), place + 1)
    )
    start = view.columns if view.start is None else view.start
    phases = (*(len(x) % view.period for x in shown), place % view.period)
    return (
        place if place <= start else None,  # how far away the answer's beginning is
        len(columns),
        columns,
        tuple(written[max(0, place - view.answers) :]),
        phases if view.period > 1 else (),
        hub,
    )


def by_loops(task, longest, view):
    """What is seen at each place of every problem with numbers this long, with what is to be written there."""
    sizes = [
        getattr(task, "multiplier", 1) if m == task.hub else longest for m in range(task.terms)
    ]
    seen = {}
    for operands in itertools.product(*(numbers(task.base, size) for size in sizes)):
        if (tokens := answer(task, operands)) is not None:
            for place, token in enumerate([*tokens, END]):
                seen.setdefault(look(task, operands, place, view, tokens), set()).add(token)
    return seen


def written_problems(found):
    """Every context's problem, as digits without leading zeros, its place there, and its output."""
    depths = found.depths()
    for depth in np.unique(depths):
        rows = np.flatnonzero(depths == depth)
        digits, lengths = problems(found, rows)
        for row, some, sizes in zip(rows.tolist(), digits, lengths, strict=True):
            operands = tuple(tuple(x[:n].tolist()) for x, n in zip(some, sizes, strict=True))
            assert all(not x[n:].any() for x, n in zip(some, sizes, strict=True))
            yield row, operands, int(depth) - 1, int(found.output[row])


BINARY, TERNARY = Addition(base=2), Addition(base=3)
CASES = [  # task, numbers up to how long, view
    (BINARY, 5, View(1, 1)),
    (BINARY, 5, View(1, 2)),
    (BINARY, 6, View(2, 1)),
    (BINARY, 6, View(2, 3)),
    (TERNARY, 4, View(1, 1)),
    (TERNARY, 4, View(1, 2)),
    (Addition(base=2, terms=3), 4, View(2, 2)),
    (Addition(base=3, terms=3), 3, View(1, 1)),
    (Subtraction(base=2), 6, View(1, 1)),
    (Subtraction(base=2), 6, View(2, 2)),
    (Subtraction(base=3), 4, View(1, 2)),
    (Successor(base=2), 8, View(1, 1)),
    (Successor(base=3), 6, View(2, 1)),
    (Successor(base=10), 3, View(1, 1)),
    (Parity(), 8, View(0, 1)),
    (Parity(), 8, View(1, 2)),
    (Comparison(base=2), 5, View(0, 1)),
    (Comparison(base=2), 6, View(1, 2)),
    (Comparison(base=3), 4, View(0, 1)),
    (Multiplication(base=2), 6, View(1, 1)),
    (Multiplication(base=3), 5, View(1, 1)),
    (Multiplication(base=10), 3, View(1, 1)),
    (Multiplication(base=2, multiplier=2), 8, View(2, 3)),
    (ModularAddition(modulus=8, base=2), 5, View(2, 2)),
    # phases
    (Successor(base=2), 9, View(1, 1, period=2)),
    (Successor(base=2), 10, View(1, 1, period=3)),
    (Parity(), 10, View(0, 1, period=3)),
    (BINARY, 6, View(1, 1, period=2)),
    (BINARY, 7, View(1, 1, period=3)),
    (Subtraction(base=2), 7, View(1, 1, period=2)),
    (Comparison(base=2), 6, View(0, 1, period=3)),
    (Multiplication(base=3), 7, View(1, 1, period=2)),
    # side by side
    (BINARY, 5, View(1, 1, together=True)),
    (BINARY, 6, View(2, 2, together=True)),
    (TERNARY, 4, View(1, 2, together=True)),
    (Subtraction(base=2), 5, View(1, 1, together=True)),
    (Comparison(base=2), 5, View(0, 1, together=True)),
    (Successor(base=3), 6, View(1, 1, together=True)),
    (Addition(base=2, terms=3), 4, View(2, 2, together=True)),
    (BINARY, 6, View(1, 1, period=2, together=True)),
    (BINARY, 7, View(1, 1, period=3, together=True)),
    # the answer's beginning is in sight for longer, or not as long, as digits are
    (BINARY, 5, View(1, 1, start=0)),
    (BINARY, 6, View(2, 1, start=1)),
    (BINARY, 6, View(1, 1, start=3)),
    (BINARY, 6, View(1, 3, start=2)),
    (Subtraction(base=2), 6, View(1, 1, start=2)),
    (Successor(base=2), 9, View(1, 1, start=0, period=2)),
    (Parity(), 8, View(0, 1, start=3)),
    (BINARY, 6, View(1, 1, start=2, together=True)),
    (Multiplication(base=3), 5, View(1, 1, start=0)),
]


def named(value):
    if isinstance(value, View):
        told = {f.name: getattr(value, f.name) for f in fields(value)}
        return "-".join(f"{k}{v}" for k, v in told.items() if v not in (None, False))
    return f"{value.name}{value.base}" if isinstance(value, Task) else str(value)


@pytest.mark.parametrize(("task", "longest", "view"), CASES, ids=named)
def test_those_that_a_plain_enumeration_finds(task, longest, view):
    """The same contexts, with the same outputs; and each has a problem of the task that brings it about."""
    expected = by_loops(task, longest, view)
    assert all(len(outputs) == 1 for outputs in expected.values())
    found = reachable(task.transducer(), view)
    assert found.conflict is None
    seen = {}
    for row, operands, place, output in written_problems(found):
        for digits in operands:
            assert len(digits) == 1 or digits[-1]  # numbers as they are written
        tokens = answer(task, operands)
        assert tokens is not None  # 7-12 is no problem
        assert [*tokens, END][place] == output
        history = found.history(row)  # of which the problem is a continuation
        by_column = [x for m, x in enumerate(operands) if m != task.hub]
        longest_of = max(map(len, by_column))
        if view.together:
            by_column = [[*x, *[0] * (longest_of - len(x))] for x in by_column]
        assert found.transducer.digits(history).tolist() == [
            [x[c] if c < len(x) else task.base for x in by_column] for c in range(len(history))
        ]
        seen.setdefault(look(task, operands, place, view), set()).add(output)
    assert len(seen) == len(found)  # each context once, and each is one: a problem shows it
    assert {key: outputs for key, outputs in expected.items() if seen.get(key) != outputs} == {}
    rng = np.random.default_rng(0)
    for length in range(longest + 1, longest + 20):  # longer ones bring nothing new
        examples = task.sample(2, length, rng, samplers.lengths)
        for drawn, sizes in zip(examples.operands, examples.lengths, strict=True):
            operands = tuple(tuple(x[:n].tolist()) for x, n in zip(drawn, sizes, strict=True))
            tokens = answer(task, operands)
            for place, token in enumerate([*tokens, END]):
                assert seen.get(look(task, operands, place, view, tokens)) == {token}


def test_the_column_of_a_marked_operator_is_seen():
    """Three blank columns, of which the first is the operator's: two of them look alike only without the mark."""

    def rule(state, column):  # writes a bit, then two zeros, then the end
        if column[0] is not None:
            return column[0], 0
        return (0, state + 1) if state < 2 else (END, state)

    machine = Transducer.of(2, 1, 3, rule)
    assert reachable(machine, View(1, 0, together=True)).conflict is not None
    marked = reachable(machine, View(1, 0, together=True, marked=True))
    assert marked.conflict is None
    blanks = machine.symbols - 1
    last = {tuple(marked.history(row).tolist()[-2:]) for row in range(len(marked))}
    ended = [row for row in range(len(marked)) if marked.history(row)[-2:].tolist() == [blanks] * 2]
    assert (blanks, blanks) in last
    assert sorted(marked.output[ended].tolist()) == [END, 0]  # two contexts, not one


def test_a_marked_format_tells_the_prover(small):
    built = build(small(format={"name": "interleaved", "mark": True}))
    plain = build(small(format="interleaved"))
    assert view_of(built.model(), built.batcher)[0].marked
    assert not view_of(plain.model(), plain.batcher)[0].marked


@pytest.mark.parametrize(
    ("task", "view"),
    [
        (BINARY, View(1, 1)),
        (Subtraction(base=3), View(1, 2)),
        (Comparison(base=3), View(0, 1)),
        (Parity(), View(1, 1, period=2)),
        (Multiplication(base=3, multiplier=2), View(2, 3)),
        (TERNARY, View(1, 1, together=True)),
        (Addition(base=10), View(1, 1)),
    ],
    ids=named,
)
def test_problems_are_problems_of_the_task(task, view):
    """Written as a person would, read again, solved again: the same digits, and the answer that was told."""
    found = reachable(task.transducer(), view)
    depths = found.depths()
    assert (np.diff(depths) >= 0).all()  # the shortest come first
    rng = np.random.default_rng(0)
    for depth in np.unique(depths):
        rows = np.flatnonzero(depths == depth)
        rows = rng.choice(rows, min(len(rows), 200), replace=False)
        examples = task.solve(*problems(found, rows))
        for number, row in enumerate(rows.tolist()):
            again = task.parse(task.question(examples, number))
            assert again.lengths[0].tolist() == examples.lengths[number].tolist()
            width = again.operands.shape[2]
            assert (again.operands[0] == examples.operands[number, :, :width]).all()
            tokens = again.answer[0, : again.answer_length[0]].tolist()
            assert [*tokens, END][depth - 1] == found.output[row]


def same_where_it_looks_the_same(model, batcher, view):
    """The lemma: problems of any length that show a model the same at some place get the same logits there."""
    task, rng, seen = batcher.task, np.random.default_rng(0), {}
    together = far = 0.0
    for length in (1, 2, 3, 4, 6, 9, 14):
        examples = task.sample(24, length, rng, samplers.lengths)
        with torch.inference_mode():
            logits = model(batcher(examples)).numpy()
        for row, (drawn, sizes) in enumerate(zip(examples.operands, examples.lengths, strict=True)):
            operands = tuple(tuple(x[:n].tolist()) for x, n in zip(drawn, sizes, strict=True))
            tokens = answer(task, operands)
            for place in range(len(tokens) + 1):
                key = look(task, operands, place, view, tokens)
                first = seen.setdefault(key, logits[row, place])
                together = max(together, float(np.abs(first - logits[row, place]).max()))
                far = max(far, float(np.abs(logits[0, 0] - logits[row, place]).max()))
    assert far > 0.1  # elsewhere they differ
    assert together < 1e-9


def test_the_view_decides_the_logits(built, lively):
    model = lively(built.model(), 0).double()
    same_where_it_looks_the_same(model, built.batcher, view_of(model, built.batcher)[0])


@pytest.mark.parametrize("name", ENCODINGS.names())
def test_the_view_decides_the_logits_whatever_the_encoding(name, small, parts, lively):
    """Every encoding that is certifiable behind a window, with each of its options, on the axis of columns."""
    for options in by_columns(name):
        for layers in (1, 2):
            try:
                pe = parts({"name": name, **options}, answers=None)
                built = build(small(pe=pe, model={"layers": layers, "width": 16, "heads": 2}))
                model = lively(built.model(), 0).double()
                view, _ = view_of(model, built.batcher)
            except TenfoldError:
                continue  # not for this model, or not certifiable
            same_where_it_looks_the_same(model, built.batcher, view)


def by_columns(name):
    """The options of an encoding that are worth trying, each as it is and on the axis of columns."""
    yield from ENCODINGS[name].examples(40)
    for options in ENCODINGS[name].examples(40):
        if "axis" in inspect.signature(ENCODINGS[name]).parameters:
            yield {**options, "axis": "column"}
        if isinstance(relation := options.get("relation"), dict):
            for more in ({}, {"clip": True, "reach": 1}):
                moved = {**options, "relation": {**relation, "axis": "column", **more}}
                yield from (moved, {**moved, "values": True})


def test_histories_are_the_shortest():
    """No shorter problem, extended further left or not, shows the same to the model."""
    view = View(1, 1)
    found = reachable(BINARY.transducer(), view)
    first = {}
    for operands in itertools.product(numbers(2, 5), repeat=2):
        for place in range(len(answer(BINARY, operands)) + 1):
            key = look(BINARY, operands, place, view)
            first[key] = min(place, first.get(key, place))
    for _, operands, place, _ in written_problems(found):
        assert place == first[look(BINARY, operands, place, view)]


@pytest.mark.parametrize(
    ("task", "longest", "view"),
    [
        (BINARY, 4, View(0, 1)),
        (BINARY, 5, View(1, 0)),
        (Addition(base=2, terms=3), 4, View(1, 1)),
        (Subtraction(base=2), 5, View(0, 1)),
        (Parity(), 5, View(1, 0)),
        (Comparison(base=2), 4, View(0, 0)),
        (Multiplication(base=3), 5, View(0, 1)),
        (BINARY, 5, View(0, 1, period=2)),
        (BINARY, 5, View(0, 1, together=True)),
        (Multiplication(base=2, multiplier=2), 7, View(1, 1)),
        (ModularAddition(modulus=8, base=2), 5, View(1, 1)),
    ],
    ids=named,
)
def test_a_conflict_is_one(task, longest, view):
    """Where the enumeration finds a context with two outputs, so does the search; and its two histories are true."""
    expected = by_loops(task, longest, view)
    assert any(len(outputs) > 1 for outputs in expected.values())
    machine = task.transducer()
    conflict = reachable(machine, view).conflict
    assert conflict is not None
    outputs, last = set(), set()
    for history, output in (conflict.first, conflict.second):
        outputs.add(output)
        last.add(tuple(history[-view.columns - 1 :].tolist()))
        told = set()
        for start in machine.starts.tolist():
            state = start
            for symbol in history[:-1].tolist():
                state = int(machine.next[state, symbol])
            told.add(int(machine.output[state, history[-1]]))
        assert output in told
    assert len(outputs) == 2
    assert len(last) == 1


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
    with pytest.raises(
        TenfoldError, match='machine of the task "wrong" disagrees with its answers'
    ):
        certify_model(model, batcher)


# as an adder, but for the end: a sum without a carry gets a 0 in front
MISTAKEN = Transducer.of(
    2, 2, 3,
    lambda q, d: (END, 2) if q == 2 else (q, 2) if d == (None, None)
    else ((q + sum(x or 0 for x in d)) % 2, (q + sum(x or 0 for x in d)) // 2),
)  # fmt: skip
