"""Minimal machines against plain algorithms: enumeration of words, table filling, colouring by hand."""

import itertools

import numpy as np
import pytest

from tenfold.data.tasks.transducer import END, REFUSED, Transducer
from tenfold.features.proofs import state_merging as module
from tenfold.features.proofs.machine import (
    UNDEFINED,
    Moves,
    as_dot,
    difference,
    isomorphic,
    minimal,
)

START = np.array([0])


def adder(base, operands=2):
    def rule(carry, digits):
        total = carry + sum(d or 0 for d in digits)
        if total == 0 and all(d is None for d in digits):
            return END, 0
        return total % base, total // base

    return Transducer.of(base, operands, operands, rule)


def parity():
    return Transducer.of(2, 1, 2, lambda q, d: (END, q) if d[0] is None else (q ^ d[0], q ^ d[0]))


def comparison():
    """Which of two numbers is larger, so far: 0 neither, 1 the first, 2 the second."""

    def rule(state, digits):
        a, b = (d or 0 for d in digits)
        state = 1 if a > b else 2 if b > a else state
        return (END if digits == (None, None) else state), state

    return Transducer.of(3, 2, 3, rule)


def raw(task, broken=None, starts=(0,)):
    """The table that a search finds: a node for what was read and written last, what has ended, and the state.

    `broken` maps (state, symbol) to another (output, next state).
    """
    broken, blank = broken or {}, task.base
    numbers, edges = {}, []
    queue = [(None, None, start, (False,) * task.operands, 0) for start in starts]
    numbers.update(zip(queue, itertools.count()))
    for node in queue:  # grows
        last, _, state, ended, far = node
        for symbol in range(task.symbols):
            digits = task.digits(np.array(symbol)).tolist()
            blanks = tuple(d == blank for d in digits)
            if any(was and not b for was, b in zip(ended, blanks, strict=True)):
                continue  # what has ended stays ended
            if far == 0 and any(blanks):
                continue  # every operand has a digit
            ends = [b and not was for was, b in zip(ended, blanks, strict=True)]
            if far > 1 and any(e and d == 0 for e, d in zip(ends, last or (), strict=True)):
                continue  # no leading zeros
            usual = int(task.output[state, symbol]), int(task.next[state, symbol])
            output, after = broken.get((state, symbol), usual)
            following = (tuple(digits), output, after, blanks, min(far + 1, 2))
            if output != END and following not in numbers:
                numbers[following] = len(numbers)
                queue.append(following)
            to = -1 if output == END else numbers[following]
            edges.append((numbers[node], symbol, output, to))
    return Moves(np.arange(len(starts)), *np.array(edges).T)


def run(output, following, state, word):
    """What a machine given by tables, or by moves as a dictionary, writes, by a plain loop."""
    outputs = []
    for symbol in word:
        outputs.append(int(output[state, symbol]))
        if outputs[-1] < 0:
            break
        state = int(following[state, symbol])
    return outputs


def looked_up(moves):
    keys = list(zip(moves.node.tolist(), moves.symbol.tolist(), strict=True))
    return dict(zip(keys, moves.output, strict=True)), dict(zip(keys, moves.next, strict=True))


def partial(rng, nodes, symbols, outputs, defined, starts=1):
    """Random moves; each is there with probability `defined`."""
    node, symbol = np.nonzero(rng.random((nodes, symbols)) < defined)
    output = rng.integers(-1, outputs, len(node))
    after = np.where(output == END, -1, rng.integers(nodes, size=len(node)))
    return Moves(rng.integers(nodes, size=starts), node, symbol, output, after)


def split(rng, moves, copies, kept):
    """Each node in several copies that do the same but lack some of the moves."""
    node = (moves.node[:, None] * copies + np.arange(copies)).ravel()
    output, symbol = np.repeat(moves.output, copies), np.repeat(moves.symbol, copies)
    after = np.repeat(moves.next, copies) * copies + rng.integers(copies, size=len(node))
    there = rng.random(len(node)) < kept
    after = np.where(output == END, -1, after)
    return Moves(moves.starts * copies, node[there], symbol[there], output[there], after[there])


TASKS = {
    "adder in base 2": (adder(2), 2),
    "adder in base 3": (adder(3), 2),
    "adder in base 10": (adder(10), 2),
    "three numbers in base 2": (adder(2, 3), 3),
    "parity": (parity(), 2),
    "comparison": (comparison(), 3),
}


