"""Merge states that never disagree. The smallest machine is NP-hard to find, so merging is greedy, with a lower bound.

Shapes: K classes of equal nodes, S symbols.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tenfold.data.tasks.task import Ints

UNDEFINED = -3  # in both tables: no admissible input goes there
FOLDABLE = 1_000  # classes; larger machines are not merged
TRIES = 8  # random orders of merging, until one reaches the bound

Bools = NDArray[np.bool_]


def fold(output: Ints, following: Ints) -> tuple[Ints, int]:
    """A block (K,) for each class, such that blocks can be states, and a lower bound on their number."""
    classes = len(output)
    if classes > FOLDABLE:
        return np.arange(classes), 1
    columns = np.unique(np.concatenate([output, following]), axis=1)  # equal columns count once
    output, following = columns[:classes], columns[classes:]
    apart = _incompatible(output, following)
    apart_all = _clique(apart)
    best = np.arange(classes)
    for seed in range(TRIES):
        block = _Folding(output, following, apart).run(apart_all, np.random.default_rng(seed))
        if len(np.unique(block)) < len(np.unique(best)):
            best = block
        if len(np.unique(best)) == len(apart_all):
            break
    return best, len(apart_all)


def _incompatible(output: Ints, following: Ints) -> Bools:
    """Which pairs of classes (K, K) have different outputs on some word that both define."""
    apart = np.zeros((len(output), len(output)), dtype=bool)
    for column in output.T:
        there = column != UNDEFINED
        apart |= (column[:, None] != column) & there[:, None] & there
    count = -1
    while count < (count := int(apart.sum())):
        for column in following.T:
            going = np.flatnonzero(column >= 0)
            after = column[going]
            apart[np.ix_(going, going)] |= apart[np.ix_(after, after)]
    return apart


def _clique(apart: Bools) -> list[int]:
    """A large set of classes of which no two can be one state, by greedy search from 64 starts."""
    degree = apart.sum(1)
    best: list[int] = []
    for first in np.argsort(-degree, kind="stable")[:64].tolist():
        chosen, left = [first], apart[first].copy()
        while left.any():
            chosen.append(int(np.argmax(np.where(left, degree, -1))))
            left &= apart[chosen[-1]]
        best = max(best, chosen, key=len)
    return best


class _Folding:
    """Merges classes one by one. A merge includes the successors, and is undone where two outputs differ."""

    def __init__(self, output: Ints, following: Ints, apart: Bools) -> None:
        self.block = np.arange(len(output))  # (K,): each class's block, named by one of its classes
        self.output, self.next, self.apart = output, following, apart.copy()
        self.kept = np.zeros(len(output), dtype=bool)  # (K,): blocks that stay

    def run(self, apart_all: list[int], rng: np.random.Generator) -> Ints:
        """Keep the classes that must be distinct; then always merge the class with the fewest possible blocks."""
        self.kept[apart_all] = True
        luck = rng.random(len(self.block))
        while len(rest := np.setdiff1d(self.block, kept := np.flatnonzero(self.kept))):
            there = self.output != UNDEFINED
            options = ~self.apart[np.ix_(rest, kept)]  # (R, kept)
            order = np.lexsort((luck[rest], -there[rest].sum(1), options.sum(1)))
            one = int(rest[order[0]])
            places = kept[options[order[0]]]
            shared = (there[places] & there[one]).sum(
                1
            )  # more shared symbols make a merge more reliable
            surest = places[np.argsort(-shared, kind="stable")].tolist()
            self.kept[one] = not any(self._merge(place, one) for place in surest)
        return self.block

    def _merge(self, one: int, other: int) -> bool:
        before = self.block, self.output, self.next, self.apart
        self.block, self.apart = self.block.copy(), self.apart.copy()
        self.output, self.next = self.output.copy(), self.next.copy()
        pairs = [(one, other)]
        while pairs:
            a, b = (int(self.block[state]) for state in pairs.pop())
            if a == b:
                continue
            if self.apart[a, b]:
                self.block, self.output, self.next, self.apart = before
                self.apart[one, other] = self.apart[other, one] = True  # whatever is merged later
                return False
            if self.kept[b]:
                a, b = b, a  # two kept blocks are always incompatible
            both = (self.next[a] >= 0) & (self.next[b] >= 0)
            pairs += zip(self.next[a, both].tolist(), self.next[b, both].tolist(), strict=True)
            self.block[self.block == b] = a
            self.apart[a] |= self.apart[b]
            self.apart[:, a] |= self.apart[:, b]
            new = self.output[a] == UNDEFINED
            self.output[a, new], self.next[a, new] = self.output[b, new], self.next[b, new]
        return True


def merged(output: Ints, following: Ints, block: Ints) -> tuple[Ints, Ints]:
    """Tables (K, S) whose row for a block has every entry that any of its classes defines."""
    at, symbol = np.nonzero(output != UNDEFINED)
    after = following[at, symbol]
    tables = np.full((2, *output.shape), UNDEFINED, dtype=np.int64)
    tables[0, block[at], symbol] = output[at, symbol]
    tables[1, block[at], symbol] = named(block, after)
    return tables[0], tables[1]


def named(names: Ints, entries: Ints) -> Ints:
    """Rename states; END and UNDEFINED stay."""
    return np.where(entries < 0, entries, names[np.maximum(entries, 0)])
