"""Minimise a finite machine that is given by its transitions, and compare it with the task's own machine.

A local model that answers column by column is a finite machine. Its table has a node for every situation of its
inputs: which operands have ended, what was seen last. Nodes with the same behaviour are one state. Of the dozens of
nodes of a correct adder two remain, carry 0 and carry 1.

Some columns cannot occur at some nodes: an operand that has ended stays ended. They are undefined, and merging may
define them freely. Equal nodes are merged exactly, by partition refinement. Nodes that only never disagree are merged
greedily (`state_merging.py`). A set of nodes of which no two can be one state is a lower bound. Where the bound is
reached, no smaller machine exists.

Shapes: E edges, N nodes, K classes of equal nodes, Q states, S symbols, U starts, F pairs of a frontier.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tenfold.data.tasks.task import Ints
from tenfold.data.tasks.transducer import END, REFUSED
from tenfold.features.proofs.state_merging import UNDEFINED, fold, merged, named

Label = Callable[[int], str]  # writes a symbol: "5,7"
Tables = tuple[Ints, Ints, Ints]  # a task's output (Q', S), next (Q', S) and starts (U,)


@dataclass(frozen=True)
class Moves:
    """A partial machine as a list of edges, at most one for each node and symbol."""

    starts: Ints  # (U,)
    node: Ints  # (E,)
    symbol: Ints  # (E,)
    output: Ints  # (E,): 0.. or END, after which nothing follows
    next: Ints  # (E,); -1 where the output is END


@dataclass(frozen=True)
class Arrow:
    """All symbols that lead from one state to another, or to END."""

    source: int
    target: int
    symbols: Ints

    def examples(
        self, machine: Machine, label: Label, token: Label = str, most: int = 3
    ) -> list[str]:
        """Some of its symbols with their outputs, from first to last: `5,7 / 2`."""
        picked = np.linspace(0, len(self.symbols) - 1, min(most, len(self.symbols)))
        return [
            f"{label(symbol)} / {written(int(machine.output[self.source, symbol]), token)}"
            for symbol in self.symbols[picked.astype(np.int64)].tolist()
        ]


@dataclass(frozen=True)
class Machine:
    """Tables like a transducer's, with UNDEFINED entries; states are in the order of first visits from the starts."""

    starts: Ints  # (U,)
    output: Ints  # (Q, S): 0.., END or UNDEFINED
    next: Ints  # (Q, S): a state; END or UNDEFINED where the output is
    bound: int  # no machine with fewer states does the same
    classes: int  # of equal nodes, before compatible ones were merged
    state: Ints  # (N,): the state of each node; UNDEFINED where no start leads

    @property
    def states(self) -> int:
        return len(self.output)

    @property
    def symbols(self) -> int:
        return self.output.shape[1]

    @property
    def smallest(self) -> bool:
        """Whether it is proved that no machine with fewer states does the same."""
        return self.states == self.bound

    @property
    def complete(self) -> bool:
        return bool((self.output != UNDEFINED).all())

    def arrows(self) -> list[Arrow]:
        """By source, then target; END last."""
        arrows = []
        for source, row in enumerate(self.next):
            for target in [*range(self.states), END]:
                symbols = np.flatnonzero(row == target)
                if len(symbols):
                    arrows.append(Arrow(source, target, symbols))
        return arrows

    def run(self, word: Ints, start: int = 0) -> list[int]:
        """The outputs for a word, up to END or the first undefined column."""
        state, outputs = int(self.starts[start]), []
        for symbol in word.tolist():
            outputs.append(int(self.output[state, symbol]))
            if outputs[-1] < 0:
                break
            state = int(self.next[state, symbol])
        return outputs


def minimal(moves: Moves, symbols: int, like: Tables | None = None) -> Machine:
    """A small machine with the same outputs as the moves on every word that they define.

    There may be several of the same size. If the task's own tables, `like`, have the same outputs and no more states,
    they are returned, without what no input reaches.

    >>> odd = [0, 1, 1, 0, 0, 1, 1, 0]  # running parity; nodes 2 and 3 do as 0 and 1
    >>> edges = np.repeat(np.arange(4), 2), np.tile([0, 1], 4)
    >>> parity = Moves(np.array([0]), *edges, np.array(odd), np.array([2, 1, 3, 0, 0, 3, 1, 2]))
    >>> machine = minimal(parity, 2)
    >>> machine.next.tolist(), machine.smallest
    ([[0, 1], [1, 0]], True)
    """
    order = np.lexsort((moves.symbol, moves.node))
    edge = moves.node[order] * symbols + moves.symbol[order]
    if (edge[1:] == edge[:-1]).any():
        node, symbol = divmod(int(edge[1:][edge[1:] == edge[:-1]][0]), symbols)
        raise ValueError(f"node {node} has two moves for symbol {symbol}; one is right")
    of_node = _equal_nodes(moves, order, symbols)
    output, following = _tables(of_node, moves, symbols)
    starts = of_node[moves.starts]
    number = _visits(starts, following)  # of classes, so that no other is merged or counted
    output, following, starts = _renamed(output, following, starts, number)
    block, bound = fold(output, following)
    both = merged(output, following, block)
    again = _visits(block[starts], both[1])
    tables = _renamed(*both, block[starts], again)
    state = named(again[block], np.where(number < 0, UNDEFINED, number))[of_node]
    machine = Machine(tables[2], tables[0], tables[1], bound, len(output), state)
    own = None if like is None else _own(moves, like, machine)
    return machine if own is None or own.states > machine.states else own