@pytest.mark.parametrize("name", TASKS)
def test_the_tasks_own_machine_is_found_again(name):
    task, states = TASKS[name]
    moves = raw(task)
    machine = minimal(moves, task.symbols)
    assert moves.node.max() + 1 > machine.classes >= machine.states == states
    assert machine.smallest
    assert isomorphic(machine, task.output, task.next, START)
    assert difference(machine, task.output, task.next, START) is None
    assert difference(machine, task.output, task.next, START, within=moves) is None


def test_situations_of_the_input_are_no_states():
    machine = minimal(raw(adder(10)), 121)
    assert machine.classes > 2  # operands that have ended, digits that may be the last
    assert machine.complete
    np.testing.assert_array_equal(machine.starts, [0])
    # carries are numbered by first visits: 0, then 1; after the end there is nothing
    task = adder(10)
    np.testing.assert_array_equal(machine.output, task.output)
    np.testing.assert_array_equal(machine.next, np.where(task.output == END, END, task.next))


def test_names_of_nodes_and_order_of_moves_do_not_matter(rng):
    moves = raw(adder(3))
    order = rng.permutation(len(moves.node))
    name = rng.permutation(moves.node.max() + 1)
    after = np.where(moves.next < 0, -1, name[moves.next])
    mixed = Moves(
        name[moves.starts],
        name[moves.node][order],
        moves.symbol[order],
        moves.output[order],
        after[order],
    )
    first, second = minimal(moves, 16), minimal(mixed, 16)
    np.testing.assert_array_equal(first.output, second.output)
    np.testing.assert_array_equal(first.next, second.next)
    np.testing.assert_array_equal(first.state, second.state[name])


BROKEN = {  # base: (state, symbol) -> (output, next state)
    3: {(1, 1 * 4 + 2): (2, 1)},  # 1+2 and a carry writes 2, not 1
    10: {(1, 9 * 11 + 10): (7, 1)},  # 9 and nothing and a carry writes 7, not 0
}


@pytest.mark.parametrize("base", BROKEN)
def test_a_broken_adder_is_told_by_the_shortest_word(base):
    task, ((state, symbol),) = adder(base), BROKEN[base]
    moves = raw(task, BROKEN[base])
    machine = minimal(moves, task.symbols)
    assert not isomorphic(machine, task.output, task.next, START)
    for within in (None, moves):
        found = difference(machine, task.output, task.next, START, within)
        ours = run(machine.output, machine.next, machine.starts[0], found.word)
        theirs = run(task.output, task.next, 0, found.word)
        assert ours[:-1] == theirs[:-1]
        assert (ours[-1], theirs[-1]) == (found.output, found.task_output)
        assert (found.task_state, found.word[-1]) == (state, symbol)
        assert found.output == BROKEN[base][state, symbol][0]
        assert machine.output[found.state, symbol] == found.output
    assert len(found.word) == 2  # a carry must come first


def test_a_machine_that_forgets_its_carry_is_told_by_where_it_goes():
    task = adder(3)
    moves = raw(task, {(1, 0): (1, 1)})  # 0+0 and a carry: right digit, but the carry stays
    machine = minimal(moves, 16)
    assert not isomorphic(machine, task.output, task.next, START)
    found = difference(machine, task.output, task.next, START, moves)
    assert len(found.word) == 3  # a carry, 0+0, and then any column
    assert found.word[1] == 0


