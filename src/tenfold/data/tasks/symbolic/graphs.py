"""Directed graphs for the task `reachability`: which edges can be walked, and graphs in which half of them can.

A graph is three operands: the node where one starts, where its edges come from, where they lead to.

Shapes: N graphs, E edges, V nodes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tenfold.data.tasks.samplers import Drawn
from tenfold.data.tasks.task import Digits, Ints

START, SOURCE, TARGET = range(3)  # operands


def walkable(
    start: Digits, source: Digits, target: Digits, there: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which edges leave a node that is reached from the start: (N,), (N, E), (N, E), which exist -> (N, E).

    >>> source, target = np.array([[[3, 0, 5]], [[4, 5, 3]]], dtype=np.uint8)  # 3->4, 0->5, 5->3
    >>> start, there = np.array([5], dtype=np.uint8), np.ones((1, 3), dtype=bool)
    >>> walkable(start, source, target, there).tolist()
    [[True, False, True]]
    """
    reached = np.int32(1) << start.astype(np.int32)  # a bit for every node
    leads_to = np.int32(1) << target.astype(np.int32)
    while True:
        walked = ((reached[:, None] >> source & 1) > 0) & there
        further = reached | np.bitwise_or.reduce(np.where(walked, leads_to, 0), axis=1)
        if np.array_equal(further, reached):
            return walked
        reached = further


def graphs(
    rng: np.random.Generator,
    edges: Ints,
    width: int,
    nodes: int,
    start: int | None = None,
    steps: int | None = None,
) -> Drawn:
    """Graphs with so many edges (N,), of which half can be walked, in arrays of this width; from any start, or this one.

    The farthest node that is reached is `steps` steps away; if none are given, any number that the edges and nodes have
    room for, uniformly. Edges stand in any order; the first that is drawn is without the node 0, as numbers are without
    leading zeros.
    """
    some = rng.binomial(edges, 0.5)[:, None]  # edges that can be walked
    most = np.minimum(some, nodes - 2)  # one node at least is not reached
    if steps is None:
        path = np.minimum(rng.integers(1, most.clip(min=1) + 1), most)
    else:
        some, path = np.maximum(some, steps), np.full_like(some, steps)
    source, target = _edges(rng, some, path, width, nodes)
    there = np.arange(width) < edges[:, None]
    order = np.argsort(np.where(there, rng.random(there.shape), 1.0), axis=1)
    source, target = (np.take_along_axis(side, order, 1) for side in (source, target))
    last = edges[:, None] - 1  # the highest column, written first
    first = [np.take_along_axis(side, last, 1) for side in (source, target)]
    names = _names(rng, np.concatenate(first, 1), nodes, start)
    operands = np.zeros((len(edges), 3, width), dtype=np.uint8)
    operands[:, START, 0] = names[:, 0]
    for operand, side in ((SOURCE, source), (TARGET, target)):
        operands[:, operand] = np.where(there, np.take_along_axis(names, side, 1), 0)
    return operands, np.stack([np.ones_like(edges), edges, edges], 1)


def far(
    rng: np.random.Generator,
    n: int,
    length: int,
    terms: int,
    base: int,
    *,
    steps: int,
    start: int | None = None,
) -> Drawn:
    """Graphs of `length` edges whose farthest node that is reached is exactly so many steps away."""
    return graphs(rng, np.full(n, length, dtype=np.int64), length, base, start, steps)


def _edges(
    rng: np.random.Generator, some: Ints, path: Ints, width: int, nodes: int
) -> tuple[Ints, Ints]:
    """Where edges come from and lead to, the first `some` (N, 1) of which can be walked from node 0: 2 x (N, width).

    The nodes 0, 1, ..., k of a `path` (N, 1) are reached, in as many steps. First come the edges of the path; the
    others that can be walked lead back along it, or on by one. All the rest come from a node that is not reached.
    """
    number = np.arange(width)[None]
    on_path, walked = number < path, number < some
    drawn = rng.random((2, len(some), width))
    reached = path + 1
    source = np.where(walked, drawn[0] * reached, reached + drawn[0] * (nodes - reached))
    source = np.where(on_path, number, source.astype(np.int64))
    choices = np.where(walked, np.minimum(source + 1, path), nodes - 1)  # all but the node itself
    target = (drawn[1] * choices).astype(np.int64)
    target += target >= source
    return source, np.where(on_path, number + 1, target)


def _names(rng: np.random.Generator, first: Ints, nodes: int, start: int | None) -> Ints:
    """A digit for every node, at random, but not 0 for the nodes (N, 2) of the first edge: (N, V).

    Node 0, where one starts, is called `start`, if that is given.
    """
    names = rng.permuted(np.tile(np.arange(nodes), (len(first), 1)), axis=1)
    free = rng.random(names.shape)
    np.put_along_axis(free, first, 1.0, 1)
    if start is not None:
        _swap(names, (names == start).argmax(1), np.zeros(len(first), dtype=np.int64))
        free[:, 0] = 1.0
    zero = (names == 0).argmax(1)
    _swap(names, zero, np.where((first == zero[:, None]).any(1), free.argmin(1), zero))
    return names


def _swap(names: Ints, one: Ints, other: Ints) -> None:
    row = np.arange(len(names))
    names[row, one], names[row, other] = names[row, other], names[row, one]
