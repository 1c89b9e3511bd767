"""Decoding as a fixed point: guess the whole answer, predict every digit at once, repeat until nothing changes.

The result is the greedy answer: after k sweeps at least the first k tokens are final. For any causal model a sweep is
one pass over the whole sequence. For a local one it is a pass over the neighbours of each digit, gathered: linear in
the length; only digits that saw a change are asked again, and what looks the same is computed once.

Shapes: B rows, A answer places, L = B A digits, K neighbours, T tokens of a sequence, V vocabulary.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tenfold.core.int_map import IntMap
from tenfold.data.batch import Batch, Batcher, Tokens
from tenfold.data.places import Places
from tenfold.data.roles import Role
from tenfold.data.tasks.task import Ints
from tenfold.models.decoder import closed
from tenfold.models.locality import AXIS, Local, NotCertifiable, encodings_of, locality
from tenfold.models.model import Model, attention_in

CHUNK = 8192  # digits that are computed at a time
NOBODY = -1  # in place of a token: there is none
FEW = 256  # tokens of a batch up to which a pass over all costs little more than a step of one
WRITTEN = ("causal", "seq2seq")  # layouts in which an answer is written token by token
SWEEPS = 8  # after which decoding goes on token by token
PATIENCE = 64  # sweeps by neighbours, after which what is left is written in order
ORDERLY = 4096  # places that may be left for that


@torch.inference_mode()
def by_sweeps(model: Model, batch: Batch, end: int, most: int | None = None) -> tuple[Tensor, int]:
    """The greedy answers (B, A), by passes over whole sequences, and how many it took; after `most`, as they are."""
    answer = torch.full_like(batch.target, end)
    tokens = batch.sequence.tokens.clone()
    most = batch.read + 1 if most is None else most
    for sweep in range(1, most + 1):
        tokens[:, batch.given :] = answer[:, :-1]
        whole = replace(batch, sequence=replace(batch.sequence, tokens=tokens))
        better = closed(model(whole).argmax(-1), batch, end)
        if torch.equal(better, answer):
            return answer, sweep
        answer = better
    return answer, most


@torch.inference_mode()
def by_neighbours(
    model: Model, batch: Batch, local: Local, end: int, memory: ContextMemory | None = None
) -> tuple[Tensor, int]:
    """The greedy answers (B, A) of a local model, by sweeps over those digits that saw a change.

    A memory may be kept from batch to batch, as long as the model's weights stay as they are.
    """
    near = Neighbours(model, batch, local, memory)
    rows, places = batch.target.shape
    answer = np.full(rows * places, NOBODY, dtype=np.int64)
    place = np.arange(len(answer)) % places
    there = near.there()
    asked = np.flatnonzero(there)
    sweeps = 0
    while len(asked):
        alone = asked[0] // places == asked[-1] // places and asked[-1] - asked[0] < local.answers
        if alone and near.codes is not None:  # a single front
            sweeps += near.follow(asked, answer, local.answers)
            break
        found = near.predicted(asked)
        changed = asked[found != answer[asked]]
        answer[asked] = found
        sweeps += 1
        changed = changed[place[changed] < places - 1]  # the last token is not read again
        near.write(changed, answer[changed])
        later = changed[:, None] + 1 + np.arange(local.answers)  # digits that see it
        inside = place[changed][:, None] + 1 + np.arange(local.answers) < places
        asked = np.unique(later[inside])
        asked = asked[there[asked]]
        many = len(asked) > rows * local.answers  # fronts, and without codes each is computed
        if near.codes is None and many and sweeps >= PATIENCE:
            first = int(place[asked].min())
            if places - first <= ORDERLY:
                sweeps += near.in_order(first, there, answer)
                break
    whole = torch.from_numpy(answer).view(rows, places).to(batch.target.device)
    return closed(whole, batch, end), sweeps


@torch.inference_mode()
def gathered(model: Model, batch: Batch, local: Local) -> Tensor:
    """The logits (B, A, V) that `model(batch)` gives within each row's answer, from its digits' neighbours alone."""
    near = Neighbours(model, batch, local)
    logits = near.logits(np.arange(batch.target.numel()))
    return logits.view(*batch.target.shape, -1)


class ContextMemory:
    """What a model writes where: the tokens of contexts that were computed, by number.

    How contexts are numbered depends on the facts and the neighbours that there are; where a batch brings
    others, what was known is forgotten.
    """

    def __init__(self) -> None:
        self.known = IntMap()
        self.facts: dict[tuple[int, ...], int] = {}
        self._layout: object = None

    def numbered(self, side: Tokens, name: int, read: frozenset[str]) -> Ints:
        """(B|1, T): a number for all that is read of a token's places beside where it is: role, cyclic places."""
        axes = [side.places[axis].numpy() for axis in sorted(read - POSITIONS)]
        sizes = [int(axis.max()) + 2 for axis in axes]  # -1 is a place, too
        mixed = np.ravel_multi_index(np.broadcast_arrays(*(axis + 1 for axis in axes)), sizes)
        numbers = np.full(math.prod(sizes), -1, dtype=np.int64)
        numbers[mixed] = 0
        for kind in np.flatnonzero(numbers == 0).tolist():
            told = tuple(int(place) - 1 for place in np.unravel_index(kind, sizes))
            numbers[kind] = self.facts.setdefault((name, *told), len(self.facts))
        return numbers[mixed]

    def settle(self, layout: object) -> None:
        """Forget what was numbered otherwise."""
        if (layout, len(self.facts)) != self._layout:
            self.known, self._layout = IntMap(), (layout, len(self.facts))