def times(base):
    """Times 1, 2, .. base - 1: a start for each; the states are the carries of each. Tables, and the transducer."""
    states = [(value, carry) for value in range(1, base) for carry in range(value)]

    def rule(state, digits):
        value, carry = states[state]
        total = value * (digits[0] or 0) + carry
        ends = digits[0] is None and carry == 0
        return (END if ends else total % base), states.index((value, total // base))

    task = Transducer.of(base, 1, len(states), rule)
    starts = np.array([states.index((value, 0)) for value in range(1, base)])
    return task, (task.output, task.next, starts)


@pytest.mark.parametrize("base", [3, 5, 10])
def test_of_several_minimal_machines_the_tasks_own_is_taken(base):
    """After the last digit 2 times and 3 times do the same with a carry of 1."""
    task, own = times(base)
    moves = raw(task, starts=own[2].tolist())
    other, machine = minimal(moves, base + 1), minimal(moves, base + 1, like=own)
    assert other.states == machine.states == task.states
    assert machine.smallest
    assert isomorphic(machine, *own)
    assert difference(machine, *own) is None
    for found in (machine, other):
        assert difference(found, *own, within=moves) is None
    if base == 10:
        assert not isomorphic(other, *own)  # or `like` would not be needed


def test_a_task_that_does_something_else_is_not_taken():
    task, own = times(5)
    starts = own[2].tolist()
    moves = raw(task, {(1, 3): (4, 2)}, starts)
    plain, machine = minimal(moves, 6), minimal(moves, 6, like=own)
    np.testing.assert_array_equal(plain.output, machine.output)
    assert difference(machine, *own, within=moves) is not None
    # one of which no input reaches more than a part is taken in that part: 0+0 and 0+1 never carry
    part, two = Moves(START, *np.array([[0, 0, 0, 0], [0, 1, 1, 0]]).T), adder(2)
    machine = minimal(part, 9, like=(two.output, two.next, START))
    assert machine.output.tolist() == [[0, 1] + [UNDEFINED] * 7]
    assert machine.next.tolist() == [[0, 0] + [UNDEFINED] * 7]
    # nor one that is right but larger: two copies of each state, one of which is left at once
    moves, twice = raw(task, starts=starts), task.states
    larger = np.vstack([own[0]] * 2), np.vstack([own[1] + twice] * 2), own[2]
    machine = minimal(moves, 6, like=larger)
    assert machine.states == task.states
    assert difference(machine, *own, within=moves) is None


def table_filling(output, following):
    """The classes of a complete machine's states, by the textbook's table of pairs."""
    n = len(output)
    apart = {(i, j) for i in range(n) for j in range(i) if (output[i] != output[j]).any()}
    changed = True
    while changed:
        changed = False
        for i, j in itertools.combinations(range(n), 2):
            pair = (j, i)
            if pair in apart:
                continue
            for a, b in zip(following[i], following[j], strict=True):
                if a >= 0 and a != b and (max(a, b), min(a, b)) in apart:
                    apart.add(pair)
                    changed = True
                    break
    return n - sum(any((i, j) not in apart for j in range(i)) for i in range(n))


@pytest.mark.parametrize("outputs", [1, 2, 3])
@pytest.mark.parametrize("nodes", [1, 5, 12, 30])
def test_complete_machines_have_as_many_states_as_table_filling_finds(rng, nodes, outputs):
    for _ in range(5):
        moves = partial(rng, nodes, 2, outputs, defined=1.1)
        reached = {int(moves.starts[0])}
        while more := set(moves.next[np.isin(moves.node, list(reached))].tolist()) - reached - {-1}:
            reached |= more
        alive = sorted(reached)
        output = moves.output.reshape(nodes, 2)[alive]
        after = moves.next.reshape(nodes, 2)[alive]
        after = np.where(after < 0, -1, np.searchsorted(alive, after))
        machine = minimal(moves, 2)
        assert machine.states == machine.classes == table_filling(output, after)
        assert machine.smallest
        assert machine.complete


@pytest.mark.parametrize("defined", [0.2, 0.5, 0.8, 1.1])
@pytest.mark.parametrize("nodes", [3, 20, 60])
def test_it_writes_what_the_moves_write(rng, nodes, defined):
    for _ in range(3):
        moves = partial(rng, nodes, 4, 3, defined, starts=3)
        machine = minimal(moves, 4)
        assert machine.bound <= machine.states <= machine.classes <= nodes
        output, following = looked_up(moves)
        words = 0
        while words < 300:
            words += 1
            hub = words % 3
            node, word = int(moves.starts[hub]), []
            while len(word) < 12:
                choices = [s for s in range(4) if (node, s) in output]
                if node < 0 or not choices:
                    break
                assert machine.state[node] == run_to(machine, hub, word)
                word.append(int(rng.choice(choices)))
                node = int(following[node, word[-1]])
            expected = run(output, following, int(moves.starts[hub]), word)
            assert machine.run(np.array(word, dtype=np.int64), hub) == expected


def run_to(machine, hub, word):
    state = int(machine.starts[hub])
    for symbol in word:
        state = int(machine.next[state, symbol])
    return state


def compatible_cover(output, following):
    """The fewest blocks, by trying every partition of a few states."""
    n = len(output)

    def fits(block):
        target = {}
        for i in range(n):
            for s in range(output.shape[1]):
                if output[i, s] == UNDEFINED:
                    continue
                after = following[i, s]
                to = (output[i, s], after if after < 0 else block[after])
                if target.setdefault((block[i], s), to) != to:
                    return False
        return True

    for count in range(1, n + 1):
        for block in itertools.product(range(count), repeat=n):
            if fits(block):
                return count
    return n


def test_where_it_says_smallest_nothing_smaller_exists(rng):
    """And where it does not say so, it is seldom far off."""
    proved = best = 0
    for _ in range(40):
        moves = partial(rng, 6, 3, 2, defined=0.6)
        machine = minimal(moves, 3)
        alive = np.flatnonzero(machine.state >= 0)
        name = np.full(7, -1)
        name[alive] = np.arange(len(alive))
        output = np.full((len(alive), 3), UNDEFINED)
        after = np.full((len(alive), 3), UNDEFINED)
        there = np.isin(moves.node, alive)
        at = name[moves.node[there]], moves.symbol[there]
        output[at], after[at] = moves.output[there], name[moves.next[there]]
        fewest = compatible_cover(output, after)
        assert machine.bound <= fewest <= machine.states
        proved += machine.smallest
        best += machine.states == fewest
    assert proved >= 20
    assert best >= 38


@pytest.mark.parametrize("states", [2, 5, 9])
def test_copies_that_lack_moves_are_put_together_again(rng, states):
    whole = partial(rng, states, 20, 4, defined=1.1)
    machine = minimal(whole, 20)
    copies = split(rng, whole, copies=8, kept=0.7)
    again = minimal(copies, 20)
    assert again.classes > machine.states
    assert again.states == machine.states
    assert again.smallest
    assert isomorphic(again, machine.output, machine.next, machine.starts)


def test_too_many_classes_are_left_as_they_are(monkeypatch):
    monkeypatch.setattr(module, "FOLDABLE", 3)
    machine = minimal(raw(adder(2)), 9)
    assert machine.states == machine.classes > 3
    assert not machine.smallest
    task = adder(2)
    assert difference(machine, task.output, task.next, START) is None
    assert not isomorphic(machine, task.output, task.next, START)


def by_enumeration(machine, output, following, starts, moves=None, longest=5):
    """The first word, by length, start and symbols, whose last outputs differ."""
    allowed = None if moves is None else looked_up(moves)
    symbols = output.shape[1]
    for length in range(1, longest + 1):
        for hub, start in enumerate(starts):
            for word in itertools.product(range(symbols), repeat=length):
                ours = run(machine.output, machine.next, machine.starts[hub], word)
                theirs = run(output, following, start, word)
                if len(ours) < length or len(theirs) < length or ours[-1] == UNDEFINED:
                    continue
                if allowed is not None and not comes(*allowed, int(moves.starts[hub]), word):
                    continue
                if theirs[-1] not in (ours[-1], REFUSED):
                    return hub, list(word), ours[-1], theirs[-1]
    return None


def comes(output, following, node, word):
    for symbol in word:
        if (node, symbol) not in output:
            return False
        node = int(following[node, symbol])
    return True


@pytest.mark.parametrize("copies", [0, 4])
def test_difference_is_what_enumeration_of_all_words_finds(rng, copies):
    """On every word the machine defines; and, in copies that lack moves, on words that come there."""
    lengths = []
    for trial in range(60):
        moves = partial(rng, 5, 3, 2, defined=0.9, starts=2)
        within = split(rng, moves, copies, kept=0.6) if copies else None
        machine = minimal(within or moves, 3)
        name = rng.permutation(machine.states)  # the task's states have names of their own
        output = np.where(machine.output == UNDEFINED, 0, machine.output)[np.argsort(name)]
        after = name[np.maximum(machine.next, 0)][np.argsort(name)]
        for _ in range(trial % 3):
            at = int(rng.integers(machine.states)), int(rng.integers(3))
            output[at] = rng.integers(-2, 2)  # REFUSED among them
            after[at] = rng.integers(machine.states)
        starts = name[machine.starts]
        expected = by_enumeration(machine, output, after, starts, within)
        found = difference(machine, output, after, starts, within)
        if found is None or len(found.word) > 5:
            assert expected is None
            continue
        assert (found.start, found.word.tolist(), found.output, found.task_output) == expected
        lengths.append(len(found.word))
    assert {1, 2, 3} <= set(lengths)


def test_words_that_merging_made_up_are_left_out():
    """A task that is right on every input but does as it likes on the others."""
    task = adder(2)
    moves = raw(task)
    machine = minimal(moves, 9)
    # after the end of an operand comes a third state, in which a digit for it is a mistake
    output, after = np.vstack([task.output] * 2), np.vstack([task.next, task.next + 2])
    for symbol in range(9):
        if 2 in task.digits(np.array(symbol)):
            after[:2, symbol] = task.next[:, symbol] + 2
        else:
            output[2:, symbol] = 0
    found = difference(machine, output, after, START)
    assert found is not None
    assert found.task_state >= 2
    assert difference(machine, output, after, START, within=moves) is None
    assert not isomorphic(machine, output, after, START)


def test_of_the_shortest_words_the_first_is_told():
    """Whatever the nodes are called: 0 goes to node 2 and 1 to node 1, and both write what they should not."""
    moves = Moves(START, *np.array([[0, 0, 0, 2], [0, 1, 0, 1], [1, 0, 1, 0], [2, 0, 1, 0]]).T)
    zeros = np.zeros((1, 2), dtype=np.int64)
    found = difference(minimal(moves, 2), zeros, zeros, START, moves)
    assert (found.word.tolist(), found.output, found.task_output) == ([0, 0], 1, 0)


def test_nodes_that_nothing_follows():
    """An answer has no place left: node 1 has no moves, and is no state of its own."""
    moves = Moves(START, *np.array([[0, 0, 0, 1], [0, 1, 1, 1]]).T)
    machine = minimal(moves, 2)
    assert machine.states == machine.bound == 1
    np.testing.assert_array_equal(machine.state, [0, 0])
    output, following = np.array([[0, 1]]), np.zeros((1, 2), dtype=np.int64)
    assert difference(machine, output, following, START, moves) is None
    found = difference(machine, output[:, ::-1], following, START, moves)
    assert found.word.tolist() == [0]
    nothing = Moves(START, *np.zeros((4, 0), dtype=np.int64))
    assert minimal(nothing, 2).states == 1


def test_isomorphic_wants_a_partner_for_every_state():
    task = adder(2)
    machine = minimal(raw(task), 9)
    unreached = np.vstack([task.output, task.output[:1]]), np.vstack([task.next, task.next[:1]])
    assert isomorphic(machine, *unreached, START)
    twins = unreached[0], np.where(unreached[1] == 0, 2, unreached[1])  # 0 and 2 are one state
    assert not isomorphic(machine, *twins, START)
    assert not isomorphic(machine, task.output, task.next, START + 1)
    part = Moves(START, *np.array([[0, 0, 0, 0], [0, 1, 1, 0]]).T)  # 0+0 and 0+1: never a carry
    assert difference(minimal(part, 9), task.output, task.next, START) is None
    assert not isomorphic(minimal(part, 9), task.output, task.next, START)
    swapped = task.output[::-1], 1 - task.next[::-1]
    assert isomorphic(machine, *swapped, START + 1)


def test_two_moves_for_one_symbol_are_refused():
    moves = Moves(START, *np.array([[0, 4, 1, 0], [0, 4, 2, 0]]).T)
    with pytest.raises(ValueError, match="node 0 has two moves for symbol 4"):
        minimal(moves, 5)


def test_chance_costs_time_only(monkeypatch):
    """Random numbers that are all alike tell nothing apart; the next seed's do."""
    real, seeds = np.random.default_rng, []

    class Alike:
        def integers(self, high, size, dtype):
            return np.zeros(size, dtype=dtype)

    def pretend(seed):
        seeds.append(seed)
        return Alike() if seed == 0 and len(seeds) == 1 else real(seed)

    monkeypatch.setattr(np.random, "default_rng", pretend)
    machine = minimal(raw(adder(3)), 16)
    assert seeds[:2] == [0, 1]
    assert machine.states == 2


def test_dot():
    task = parity()
    machine = minimal(raw(task), 3)
    text = as_dot(machine, label=lambda symbol: "01-"[symbol])
    assert '0 -> 0 [label="1 column\\n0 / 0"];' in text
    assert '0 -> 1 [label="1 column\\n1 / 1"];' in text
    assert '1 -> end [label="1 column\\n- / end"];' in text
    assert "end [shape=doublecircle];" in text
    assert "start0 -> 0;" in text
    assert "1 / b" in as_dot(machine, str, "ab".__getitem__)
    text = as_dot(minimal(raw(adder(10)), 121))
    assert text.count("->") == 1 + 5  # two loops, both ways, and the end
    assert "columns\\n0 / 0\\n" in text
