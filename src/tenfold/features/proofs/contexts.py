"""Every local context that a task can produce for a model, each with the shortest input that leads to it.

A model that sees R columns and A answers back writes the digit at column i from: the digits of all operands at
columns i-R..i, the answer tokens s_(i-A)..s_(i-1), the hub's digits, near the start where the answer begins, and, with
cyclic positions of period T, the lengths of the operands and i modulo T. A task that is a finite machine reaches
finitely many of these. They are found by breadth-first search over (what is seen, the machine's state). The answers so
far are the true ones, which is the hypothesis of the induction.

Shapes: C contexts, P nodes of the search, F nodes of its frontier, E pairs of a node and a column, S symbols, M' operands
that are read by columns, A answers seen.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError
from tenfold.core.int_map import IntMap
from tenfold.data.tasks.task import Ints
from tenfold.data.tasks.transducer import END, REFUSED, Transducer

LIMIT = 10_000_000  # contexts, by default
MOST = 2**29  # pairs of a situation and a column that are examined together


class TooMany(TenfoldError):
    """A search found more contexts than the limit."""


@dataclass(frozen=True)
class View:
    """The part of a problem that a model sees when it writes a digit."""

    columns: int  # of operands, behind the digit's own
    answers: int  # tokens of the answer before it
    start: int | None = (
        None  # columns from which the answer's beginning is seen; default: as `columns`
    )
    period: int = 1  # of cyclic positions; 1 without
    together: bool = False  # operands are padded to the longest, so that they end together
    marked: bool = False  # the operator has the first column above all digits

    @property
    def near(self) -> int:
        """From this column on, the start is not visible."""
        return 1 + (self.columns if self.start is None else self.start)

    @property
    def blanks(self) -> int:
        """Blank columns after which none of those in sight is the operator's; 0 where it has no column.

        Where the lowest column in sight is blank, the digits do not show whether it is the operator's.
        """
        return self.columns + 2 if self.marked else 0


@dataclass(frozen=True)
class Nodes:
    """Situations between two columns. Shapes are (F,) unless noted."""

    far: Ints  # columns since the start, up to where it can be distinguished
    columns: Ints  # (F, kept): the last ones
    answers: Ints  # (F, A): the last ones
    state: Ints  # of the task's machine
    lengths: Ints  # the operands' lengths modulo the period, as one number
    turn: Ints  # this column's number modulo the period
    blanks: Ints  # columns since all operands ended

    def __len__(self) -> int:
        return len(self.far)

    def __getitem__(self, at: Ints) -> Nodes:
        return Nodes(**{field.name: getattr(self, field.name)[at] for field in fields(self)})


class Space:
    """Nodes, the columns that may follow each, and what the model can distinguish."""

    def __init__(
        self,
        transducer: Transducer,
        view: View,
        limit: int,
        *,
        tokens: int | None = None,
        room: int = 0,  # answer places beyond the operands, where they are distinguished
    ) -> None:
        self.room = room
        self.machine, self.view, self.limit = transducer, view, limit
        self.kept = max(view.columns, 1)  # columns back that a node remembers: the last one always
        self.ends = 1 if view.together else transducer.operands  # lengths that matter
        self.tokens = (
            tokens or transducer.tokens
        ) + 1  # that may stand in an answer; the last is none
        self.phases = view.period ** (self.ends + 1)
        columns = (transducer.symbols + 1) ** (self.kept + 1)
        keys = (
            (max(view.columns, view.near) + 3) * columns * self.tokens**view.answers * self.phases
        )
        if (
            keys * (transducer.states + 1) * (max(room, view.blanks) + 2) >= 2**63
        ):  # two contexts must never share a key
            raise TooMany(
                f"contexts of {view.columns + 1} columns and {view.answers} answers are too many to "
                "number; take fewer layers or a narrower window"
            )
        self.follows = _admissible(transducer, view.together)
        blank = transducer.digits(np.arange(transducer.symbols + 1)) == transducer.base
        self.blank = (
            blank[:, :1] if view.together else blank
        )  # (S + 1, ends); the last is no column
        self.blank[-1] = False

    def begin(self) -> Nodes:
        """One node for each value of the hub and each set of lengths modulo the period."""
        machine, view = self.machine, self.view
        if len(machine.starts) * view.period**self.ends > self.limit:
            raise self.too_many()
        lengths = np.arange(view.period**self.ends)
        state = np.repeat(machine.starts, len(lengths))
        n, zero = len(state), np.zeros(len(state), dtype=np.int64)
        return Nodes(
            far=zero,
            columns=np.full((n, self.kept), machine.symbols, dtype=np.int64),
            answers=np.full((n, view.answers), self.tokens - 1, dtype=np.int64),
            state=state,
            lengths=np.tile(lengths, len(machine.starts)),
            turn=zero,
            blanks=zero,
        )

    def ahead(self, nodes: Nodes) -> tuple[Ints, Ints]:
        """Every pair of a node and a column that may follow it: (E,), (E,)."""
        if len(nodes) * self.machine.symbols > MOST:
            raise self.too_many()
        last = nodes.columns[:, -1]
        may = self.follows[np.minimum(nodes.far, 2), last]  # (F, S)
        at, column = np.nonzero(may)
        period = self.view.period
        if period > 1:  # an operand ends where its length says
            fine = np.ones(len(at), dtype=bool)
            for m in range(self.ends):
                ends = self.blank[column, m] & ~self.blank[last[at], m]
                due = nodes.lengths[at] // period**m % period == nodes.turn[at]
                fine &= ~ends | due
            at, column = at[fine], column[fine]
        there = self.machine.output[nodes.state[at], column] != REFUSED
        return at[there], column[there]

    def after(self, nodes: Nodes, column: Ints, output: Ints) -> Nodes:
        """The nodes that follow, one column further."""
        return Nodes(
            far=np.minimum(nodes.far + 1, max(self.view.columns + 1, self.view.near, 2)),
            columns=np.concatenate([nodes.columns[:, 1:], column[:, None]], 1),
            answers=np.concatenate([nodes.answers, output[:, None]], 1)[:, 1:],
            state=self.machine.next[nodes.state, column],
            lengths=nodes.lengths,
            turn=(nodes.turn + 1) % self.view.period,
            blanks=np.where(self.blank[column].all(1), np.minimum(nodes.blanks + 1, self.room), 0),
        )

    def node_key(self, nodes: Nodes) -> Ints:
        seen = self._key(nodes, nodes.columns, nodes.far)
        return (seen * self.machine.states + nodes.state) * (self.room + 1) + nodes.blanks

    def context_key(self, nodes: Nodes, column: Ints) -> Ints:
        """A number for what the model sees; of the state it sees the hub only."""
        columns = nodes.columns[:, self.kept - self.view.columns :]
        far = np.minimum(nodes.far, self.view.near)
        seen = self._key(nodes, np.concatenate([columns, column[:, None]], 1), far)
        if self.view.marked:
            blanks = np.where(self.blank[column].all(1), nodes.blanks + 1, 0)
            seen = seen * (self.view.blanks + 1) + np.minimum(blanks, self.view.blanks)
        hub = self.machine.value[nodes.state] - self.machine.least
        return seen * len(self.machine.starts) + hub

    def _key(self, nodes: Nodes, columns: Ints, far: Ints) -> Ints:
        key = far
        for part in columns.T:
            key = key * (self.machine.symbols + 1) + part
        for part in nodes.answers.T:
            key = key * self.tokens + part
        if self.view.period > 1:
            key = (key * self.view.period**self.ends + nodes.lengths) * self.view.period
            key = key + nodes.turn
        return key

    def too_many(self) -> TooMany:
        return TooMany(
            f"more than {self.limit:,} contexts of {self.view.columns + 1} columns; raise the limit, "
            "or take fewer layers or a narrower window"
        )


def _admissible(machine: Transducer, together: bool) -> NDArray[np.bool_]:
    """Which column may follow which, (3, S + 1, S): at the start, right after it, and later.

    Every operand has a digit to begin with; one that has ended stays ended; and none ends in a leading
    zero, unless it is the number 0. Together: all end at once, and not all in a leading zero.
    """
    digits = machine.digits(np.arange(machine.symbols))  # (S, M')
    blank = digits == machine.base
    table = np.zeros((3, machine.symbols + 1, machine.symbols), dtype=bool)
    table[0, machine.symbols] = ~blank.any(1)
    stays = (~blank[:, None] | blank[None]).all(-1)  # (last, next)
    ends = ~blank[:, None] & blank[None]
    zero = ends & (digits[:, None] == 0)
    bad = (zero.all(-1) & ends.any(-1)) if together else zero.any(-1)
    if together:
        whole = blank.all(1) | ~blank.any(1)
        stays &= whole[:, None] & whole[None]
    table[1, :-1] = stays & ~blank.any(1)[:, None]
    table[2, :-1] = stays & ~bad
    return table


@dataclass(frozen=True)
class Conflict:
    """Two histories that the model cannot distinguish and that need different answers: columns, and the answer."""

    first: tuple[Ints, int]
    second: tuple[Ints, int]
    value: int = 0  # of the hub, in both


@dataclass(frozen=True)
class Contexts:
    """The contexts, ordered by the shortest history of columns that leads to each."""

    transducer: Transducer
    view: View
    parent: Ints  # (P,): of each node; -1 for those at the start
    symbol: Ints  # (P,): the column that led to it
    written: Ints  # (P,): what was written there
    value: Ints  # (P,): the hub's value
    lengths: Ints  # (P,): as in Nodes
    node: Ints  # (C,): what came before the context's last column
    column: Ints  # (C,): that column
    output: Ints  # (C,): what is to be written there, or END
    conflict: Conflict | None = None

    def __len__(self) -> int:
        return len(self.node)

    def history(self, row: int) -> Ints:
        """The columns, least significant first, that end with this context: (i + 1,) symbols."""
        return _history(self.parent, self.symbol, int(self.node[row]), int(self.column[row]))

    def depths(self) -> Ints:
        """The number of columns of each history."""
        depth, node = np.zeros(len(self.node), dtype=np.int64), self.node
        while len(node) and (node >= 0).any():
            depth += node >= 0
            node = np.where(node >= 0, self.parent[node], -1)
        return depth

    def paths(self, rows: Ints) -> tuple[Ints, Ints]:
        """For contexts with histories of one length: columns (N, i + 1), and what was written before (N, i)."""
        symbols, written, node = [self.column[rows]], [], self.node[rows]
        while (self.parent[node] >= 0).any():
            symbols.append(self.symbol[node])
            written.append(self.written[node])
            node = self.parent[node]
        empty = np.zeros((len(rows), 0), dtype=np.int64)
        return np.stack(symbols[::-1], 1), np.stack(written[::-1], 1) if written else empty


def reachable(transducer: Transducer, view: View, limit: int = LIMIT) -> Contexts:
    """Search until no new context appears. Raises `TooMany` above the limit."""
    return _Reachable(transducer, view, limit, room=view.blanks).run()


class Tree:
    """The nodes of the search with their parents, as lists that grow one level at a time."""

    def __init__(self, space: Space, roots: Nodes) -> None:
        none = np.full(len(roots), -1, dtype=np.int64)
        self.space, self.size = space, len(roots)
        self.levels = [(none, none, none, space.machine.value[roots.state], roots.lengths)]

    def add(self, nodes: Nodes, parent: Ints, symbol: Ints, written: Ints) -> None:
        value = self.space.machine.value[nodes.state]
        self.levels.append((parent, symbol, written, value, nodes.lengths))
        self.size += len(nodes)

    def contexts(self, new_contexts: list[Ints]) -> Contexts:
        """The `Contexts` of these arrays (3, ...): node, column, output."""
        parts = (np.concatenate(part) for part in zip(*self.levels, strict=True))
        parent, symbol, written, value, lengths = parts
        node, column, output = np.concatenate(new_contexts, 1)
        machine, view = self.space.machine, self.space.view
        return Contexts(
            machine, view, parent, symbol, written, value, lengths, node, column, output
        )


class _Reachable(Space):
    def run(self) -> Contexts:
        frontier = self.begin()
        tree, first = Tree(self, frontier), 0
        nodes, seen = IntMap(), IntMap()
        nodes.add(key := np.unique(self.node_key(frontier)), key)
        new_contexts: list[Ints] = []
        while len(frontier):
            at, column = self.ahead(frontier)
            here = frontier[at]
            output = self.machine.output[here.state, column]
            key, index, which = np.unique(
                self.context_key(here, column), return_index=True, return_inverse=True
            )
            new = ~seen.has(key)
            needed = np.where(new, output[index], seen.get(key) if len(seen) else 0)
            new_contexts.append(
                np.stack([at[index][new] + first, column[index][new], output[index][new]])
            )
            clash = np.flatnonzero(needed[which] != output)
            if len(clash):
                last = int(at[clash[0]]) + first, int(column[clash[0]]), int(output[clash[0]])
                return self._conflicting(tree.contexts(new_contexts), *last)
            seen.add(key[new], output[index][new])
            if len(seen) > self.limit:
                raise self.too_many()
            going = output != END
            at, column, output = at[going], column[going], output[going]
            frontier = self.after(here[going], column, output)
            key, index = np.unique(self.node_key(frontier), return_index=True)
            fresh = ~nodes.has(key)
            index = np.sort(index[fresh])
            nodes.add(key[fresh], key[fresh])
            frontier = frontier[index]
            size = tree.size
            tree.add(frontier, at[index] + first, column[index], output[index])
            first = size
        return tree.contexts(new_contexts)

    def _conflicting(self, contexts: Contexts, node: int, column: int, output: int) -> Contexts:
        second = _history(contexts.parent, contexts.symbol, node, column)
        value, phase = contexts.value[node], contexts.lengths[node]
        alike = contexts.value[contexts.node] == value
        alike &= contexts.lengths[contexts.node] == phase
        for row in np.flatnonzero((contexts.output != output) & alike):
            history = contexts.history(int(row))
            if self._view(history, int(value)) == self._view(second, int(value)):
                both = Conflict((history, int(contexts.output[row])), (second, output), int(value))
                return replace(contexts, conflict=both)
        raise AssertionError("a conflict has two sides")

    def _view(self, history: Ints, value: int) -> tuple[object, ...]:
        """What the model sees at the last column of a history."""
        state, answers = int(self.machine.starts[value - self.machine.least]), []
        for column in history[:-1]:
            answers.append(int(self.machine.output[state, column]))
            state = int(self.machine.next[state, column])
        far = min(len(history) - 1, self.view.near)
        shown = answers[-self.view.answers :] if self.view.answers else []
        turn = (len(history) - 1) % self.view.period
        ended = min(int(self.blank[history].all(1).sum()), self.view.blanks)
        return far, tuple(history[-self.view.columns - 1 :].tolist()), tuple(shown), turn, ended


def _history(parent: Ints, symbol: Ints, node: int, column: int) -> Ints:
    columns = [column]
    while parent[node] >= 0:
        columns.append(int(symbol[node]))
        node = int(parent[node])
    return np.array(columns[::-1], dtype=np.int64)