def _own(moves: Moves, like: Tables, machine: Machine) -> Machine | None:
    """The task's tables where the moves lead; None if an output differs. A node may have several states."""
    output, following, starts = like
    order, degree = np.argsort(moves.node), np.bincount(moves.node, minlength=_nodes(moves))
    first = np.cumsum(degree) - degree
    used, state = np.zeros(output.shape, dtype=bool), np.full(len(degree), UNDEFINED)
    node, p, known = moves.starts, starts, np.zeros(0, dtype=np.int64)
    while len(keys := np.setdiff1d(node * len(output) + p, known)):
        known = np.union1d(known, keys)
        node, p = np.divmod(keys, len(output))
        state[node] = p
        count = degree[node]
        place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count - first[node], count)
        edge, p = order[place], np.repeat(p, count)
        symbol = moves.symbol[edge]
        if (output[p, symbol] != moves.output[edge]).any():
            return None
        used[p, symbol] = True
        going = moves.output[edge] != END
        node, p = moves.next[edge[going]], following[p, symbol][going]
    output = np.where(used, output, UNDEFINED)
    following = np.where(used & (output != END), following, output)
    number = _visits(starts, following)
    tables = _renamed(output, following, starts, number)
    of_node = named(number, state)
    return Machine(tables[2], tables[0], tables[1], machine.bound, machine.classes, of_node)


def _equal_nodes(moves: Moves, order: Ints, symbols: int) -> Ints:
    """The classes (N,) of nodes that define the same words and write the same on each: Moore's refinement.

    Rows are compared by random sums. At the end every row is compared with its class's, so the result is exact.
    """
    node, symbol = moves.node[order], moves.symbol[order]
    output = moves.output[order]
    following = np.where(output == END, END, moves.next[order])
    nodes = _nodes(moves)
    degree = np.bincount(node, minlength=nodes)
    first = np.cumsum(degree) - degree  # (N,): a node's edges stand together, by symbol
    for seed in itertools.count():
        rng = np.random.default_rng(seed)
        factor = (
            rng.integers(2**63, size=symbols, dtype=np.uint64)[symbol] * np.uint64(2) + 1
        )  # (E,)
        salt = rng.integers(2**63, size=(2, nodes + 1), dtype=np.uint64)
        written_as = np.unique(output, return_inverse=True)[1]
        value = rng.integers(2**63, size=written_as.max(initial=0) + 1, dtype=np.uint64)[written_as]
        group, count = np.zeros(nodes, dtype=np.int64), 0
        while len(np.unique(group)) > count:
            count = len(np.unique(group))
            sums = salt[0][group]
            after = np.where(following < 0, nodes, group[following])
            np.add.at(sums, node, factor * (value ^ salt[1][after]))
            group = np.unique(sums, return_inverse=True)[1]
        one = np.zeros(nodes, dtype=np.int64)
        one[group] = np.arange(nodes)  # some node of each class
        twin = first[one[group]][node] + np.arange(len(node)) - first[node]  # (E,)
        if (degree[one[group]] != degree).any():
            continue
        after = named(group, following)
        if all((part[twin] == part).all() for part in (symbol, output, after)):
            return group
    raise AssertionError("there is always another seed")


def _nodes(moves: Moves) -> int:
    """The number of nodes, including those without successors."""
    return 1 + max(int(part.max(initial=0)) for part in (moves.starts, moves.node, moves.next))


def _tables(of_node: Ints, moves: Moves, symbols: int) -> tuple[Ints, Ints]:
    tables = np.full((2, of_node.max() + 1, symbols), UNDEFINED, dtype=np.int64)
    source = of_node[moves.node]
    tables[0, source, moves.symbol] = moves.output
    after = np.where(moves.output == END, END, moves.next)
    tables[1, source, moves.symbol] = named(of_node, after)
    return tables[0], tables[1]


def _visits(starts: Ints, following: Ints) -> Ints:
    """The rank of each state in breadth-first order; -1 where it is not reached."""
    seen = list(dict.fromkeys(starts.tolist()))
    known = set(seen)
    for state in seen:  # grows
        for after in following[state].tolist():
            if after >= 0 and after not in known:
                known.add(after)
                seen.append(after)
    number = np.full(len(following), -1, dtype=np.int64)
    number[seen] = np.arange(len(seen))
    return number


def _renamed(output: Ints, following: Ints, starts: Ints, number: Ints) -> tuple[Ints, Ints, Ints]:
    """The tables of the visited states, renamed."""
    old = np.argsort(number)[np.count_nonzero(number < 0) :]
    after = following[old]
    return output[old], named(number, after), number[starts]


