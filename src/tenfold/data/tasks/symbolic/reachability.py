"""Reachability in a directed graph: which of its edges can be walked, from where one starts? No dependency is local.

    0?34,05,53      start at node 0; edges 3->4, 0->5, 5->3
    yyy             each can be walked: 0->5 first, then 5->3, then 3->4
    0?34,15,53      nnn: no edge leaves 0

Edges stand in any order, so whether one can be walked may hang on any others, at any distance: no window and no bias
by distance decides which. The answer marks the edges one by one, `y` or `n`; it is as long as the graph, as a sum is.

The start is a hub, needed by every column, with the role of the first operand; where edges come from is the second,
where they lead to the third. The format `interleaved` lists edges as pairs, each after the start: `?034005053`.

How graphs are drawn: `graphs.py`.
"""

from __future__ import annotations

import functools
import re

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.samplers import Drawn
from tenfold.data.tasks.sequence import SequenceTask
from tenfold.data.tasks.symbolic.graphs import SOURCE, START, TARGET, far, graphs, walkable
from tenfold.data.tasks.task import (
    DIGITS,
    Digits,
    Examples,
    Ints,
    Sampler,
    digits_of,
    shortened,
)


class Reachability(SequenceTask):
    """`Reachability().parse("0?34,05,53")`; `nodes` is how many there may be, written as digits, 4 to 16.

    What is drawn is balanced at every length: half of all edges can be walked. How many steps the farthest node is away
    is drawn too, uniformly over what the graph has room for. With `start`, all graphs that are drawn start there.

    >>> task = Reachability()
    >>> for text in ("0?34,05,53", "0?34,15,53", "1?10,02,31"):
    ...     print(text, task.truth(task.parse(text), 0))
    0?34,05,53 yyy
    0?34,15,53 nnn
    1?10,02,31 yyn
    """

    name = "reachability"
    operator = "?"
    terms = 3
    hub = START
    fills = True  # with edges 0->0, which change nothing

    def __init__(self, nodes: int = 8, start: int | None = None) -> None:
        if not 4 <= nodes <= 16:
            raise TenfoldError(f"a graph of {nodes} nodes; 4 to 16 are supported")
        if start is not None and not 1 <= start < nodes:
            raise TenfoldError(
                f"a start at node {start}; 1 to {nodes - 1} can be, or any if none is given"
            )
        super().__init__(DIGITS[:nodes], outputs="ny")
        self.start = start

    @property
    def drawn(self) -> int:
        """Samplers draw one number: it has as many digits as the graph has edges."""
        return 1

    @property
    def counted(self) -> str:
        return "edges of the graph"

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        n, _, width = operands.shape
        edges = lengths[:, SOURCE]
        there = np.arange(width) < edges[:, None]
        walked = walkable(operands[:, START, 0], operands[:, SOURCE], operands[:, TARGET], there)
        no, yes = self.vocabulary.ids("ny")
        answer = np.zeros((n, width + 1), dtype=np.uint8)  # a hub has the room that answers have
        answer[:, :width] = np.where(there, np.where(walked, yes, no), 0)
        return Examples(operands, lengths, answer, edges.copy(), hub=self.hub, beyond="last")

    def fit(self, rng: np.random.Generator, operands: Digits, lengths: Ints) -> Drawn:
        """A graph with as many edges as what was drawn has digits, unless a graph was drawn."""
        if operands.shape[1] == self.terms:
            return operands, lengths
        return graphs(rng, lengths[:, -1], operands.shape[-1], self.base, self.start)

    def question(self, examples: Examples, row: int) -> str:
        """`0?34,05,53`."""
        pairs = zip(examples.operands[row], examples.lengths[row], strict=True)
        start, source, target = (self.text(nodes, length) for nodes, length in pairs)
        return f"{start}?" + ",".join(map("".join, zip(source, target, strict=True)))

    def parse(self, text: str) -> Examples:
        """Edges as pairs, with commas or spaces between: `0?34,05`; or as where they come from and lead to: `0?30?45`."""
        node = f"[{DIGITS[: self.base]}]"
        pairs = re.fullmatch(rf"\s*({node})\s*\?((?:[\s,]*{node}{{2}})+)\s*", text)
        lists = re.fullmatch(rf"\s*({node})\?({node}+)\?({node}+)\s*", text)
        if pairs is not None:
            listed = "".join(re.findall(node, pairs[2]))
            start, source, target = pairs[1], listed[0::2], listed[1::2]
        elif lists is not None and len(lists[2]) == len(lists[3]):
            start, source, target = lists[1], lists[2], lists[3]
        else:
            raise TenfoldError(
                f'"{shortened(text)}" is no start with edges between nodes 0 to {DIGITS[self.base - 1]}; '
                'write it as "0?12,01"'
            )
        operands = np.zeros((1, self.terms, len(source)), dtype=np.uint8)
        operands[0, START, 0] = DIGITS.index(start)
        operands[0, SOURCE] = digits_of(source, self.base)
        operands[0, TARGET] = digits_of(target, self.base)
        return self.solve(operands, np.array([[1, len(source), len(source)]], dtype=np.int64))

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        """Graphs whose farthest node that is reached is 1, 2, 4, ... steps away, and as many as leave an edge over."""
        most = min(max(length - 1, 1), self.base - 2)
        sizes = [2**i for i in range((most - 1).bit_length())]
        labels = {**{f"steps-{size}": size for size in sizes}, "steps-most": most}
        return {
            "cascades": {
                label: functools.partial(far, steps=size, start=self.start)
                for label, size in labels.items()
            }
        }
