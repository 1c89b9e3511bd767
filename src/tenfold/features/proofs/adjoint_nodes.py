"""The distinct computations of a decoder in a batch of contexts: which tokens each query sees, and what is added.

A node of level 0 is an embedded token. A node of level n is a token after n layers. Nodes with bitwise equal inputs are
one node, so a layer before the last has few: a token sees few others, and many contexts share them. In an
encoder-decoder whose encoder has no layers, the source is a second level 0, which every layer may see.

Shapes: B rows, T tokens, N nodes, S keys that a node sees, H heads, K head size, D width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from tenfold.models.seq2seq import Seq2Seq

WAYS = frozenset({"embed", "scores", "bias", "visible", "values"})  # whose adjoint is known


class LayerSight(NamedTuple):
    """What the nodes of one level see; in self-attention, the first key is the node's own token, one layer earlier."""

    keys: Tensor  # (N, S) nodes of the level before
    there: Tensor  # (N, S, H) bool
    scores: Tensor | None  # (N, S, H, K): the vectors that queries are multiplied with
    bias: Tensor | None  # (N, S, H)
    values: Tensor | None  # (N, S, H, K): the vectors that are added to values

    def of(self, rows: Tensor) -> LayerSight:
        """For some of the nodes."""
        return LayerSight(*(None if part is None else part[rows] for part in self))  # type: ignore[arg-type]

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


class EmbeddedNodes(NamedTuple):
    """Embedded tokens (N, D), with their labels (N,): the role, or -1 where a token has no column."""

    embedded: Tensor
    labels: Tensor

    @classmethod
    def joined(cls, some: list[EmbeddedNodes]) -> tuple[EmbeddedNodes, list[Tensor]]:
        """The nodes of several batches, alike ones once; and the number of every node by batch."""
        embedded = torch.cat([each.embedded for each in some])
        labels = torch.cat([each.labels for each in some])
        first, number = distinct([embedded, labels])
        numbers = number.split([len(each.embedded) for each in some])
        return cls(embedded[first], labels[first]), list(numbers)


class LayerNodes(NamedTuple):
    """The embedded tokens, and what is seen in each layer; the last level has one node for each context."""

    embedded: Tensor  # (N, D)
    labels: Tensor  # (N,): as in EmbeddedNodes
    sights: list[LayerSight]
    source: EmbeddedNodes | None = None  # of an encoder-decoder
    crossings: Sequence[LayerSight] = ()  # by layer: what is seen of the source

    @classmethod
    def joined(cls, some: list[LayerNodes]) -> LayerNodes:
        """The nodes of several batches, alike ones once."""
        start, numbers = EmbeddedNodes.joined([EmbeddedNodes(*each[:2]) for each in some])
        sources = [each.source for each in some if each.source is not None]
        source, of_source = EmbeddedNodes.joined(sources) if sources else (None, [])
        sights, crossings = list[LayerSight](), list[LayerSight]()
        for layer in range(len(some[0].sights)):
            level = [_renumbered([each.sights[layer] for each in some], numbers)]
            if source is not None:
                level.append(_renumbered([each.crossings[layer] for each in some], of_source))
            if layer < len(some[0].sights) - 1:
                first, number = distinct(_parts(level))
                level = [sight.of(first) for sight in level]
                numbers = list(number.split([len(each.sights[layer].keys) for each in some]))
            sights.append(level[0])
            crossings += level[1:]
        return cls(*start, sights, source, crossings)


def _renumbered(parts: list[LayerSight], numbers: list[Tensor]) -> LayerSight:
    """The sights of several batches together, with these numbers of the level before."""
    widest = max(part.keys.shape[1] for part in parts)
    pairs = zip(parts, numbers, strict=True)
    return LayerSight.joined([part.renumbered(of, widest) for part, of in pairs])


