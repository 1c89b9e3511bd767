"""Prove a model of several layers that has no window: far keys are one more error of each layer's mixture.

Near keys are enumerated layer by layer, as for a model with windows. In each layer, far keys move the mixed values of a
head. `adjoint_bound.py` bounds what errors of operations do to a lead, to first and second order. So it bounds this one, too.

**The error.** Let m be the mixture of near keys, u_y(s) the ratio of the weight of a far key y in the place s to the sum
of all near weights. With far keys the mixture is m + sum_s w_s (v_s - m), where 0 <= w_s <= u_s. There is at most one
token in a place. So the mixture moves by at most the sum over groups of places of

    decay  max over y of  exp(content of y) / (sum of near exponentials)  ||v_y - m||,

where decay is the sum of exp(bias) over all distances of the group (`far_keys.py`).

**What a far key can be.** In the first layer it is an embedded token. In a later one it is a token after the layers
before, which is near to one of finitely many: its value from near keys alone, with the ball of the far keys that it saw
itself. All of these are among the nodes of the contexts: an answer token was the last token of its own context, and an
operand digit of column c is near to the answer token of that column. The answer has such a token, since no problem's
answer ends before its operands (checked). The balls hold by induction over layers.

**A source.** In an encoder-decoder whose encoder has no layers, each layer has a second mixture, of the source. A far key
there is an embedded digit after the encoder's norm, so it is known as in the first layer.

**Tokens without a column** are the same distance from all others, so a layer could carry what they saw anywhere. In a
decoder of several layers they must be hidden from others (checked). In a source they are as they were embedded.

Shapes: N nodes, Y nodes of the level before, H heads, K head size.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from tenfold.data.places import Places
from tenfold.data.roles import Role
from tenfold.data.tasks.task import Ints
from tenfold.data.tasks.transducer import END
from tenfold.features.proofs.adjoint_attention import Reading
from tenfold.features.proofs.adjoint_bound import ALIKE, batches, leads
from tenfold.features.proofs.adjoint_nodes import AttentionWatch, LayerNodes
from tenfold.features.proofs.adjoint_steps import BALL, Mixing
from tenfold.features.proofs.contexts import Contexts
from tenfold.features.proofs.far_bound import Far
from tenfold.features.proofs.far_keys import FarPlaces, decay_of, far_places, places_of
from tenfold.features.proofs.prover import Prover, problem_batch
from tenfold.features.proofs.soft_view import OneLayer, soft_layers
from tenfold.models.decoder import Decoder
from tenfold.models.locality import NotCertifiable
from tenfold.models.locality_check import logits_at
from tenfold.models.model import Model
from tenfold.models.near import Near, near_only
from tenfold.models.seq2seq import Seq2Seq

SOME = 256  # nodes at a time


class FarMixtures:
    """How far keys move the mixtures of each layer."""

    def __init__(
        self, layers: list[OneLayer], groups: Sequence[Sequence[FarPlaces]], nodes: LayerNodes
    ) -> None:
        self.layers, self.groups, self.labels = layers, groups, [nodes.labels]
        for sight in nodes.sights:
            self.labels.append(self.labels[-1][sight.keys[:, 0]])
        self.source = nodes.labels if nodes.source is None else nodes.source.labels
        self.attention, self.content = 0.0, -math.inf  # the largest found, for the certificate
        self.moved: list[float] = []

    def __call__(self, layer: int, reading: Reading, mixing: Mixing, own: Tensor) -> Tensor:
        """At most the 2-norm by which far keys move the mixtures of nodes with these own tokens: (N, H)."""
        labels, groups = self.labels[layer], self.groups[layer]
        if self.layers[layer].crossing is not None:  # operands are in the source
            groups = [places for places in groups if places.role < Role.OPERAND]
        found = FarTokens(self.layers[layer], groups, labels, embedded=layer == 0)
        return self._by_query(found, labels[own], reading, mixing, own)

    def across(self, layer: int, reading: Reading, mixing: Mixing, own: Tensor) -> Tensor:
        """The same for far keys in the source, whose operands are seen by the tokens after this layer's attention."""
        crossing = self.layers[layer].crossing
        assert crossing is not None
        groups = [places for places in self.groups[layer] if places.role >= Role.OPERAND]
        queries = self.labels[layer + 1][own]
        found = FarTokens(crossing, groups, self.source, embedded=True)
        return self._by_query(found, queries, reading, mixing, own)

    def _by_query(
        self, tokens: FarTokens, queries: Tensor, reading: Reading, mixing: Mixing, own: Tensor
    ) -> Tensor:
        """The nodes of each role of the query (N,)."""
        moved = torch.full_like(mixing.moves, math.inf)
        for query in queries.unique().tolist():
            found = tokens.for_query(query)
            for some in torch.nonzero(queries == query)[:, 0].split(SOME):
                moved[some] = self._moved(tokens.layer, reading, mixing, own, some, query, found)
        self.moved.append(moved.max().item())
        return moved

    def _moved(
        self, layer: OneLayer, reading: Reading, mixing: Mixing, own: Tensor, some: Tensor, query: int, groups: list[FarGroup]
    ) -> Tensor:  # fmt: skip
        """Exponents are bounded with everything that the balls, and rounding, may do to them."""
        near = mixing
        q, rq = reading.q[own[some]], reading.rq[own[some]].unsqueeze(1)  # (N, H, K), (N, 1, H)
        length, at = q.norm(dim=-1).unsqueeze(1), places_of([0], [query])
        off = near.scale * ((length + rq) * near.rk[some] + rq * near.k[some].norm(dim=-1))
        off = torch.where(near.there[some], off + near.own_logits[some], 0.0).amax(1)  # (N, H)
        total = near.logits[some].logsumexp(1) - off  # at least, (N, H)
        mass, moved = torch.zeros_like(total), torch.zeros_like(total)
        for kinds, decay, key_at in groups:
            if not len(kinds):  # nothing is known of what may stand there
                return torch.full_like(moved, math.inf)
            k, rk, v, rv = (part[kinds] for part in (reading.k, reading.rk, reading.v, reading.rv))
            keys = k.transpose(0, 1)  # (H, Y, K)
            content = q.unsqueeze(2) @ keys.mT  # (N, H, 1, Y)
            extra = layer.pe.scores(q.unsqueeze(2), keys[None], at, key_at)
            content = near.scale * (content if extra is None else content + extra)[:, :, 0]
            reach = k.norm(dim=-1) + near.steady.scores  # (Y, H)
            wider = near.scale * ((length + rq) * rk + rq * reach)  # (N, Y, H)
            exponent = content + BALL * wider.transpose(1, 2) - total.unsqueeze(-1)  # (N, H, Y)
            ratio = BALL * exponent.exp() * decay[:, None]
            far = (v.transpose(0, 1) - near.mixed[some].unsqueeze(2)).norm(dim=-1)  # (N, H, Y)
            far = far + rv.mT + near.moves[some].unsqueeze(-1)
            mass = mass + ratio.amax(-1)
            moved = moved + BALL * (ratio * far).amax(-1)
            self.content = max(self.content, exponent.max().item())
        share = (mass / (1 + mass)).nan_to_num(1.0)  # where exponentials overflow
        self.attention = max(self.attention, share.max().item())
        return moved


