"""Extract the finite machine that a local model computes, minimise it, and compare it with the task's machine.

Shapes: N problems, M operands, W digits, A answer places, E edges, F nodes of a frontier, S symbols.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.core.int_map import IntMap
from tenfold.data.batch import Batcher
from tenfold.data.tasks.task import Digits, Examples, Ints
from tenfold.data.tasks.transducer import END, Transducer
from tenfold.features.proofs.contexts import LIMIT, Contexts, Nodes, Space, Tree, View
from tenfold.features.proofs.machine import (
    Difference,
    Machine,
    Moves,
    difference,
    isomorphic,
    minimal,
)
from tenfold.features.proofs.prover import (
    BATCH,
    Progress,
    enumerate_contexts,
    problem_batch,
)
from tenfold.models.locality_check import logits_at
from tenfold.models.model import Model, attention_in


@dataclass(frozen=True)
class Extracted:
    """The minimal machine that a model computes on its task's problems, with the task's own machine."""

    machine: Machine
    task: Transducer
    view: View
    contexts: int  # on which the model was run
    room: int  # answer places beyond the longest operand
    own: bool  # whether it equals the task's machine up to the names of states
    differs: Difference | None  # the shortest input on which their outputs differ

    def write(self, operands: Digits, lengths: Ints) -> Ints:
        """Look up the model's answers to (N, M, W) digits: (N, A), filled with END."""
        rows = [self._line(operands[n : n + 1], lengths[n : n + 1]) for n in range(len(operands))]
        answers = np.full((len(rows), max(map(len, rows))), END, dtype=np.int64)
        for row, line in enumerate(rows):
            answers[row, : len(line)] = line
        return answers

    def answer(self, examples: Examples, row: int = 0) -> Ints:
        """The tokens of one answer, without the end token."""
        line = self._line(examples.operands[row : row + 1], examples.lengths[row : row + 1])
        return line[line != END]

    def _line(self, operands: Digits, lengths: Ints) -> Ints:
        """One answer. Blocks of columns are run in parallel from every state; then the blocks are chained."""
        machine, phases = self.machine, self.view.period**self._ends
        symbols, start = self.task.columns(operands, lengths, self.room + 1)
        if self.task.hub is not None:
            lengths = np.delete(lengths, self.task.hub, 1)
        longest = int(lengths.max())
        sizes = lengths.max(1, keepdims=True) if self.view.together else lengths
        phase = int(
            (sizes % self.view.period * self.view.period ** np.arange(sizes.shape[1])).sum()
        )
        line = symbols[0, : longest + self.room + 1]
        if self.view.together:  # shorter operands are padded with leading zeros
            line = self._padded(line, longest)
        hub = int(self.task.value[start[0]]) - self.task.least
        state = int(machine.starts[hub * phases + phase])
        size = max(1, int(len(line) ** 0.5))
        blocks = np.full(-(-len(line) // size) * size, line[-1])
        blocks[: len(line)] = line
        states = self._states(blocks.reshape(-1, size), state)
        output = machine.output.ravel()[states * machine.symbols + blocks][: len(line)]
        stop = np.flatnonzero(output < 0)
        return output[: int(stop[0]) + 1] if len(stop) else output

    def _states(self, blocks: Ints, state: int) -> Ints:
        """The state before every column, (blocks, size) -> (blocks * size,)."""
        following, symbols = np.maximum(self.machine.next, 0).ravel(), self.machine.symbols
        every = np.tile(np.arange(self.machine.states), (len(blocks), 1))  # (blocks, Q)
        for column in blocks.T:
            every = following[every * symbols + column[:, None]]
        begins = np.zeros(len(blocks), dtype=np.int64)
        for block in range(len(blocks)):
            begins[block] = state
            state = int(every[block, state])
        states = np.zeros(blocks.shape, dtype=np.int64)
        for number, column in enumerate(blocks.T):
            states[:, number] = begins
            begins = following[begins * symbols + column]
        return states.ravel()

    def _padded(self, line: Ints, longest: int) -> Ints:
        digits = self.task.digits(line)
        digits[:longest][digits[:longest] == self.task.base] = 0
        return self.task.symbol(digits)

    @property
    def _ends(self) -> int:
        return 1 if self.view.together else self.task.operands


def extract(
    model: Model, batcher: Batcher, *, limit: int = LIMIT, progress: Progress | None = None
) -> Extracted:
    """Extract a model's machine. Raises `NotCertifiable` where contexts do not determine its answers."""
    contexts = enumerate_contexts(model, batcher, limit)
    task, view = contexts.transducer, contexts.view
    search = _Closure(task, view, limit, model, batcher, progress)
    moves = search.run()
    starts = np.repeat(task.starts, view.period**search.ends)
    machine = minimal(moves, task.symbols, like=(task.output, task.next, starts))
    return Extracted(
        machine=machine,
        task=task,
        view=view,
        contexts=len(search.known),
        room=search.room,
        own=isomorphic(machine, task.output, task.next, starts),
        differs=difference(machine, task.output, task.next, starts, moves),
    )


class _Closure(Space):
    """Search of every situation that follows from the model's own outputs, right or wrong."""

    def __init__(
        self,
        task: Transducer,
        view: View,
        limit: int,
        model: Model,
        batcher: Batcher,
        progress: Progress | None,
    ) -> None:
        self.model, self.batcher, self.progress = model, batcher, progress
        room = batcher.task.sample(1, 1, np.random.default_rng(0)).room
        tokens = attention_in(model, "a machine").stack.embedding.num_embeddings
        super().__init__(task, view, limit, tokens=tokens, room=max(room, 0))
        self.known = IntMap()  # context -> the model's output

    def run(self) -> Moves:
        frontier = self.begin()
        starts = np.arange(len(frontier))
        tree, first, nodes = Tree(self, frontier), 0, IntMap()
        keys = self.node_key(frontier)
        order = np.argsort(keys)
        nodes.add(keys[order], order)
        edges: list[tuple[Ints, ...]] = []
        depth = 0
        while len(frontier):
            at, column = self.ahead(frontier)
            here = frontier[at]
            output = self._outputs(tree, here, at + first, column, depth)
            last = self.blank[column].all(1) & (
                here.blanks >= self.room
            )  # the answer has no further place
            going = (output != END) & ~last
            after = self.after(here[going], column[going], output[going])
            keys = self.node_key(after)
            new, index = np.unique(keys, return_index=True)
            fresh = ~nodes.has(new)
            size = tree.size
            nodes.add(new[fresh], size + np.arange(int(fresh.sum())))
            frontier = after[index[fresh]]
            some = np.flatnonzero(going)[index[fresh]]
            tree.add(frontier, at[some] + first, column[some], output[some])
            to = np.full(len(at), -1, dtype=np.int64)
            to[going] = nodes.get(keys)
            edges.append((at + first, column, output, to))
            first, depth = size, depth + 1
            if len(self.known) > self.limit:
                raise self.too_many()
        node, symbol, output, to = (np.concatenate(part) for part in zip(*edges, strict=True))
        sink = tree.size  # the node after the last place; nothing follows it
        return Moves(starts, node, symbol, output, np.where((to < 0) & (output != END), sink, to))

    def _outputs(self, tree: Tree, here: Nodes, node: Ints, column: Ints, depth: int) -> Ints:
        """The model's output at each of these contexts; it runs once for equal contexts."""
        keys = self.context_key(here, column)
        new, index = np.unique(keys, return_index=True)
        fresh = ~self.known.has(new)
        index = index[fresh]
        contexts = tree.contexts([np.stack([node[index], column[index], column[index]])])
        outputs = np.zeros(len(index), dtype=np.int64)
        for start in range(0, len(index), BATCH):
            rows = np.arange(start, min(start + BATCH, len(index)))
            outputs[rows] = self._run_model(contexts, rows, depth)
            if self.progress is not None:
                self.progress(len(self.known) + int(rows[-1]) + 1, 0)
        self.known.add(new[fresh], outputs)
        return self.known.get(keys)

    def _run_model(self, contexts: Contexts, rows: Ints, place: int) -> Ints:
        batch = problem_batch(self.batcher, contexts, rows)
        if place >= batch.read:
            raise TenfoldError(f"an answer has no place {place}")
        before = contexts.paths(rows)[1]
        tokens = logits_at(self.model.eval(), batch, place, before).argmax(-1).cpu().numpy()
        return np.where(tokens == self.batcher.task.vocabulary.end, END, tokens)