def _parts(level: list[LayerSight]) -> list[Tensor]:
    return [part for sight in level for part in sight if part is not None]


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

    def __init__(self, model: Decoder | Seq2Seq) -> None:
        self.model, self._hooks = model, list[RemovableHandle]()
        blocks = [block for block in model.stack.blocks if isinstance(block, Block)]
        mixers = [block.attention for block in blocks]
        self._attentions = [mixer for mixer in mixers if isinstance(mixer, Attention)]
        self._crossings = [block.cross for block in blocks if block.cross is not None]
        self._given: dict[nn.Module, Seen] = {}
        self._logits: dict[nn.Module, Tensor] = {}
        self._embedded: dict[nn.Module, Tensor] = {}

    def __enter__(self) -> Self:
        def embedded(at: nn.Module, given: tuple[Tensor, ...]) -> None:
            self._embedded[at] = given[0]

        for attention in (*self._attentions, *self._crossings):

            def given(at: nn.Module, given: tuple[Any, ...]) -> None:
                self._given[at] = given[2]

            def ran(_: nn.Module, __: Any, out: Tensor, at: nn.Module = attention) -> None:
                self._logits[at] = out

            self._hooks.append(attention.register_forward_pre_hook(given))
            self._hooks.append(attention.logits.register_forward_hook(ran))
        self._hooks += [norm.register_forward_pre_hook(embedded) for norm in self._first_norms()]
        return self

    def _first_norms(self) -> list[nn.Module]:
        """What reads the embedded tokens of the sequence and, where there is one, of the source."""
        first, reader = self.model.stack.blocks[0], self.model.reader()
        assert isinstance(first, Block)
        return [first.attention_norm, *([] if reader is None else [reader.norm])]

    def __exit__(self, *_: object) -> None:
        while self._hooks:
            self._hooks.pop().remove()

    def nodes(self) -> LayerNodes:
        """Of the last run, which read the last token alone."""
        shown = [self._logits[at].isfinite() for at in self._attentions]  # (B, H, T | 1, T)
        across = [self._logits[at].isfinite() for at in self._crossings]  # (B, H, T | 1, S)
        wanted = [torch.ones_like(shown[-1][:, 0, :, 0])]  # by level, from above: (B, T | 1)
        for some in reversed(shown):
            seen = some.any(1) & wanted[0].unsqueeze(-1)  # (B, T | 1, T)
            seen[:, :, -some.shape[2] :] |= torch.diag_embed(wanted[0])
            wanted.insert(0, seen.any(1))
        seen_source = [
            (some.any(1) & after.unsqueeze(-1)).any(1)
            for some, after in zip(across, wanted[1:], strict=False)
        ]  # (B, S) each
        embedded = [self._embedded[norm] for norm in self._first_norms()]
        start, of = self._numbered(embedded[0], self._attentions[0], wanted[0])
        source, of_source = None, of
        if seen_source:
            seen_any = torch.stack(seen_source).any(0)
            source, of_source = self._numbered(embedded[1], self._crossings[0], seen_any)
        sights, crossings = list[LayerSight](), list[LayerSight]()
        for layer, attention in enumerate(self._attentions):
            queries = wanted[layer + 1]
            level = [self._sight(attention, shown[layer], queries, of, own=True)]
            if source is not None:
                at = self._crossings[layer]
                level.append(self._sight(at, across[layer], queries, of_source, own=False))
            if attention is not self._attentions[-1]:  # contexts differ already
                first, number = distinct(_parts(level))
                of = torch.full(queries.shape, -1)
                of[queries] = number
                level = [sight.of(first) for sight in level]
            sights.append(level[0])
            crossings += level[1:]
        return LayerNodes(*start, sights, source, crossings)

    def _numbered(
        self, embedded: Tensor, attention: Attention, wanted: Tensor
    ) -> tuple[EmbeddedNodes, Tensor]:
        """The distinct embedded tokens among those wanted (B, T), and the number of each, -1 for the others."""
        at = self._given[attention].k_at
        labels = torch.where(at[AXIS] < 0, -1, at["role"]).expand(len(embedded), -1)[wanted]
        first, number = distinct([embedded[wanted], labels])
        of = torch.full(wanted.shape, -1)
        of[wanted] = number
        return EmbeddedNodes(embedded[wanted][first], labels[first]), of

    def _sight(
        self, attention: Attention, shown: Tensor, wanted: Tensor, of: Tensor, *, own: bool
    ) -> LayerSight:
        """What these queries (B, T) see, as nodes that `of` numbers; with `own`, the query's own token comes first."""
        row, query = wanted.nonzero(as_tuple=True)
        seen = shown[row, :, query]  # (N, H, T)
        any_ = seen.any(1)
        order = torch.where(any_, torch.arange(any_.shape[1]) + 1, any_.shape[1] + 1)
        itself = query + shown.shape[3] - shown.shape[2]
        if own:
            order[torch.arange(len(itself)), itself] = 0
        count = max(int((order <= any_.shape[1]).sum(1).max()), 1)
        place = order.argsort(dim=1, stable=True)[:, :count]  # (N, S)
        there = seen.transpose(1, 2)[torch.arange(len(row))[:, None], place]  # (N, S, H)
        keys = torch.where(there.any(-1), of[row[:, None], place], 0)
        if own:
            keys[:, 0] = of[row, itself]

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