class FarTokens(NamedTuple):
    """What an attention may have far keys of: places, and nodes with these labels (Y,) that can stand there."""

    layer: OneLayer
    places: Sequence[FarPlaces]
    labels: Tensor
    embedded: bool  # the nodes are tokens as they are embedded; then there is one for each token that may stand there

    def for_query(self, query: int) -> list[FarGroup]:
        """By places, for a query of this role."""
        return [self._group(places, query) for places in self.places]

    def _group(self, places: FarPlaces, query: int) -> FarGroup:
        kinds = torch.nonzero(self.labels == places.role)[:, 0]
        if self.embedded and len(kinds) < len(places.tokens):  # some token was never seen
            kinds = kinds[:0]
        decay, _ = decay_of(self.layer, places, query)
        at = places_of([places.side * places.first] * len(kinds), [places.role] * len(kinds))
        return FarGroup(kinds, decay, at)


class FarGroup(NamedTuple):
    """Far places of one role, and what can be there."""

    kinds: Tensor  # (Y,) nodes of the level before
    decay: Tensor  # (H,)
    at: Places


@torch.no_grad()
def far_of_layers(prover: Prover, model: Model, near: Near, written: Ints) -> Far:
    """What far keys can take from the leads in all contexts, and float32 rounding of near keys with them."""
    exact = copy.deepcopy(model).double().eval()
    assert isinstance(exact, Decoder | Seq2Seq)
    found, targets, alone = [], [], []
    with near_only(exact, near), AttentionWatch(exact) as watch:
        for rows, place in batches(prover, exact):
            batch = problem_batch(prover.batcher, prover.contexts, rows)
            logits, target = logits_at(exact, batch, place), batch.target[:, place]
            alone.append(logits.gather(1, target[:, None]) - logits)
            found.append(watch.nodes())
            targets.append(target)
    nodes, layers = LayerNodes.joined(found), soft_layers(exact, prover.batcher)
    groups = [far_places(near, prover.batcher, layer.fading, written) for layer in layers]
    far = FarMixtures(layers, groups, nodes)
    lead = leads(exact, nodes, torch.cat(targets), steady=prover.steady, far=far)
    others, own = lead.margin.isfinite(), torch.cat(alone)
    apart = (own - lead.margin)[others].abs().max()
    if not apart <= ALIKE * (1 + own.abs().max()):  # the bound is about another model
        lead = lead._replace(lost=torch.where(others, math.inf, 0.0))
    left = lead.margin - lead.lost
    at = int(left.nan_to_num(-math.inf).argmin())
    return Far(
        *near,
        attention=far.attention,
        first=lead.lost.flatten()[at].item(),
        remainder=0.0,
        left=left.flatten()[at].item(),
        most=lead.lost.max().item(),
        content=far.content,
        moved=max(far.moved),
        last=max(far.moved),
        refined=0,
    )


