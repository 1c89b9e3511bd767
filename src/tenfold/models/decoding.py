"""Decoding as a fixed point: guess the whole answer, predict every digit at once, repeat until nothing changes.

The result is the greedy answer: after k sweeps at least the first k tokens are final. For any causal model a sweep is
one pass over the whole sequence. For a local model it is a pass over the gathered neighbours of each digit, so time is
linear in the length. Only digits that saw a change are predicted again, and equal contexts are computed once.

Shapes: B rows, A answer places, L = B A digits, K neighbours, T tokens of a sequence, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import replace
from functools import cached_property
from weakref import WeakKeyDictionary

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
from tenfold.models.locality_check import leak
from tenfold.models.model import Model, attention_in

CHUNK = 8192  # digits computed at a time
NOBODY = -1  # in place of a token: there is none
FEW = 256  # tokens of a batch up to which a pass over all costs little more than a step of one
WRITTEN = ("causal", "seq2seq")  # layouts in which an answer is written token by token
SWEEPS = 8  # after which decoding continues token by token
PATIENCE = 64  # sweeps by neighbours, after which the rest is written in order
CONFIRMED = 2**24  # pairs of tokens in the sequences that confirm a sample of answers
ORDERLY = 4096  # places that may be left for that, where each is computed
BLOCK = 2**16  # digits whose contexts are held as Python integers
ROWS = 16  # up to which rows are finished one by one: looking up one place of all costs as much


@torch.inference_mode()
def by_sweeps(model: Model, batch: Batch, end: int, most: int | None = None) -> tuple[Tensor, int]:
    """The greedy answers (B, A) by passes over whole sequences, and the number of passes, at most `most`."""
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
    """The greedy answers (B, A) of a local model, by sweeps over the digits that saw a change, and their number.

    The memory may serve several batches, as long as the weights of the model do not change.
    """
    near = Neighbours(model, batch, local, memory)
    rows, places = batch.target.shape
    answer = np.full(rows * places, NOBODY, dtype=np.int64)
    place = np.arange(len(answer)) % places
    there = near.there()
    digits = np.flatnonzero(there)
    sweeps = 0
    while len(digits):
        alone = (
            digits[0] // places == digits[-1] // places and digits[-1] - digits[0] < local.answers
        )
        if alone and near.codes is not None:  # a single front
            sweeps += near.follow(digits, answer, local.answers)
            break
        tokens = near.predicted(digits)
        changed = digits[tokens != answer[digits]]
        answer[digits] = tokens
        sweeps += 1
        changed = changed[place[changed] < places - 1]  # the last token is not read again
        near.write(changed, answer[changed])
        later = changed[:, None] + 1 + np.arange(local.answers)  # digits that see it
        inside = place[changed][:, None] + 1 + np.arange(local.answers) < places
        digits = _distinct(later[inside], len(answer))
        digits = digits[there[digits]]
        many = len(digits) > rows * local.answers  # fronts; each may go on to the end of its row
        if many and sweeps >= PATIENCE:
            first = int(place[digits].min())
            if near.codes is not None:  # each place is looked up once: linear time
                sweeps += near.finish(digits, first, there, answer, local.answers)
                break
            if places - first <= ORDERLY:
                sweeps += near.in_order(first, there, answer)
                break
    whole = torch.from_numpy(answer).view(rows, places).to(batch.target.device)
    return closed(whole, batch, end), sweeps


def _distinct(numbers: Ints, count: int) -> Ints:
    """The numbers below `count`, each once, in order; many of them are marked rather than sorted."""
    if 16 * len(numbers) < count:
        return np.unique(numbers)
    marks = np.zeros(count, dtype=bool)
    marks[numbers] = True
    return np.flatnonzero(marks)


@torch.inference_mode()
def gathered(model: Model, batch: Batch, local: Local) -> Tensor:
    """The logits (B, A, V) that `model(batch)` gives within each row's answer, from its digits' neighbours alone."""
    near = Neighbours(model, batch, local)
    logits = near.logits(np.arange(batch.target.numel()))
    return logits.view(*batch.target.shape, -1)


class ContextMemory:
    """The tokens that a model writes in the contexts computed so far, by the number of the context.

    The numbering depends on the facts and neighbours of a batch. A batch with other facts clears the memory.
    """

    def __init__(self) -> None:
        self.known = IntMap()
        self.facts: dict[tuple[int, ...], int] = {}
        self._layout: object = None

    def numbered(self, side: Tokens, name: int, read: frozenset[str]) -> Ints:
        """(B|1, T): a number for what is read of each token besides its position: role and cyclic places."""
        axes = [side.places[axis].numpy() for axis in sorted(read - POSITIONS)]
        sizes = [int(axis.max()) + 2 for axis in axes]  # -1 is a place, too
        mixed = np.ravel_multi_index(np.broadcast_arrays(*(axis + 1 for axis in axes)), sizes)
        numbers = np.full(math.prod(sizes), -1, dtype=np.int64)
        numbers[mixed] = 0
        for kind in np.flatnonzero(numbers == 0).tolist():
            places = tuple(int(place) - 1 for place in np.unravel_index(kind, sizes))
            numbers[kind] = self.facts.setdefault((name, *places), len(self.facts))
        return numbers[mixed]

    def settle(self, layout: object) -> None:
        """Clear the memory if its contexts were numbered otherwise."""
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
        """(L,): which answer places belong to their row; the others are padding."""
        valid, given = self.batch.sequence.valid, self.batch.given
        if valid is None:
            return np.ones(len(self.slots), dtype=bool)
        return valid[:, given - 1 : given - 1 + self.places].reshape(-1).numpy()

    def predicted(self, digits: Ints) -> Ints:
        """The most likely token at each of these digits; known contexts are looked up."""
        if self.codes is None:
            return self.logits(digits).argmax(-1).numpy()
        keys, known = self._keys(digits), self.memory.known
        new = np.flatnonzero(~known.has(keys))
        if len(new):
            fresh, index = np.unique(keys[new], return_index=True)
            known.add(fresh, self.logits(digits[new[index]]).argmax(-1).numpy())
        return known.get(keys)

    def follow(self, digits: Ints, answer: Ints, answers: int) -> int:
        """Predict one digit after another, until `answers` of them have not changed; returns the number predicted."""
        first = start = int(digits[0])
        last, stop = int(digits[-1]), (first // self.places + 1) * self.places
        seen: dict[int, int] = {}
        while start <= last and start < stop:
            end = min(stop, start + BLOCK)
            keys = self._keys_in_order(start, end)
            for digit in range(start, end):
                if digit > last:
                    return digit - first
                key = next(keys)
                if key not in seen:
                    seen[key] = int(self.predicted(np.array([digit]))[0])
                token = seen[key]
                if token != answer[digit]:
                    answer[digit], last = token, max(last, digit + answers)
                    if digit + 1 < stop:
                        keys.send(token)
            start = end
        return start - first

    def finish(
        self, digits: Ints, first: int, there: NDArray[np.bool_], answer: Ints, answers: int
    ) -> int:
        """Predict what is left in order: a few rows one after another, many rows side by side."""
        row = digits // self.places
        changing = np.unique(row)
        if len(changing) > ROWS:
            return self.in_order(first, there, answer)
        return sum(self.follow(digits[row == each], answer, answers) for each in changing.tolist())

    def in_order(self, first: int, there: NDArray[np.bool_], answer: Ints) -> int:
        """Predict every place from `first` on, one after another, in all rows at once; returns the number of places."""
        for place in range(first, self.places):
            digits = np.arange(place, len(answer), self.places)
            digits = digits[there[digits]]
            answer[digits] = self.predicted(digits)
            if place < self.places - 1:
                self.write(digits, answer[digits])
        return self.places - first

    def write(self, digits: Ints, tokens: Ints) -> None:
        """Put predicted tokens where later digits read them: at the place after their own."""
        row, place = np.divmod(digits, self.places)
        self.tokens[row, self.batch.given + place] = tokens

    def logits(self, digits: Ints) -> Tensor:
        """(N, V), on the CPU."""
        model = self.model
        parts = [
            model(self._gather(digits[start : start + CHUNK]).to(model.device))[:, -1].cpu()
            for start in range(0, len(digits), CHUNK)
        ]
        return torch.cat(parts)

    def _gather(self, digits: Ints) -> Batch:
        sequence = _rows(
            self.batch.sequence, self.tokens, self.slots[digits], digits // self.places
        )
        source = None
        if self.batch.source is not None and self.source is not None:
            tokens = self.batch.source.tokens.numpy()
            source = _rows(self.batch.source, tokens, self.source[digits], digits // self.places)
        target = self.batch.target.new_zeros(len(digits), 1)
        return Batch(sequence, target, sequence.tokens.shape[1], source)

    def _keys(self, digits: Ints) -> Ints:
        """A number for what each digit sees."""
        if self._still is None:
            everyone = np.arange(len(self.slots))
            still = np.delete(self.slots, self.changing, 1)
            self._still = self._key(self.tokens, self.facts, still, everyone)
            if self.batch.source is not None and self.source is not None:
                tokens = self.batch.source.tokens.numpy()
                self._still = self._key(
                    tokens, self.source_facts, self.source, everyone, self._still
                )
        slots = self.slots[digits][:, self.changing]
        return self._key(self.tokens, self.facts, slots, digits, self._still[digits])

    def _keys_in_order(self, first: int, end: int) -> Generator[int, int, None]:
        """The same for the digits of one row, one after another, in Python integers: a long carry chain needs that.

        A token that is sent is the one that the digit now has; digits after it see it.
        """
        assert self.codes is not None
        if self._still is None:
            self._keys(np.array([first]))
        assert self._still is not None
        codes, vocabulary, row = self.codes, self.vocabulary, first // self.places
        tokens = self.tokens[row]
        facts = self.facts[row if len(self.facts) > 1 else 0]
        slots = self.slots[first:end][:, self.changing]
        at = np.maximum(slots, 0)
        fixed = np.where(slots == NOBODY, 0, 1 + vocabulary * facts[at])  # all but the token
        # one place past the end stands for nobody
        seen = np.where(slots == NOBODY, len(tokens), at).tolist()
        now = [*tokens.tolist(), 0]
        place = self.batch.given + first % self.places
        for still, places, parts in zip(
            self._still[first:end].tolist(), seen, fixed.tolist(), strict=True
        ):
            key = still
            for each, part in zip(places, parts, strict=True):
                key = key * codes + part + now[each]
            token = yield key
            if token is not None:
                tokens[place] = now[place] = token
                yield key  # the answer to `send`
            place += 1

    def _key(
        self, tokens: Ints, facts: Ints, slots: Ints, digits: Ints, key: Ints | int = 0
    ) -> Ints:
        assert self.codes is not None
        row = digits // self.places
        for slot in slots.T:
            at = np.maximum(slot, 0)
            fact = facts[row if len(facts) > 1 else 0, at]
            code = 1 + tokens[row, at] + self.vocabulary * fact
            key = key * self.codes + np.where(slot == NOBODY, 0, code)
        return np.asarray(key)

    def _codes(self) -> int | None:
        """The number of codes of a token with its facts; None where keys of several codes exceed 64 bits."""
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
    """A model with its fastest decoding; the answers are those of greedy decoding, token by token.

    Decoding by neighbours rests on the windows that encodings declare. They are tested first, on the model at hand
    (`locality_check`); where a token out of sight changes a logit, the whole sequence is decoded.
    """

    def __init__(self, model: Model, batcher: Batcher) -> None:
        self.model, self.batcher = model, batcher
        self.end = batcher.task.vocabulary.end

    @cached_property
    def local(self) -> Local | None:
        """How far the model sees, as declared and tested; None: it is not local."""
        batcher, local = _SEEN.get(self.model, (None, None))
        if batcher is not self.batcher:
            local = _local(self.model, self.batcher)
            _SEEN[self.model] = self.batcher, local
        return local

    @cached_property
    def memory(self) -> ContextMemory:
        """What a local model wrote in every context so far."""
        return ContextMemory()

    @property
    def linear(self) -> bool:
        """Whether time and memory grow linearly with the length."""
        return self.local is not None

    @property
    def attends(self) -> bool:
        """Whether the model compares all pairs of tokens, if it is not local."""
        return self.model.attends

    def answer(self, batch: Batch) -> Tensor:
        if self.local is not None:
            self.model.check(batch)
            return by_neighbours(self.model, batch, self.local, self.end, self.memory)[0]
        if self.model.layout in WRITTEN and batch.sequence.tokens.numel() <= FEW:
            answer, sweeps = by_sweeps(self.model, batch, self.end, SWEEPS)
            if sweeps < SWEEPS:
                return answer
        return self.model.answer(batch)

    def confirmed(self, batch: Batch) -> int | None:
        """How many rows one pass over whole sequences confirms: as many as are affordable; None if an answer is another.

        An answer from which the whole sequence predicts that same answer, token by token, is the greedy one.
        """
        rows = min(len(batch), CONFIRMED // batch.row_tokens**2)
        if not rows:
            return 0
        batch = batch.rows(slice(0, rows))
        answer = self.answer(batch)
        tokens = batch.sequence.tokens.clone()
        tokens[:, batch.given :] = answer[:, :-1]
        whole = replace(batch, sequence=replace(batch.sequence, tokens=tokens))
        with torch.inference_mode():
            parts = [logits.argmax(-1) for logits in self.model.in_parts(whole, FEW)]
        same = torch.equal(closed(torch.cat(parts, 1), batch, self.end), answer)
        return rows if same else None


# Of models that are in use: windows do not change with the weights, so each model is tested once.
_SEEN: WeakKeyDictionary[Model, tuple[Batcher, Local | None]] = WeakKeyDictionary()


def _local(model: Model, batcher: Batcher) -> Local | None:
    """How far the model sees, if that is bounded and no test refutes it, and if its hubs are those of the task and format."""
    try:
        local = locality(model, frozenset(batcher.periods))
    except NotCertifiable:
        return None
    if not batcher.format.by_column(batcher.task):
        return None
    hub = batcher.task.hub if batcher.format.ends() == "each" else None
    hubs = set() if hub is None else {Role.OPERAND + hub}
    return local if local.hubs <= hubs and leak(model, batcher, local) is None else None