class Neighbours:
    """For every answer place, the tokens that its digit depends on, in the order of the text."""

    def __init__(
        self, model: Model, batch: Batch, local: Local, memory: ContextMemory | None = None
    ) -> None:
        batch = batch.to("cpu")
        self.model, self.batch, (rows, self.places) = model, batch, batch.target.shape
        self.memory = memory or ContextMemory()
        sequence = batch.sequence
        self.tokens = sequence.tokens.clone().numpy()  # (B, T)
        self.slots = _slots(sequence, rows, self.places, local, local.start)  # (L, K)
        self.source = None
        if batch.source is not None:
            self.source = _slots(batch.source, rows, self.places, local, local.columns)
        read = frozenset({"role"}).union(*(pe.axes for pe in encodings_of(model)))
        self.facts = self.memory.numbered(sequence, 0, read)
        if batch.source is not None:
            self.source_facts = self.memory.numbered(batch.source, 1, read)
        self.changing = [
            slot
            for slot in range(self.slots.shape[1])
            if (self.slots[:, slot] >= batch.given).any()
        ]
        self.vocabulary = attention_in(
            model, "decoding by neighbours"
        ).stack.embedding.num_embeddings
        layout = (
            self.slots.shape[1],
            self.changing,
            self.source is not None and self.source.shape[1],
        )
        self.memory.settle(layout)
        self.codes = self._codes()
        self._still: Ints | None = None  # (L,): the part of each digit's key that stays

    def there(self) -> NDArray[np.bool_]:
        """(L,): which answer places belong to their row; others only fill up the batch."""
        valid, given = self.batch.sequence.valid, self.batch.given
        if valid is None:
            return np.ones(len(self.slots), dtype=bool)
        return valid[:, given - 1 : given - 1 + self.places].reshape(-1).numpy()

    def predicted(self, asked: Ints) -> Ints:
        """The most likely token at each of these digits; what looks like one that is known is not computed."""
        if self.codes is None:
            return self.logits(asked).argmax(-1).numpy()
        keys, known = self._keys(asked), self.memory.known
        new = np.flatnonzero(~known.has(keys))
        if len(new):
            fresh, index = np.unique(keys[new], return_index=True)
            known.add(fresh, self.logits(asked[new[index]]).argmax(-1).numpy())
        return known.get(keys)

    def follow(self, asked: Ints, answer: Ints, answers: int) -> int:
        """Predict one digit after another, until so many have not changed; gives how many there were."""
        digit = first = int(asked[0])
        last, stop = int(asked[-1]), (first // self.places + 1) * self.places
        seen: dict[int, int] = {}
        while digit <= last and digit < stop:
            key = self._one_key(digit)
            if key not in seen:
                seen[key] = int(self.predicted(np.array([digit]))[0])
            if seen[key] != answer[digit]:
                answer[digit], last = seen[key], max(last, digit + answers)
                if digit + 1 < stop:
                    self.tokens[digit // self.places, self.batch.given + digit % self.places] = (
                        seen[key]
                    )
            digit += 1
        return digit - first

    def in_order(self, first: int, there: NDArray[np.bool_], answer: Ints) -> int:
        """Predict every place from the first on, in all rows at once, after those before it; gives how many there were."""
        for place in range(first, self.places):
            asked = np.arange(place, len(answer), self.places)
            asked = asked[there[asked]]
            answer[asked] = self.predicted(asked)
            if place < self.places - 1:
                self.write(asked, answer[asked])
        return self.places - first

    def write(self, digits: Ints, tokens: Ints) -> None:
        """Let these digits be read where they are seen: at the place after theirs."""
        row, place = np.divmod(digits, self.places)
        self.tokens[row, self.batch.given + place] = tokens

    def logits(self, asked: Ints) -> Tensor:
        """(N, V), on the CPU."""
        model = self.model
        parts = [
            model(self._gather(asked[start : start + CHUNK]).to(model.device))[:, -1].cpu()
            for start in range(0, len(asked), CHUNK)
        ]
        return torch.cat(parts)

    def _gather(self, asked: Ints) -> Batch:
        sequence = _rows(self.batch.sequence, self.tokens, self.slots[asked], asked // self.places)
        source = None
        if self.batch.source is not None and self.source is not None:
            held = self.batch.source.tokens.numpy()
            source = _rows(self.batch.source, held, self.source[asked], asked // self.places)
        target = self.batch.target.new_zeros(len(asked), 1)
        return Batch(sequence, target, sequence.tokens.shape[1], source)

    def _keys(self, asked: Ints) -> Ints:
        """A number for what each digit sees."""
        if self._still is None:
            everyone = np.arange(len(self.slots))
            still = np.delete(self.slots, self.changing, 1)
            self._still = self._key(self.tokens, self.facts, still, everyone)
            if self.batch.source is not None and self.source is not None:
                held = self.batch.source.tokens.numpy()
                self._still = self._key(held, self.source_facts, self.source, everyone, self._still)
        slots = self.slots[asked][:, self.changing]
        return self._key(self.tokens, self.facts, slots, asked, self._still[asked])

    def _one_key(self, digit: int) -> int:
        """The same for a single digit, in Python's numbers: a long cascade asks for one after another."""
        if self._still is None or self.codes is None:
            return int(self._keys(np.array([digit]))[0])
        key, row = int(self._still[digit]), digit // self.places
        for slot in self.changing:
            at = int(self.slots[digit, slot])
            fact = 0 if at == NOBODY else int(self.facts[row if len(self.facts) > 1 else 0, at])
            code = 0 if at == NOBODY else 1 + int(self.tokens[row, at]) + self.vocabulary * fact
            key = key * self.codes + code
        return key

    def _key(
        self, tokens: Ints, facts: Ints, slots: Ints, asked: Ints, key: Ints | int = 0
    ) -> Ints:
        assert self.codes is not None
        row = asked // self.places
        for slot in slots.T:
            at = np.maximum(slot, 0)
            fact = facts[row if len(facts) > 1 else 0, at]
            code = 1 + tokens[row, at] + self.vocabulary * fact
            key = key * self.codes + np.where(slot == NOBODY, 0, code)
        return np.asarray(key)

    def _codes(self) -> int | None:
        """How many codes there are of a token with its facts; None where keys of them would not fit."""
        slots = self.slots.shape[1] + (0 if self.source is None else self.source.shape[1])
        size = self.vocabulary * len(self.memory.facts) + 1
        return size if size**slots < 2**63 else None


def _slots(side: Tokens, rows: int, places: int, local: Local, behind: int) -> Ints:
    """For each digit (B * A) the places in a row of the tokens it depends on, NOBODY where there is none."""
    width = side.tokens.shape[1]
    shape = (rows, width)
    column = np.broadcast_to(side.places[AXIS].numpy(), shape)
    role = np.broadcast_to(side.places["role"].numpy(), shape)
    valid = np.ones(shape, dtype=bool) if side.valid is None else side.valid.numpy()
    hub = valid & np.isin(role, list(local.hubs))
    by_column = valid & (column >= 0) & ~hub
    answers = by_column & (role == Role.ANSWER)
    parts = [
        _windows(by_column & ~answers, column, places, behind),
        _windows(answers, column, places, min(behind, local.answers - 1)),
    ]
    most = int(hub.sum(1).max(initial=0))
    if most:
        first = np.sort(np.where(hub, np.arange(width), width), 1)[:, :most]
        parts.append(np.repeat(np.where(first < width, first, NOBODY), places, 0))
    return np.concatenate(parts, 1)


def _windows(there: np.ndarray, column: Ints, places: int, behind: int) -> Ints:
    """The tokens of columns c - behind to c, for every c: (B * A, ...)."""
    row, at = np.nonzero(there)
    cell = row * places + column[row, at]
    order = np.argsort(cell, kind="stable")  # in the order of the text within each column
    cell, at = cell[order], at[order]
    first = np.r_[True, cell[1:] != cell[:-1]]
    rank = np.arange(len(cell)) - np.maximum.accumulate(np.where(first, np.arange(len(cell)), 0))
    most = int(rank.max(initial=-1)) + 1
    grid = np.full((len(there), places + behind, most), NOBODY, dtype=np.int64)
    grid[cell // places, cell % places + behind, rank] = at
    shifted = [grid[:, back : back + places] for back in range(behind + 1)]
    return np.concatenate(shifted, 2).reshape(len(there) * places, -1)


def _rows(side: Tokens, tokens: Ints, slots: Ints, row: Ints) -> Tokens:
    """Some tokens of each row, in the order of the text and aligned at their right end."""
    at = np.sort(slots, 1)  # NOBODY comes first
    valid = at >= 0
    at = np.maximum(at, 0)
    places = {}
    for axis in side.places:
        line = side.places[axis].numpy()
        there = line[row[:, None] if len(line) > 1 else 0, at]
        places[axis] = torch.from_numpy(np.where(valid, there, -1))
    return Tokens(
        torch.from_numpy(tokens[row[:, None], at]), Places(**places), torch.from_numpy(valid)
    )


POSITIONS = {AXIS, "index", "significance"}  # whose places no local model reads as such


class Swift:
    """A model that answers in the fastest of its ways: always what it answers greedily, token by token."""

    def __init__(self, model: Model, batcher: Batcher) -> None:
        self.model, self.local, self.memory = model, _local(model, batcher), ContextMemory()
        self.end = batcher.task.vocabulary.end

    @property
    def linear(self) -> bool:
        """Whether time and memory grow with the length, and not with its square."""
        return self.local is not None

    def answer(self, batch: Batch) -> Tensor:
        if self.local is not None:
            self.model.check(batch)
            return by_neighbours(self.model, batch, self.local, self.end, self.memory)[0]
        if self.model.layout in WRITTEN and batch.sequence.tokens.numel() <= FEW:
            answer, sweeps = by_sweeps(self.model, batch, self.end, SWEEPS)
            if sweeps < SWEEPS:
                return answer
        return self.model.answer(batch)


def _local(model: Model, batcher: Batcher) -> Local | None:
    """How far the model sees, if that is bounded; hubs are few only where the task says so and the format shows."""
    try:
        local = locality(model, frozenset(batcher.periods))
    except NotCertifiable:
        return None
    hub = batcher.task.hub if batcher.format.ends() == "each" else None
    hubs = set() if hub is None else {Role.OPERAND + hub}
    return local if local.hubs <= hubs else None
