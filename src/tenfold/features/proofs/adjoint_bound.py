"""Bound how far float32 can take the lead of a right logit, by weighing each rounding error with its adjoint.

**What is bounded.** A computed run of a model is z_i = f_i(earlier z) + d_i for its operations i, where d_i is what
operation i rounds. Let F(d) be the lead of the right logit over another one. The exact lead is F(0). On the way from 0 to
d (z_i(t) = f_i(earlier z(t)) + t d_i, t from 0 to 1) the fundamental theorem of calculus gives

    F(d) - F(0) = integral over t of sum_i a_i(t) . d_i,

where a_i(t) is the adjoint of operation i, the derivative of F by its result, at z(t). Nothing is neglected here.

**First order.** The adjoint at the measured values (float64, one context at a time) is a centre a_i. It costs
sum_j |a_ij| own_ij, where own bounds |d_i| number by number. Errors that are common to a vector, as those of a layer
norm's mean and deviation, cost the absolute value of a sum, not a sum of absolute values.

**Second order.** The adjoint anywhere on the way differs from its centre by at most a radius, which costs ||own|| times
the radius. Radii follow from second derivatives: each operation's derivative, anywhere in a ball around the measured
values, differs from that at the centre by at most the second derivative times the ball. So for operation f with
Jacobian J,  ||J'^T a' - J^T a|| <= ||J'|| ||a' - a|| + ||(J' - J)^T a||  (`adjoint_steps.py` has each of them).

**Balls** hold exact values, those on the way, and the measured ones. They are computed forwards, with norms of weights
(`Layered`); or number by number with adjoints of the number itself, the same theorem for another F (`tight`). The
smaller one counts. The ball of a value depends on earlier operations alone, so this is no circle.

**Measured in float64.** Every own error at t u is at most t times that at u, for t < 1. In the same ball everything else
is the same. So a float64 run is within 2^-29 of the float32 radius of the exact one, and a ball that is larger by a
thousandth (`BALL`) holds it. Float64 rounding in an adjoint is added to its radius, in proportion to the absolute
values of the terms of each sum.

Shapes: N nodes, M of them, O adjoints of each, D width, F wider, S keys, H heads, K head size, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from tenfold.data.tasks.task import Ints
from tenfold.encodings.steady import Steady, steady_of
from tenfold.features.proofs.adjoint_attention import (
    Across,
    Before,
    Crossing,
    Embedded,
    Far,
    Level,
    Reading,
    SteadyOf,
    Update,
    acrosses,
    added,
)
from tenfold.features.proofs.adjoint_nodes import (
    AttentionWatch,
    LayerNodes,
    LayerSight,
    has_adjoint,
)
from tenfold.features.proofs.adjoint_steps import (
    BALL,
    Affine,
    Mixing,
    Norm,
    fine,
    priced,
    reached,
    rounded,
)
from tenfold.features.proofs.prover import Progress, Prover, problem_batch
from tenfold.features.proofs.rounding_steps import BEND, FLOAT32, GELU, SLOPE, Arithmetic
from tenfold.models.decoder import Decoder
from tenfold.models.layers import Attention, Block
from tenfold.models.locality_check import logits_at
from tenfold.models.model import Model
from tenfold.models.seq2seq import Seq2Seq

ROOM = 2_000_000  # numbers in the largest array of adjoints
BATCH = 1024  # contexts
ALIKE = 1e-9  # relative difference of logits that float64 may make
SWING = 1.3  # gelu' is between -0.13 and 1.13 (rounded outwards), so it changes by no more


Price = Callable[[Tensor, Tensor, Tensor], Tensor]  # adjoints (M, O, D), radii (M, O), tokens (M,)


class Layered:
    """Tokens after a block: N nodes that see nodes of the level before."""

    x: Tensor
    radius: Tensor
    middle_radius: Tensor  # (N,): of the balls after attention
    steepest: Tensor  # (N,): the largest slope of norm and feed-forward together

    def __init__(
        self,
        model: Decoder | Seq2Seq,
        layer: int,
        sight: LayerSight,
        before: Before,
        by: Arithmetic,
        steady: Steady,
        *,
        tight: bool,
        far: FarKeysAt | None = None,
        across: Across | None = None,
    ) -> None:
        block = model.stack.blocks[layer]
        assert isinstance(block, Block)
        assert isinstance(block.attention, Attention)
        self.block, self.before, self.sight, self.by = block, before, sight, by
        self.crossing: Crossing | None = None
        self._attend(block.attention, steady, None if far is None else partial(far, layer))
        if tight:
            self.middle_radius = self._tightened(self.price_attention, self.middle_radius)
        if across is not None:
            further = None if far is None else partial(far.across, layer)
            self._cross(across, further)
            if tight:
                self.middle_radius = self._tightened(self.price_middle, self.middle_radius)
        self._feed()
        if tight:
            self.radius = self._tightened(self.price, self.radius)

    def _attend(self, attention: Attention, steady: Steady, far: Far | None) -> None:
        level, own = self.before.level, self.sight.keys[:, 0]
        mixing = Mixing(self.before.seen(own, self.sight), steady, self.by)
        if far is not None:
            mixing.joined_by(far(self.before, mixing, own))
        self.update = Update(attention, mixing, level.x[own], level.radius[own], self.by)
        self.middle, self.middle_radius = self.update.x, self.update.radius

    def _cross(self, across: Across, far: Far | None) -> None:
        self.crossing = Crossing(self.block, across, self.middle, self.middle_radius, self.by, far)
        self.middle, self.middle_radius = self.crossing.update.x, self.crossing.update.radius

    def _feed(self) -> None:
        by, block = self.by, self.block
        self.norm = norm = Norm(block.feedforward_norm, self.middle, self.middle_radius, by)
        self.expand = Affine.after(block.expand, norm, by)
        h, width = self.expand.out, block.expand.out_features
        self.rh = reached(block.expand.weight, norm, self.expand.own, width)  # (N, F)
        self.bell = torch.exp(-h.square() / 2) / math.sqrt(2 * math.pi)
        self.slope = (1 + torch.erf(h / math.sqrt(2))) / 2 + h * self.bell  # gelu'
        self.swing = (BEND * self.rh).clamp(max=SWING)  # of gelu' in the ball: |gelu''| <= BEND
        self.own_gelu = by.gamma(GELU) * (h.abs() + self.rh) + 4 * by.tiny
        g = torch.nn.functional.gelu(h)
        rg = BALL * (SLOPE * self.rh + self.own_gelu)
        further = rg @ block.contract.weight.abs().mT
        self.contract = Affine(block.contract, g, further, g.norm(dim=-1) + rg.norm(dim=-1), by)
        self.x = self.middle + self.contract.out
        self._slope_of_all()
        own = self.contract.own.norm(dim=-1)
        coarse = self.middle_radius + self.contract.slope * rg.norm(dim=-1) + own
        inside = rounded(block.expand.weight, norm, self.expand.own, width)
        inside = self.contract.slope * (SLOPE * inside + self.own_gelu).norm(dim=-1)
        moved = torch.fmin(coarse, (1 + self.steepest) * self.middle_radius + inside + own)
        self.own_last = added(self.x, moved, by)
        self.radius = BALL * (moved + self.own_last.norm(dim=-1))

    def _slope_of_all(self) -> None:
        """At most the slope of norm, feed-forward and gelu together, in the ball: ||V diag(gelu') W diag(g)||_F / s."""
        norm, narrow = self.norm, self.block.contract.weight
        gained = self.block.expand.weight * norm.g
        form = (narrow.mT @ narrow) * (gained @ gained.mT)  # (F, F)
        square = ((self.slope @ form) * self.slope).sum(-1).clamp(min=0)
        sizes = (narrow.abs().mT @ narrow.abs()) * (gained.abs() @ gained.abs().mT)
        square = square + fine(4 * sum(gained.shape)) * SLOPE**2 * sizes.sum()
        self.wide = torch.linalg.matrix_norm(gained, 2)
        bend = self.swing.amax(-1) * self.wide * torch.linalg.matrix_norm(narrow, 2)
        self.steepest = BALL * (square.sqrt() + bend) * norm.steep

    def _tightened(self, price: Price, radius: Tensor) -> Tensor:
        """The radius from that of each number: F is one number of the vector, its adjoint a unit vector."""
        units, rows = torch.eye(self.middle.shape[1], dtype=torch.float64), []
        for some in _portions(len(radius), self.breadth() * len(units)):
            a = units.expand(len(some), -1, -1)
            rows.append(price(a, a.new_zeros(len(some), len(units)), some).norm(dim=-1))
        return torch.fmin(radius, BALL * torch.cat(rows))

    def breadth(self) -> int:
        keys, width = self.sight.keys.shape[1], self.middle.shape[1]
        wide = self.before.query.weight.shape[0] + width
        across = 0 if self.crossing is None else self.crossing.sight.keys.shape[1] * wide
        each = max(wide, self.before.level.breadth())
        return max(self.block.expand.out_features, keys * each, across)

    def price(self, a: Tensor, ra: Tensor, at: Tensor) -> Tensor:
        a, ra, cost = self.back_feed(a, ra, at)
        return cost + self.price_middle(a, ra, at)

    def back_feed(self, a: Tensor, ra: Tensor, at: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Through the residual sum and the feed-forward layer.

        Two bounds on the radius hold. One multiplies the slopes of the operations. The other splits
        J'^T a' - J^T a = J'^T (a' - a) + N'^T W^T (D' - D) V^T a + (N' - N)^T W^T D V^T a,
        with N of the norm, D of gelu, and ||J'|| at most the slope of all three together.
        """
        cost = priced(a, ra, self.own_last[at])
        ag, rag, more = self.contract.back(a, ra, at)
        blur = rag - self.contract.slope * ra  # float64 alone
        cost = cost + more + priced(ag, rag, self.own_gelu[at])
        size = ag.norm(dim=-1)
        turned = (self.swing[at].unsqueeze(1) * ag).norm(dim=-1) + fine(1) * size
        ah, rah = self.slope[at].unsqueeze(1) * ag, SLOPE * rag + turned
        an, ran, more = self.expand.back(ah, rah, at)
        cost = cost + more
        back, rback, more = self.norm.back(an, ran, at)
        steep = self.norm.steep[at][:, None]
        apart = self.steepest[at][:, None] * ra + self.wide * steep * (turned + SLOPE * blur)
        off = self.expand.blur * ah.norm(dim=-1)
        bend = self.norm.most * off * steep + self.norm.bent((an * self.norm.g).norm(dim=-1), at)
        radius = torch.fmin(rback, apart + bend)
        return a + back, ra + BALL * radius + fine(1) * a.norm(dim=-1), cost + more

    def price_attention(self, a: Tensor, ra: Tensor, at: Tensor) -> Tensor:
        """Through the residual sum and attention, and on to the level before: the own token and every key."""
        before, own = self.before, self.sight.keys[at, 0]  # (M,)
        got = self.update.back(a, ra, at)
        aq, raq, more = before.query.back(got.q.flatten(2), got.rq.norm(dim=-1), own)
        keys = before.back_keys(got, self.sight, at)
        cost = (got.cost + more).index_add(0, keys.whose, keys.cost)
        an, ran = keys.a, keys.ra
        first = torch.nonzero(keys.slot == 0)[:, 0]  # every token sees itself
        assert len(first) == len(at)
        an[first] += aq
        ran[first] += raq
        ax, rax, more = before.norm.back(an, ran, keys.nodes)
        cost = cost.index_add(0, keys.whose, more)
        ax[first] += a
        rax[first] += ra + fine(1) * a.norm(dim=-1)
        return cost.index_add(0, keys.whose, before.level.price(ax, BALL * rax, keys.nodes))

    def price_middle(self, a: Tensor, ra: Tensor, at: Tensor) -> Tensor:
        """Through attention to the source, where there is one, and attention."""
        if self.crossing is None:
            return self.price_attention(a, ra, at)
        a, ra, cost = self.crossing.back(a, ra, at)
        return cost + self.price_attention(a, ra, at)


class FarKeysAt(Protocol):
    """How much keys that are not among the nodes may move the mixtures of a layer, (N, H); `own` are the queries (N,)."""

    def __call__(self, layer: int, reading: Reading, mixing: Mixing, own: Tensor) -> Tensor:
        """In self-attention."""

    def across(self, layer: int, reading: Reading, mixing: Mixing, own: Tensor) -> Tensor:
        """In attention to the source."""


class Lead(NamedTuple):
    """The lead of the right logit over each other one in some contexts, and what float32 can take from it."""

    margin: Tensor  # (N, V); infinite for the right one itself
    lost: Tensor  # (N, V); 0 for the right one itself


@torch.no_grad()
def adjoint_bound(prover: Prover, model: Model, progress: Progress | None = None) -> float | None:
    """How much float32 can take from any lead of a right logit; None where adjoints do not apply, or bound nothing.

    `model` is in float64. They apply to decoders with norms first, whose encodings read lookup tables. What is computed
    here must give the model's own logits; otherwise an encoding does more than it declares.
    """
    if not has_adjoint(model):
        return None
    assert isinstance(model, Decoder)
    worst, done = 0.0, 0
    with AttentionWatch(model) as watch:
        for rows, place in batches(prover, model):
            batch = problem_batch(prover.batcher, prover.contexts, rows)
            logits, target = logits_at(model, batch, place), batch.target[:, place]
            found = leads(model, watch.nodes(), target)
            others = found.margin.isfinite()
            apart = (logits.gather(1, target[:, None]) - logits - found.margin)[others].abs().max()
            if not apart <= ALIKE * (1 + logits.abs().max()):
                return None
            worst = max(worst, found.lost.max().item())
            if not math.isfinite(worst):
                return None
            done += len(rows)
            if progress is not None:
                progress(done, len(prover.contexts))
    return worst


def batches(prover: Prover, model: Decoder | Seq2Seq) -> Iterator[tuple[Ints, int]]:
    """All contexts, those of one depth together, with their place: layers before the last need memory for all pairs."""
    several = len(model.stack.blocks) > 1
    for depth in np.unique(prover.depths):
        alike, terms = np.flatnonzero(prover.depths == depth), prover.batcher.task.terms
        tokens = (terms + 1) * (int(depth) + 2 * prover.contexts.view.period + 2)  # at most
        each = model.head.in_features * tokens * (tokens if several else 1)
        for rows in np.array_split(alike, -(-len(alike) // max(1, min(BATCH, ROOM // each)))):
            yield rows, int(depth) - 1


@torch.no_grad()
def leads(
    model: Decoder | Seq2Seq,
    nodes: LayerNodes,
    target: Tensor,
    by: Arithmetic = FLOAT32,
    *,
    steady: SteadyOf = steady_of,
    far: FarKeysAt | None = None,
) -> Lead:
    """Of a model in float64, in these contexts with these right tokens (N,).

    `far` says how much keys that are not among the nodes may move the mixture of a layer, in each head. They do more than
    rounding, so the balls of the last layer are tightened, too.
    """
    known = [steady(model.stack.encodings[layer]) for layer in range(len(nodes.sights))]
    bounds = [each for each in known if each is not None]
    assert len(bounds) == len(known)
    level: Level = Embedded(model.stack, nodes.embedded, bounds[0], by)
    crossings = acrosses(model, nodes, by, steady)
    last = len(nodes.sights) - 1
    for layer, sight in enumerate(nodes.sights):
        block = model.stack.blocks[layer]
        assert isinstance(block, Block)
        assert isinstance(block.attention, Attention)
        before = Before(block.attention, block.attention_norm, level, by)
        level = Layered(
            model,
            layer,
            sight,
            before,
            by,
            bounds[layer],
            tight=layer < last or far is not None,
            far=far,
            across=crossings[layer],
        )
    assert isinstance(model.stack.norm, nn.LayerNorm)
    norm, weight = Norm(model.stack.norm, level.x, level.radius, by), model.head.weight
    head, costs = Affine.after(model.head, norm, by), []
    for some in _portions(len(target), level.breadth() * len(weight)):
        right = target[some]
        rows = weight[right].unsqueeze(1) - weight  # (M, V, D)
        ax, rax, cost = norm.back(rows, fine(1) * rows.norm(dim=-1), some)
        own = head.own[some]
        costs.append(cost + own + own.gather(1, right[:, None]) + level.price(ax, rax, some))
    margin = head.out.gather(1, target[:, None]) - head.out
    lost = torch.cat(costs).nan_to_num(math.inf) * BALL
    return Lead(margin.scatter(1, target[:, None], math.inf), lost.scatter(1, target[:, None], 0.0))


def _portions(count: int, each: int) -> Iterator[Tensor]:
    """The numbers up to `count`, in portions that need not more than ROOM if each needs so much."""
    yield from torch.arange(count).split(max(1, ROOM // each))
