"""Bound what far keys can do to the logits of a decoder of one layer, context by context.

A far key in a place s with token t has a weight of at most u(h, t) b(s) in head h, where u = exp(content) / (sum of
near exponentials). The mixed values move by sum_s alpha(h, s) (v(h, t) - o(h)), where o is the mixture of near keys and
(u b) / (1 + mass) <= alpha <= u b. This is a polytope. Its effect on a difference of logits is bounded by

    first order   the least value of a linear function on the polytope; it separates by place
    remainder     half of the second derivative, along the segment, times the square of how far the residual moves

Shapes: B contexts, V vocabulary, H heads, K head size, D width, F feed-forward width, Y types of far keys, G groups.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tenfold.features.proofs.adjoint_steps import fine
from tenfold.features.proofs.far_keys import FarKeys
from tenfold.features.proofs.rounding_steps import BEND, SLOPE
from tenfold.features.proofs.soft_view import OneLayer

SLACK = 1 + 1e-6  # for the arithmetic of the bound itself, in float64
TURN = math.sqrt(2)  # the second derivative of x -> (x - mean) / s is at most TURN / (sqrt(D) s^2)


@dataclass(frozen=True)
class Far:
    """What far keys can do to a model at most, over all contexts; first order and remainder at the worst one."""

    columns: int  # behind the query: operand digits up to there are near
    answers: int  # the same for answer tokens
    attention: float  # on far keys, in any head
    first: float
    remainder: float
    left: float  # of the margin, in the context that has the least left
    most: float  # first order and remainder in any context
    content: float  # the largest logit of a far key without its bias, less that of all near keys
    moved: float  # the residual after attention, in the 2-norm
    last: float  # the same where it enters the last norm
    refined: int  # contexts for which the coarse remainder was not enough

    @property
    def bound(self) -> float:
        return self.first + self.remainder

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class Attended(NamedTuple):
    """What attention computed from near keys alone."""

    q: Tensor  # (B, H, 1, K)
    total: Tensor  # (B, H): the logarithm of the sum of exponentials
    mixed: Tensor  # (B, H, K)
    x: Tensor  # (B, D): the residual after attention


class OutputPart(NamedTuple):
    """The part of a model after attention, with the gains of its norms in the weights."""

    wide: Tensor  # (F, D)
    wide_bias: Tensor  # (F,)
    narrow: Tensor  # (D, F)
    narrow_bias: Tensor
    rows: Tensor  # (V, D), without their mean
    bias: Tensor  # (V,)
    eps: float
    final_eps: float

    @classmethod
    def of(cls, layer: OneLayer) -> OutputPart:
        norm, final = layer.block.feedforward_norm, layer.model.stack.norm
        expand, contract, head = layer.block.expand, layer.block.contract, layer.model.head
        assert isinstance(final, torch.nn.LayerNorm)
        wide = expand.weight * norm.weight
        rows = head.weight * final.weight
        return cls(
            wide - wide.mean(1, keepdim=True),
            expand.weight @ norm.bias + expand.bias,
            contract.weight,
            contract.bias,
            rows - rows.mean(1, keepdim=True),
            head.weight @ final.bias + head.bias,
            norm.eps,
            final.eps,
        )


class ResidualPoint(NamedTuple):
    """The part after attention at one residual, and its derivatives: n, 1 / s, h at the norm; n, 1 / s at the last."""

    normal: Tensor  # (B, D)
    steep: Tensor  # (B, 1)
    h: Tensor  # (B, F)
    last: Tensor  # (B, D)
    last_steep: Tensor  # (B, 1)
    logits: Tensor  # (B, V)

    @classmethod
    def of(cls, head: OutputPart, x: Tensor) -> ResidualPoint:
        normal, steep = _normal(x, head.eps)
        h = normal @ head.wide.mT + head.wide_bias
        z = x + torch.nn.functional.gelu(h) @ head.narrow.mT + head.narrow_bias
        last, last_steep = _normal(z, head.final_eps)
        return cls(normal, steep, h, last, last_steep, last @ head.rows.mT + head.bias)

    def at_last(self, rows: Tensor) -> Tensor:
        """Gradients of these rows (B, O, D) of the last norm's output, by what enters it."""
        return _through(rows, self.last, self.last_steep)

    def gradients(self, head: OutputPart, at_last: Tensor) -> Tensor:
        """Gradients by the residual: (B, O, D)."""
        bent = (at_last @ head.narrow) * _gelu_slope(self.h).unsqueeze(1)
        return at_last + _through(bent @ head.wide, self.normal, self.steep)


