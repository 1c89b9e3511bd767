"""Every local context that a task can bring before a model, each with the shortest input that does.

A model that sees R columns and A answers back writes the digit at column i from: the digits of all operands at
columns i-R..i, the answer tokens s_(i-A)..s_(i-1), and, near the start, where the answer begins.
A task that is a finite machine reaches finitely many of these. They are found by breadth-first search over
(what is seen, the machine's state); answers so far are the true ones, which is the induction's hypothesis.

Shapes: C contexts, P nodes of the search, F nodes of its frontier, S symbols, M operands.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tenfold.errors import TenfoldError
from tenfold.tasks.base import Digits, Ints
from tenfold.tasks.transducer import END, Transducer

LIMIT = 5_000_000  # contexts, unless told otherwise


class TooMany(TenfoldError):
    """More contexts than were allowed."""


@dataclass(frozen=True)
class Conflict:
    """Two histories that look alike to the model and need different answers: columns of digits, and the answer."""

    first: tuple[Ints, int]
    second: tuple[Ints, int]


@dataclass(frozen=True)
class Contexts:
    """The contexts, in the order of the shortest history of columns that leads to each."""

    transducer: Transducer
    reach: int  # columns back that are seen
    answers: int  # answer digits back that are seen
    parent: Ints  # (P,): of each node; -1 for the first
    symbol: Ints  # (P,): the column that led to it
    node: Ints  # (C,): what came before the context's last column
    column: Ints  # (C,): that column
    output: Ints  # (C,): what is to be written there, or END
    conflict: Conflict | None = None

    def __len__(self) -> int:
        return len(self.node)

    def history(self, row: int) -> Ints:
        """The columns, least significant first, that end with this context: (i + 1,) symbols."""
        return _history(self.parent, self.symbol, int(self.node[row]), int(self.column[row]))

    def lengths(self) -> Ints:
        """How many columns each history has."""
        depth, node = np.zeros(len(self.node), dtype=np.int64), self.node
        while (node > 0).any():
            depth += node > 0
            node = np.where(node > 0, self.parent[node], 0)
        return depth + 1

    def problems(self, rows: Ints) -> tuple[Digits, Ints]:
        """For contexts with histories of one length, problems whose first columns these are: digits, lengths.

        An operand that would end in a leading zero gets a 1 before it, further left than the model sees.
        """
        machine, blank = self.transducer, self.transducer.base
        symbols, node = [self.column[rows]], self.node[rows]
        while (node > 0).any():
            symbols.append(self.symbol[node])
            node = self.parent[node]
        columns = machine.digits(np.stack(symbols[::-1], 1))  # (N, i+1, M)
        n, count, terms = columns.shape
        digits = np.zeros((n, terms, count + 1), dtype=np.uint8)
        there = columns.transpose(0, 2, 1) != blank  # (N, M, i+1)
        digits[:, :, :count] = np.where(there, columns.transpose(0, 2, 1), 0)
        lengths = there.sum(-1)
        top = np.take_along_axis(digits, lengths[..., None] - 1, -1)[..., 0]
        short = (top == 0) & (lengths > 1)
        np.put_along_axis(
            digits, lengths[..., None], np.where(short, 1, 0)[..., None].astype(np.uint8), -1
        )
        return digits, lengths + short


def reachable(
    transducer: Transducer, reach: int, answers: int | None = None, limit: int = LIMIT
) -> Contexts:
    """Search until nothing new is found; more contexts than the limit are refused.

    Without `answers`, as many answer digits are seen as stand in the columns seen: reach + 1.
    """
    return _Search(transducer, reach, reach + 1 if answers is None else answers, limit).run()


class _Search:
    def __init__(self, transducer: Transducer, reach: int, answers: int, limit: int) -> None:
        self.machine, self.reach, self.answers, self.limit = transducer, reach, answers, limit
        self.kept = max(reach, 1)  # columns back that a node remembers: the last one always
        columns = (transducer.symbols + 1) ** (self.kept + 1)
        keys = (reach + 3) * columns * (transducer.base + 1) ** answers * transducer.states
        if keys >= 2**63:  # two contexts must never share a key
            raise TooMany(
                f"contexts of {reach + 1} columns and {answers} answers are too many to number; take "
                "fewer layers or a narrower window"
            )
        self.follows = _admissible(transducer)

    def run(self) -> Contexts:
        machine, base = self.machine, self.machine.base
        # a node: how far from the start (up to reach + 1), columns seen, answers seen, state
        frontier = {
            "far": np.zeros(1, dtype=np.int64),
            "columns": np.full((1, self.kept), machine.symbols, dtype=np.int64),
            "answers": np.full((1, self.answers), base, dtype=np.int64),
            "state": np.zeros(1, dtype=np.int64),
        }
        parent, symbol = [np.array([-1])], [np.array([-1])]
        known_nodes, first = self._node_key(frontier), 0
        keys, found = np.zeros(0, dtype=np.int64), []  # of contexts, sorted; and the contexts
        outputs = np.zeros(0, dtype=np.int64)
        while len(frontier["far"]):
            phase = np.minimum(frontier["far"], 2)
            at, column = np.nonzero(self.follows[phase, frontier["columns"][:, -1]])
            output = machine.output[frontier["state"][at], column]
            key = self._context_key(frontier, at, column)
            order = np.argsort(key, kind="stable")
            key, at, column, output = key[order], at[order], column[order], output[order]
            clash = self._clash(key, output, keys, outputs)
            new = np.r_[True, key[1:] != key[:-1]] & ~_within(key, keys)
            found.append(np.stack([at[new] + first, column[new], output[new]]))
            if clash is not None:
                return self._conflicting(parent, symbol, found, (at, column, output), clash, first)
            merged = np.concatenate([keys, key[new]])
            sort = np.argsort(merged)
            keys, outputs = merged[sort], np.concatenate([outputs, output[new]])[sort]
            if len(keys) > self.limit:
                raise TooMany(
                    f"more than {self.limit:,} contexts of {self.reach + 1} columns; raise the limit, "
                    "or take fewer layers or a narrower window"
                )
            going = output != END
            at, column = at[going], column[going]
            frontier = self._after(frontier, at, column, output[going])
            node = self._node_key(frontier)
            node, index = np.unique(node, return_index=True)
            index = index[~_within(node, known_nodes)]
            frontier = {name: part[index] for name, part in frontier.items()}
            known_nodes = np.union1d(known_nodes, node)
            parent.append(at[index] + first)
            symbol.append(column[index])
            first = sum(len(part) for part in parent) - len(index)
        return self._contexts(parent, symbol, found)

    def _contexts(
        self,
        parent: list[Ints],
        symbol: list[Ints],
        found: list[Ints],
        conflict: Conflict | None = None,
    ) -> Contexts:
        parents, symbols = np.concatenate(parent), np.concatenate(symbol)
        node, column, output = np.concatenate(found, 1)
        return Contexts(
            self.machine, self.reach, self.answers, parents, symbols, node, column, output, conflict
        )

    def _after(
        self, frontier: dict[str, Ints], at: Ints, column: Ints, output: Ints
    ) -> dict[str, Ints]:
        """The nodes that follow, one column further."""
        columns = np.concatenate([frontier["columns"][at, 1:], column[:, None]], 1)
        answers = np.concatenate([frontier["answers"][at, 1:], output[:, None]], 1)
        far = np.minimum(frontier["far"][at] + 1, max(self.reach + 1, 2))
        state = self.machine.next[frontier["state"][at], column]
        return {"far": far, "columns": columns, "answers": answers, "state": state}

    def _node_key(self, nodes: dict[str, Ints]) -> Ints:
        seen = self._seen_key(nodes, nodes["columns"], nodes["far"])
        return seen * self.machine.states + nodes["state"]

    def _context_key(self, nodes: dict[str, Ints], at: Ints, column: Ints) -> Ints:
        """What the model sees; the state is hidden from it."""
        seen = {name: part[at] for name, part in nodes.items()}
        columns = seen["columns"][:, self.kept - self.reach :]
        far = np.minimum(seen["far"], self.reach + 1)  # further on, the start is out of sight
        return self._seen_key(seen, np.concatenate([columns, column[:, None]], 1), far)

    def _seen_key(self, nodes: dict[str, Ints], columns: Ints, far: Ints) -> Ints:
        key = far
        for part in columns.T:
            key = key * (self.machine.symbols + 1) + part
        for part in nodes["answers"].T:
            key = key * (self.machine.base + 1) + part
        return key

    def _clash(self, key: Ints, output: Ints, keys: Ints, outputs: Ints) -> int | None:
        """The first of the sorted contexts that looks like one before it and needs another answer."""
        within = np.r_[False, (key[1:] == key[:-1]) & (output[1:] != output[:-1])]
        before = np.zeros_like(within)
        if len(keys):
            place = np.searchsorted(keys, key).clip(max=len(keys) - 1)
            before = (keys[place] == key) & (outputs[place] != output)
        clash = np.flatnonzero(within | before)
        return int(clash[0]) if len(clash) else None

    def _conflicting(
        self,
        parent: list[Ints],
        symbol: list[Ints],
        found: list[Ints],
        reached: tuple[Ints, Ints, Ints],
        clash: int,
        first: int,
    ) -> Contexts:
        contexts = self._contexts(parent, symbol, found)
        at, column, output = (int(part[clash]) for part in reached)
        second = _history(contexts.parent, contexts.symbol, at + first, column)
        for row in np.flatnonzero(contexts.output != output):
            history = contexts.history(int(row))
            if self._looks_like(history, second):
                both = Conflict((history, int(contexts.output[row])), (second, output))
                return self._contexts(parent, symbol, found, both)
        raise AssertionError("a conflict has two sides")

    def _looks_like(self, one: Ints, other: Ints) -> bool:
        return self._view(one) == self._view(other)

    def _view(self, history: Ints) -> tuple[object, ...]:
        """What the model sees at the last column of a history."""
        state, answers = 0, []
        for column in history[:-1]:
            answers.append(int(self.machine.output[state, column]))
            state = int(self.machine.next[state, column])
        far = min(len(history) - 1, self.reach + 1)
        return far, tuple(history[-self.reach - 1 :].tolist()), tuple(answers[-self.answers :])


def _admissible(machine: Transducer) -> NDArray[np.bool_]:
    """Which column may follow which, (3, S + 1, S): at the start, right after it, and later.

    Every operand has a digit to begin with; one that has ended stays ended; and none ends in a leading
    zero, unless it is the number 0.
    """
    digits = machine.digits(np.arange(machine.symbols))  # (S, M)
    blank = digits == machine.base
    table = np.zeros((3, machine.symbols + 1, machine.symbols), dtype=bool)
    table[0, machine.symbols] = ~blank.any(1)
    stays = (~blank[:, None] | blank[None]).all(-1)  # (last, next)
    table[1, :-1] = stays & ~blank.any(1)[:, None]
    ends = ~blank[:, None] & blank[None]
    table[2, :-1] = stays & ~(ends & (digits[:, None] == 0)).any(-1)
    return table


def _history(parent: Ints, symbol: Ints, node: int, column: int) -> Ints:
    columns = [column]
    while node > 0:
        columns.append(int(symbol[node]))
        node = int(parent[node])
    return np.array(columns[::-1], dtype=np.int64)


def _within(keys: Ints, known: Ints) -> NDArray[np.bool_]:
    """Which keys are among the known ones, which are sorted."""
    if not len(known):
        return np.zeros(len(keys), dtype=bool)
    place = np.searchsorted(known, keys).clip(max=len(known) - 1)
    return known[place] == keys
