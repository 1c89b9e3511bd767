"""The distinct computations of a decoder in a batch of contexts: which tokens each query sees, and what is added.

A node of level 0 is an embedded token. A node of level n is a token after n layers. Nodes with bitwise equal inputs are
one node, so a layer before the last has few: a token sees few others, and many contexts share them.

Shapes: B rows, T tokens, N nodes, S keys that a node sees, H heads, K head size, D width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.hooks import RemovableHandle

from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.steady import Steady, steady_of
from tenfold.models.decoder import Decoder
from tenfold.models.layers import Attention, Block, Seen
from tenfold.models.locality import AXIS
from tenfold.models.model import Model

WAYS = frozenset({"embed", "scores", "bias", "visible", "values"})  # whose adjoint is known


class LayerSight(NamedTuple):
    """What the nodes of one level see; the first key is the node's own token, one layer earlier."""

    keys: Tensor  # (N, S) nodes of the level before
    there: Tensor  # (N, S, H) bool
    scores: Tensor | None  # (N, S, H, K): the vectors that queries are multiplied with
    bias: Tensor | None  # (N, S, H)
    values: Tensor | None  # (N, S, H, K): the vectors that are added to values

    def of(self, rows: Tensor) -> LayerSight:
        """For some of the nodes."""
        return LayerSight(*(None if part is None else part[rows] for part in self))  # type: ignore[arg-type]

    def distinct(self) -> tuple[Tensor, Tensor]:
        """The first of each kind of nodes, and the kind of every node."""
        return distinct([part for part in self if part is not None])

    def renumbered(self, of: Tensor, count: int) -> LayerSight:
        """With other numbers of the level before, and room for so many keys."""
        room = count - self.keys.shape[1]
        keys = torch.where(self.there.any(-1), of[self.keys], 0)
        keys[:, 0] = of[self.keys[:, 0]]
        parts = (keys, *self[1:])
        return LayerSight(*(None if p is None else F.pad(p, (*(0, 0) * (p.dim() - 2), 0, room)) for p in parts))  # type: ignore[arg-type]  # fmt: skip

    @classmethod
    def joined(cls, some: list[LayerSight]) -> LayerSight:
        columns = zip(*some, strict=True)
        return cls(*(None if parts[0] is None else torch.cat(parts) for parts in columns))  # type: ignore[arg-type]


class LayerNodes(NamedTuple):
    """The embedded tokens, and what is seen in each layer; the last level has one node for each context."""

    embedded: Tensor  # (N, D)
    labels: Tensor  # (N,): the role of each embedded token, or -1 where it has no column
    sights: list[LayerSight]

    @classmethod
    def joined(cls, some: list[LayerNodes]) -> LayerNodes:
        """The nodes of several batches, alike ones once."""
        embedded = torch.cat([each.embedded for each in some])
        labels = torch.cat([each.labels for each in some])
        first, number = distinct([embedded, labels])
        numbers = number.split([len(each.embedded) for each in some])
        joined = cls(embedded[first], labels[first], [])
        for layer in range(len(some[0].sights)):
            parts = [each.sights[layer] for each in some]
            widest = max(part.keys.shape[1] for part in parts)
            pairs = zip(parts, numbers, strict=True)
            sight = LayerSight.joined([part.renumbered(of, widest) for part, of in pairs])
            if layer < len(some[0].sights) - 1:
                first, number = sight.distinct()
                sight = sight.of(first)
                numbers = number.split([len(part.keys) for part in parts])
            joined.sights.append(sight)
        return joined


def has_adjoint(model: Model, steady: Callable[[PositionalEncoding], Steady | None] = steady_of) -> bool:  # fmt: skip
    """Whether the adjoint bound is known for this model: a decoder, norms first, tables by class, softmax."""
    if type(model) is not Decoder or not model.stack.blocks:
        return False
    blocks = [block for block in model.stack.blocks if type(block) is Block and block.pre]
    mixers = [block for block in blocks if type(block.attention) is Attention]
    parts = [module for module in model.modules() if isinstance(module, PositionalEncoding)]
    return len(mixers) == len(model.stack.blocks) and all(
        pe.ways <= WAYS and not pe.reads_keys and steady(pe) is not None for pe in parts
    )


