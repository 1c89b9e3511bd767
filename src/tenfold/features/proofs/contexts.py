"""Every local context that a task can bring before a model, each with the shortest input that does.

A model that sees R columns and A answers back writes the digit at column i from: the digits of all operands at
columns i-R..i, the answer tokens s_(i-A)..s_(i-1), the hub's digits, near the start where the answer begins, and, with
cyclic positions of period T, the lengths of the operands and i modulo T. A task that is a finite machine reaches
finitely many of these. They are found by breadth-first search over (what is seen, the machine's state); answers so
far are the true ones, which is the induction's hypothesis.

Shapes: C contexts, P nodes of the search, F nodes of its frontier, S symbols, M operands, M' read by columns.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError
from tenfold.core.int_map import IntMap
from tenfold.data.tasks.task import Digits, Ints, significant
from tenfold.data.tasks.transducer import END, REFUSED, Transducer
from tenfold.features.proofs.context_search import LIMIT, Nodes, Space, View


@dataclass(frozen=True)
class Conflict:
    """Two histories that look alike to the model and need different answers: columns of digits, and the answer."""

    first: tuple[Ints, int]
    second: tuple[Ints, int]
    value: int = 0  # of the hub, in both


@dataclass(frozen=True)
class Contexts:
    """The contexts, in the order of the shortest history of columns that leads to each."""

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
        """How many columns each history has."""
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

    def problems(self, rows: Ints) -> tuple[Digits, Ints]:
        """For contexts with histories of one length, problems whose first columns these are: digits, lengths.

        Operands that have not ended go on, further left than the model sees, where they must: with ones, as few as
        make a problem of the task (no leading zero; the lengths that the phases tell; 7-12 becomes 17-12).
        """
        machine = self.transducer
        columns = machine.digits(self.paths(rows)[0]).transpose(0, 2, 1)  # (N, M', i+1)
        hub, phase = self.value[self.node[rows]], self.lengths[self.node[rows]]
        n, terms, count = columns.shape
        more = (
            1 + 2 * self.view.period
        )  # room for one more digit, for one longer yet, and their phases
        digits = np.zeros((n, terms + (machine.hub is not None), count + more), dtype=np.uint8)
        lengths = np.ones(digits.shape[:2], dtype=np.int64)
        left = np.arange(n)
        ways = itertools.product(range(more), repeat=1 if self.view.together else terms)
        for further in sorted(ways, key=sum):
            shape = np.array(further)
            drawn, sizes = self._extended(columns[left], shape, more)
            if machine.hub is not None:
                drawn, sizes = _with_hub(machine, drawn, sizes, hub[left])
            written = machine.write(drawn, sizes)
            fine = self._admitted(drawn, sizes, phase[left], columns[left], shape)
            fine &= ~(written == REFUSED).any(1)
            digits[left[fine]], lengths[left[fine]] = drawn[fine], sizes[fine]
            left = left[~fine]
            if not len(left):
                return digits, lengths
        raise TenfoldError("a context that the search reached belongs to no problem of the task")

    def _extended(self, columns: Ints, further: Ints, more: int) -> tuple[Digits, Ints]:
        """Operands with these columns; those that have not ended, with so many more ones."""
        machine = self.transducer
        there = columns != machine.base  # (N, M', i+1)
        digits = np.zeros((*columns.shape[:2], columns.shape[2] + more), dtype=np.uint8)
        digits[:, :, : columns.shape[2]] = np.where(there, columns, 0)
        going = there[:, :, -1]
        lengths = there.sum(-1) + going * further
        place = np.arange(digits.shape[2])
        added = (place >= there.sum(-1)[..., None]) & (place < lengths[..., None])
        if self.view.together:  # one operand is the longest
            added[:, 1:] = False
        digits[added] = 1
        return digits, significant(digits) if self.view.together else lengths

    def _admitted(
        self, digits: Digits, lengths: Ints, phase: Ints, columns: Ints, further: Ints
    ) -> NDArray[np.bool_]:
        """Which are written as the context says: no leading zeros, as long as the history, the phases right."""
        machine, view = self.transducer, self.view
        by_column = [m for m in range(digits.shape[1]) if m != machine.hub]
        there = (columns != machine.base).sum(-1)  # (N, M')
        going = columns[:, :, -1] != machine.base
        ours, sizes = digits[:, by_column], lengths[:, by_column]
        written = there + going * further  # as long as these are in the text
        if view.together:
            fine = sizes.max(1) == written[:, 0]
            sizes = written[:, :1]
        else:
            top = np.take_along_axis(ours, sizes[..., None] - 1, -1)[..., 0]
            fine = ((top > 0) | (sizes == 1)).all(1)
        for m in range(sizes.shape[1]):
            fine &= sizes[:, m] % view.period == phase // view.period**m % view.period
        return fine


def reachable(transducer: Transducer, view: View, limit: int = LIMIT) -> Contexts:
    """Search until nothing new is found; more contexts than the limit are refused."""
    return _Reachable(transducer, view, limit).run()


class Tree:
    """The nodes found, each with the one before it, as lists that grow a level at a time."""

    def __init__(self, space: Space, roots: Nodes) -> None:
        none = np.full(len(roots), -1, dtype=np.int64)
        self.space, self.size = space, len(roots)
        self.levels = [(none, none, none, space.machine.value[roots.state], roots.lengths)]

    def add(self, nodes: Nodes, parent: Ints, symbol: Ints, written: Ints) -> None:
        value = self.space.machine.value[nodes.state]
        self.levels.append((parent, symbol, written, value, nodes.lengths))
        self.size += len(nodes)

    def contexts(self, found: list[Ints]) -> Contexts:
        """With contexts found, each (3, ...): node, column, output."""
        parts = (np.concatenate(part) for part in zip(*self.levels, strict=True))
        parent, symbol, written, value, lengths = parts
        node, column, output = np.concatenate(found, 1)
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
        found: list[Ints] = []
        while len(frontier):
            at, column = self.ahead(frontier)
            here = frontier[at]
            output = self.machine.output[here.state, column]
            key, index, which = np.unique(
                self.context_key(here, column), return_index=True, return_inverse=True
            )
            new = ~seen.has(key)
            needed = np.where(new, output[index], seen.get(key) if len(seen) else 0)
            found.append(np.stack([at[index][new] + first, column[index][new], output[index][new]]))
            clash = np.flatnonzero(needed[which] != output)
            if len(clash):
                last = int(at[clash[0]]) + first, int(column[clash[0]]), int(output[clash[0]])
                return self._conflicting(tree.contexts(found), *last)
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
        return tree.contexts(found)

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
        state, answers = int(self.machine.starts[value]), []
        for column in history[:-1]:
            answers.append(int(self.machine.output[state, column]))
            state = int(self.machine.next[state, column])
        far = min(len(history) - 1, self.view.near)
        shown = answers[-self.view.answers :] if self.view.answers else []
        turn = (len(history) - 1) % self.view.period
        return far, tuple(history[-self.view.columns - 1 :].tolist()), tuple(shown), turn


def _with_hub(
    machine: Transducer, digits: Digits, lengths: Ints, value: Ints
) -> tuple[Digits, Ints]:
    """Operands with the hub among them."""
    held = np.zeros((len(digits), 1, digits.shape[2]), dtype=np.uint8)
    size = max(1, len(np.base_repr(int(value.max()), machine.base)))
    held[:, 0, :size] = value[:, None] // machine.base ** np.arange(size) % machine.base
    assert machine.hub is not None
    sizes = significant(held)
    return np.insert(digits, machine.hub, held[:, 0], 1), np.insert(
        lengths, machine.hub, sizes[:, 0], 1
    )


def _history(parent: Ints, symbol: Ints, node: int, column: int) -> Ints:
    columns = [column]
    while parent[node] >= 0:
        columns.append(int(symbol[node]))
        node = int(parent[node])
    return np.array(columns[::-1], dtype=np.int64)