def check_answers_cover(contexts: Contexts) -> None:
    """Raise where an answer may end before its operands: a digit beyond would be near to no answer token."""
    depths = contexts.depths()
    for depth in np.unique(depths):
        rows = np.flatnonzero((depths == depth) & (contexts.output == END))
        if not len(rows):
            continue
        machine = contexts.transducer
        columns = machine.digits(contexts.paths(rows)[0])  # (N, i + 1, M)
        if (columns[:, -1] != machine.base).any():
            raise NotCertifiable(
                "without a window, several layers are certifiable for tasks whose answers are at least as long as "
                "every operand"
            )


@torch.inference_mode()
def check_source_is_near(prover: Prover, model: Model, near: Near) -> None:
    """Raise where a digit has no token of the source near to it, so that far ones have all of its attention there."""
    contexts, behind = prover.contexts, prover.contexts.view.columns + 1
    machine, depths = contexts.transducer, contexts.depths()
    for depth in np.unique(depths):
        rows = np.flatnonzero(depths == depth)
        columns = machine.digits(contexts.paths(rows)[0])[:, -behind:]  # (N, columns, M)
        rows = rows[(columns == machine.base).all((1, 2))][:1]
        if not len(rows):
            continue
        with near_only(model, near):
            logits = logits_at(model, problem_batch(prover.batcher, contexts, rows), int(depth) - 1)
        if logits.isnan().any():
            raise NotCertifiable(
                "without a window, an encoder-decoder is certifiable where each digit of the answer, and its end, has a "
                "token of the source near to it, such as an operator that is not hidden; here one has none"
            )