class AttentionWatch:
    """Keeps what the attentions of a decoder were given in its last run."""

    def __init__(self, model: Decoder) -> None:
        self.model, self._hooks = model, list[RemovableHandle]()
        self._attentions = [m for m in model.modules() if isinstance(m, Attention)]
        self._given: dict[nn.Module, Seen] = {}
        self._logits: dict[nn.Module, Tensor] = {}
        self._embedded: Tensor | None = None

    def __enter__(self) -> Self:
        def embedded(_: nn.Module, given: tuple[Tensor, ...]) -> None:
            self._embedded = given[0]

        for attention in self._attentions:

            def given(at: nn.Module, given: tuple[Any, ...]) -> None:
                self._given[at] = given[2]

            def ran(_: nn.Module, __: Any, out: Tensor, at: nn.Module = attention) -> None:
                self._logits[at] = out

            self._hooks.append(attention.register_forward_pre_hook(given))
            self._hooks.append(attention.logits.register_forward_hook(ran))
        first = self.model.stack.blocks[0]
        assert isinstance(first, Block)
        self._hooks.append(first.attention_norm.register_forward_pre_hook(embedded))
        return self

    def __exit__(self, *_: object) -> None:
        while self._hooks:
            self._hooks.pop().remove()

    def nodes(self) -> LayerNodes:
        """Of the last run, which read the last token alone."""
        assert self._embedded is not None
        shown = [self._logits[at].isfinite() for at in self._attentions]  # (B, H, T | 1, T)
        wanted = [torch.ones_like(shown[-1][:, 0, :, 0])]  # by level, from above: (B, T | 1)
        for some in reversed(shown):
            seen = some.any(1) & wanted[0].unsqueeze(-1)  # (B, T | 1, T)
            seen[:, :, -some.shape[2] :] |= torch.diag_embed(wanted[0])
            wanted.insert(0, seen.any(1))
        labels = self._labels()[wanted[0]]
        first, number = distinct([self._embedded[wanted[0]], labels])
        embedded, labels = self._embedded[wanted[0]][first], labels[first]
        of = torch.full(wanted[0].shape, -1)
        of[wanted[0]] = number
        sights = []
        for layer, attention in enumerate(self._attentions):
            sight = self._sight(attention, shown[layer], wanted[layer + 1], of)
            if attention is not self._attentions[-1]:  # contexts differ already
                first, number = sight.distinct()
                of = torch.full(wanted[layer + 1].shape, -1)
                of[wanted[layer + 1]] = number
                sight = sight.of(first)
            sights.append(sight)
        return LayerNodes(embedded, labels, sights)

    def _labels(self) -> Tensor:
        assert self._embedded is not None
        at = self._given[self._attentions[0]].k_at
        label = torch.where(at[AXIS] < 0, -1, at["role"])
        return label.expand(len(self._embedded), -1)

    def _sight(self, attention: Attention, shown: Tensor, wanted: Tensor, of: Tensor) -> LayerSight:
        """What these queries (B, T) see, as nodes of the level before, which `of` numbers."""
        row, query = wanted.nonzero(as_tuple=True)
        own = query + shown.shape[3] - shown.shape[2]
        seen = shown[row, :, query]  # (N, H, T)
        any_ = seen.any(1)
        order = torch.where(any_, torch.arange(any_.shape[1]) + 1, any_.shape[1] + 1)
        order[torch.arange(len(own)), own] = 0
        count = int((order <= any_.shape[1]).sum(1).max())
        place = order.argsort(dim=1, stable=True)[:, :count]  # (N, S), the own token first
        there = seen.transpose(1, 2)[torch.arange(len(own))[:, None], place]  # (N, S, H)
        keys = torch.where(there.any(-1), of[row[:, None], place], 0)
        keys[:, 0] = of[row, own]

        def picked(pairs: Tensor | None) -> Tensor | None:  # (B|1, H|1, T, S, ...)
            if pairs is None:
                return None
            some = pairs.expand(shown.shape[0], attention.heads, *pairs.shape[2:])
            found = some[row[:, None], :, query[:, None], place]  # (N, S, H, ...)
            hidden = ~there.reshape(*there.shape, *(1,) * (found.dim() - 3))
            return found.masked_fill(hidden, 0.0)

        scores, bias, values = added(self._given[attention], attention, shown.shape)
        return LayerSight(keys, there, picked(scores), picked(bias), picked(values))


def added(
    seen: Seen, attention: Attention, shape: torch.Size
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """What an encoding adds for each pair: vectors for scores, a bias, vectors for values.

    Scores are linear in the query, and what is added to values is linear in the weights. So unit vectors show them.
    """
    pe, (b, h, t, s), size = seen.pe, shape, attention.size
    scores, values = None, None
    if "scores" in pe.ways:
        keys, each = torch.zeros(b, h, s, size, dtype=torch.float64), []
        for unit in torch.eye(size, dtype=torch.float64):
            part = pe.scores(unit.expand(b, h, t, size), keys, seen.q_at, seen.k_at)
            each.append(torch.zeros(b, h, t, s, dtype=torch.float64) if part is None else part)
        scores = torch.stack(each, -1)  # (B, H, T, S, K)
    if "values" in pe.ways:
        each = []
        for unit in torch.eye(s, dtype=torch.float64):
            part = pe.values(unit.expand(b, h, t, s), seen.q_at, seen.k_at)
            each.append(torch.zeros(b, h, t, size, dtype=torch.float64) if part is None else part)
        values = torch.stack(each, 3)  # (B, H, T, S, K)
    return scores, pe.bias(seen.q_at, seen.k_at), values


def distinct(parts: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Rows that are bitwise alike in all parts: the first of each kind, and the kind of every row.

    Rows are grouped by a hash, and each is compared with the first of its group.
    """
    rows = [part.reshape(len(part), -1) for part in parts]
    words = np.concatenate([_words(part) for part in rows], 1)
    factors = np.random.default_rng(0).integers(1, 2**62, (2, words.shape[1]), dtype=np.int64)
    factors = 2 * factors + 1
    with np.errstate(over="ignore"):
        marks = np.stack([(words * factor).sum(1) for factor in factors], 1)
    _, first, kind = np.unique(marks, axis=0, return_index=True, return_inverse=True)
    kind = kind.reshape(-1)
    assert np.array_equal(words, words[first][kind]), "two rows of different content have one hash"
    return torch.from_numpy(first), torch.from_numpy(kind)


def _words(part: Tensor) -> np.ndarray[Any, np.dtype[np.int64]]:
    if part.is_floating_point():
        return np.ascontiguousarray(part.double().numpy()).view(np.int64)
    return part.numpy().astype(np.int64)