def isomorphic(machine: Machine, output: Ints, next: Ints, starts: Ints) -> bool:
    """Whether the machine equals the task's own up to the names of states.

    The columns that the machine defines are compared. Every state that the task can reach must have a partner.
    """
    ours, theirs = np.full(machine.states, -1), np.full(len(output), -1)
    pairs = list(zip(machine.starts.tolist(), starts.tolist(), strict=True))
    for q, p in pairs:  # grows
        if ours[q] == p and theirs[p] == q:
            continue
        if ours[q] >= 0 or theirs[p] >= 0:
            return False
        ours[q], theirs[p] = p, q
        there = (machine.output[q] != UNDEFINED) & (output[p] != REFUSED)
        if (machine.output[q, there] != output[p, there]).any():
            return False
        going = there & (machine.output[q] >= 0)
        after = np.stack([machine.next[q, going], next[p, going]], 1)
        pairs += [(a, b) for a, b in np.unique(after, axis=0).tolist()]
    reached = _visits(starts, np.where(output >= 0, next, END)) >= 0
    return bool((ours >= 0).all() and ((theirs >= 0) == reached).all())


@dataclass(frozen=True)
class Difference:
    """The shortest word on which two machines differ: at its last symbol, for the first time."""

    start: int  # which of the starts
    word: Ints
    state: int  # of the machine, before the last symbol
    output: int
    task_state: int
    task_output: int


def difference(
    machine: Machine, output: Ints, next: Ints, starts: Ints, within: Moves | None = None
) -> Difference | None:
    """The shortest word on which machine and task have different outputs; None if they agree on every defined word.

    Merging defines words that no input produces. `within`, the moves of the machine, excludes these. Of several shortest
    words the first is returned: by start, then symbol by symbol.
    """
    symbols = machine.symbols
    if within is None:  # one node, at which every symbol may occur
        loop = np.zeros(symbols, dtype=np.int64)
        within = Moves(0 * starts, loop, np.arange(symbols), loop, loop)
    order = np.lexsort((within.symbol, within.node))
    edges, ends = (within.node * symbols + within.symbol)[order], within.next[order]
    sizes = machine.states, len(output), _nodes(within)
    q, p, e = machine.starts, starts, within.starts  # (F,): our state, the task's, the input's
    came, read = np.arange(len(starts)), np.full(len(starts), -1)
    trail, known = [], np.zeros(0, dtype=np.int64)
    while len(came):
        keys, fresh = np.unique(np.ravel_multi_index((q, p, e), sizes), return_index=True)
        fresh = np.sort(fresh[~np.isin(keys, known)])  # the first of each, in order
        known = np.union1d(known, keys)
        q, p, e = q[fresh], p[fresh], e[fresh]
        trail.append((came[fresh], read[fresh]))
        came, read = np.nonzero((machine.output[q] != UNDEFINED) & (output[p] != REFUSED))
        place = np.searchsorted(edges, e[came] * symbols + read).clip(max=len(edges) - 1)
        given = edges[place] == e[came] * symbols + read
        came, read, place = came[given], read[given], place[given]
        ours, theirs = machine.output[q[came], read], output[p[came], read]
        if (ours != theirs).any():
            at = int(np.argmax(ours != theirs))
            state, task_state = int(q[came[at]]), int(p[came[at]])
            start, word = _back(trail, int(came[at]), int(read[at]))
            return Difference(start, word, state, int(ours[at]), task_state, int(theirs[at]))
        going = ours != END
        came, read, place = came[going], read[going], place[going]
        q, p, e = machine.next[q[came], read], next[p[came], read], ends[place]
    return None


def _back(trail: list[tuple[Ints, Ints]], row: int, symbol: int) -> tuple[int, Ints]:
    """The start and the word that lead to a symbol read at a row of the last frontier."""
    word = [symbol]
    for came, read in trail[:0:-1]:
        word.append(int(read[row]))
        row = int(came[row])
    return int(trail[0][0][row]), np.array(word[::-1], dtype=np.int64)


def written(output: int, token: Label = str) -> str:
    return "end" if output == END else token(output)


def as_dot(machine: Machine, label: Label = str, token: Label = str) -> str:
    """The machine for Graphviz: an arrow for all columns between two states, with some of them.

    `label` writes an input symbol, `token` an output.
    """
    lines = ["digraph machine {", "  rankdir=LR;", "  node [shape=circle];"]
    for number, start in enumerate(machine.starts.tolist()):
        lines += [f"  start{number} [shape=point];", f"  start{number} -> {start};"]
    if (machine.output == END).any():
        lines.append("  end [shape=doublecircle];")
    for arrow in machine.arrows():
        text = "\\n".join([counted(arrow), *arrow.examples(machine, label, token)]).replace(
            '"', '\\"'
        )
        lines.append(f'  {arrow.source} -> {written(arrow.target)} [label="{text}"];')
    return "\n".join([*lines, "}", ""])


def counted(arrow: Arrow) -> str:
    return f"{len(arrow.symbols)} column" + "s" * (len(arrow.symbols) > 1)