def _normal(x: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    steep = (variance + eps).rsqrt()
    return (x - mean) * steep, steep


def _through(rows: Tensor, normal: Tensor, steep: Tensor) -> Tensor:
    """Rows (B, O, D) times the derivative of (x - mean) / s."""
    rows = rows - rows.mean(-1, keepdim=True)
    along = (rows @ normal.unsqueeze(-1)) / normal.shape[-1]
    return (rows - along * normal.unsqueeze(1)) * steep.unsqueeze(1)


def _gelu_slope(h: Tensor) -> Tensor:
    return (1 + torch.erf(h / math.sqrt(2))) / 2 + h * _bell(h)


def _bell(h: Tensor) -> Tensor:
    return torch.exp(-h.square() / 2) / math.sqrt(2 * math.pi)


class FarInfluence(NamedTuple):
    """What far keys can do in some contexts: their attention, and how they move each logit against the right one."""

    mass: Tensor  # (B,): the largest attention on far keys, over heads
    moved: Tensor  # (B,): how far the residual moves, in the 2-norm
    last: Tensor  # (B,): the same where it enters the last norm
    content: Tensor  # (B,): the largest logit of a far key without bias, less that of near keys
    margin: Tensor  # (B, V): the lead of the right logit without far keys; infinite for itself
    first: Tensor  # (B, V): how much of it is lost at most, to first order
    remainder: Tensor  # (B, V)
    refined: Tensor  # (B,): whether the remainder is of the refined kind

    @property
    def left(self) -> Tensor:
        """Of each margin, (B, V); nothing is left where exponentials overflow, so that a loss is no number."""
        left = self.margin - self.first - self.remainder
        return torch.where(left.isnan(), -math.inf, left)

    def of(self, some: Tensor) -> FarInfluence:
        """In some of the contexts."""
        return FarInfluence(*(part[some] for part in self))


class FarBound:
    """The bound for one model in float64."""

    def __init__(self, layer: OneLayer) -> None:
        self.layer, self.head = layer, OutputPart.of(layer)
        attention, head = layer.attention, self.head
        self.out = attention.out.weight.view(-1, attention.heads, attention.size)  # (D, H, K)
        by_head = self.out.permute(1, 0, 2)  # (H, D, K)
        self.turns = torch.linalg.qr(by_head, mode="r")[1]  # (H, K, K): lengths are as after `out`
        self.blurs = fine(len(self.out)) * torch.linalg.matrix_norm(by_head)[:, None]  # (H, 1)
        lengths = head.narrow.norm(dim=0)  # (F,)
        form = (head.wide.mT * lengths) @ head.wide
        self.curved = torch.linalg.matrix_norm(form, 2)  # of |V_j| (w_j . e)^2, summed over j
        self.norms = torch.linalg.matrix_norm(head.wide, 2) * torch.linalg.matrix_norm(head.narrow, 2)  # fmt: skip
        self.widest = head.wide.norm(dim=1).max()
        self.product = (head.narrow.mT @ head.narrow) * (head.wide @ head.wide.mT)  # (F, F)

    def influence(
        self,
        seen: Attended,
        keys: FarKeys,
        target: Tensor,
        error: float,
        possible: Tensor | None = None,
    ) -> FarInfluence:
        """The influence in these contexts; `error` bounds the rounding of an attention logit.

        `possible` (B, G) says which groups of far places there are in a context; None: all.
        """
        point = ResidualPoint.of(self.head, seen.x)
        content = keys.content(seen.q) - seen.total.unsqueeze(-1) + 2 * error
        upper = content.exp() * keys.decay[:, keys.group] * SLACK  # (B, H, Y)
        if possible is not None:
            upper = torch.where(possible[:, None, keys.group], upper, 0.0)
        mass = _largest(upper, keys).sum(-1)  # (B, H)
        away = keys.v - seen.mixed.unsqueeze(2)  # (B, H, Y, K)
        rows = self.head.rows[target].unsqueeze(1) - self.head.rows  # (B, V, D)
        at_last = point.at_last(rows)
        slopes = point.gradients(self.head, at_last)  # (B, V, D)
        by_head = torch.einsum("bvd,dhk->bvhk", slopes, self.out)
        change = torch.einsum("bvhk,bhyk->bvhy", by_head, away)
        blur = self.blurs * away.norm(dim=-1)  # (B, H, Y): what float64 rounds after `out`
        change = change - slopes.norm(dim=-1)[..., None, None] * blur.unsqueeze(1)
        present = math.exp(-4 * error) / (1 + mass)[:, None, :, None]
        change = change * upper.unsqueeze(1) * torch.where(change < 0, 1.0, present)
        first = -_least(change, keys) * SLACK
        steps = (away @ self.turns.mT).norm(dim=-1) + blur
        moved = -_least(-(upper * steps).unsqueeze(1), keys)[:, 0] * SLACK
        logits = point.logits
        margin = logits.gather(1, target[:, None]) - logits
        margin = margin.scatter(1, target[:, None], math.inf)
        remainder, last = self._coarse(point, rows, moved)
        able = Steps(point, rows, at_last, moved, upper, away, keys)
        remainder, refined = self._refine(able, margin - first, remainder)
        remainder = remainder.scatter(1, target[:, None], 0.0)
        share = (mass / (1 + mass)).amax(1) * SLACK
        most = content.amax((1, 2))
        return FarInfluence(share, moved, last, most, margin, first, remainder, refined)

    def _reach(self, point: ResidualPoint, moved: Tensor) -> tuple[Tensor, Tensor]:
        """The least s, as 1 / s, at the first norm, and the most that an h moves: (B,) each."""
        width = point.normal.shape[-1]
        low = 1 / point.steep[:, 0] - moved / math.sqrt(width)
        steep = torch.where(low > 0, 1 / low, math.inf)
        return steep, self.widest * moved * steep

    def _coarse(self, point: ResidualPoint, rows: Tensor, moved: Tensor) -> tuple[Tensor, Tensor]:
        """Half of the largest second derivative times the square of the step, from norms: (B, V).

        Also how far what enters the last norm moves: (B,).
        """
        width = point.normal.shape[-1]
        steep, bend = self._reach(point, moved)
        d = _gelu_slope(point.h)
        local = ((d @ self.product) * d).sum(-1).clamp(min=0).sqrt() + BEND * bend * self.norms
        slope = torch.minimum(local, SLOPE * self.norms)  # of V gelu(h) by n
        whole = 1 + slope * steep
        last = self._last(point, moved * whole)
        size = rows.norm(dim=-1)  # (B, V)
        inner = (BEND * self.curved + slope * TURN / math.sqrt(width)) * steep**2
        second = TURN * (whole * last) ** 2 / math.sqrt(width) + last * inner
        return self._halved(second.unsqueeze(1) * size, moved), moved * whole

    def _last(self, point: ResidualPoint, moved: Tensor) -> Tensor:
        low = 1 / point.last_steep[:, 0] - moved / math.sqrt(point.last.shape[-1])
        return torch.where(low > 0, 1 / low, math.inf)

    def _halved(self, second: Tensor, moved: Tensor) -> Tensor:
        remainder = second * moved.unsqueeze(1).square() / 2 * SLACK
        return torch.where(remainder.isnan(), math.inf, remainder)

    def _refine(self, seen: Steps, without: Tensor, remainder: Tensor) -> tuple[Tensor, Tensor]:
        """The contexts that the coarse remainder leaves with less than half of their margin, again by local derivatives.

        Also which these are, (B,).
        """
        open_ = (remainder > without / 2) & without.isfinite() & (without > 0)
        chosen = open_.any(1)
        for number in torch.nonzero(chosen)[:, 0].tolist():
            some = torch.nonzero(open_[number])[:, 0]
            fine = self._local(seen.of(number, some))
            remainder[number, some] = torch.minimum(remainder[number, some], fine)
        return remainder, chosen

    def _local(self, seen: Steps) -> Tensor:
        """The remainder for one context and some other tokens (O,), along the steps that far keys can make.

        Every first derivative is taken at the context and enlarged by what the second derivatives may change.
        """
        head, point, width = self.head, seen.point, seen.rows.shape[-1]
        moved, (steep, _) = seen.moved[0], self._reach(point, seen.moved)
        h, d, size = point.h[0], _gelu_slope(point.h[0]), seen.rows[0].norm(dim=-1)
        tall, lengths = head.wide.norm(dim=1), head.narrow.norm(dim=0)  # (F,) each
        steps = torch.einsum("dhk,hyk->hyd", self.out, seen.away[0])  # (H, Y, D)
        turned = _through(steps, point.normal, point.steep)  # by the first norm
        bends = turned @ head.wide.mT  # (H, Y, F): what each h does
        through = steps + (bends * d) @ head.narrow.mT  # (H, Y, D)
        upper, bent = seen.upper[0], TURN * (steep[0] * moved) ** 2 / math.sqrt(width)
        reach = self._most(upper.unsqueeze(-1) * bends.abs(), seen.keys) + tall * bent  # (F,)
        product = torch.linalg.matrix_norm((head.narrow * d) @ head.wide, 2)
        slope = torch.minimum(product + BEND * reach.max() * self.norms, SLOPE * self.norms)
        far = self._most((upper * through.norm(dim=-1)).unsqueeze(-1), seen.keys)[0]
        far = far + BEND * (lengths * reach.square()).sum() + slope * bent
        last = self._last(point, far[None])[0]
        drift = size * TURN * far * last**2 / math.sqrt(width)  # of the rows before the last norm
        at_last = seen.at_last[0]
        weight = (at_last @ head.narrow).abs() + drift[:, None] * lengths  # (O, F)
        curve = (((2 - h.square()) * _bell(h)).abs() + BEND * reach).clamp(max=BEND)
        rows = (((at_last @ head.narrow) * d) @ head.wide).norm(dim=-1) + drift * slope
        rows = rows + at_last.norm(dim=-1) * BEND * reach.max() * self.norms
        second = TURN * size * (last * far) ** 2 / math.sqrt(width)
        second = second + (weight * (curve * reach.square())).sum(-1) + rows * bent
        return torch.where(second.isnan(), math.inf, second / 2 * SLACK)

    def _most(self, values: Tensor, keys: FarKeys) -> Tensor:
        """The largest total over what far places hold, (H, Y, O) -> (O,)."""
        return -_least(-values.permute(2, 0, 1)[None], keys)[0]


class Steps(NamedTuple):
    """What far keys can do to the residual in some contexts."""

    point: ResidualPoint
    rows: Tensor  # (B, V, D)
    at_last: Tensor  # (B, V, D)
    moved: Tensor  # (B,)
    upper: Tensor  # (B, H, Y)
    away: Tensor  # (B, H, Y, K)
    keys: FarKeys

    def of(self, number: int, some: Tensor) -> Steps:
        """Of one context and some other tokens."""
        one = slice(number, number + 1)
        return Steps(
            ResidualPoint(*(part[one] for part in self.point)),
            self.rows[one, some],
            self.at_last[one, some],
            self.moved[one],
            self.upper[one],
            self.away[one],
            self.keys,
        )


def _largest(values: Tensor, keys: FarKeys) -> Tensor:
    """(B, H, Y) -> (B, H, G): the largest of each group."""
    index = keys.group.expand(values.shape)
    start = values.new_zeros(*values.shape[:-1], keys.groups)
    return start.scatter_reduce(-1, index, values, "amax")


def _least(values: Tensor, keys: FarKeys) -> Tensor:
    """The least total over what far places hold, (B, O, H, Y) -> (B, O): each place has one token, or none.

    Where decays are the same in every head, one token serves all heads; otherwise each head is bounded by itself.
    """
    joint = values.sum(2)  # (B, O, Y)
    start = values.new_zeros(*joint.shape[:-1], keys.groups)
    together = start.scatter_reduce(-1, keys.group.expand(joint.shape), joint, "amin")
    if keys.alike.all():
        return together.sum(-1)
    lone = values.new_zeros(*values.shape[:-1], keys.groups)
    apart = lone.scatter_reduce(-1, keys.group.expand(values.shape), values, "amin").sum(2)
    return torch.where(keys.alike, together, apart).sum(-1)
