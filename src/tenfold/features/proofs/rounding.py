"""Bound how far computed logits can be from exact ones, in float32 or in float64, from norms and sizes.

This is a forward error analysis. n roundings change a number by a factor of at most 1 + gamma(n), gamma(n) = n u /
(1 - n u), u = 2^-24 or 2^-53, in any order of sums, with or without FMA (Higham, Accuracy and Stability of Numerical
Algorithms, 2002, ch. 3). The norms of vectors are measured. A measured value was itself computed, so it may be off, too.
If a bound is e for u, it is at most t e for t u with t < 1: every step keeps this. So the error of a measurement in
float64 is at most 2^-29 of the error in float32.

Assumptions: the exact weights are the numbers stored; +, -, * round to nearest as IEEE 754 has it (no TF32, no
bfloat16); division, sqrt and exp are within 4 units in the last place, and exp(-inf) is 0; gelu(h) is off by at most
gamma(10) |h|; a result below the smallest normal number may be 0 instead (`tiny`); mean and variance are computed in
one of the ways of Chan, Golub & LeVeque (1983); nothing overflows.

Shapes: G groups of numbers (the heads of an attention, or single logits); N tokens; D width; F wider.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Self, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.hooks import RemovableHandle

from tenfold.core.errors import TenfoldError
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.steady import Steady, steady_of
from tenfold.models.layers import Attention, Block
from tenfold.models.model import Model
from tenfold.models.stack import Stack

LIBRARY = 8  # roundings that 4 units in the last place are worth
GELU = 10  # roundings of |h| that gelu(h) may be off by
SLOPE, BEND = 1.13, 0.8  # the most of |gelu'|, at sqrt 2, and of |gelu''|, at 0
SLACK = 1.001  # for the arithmetic of the bound itself, in float64

M = TypeVar("M", bound=nn.Module)


class Arithmetic(NamedTuple):
    """A precision: `unit` is the largest relative error of one rounding, `tiny` the smallest normal number."""

    unit: float
    tiny: float

    def gamma(self, roundings: int) -> float:
        """The largest relative change of a number by this many roundings."""
        return roundings * self.unit / (1 - roundings * self.unit)

    def measured(self, layer: nn.Linear | nn.LayerNorm) -> float:
        """The error of what was measured, relative to the error in this arithmetic: the layer's precision decides."""
        own = FLOAT64 if layer.weight.dtype == torch.float64 else FLOAT32
        return own.unit / self.unit

    def away(self, layer: nn.Linear | nn.LayerNorm, error: Tensor) -> Tensor:
        """How far a computed vector may be from the measured one: both may be off."""
        return error * (1 + self.measured(layer))


FLOAT32 = Arithmetic(2.0**-24, 2.0**-126)
FLOAT64 = Arithmetic(2.0**-53, 2.0**-1022)
gamma = FLOAT32.gamma


class Vectors(NamedTuple):
    """Bounds on the 2-norms of the vectors at one point of a model, in groups: (G,) or ()."""

    size: Tensor  # no exact vector is longer
    error: Tensor  # no computed vector is further from the exact one
    own: Tensor  # the part of the error that the last step makes on exact inputs

    @property
    def computed(self) -> Tensor:
        return self.size + self.error

    def joined(self) -> Vectors:
        """The groups as one vector."""
        return Vectors(*(part.norm() for part in self))

    def through(self, slope: Tensor | float, rounding: Tensor, size: Tensor) -> Vectors:
        """The bounds after a map with this slope and these rounding errors of its own."""
        return Vectors(size, slope * self.error + rounding, slope * self.own + rounding)

    def plus(self, other: Vectors, width: int, by: Arithmetic) -> Vectors:
        """The sum of two vectors of this width; the own error is the other's."""
        rounding = by.unit * (self.computed + other.computed) + by.tiny * math.sqrt(width)
        error = self.error + other.error + rounding
        return Vectors(self.size + other.size, error, other.own + rounding)


class Products(NamedTuple):
    """Measured maxima of a linear layer: 2-norms of |W||x| + |b| and of Wx + b."""

    terms: Tensor  # (G,)
    out: Tensor  # (G,)

    @classmethod
    def of(cls, layer: nn.Linear, x: Tensor, out: Tensor, groups: int = 1) -> Products:
        terms = F.linear(x.abs(), layer.weight.abs(), layer.bias.abs())
        slack = 1 + 2 * gamma(layer.in_features + layer.out_features + 8)  # of measuring so
        split = (y.reshape(-1, groups, y.shape[-1] // groups) for y in (terms, out))
        return cls(*(slack * y.norm(dim=-1).amax(0).double() for y in split))

    def after(self, layer: nn.Linear, x: Vectors, by: Arithmetic = FLOAT32) -> Vectors:
        """Bounds after the layer: every term of a sum is rounded in_features + 1 times.

        Each product, each partial sum and each weight, times its input, may be lost below the smallest number.
        """
        weight = layer.weight.double().view(len(self.out), -1, layer.in_features)
        slope, absolute = torch.linalg.matrix_norm(weight, 2), torch.linalg.matrix_norm(weight)
        n, outputs = layer.in_features, weight.shape[1]
        lost = by.tiny * math.sqrt(outputs) * (2 * n + 2 + math.sqrt(n) * x.computed)
        terms = self.terms + by.away(layer, x.error) * absolute
        rounding = by.gamma(n + 1) * terms + lost
        return x.through(slope, rounding, self.out + slope * x.error + rounding)


class Moments(NamedTuple):
    """Measured maxima of a layer norm, s = sqrt(variance + eps): 1 / s, rms(x) / s, ||g (x - mean) / s||."""

    steep: Tensor
    spread: Tensor
    length: Tensor

    @classmethod
    def of(cls, layer: nn.LayerNorm, x: Tensor, _: Tensor | None = None) -> Moments:
        """Each enlarged by what measuring in float64 may have lost: s can come out too large."""
        x, g = x.double(), layer.weight.double()
        normal, scale = _normal(layer, x)
        spread = x.square().mean(-1, keepdim=True).sqrt() * scale
        less, mean = _own_rounding(g, scale, spread, FLOAT64)
        length = (normal * g).norm(dim=-1, keepdim=True)
        return cls(*((less * each).max() for each in (scale, spread, length + mean)))

    def moved(self, layer: nn.LayerNorm, x: Vectors, by: Arithmetic = FLOAT32) -> Tensor:
        """The largest relative difference of s from its measured value; it changes by 1 / sqrt(D) of the change of x."""
        return by.away(layer, x.error) * self.steep / math.sqrt(layer.weight.numel())

    def after(self, layer: nn.LayerNorm, x: Vectors, by: Arithmetic = FLOAT32) -> Vectors:
        """g (x - mean) / s + b has slope max|g| / s, and rounding of its own."""
        g, b, width = layer.weight.double(), layer.bias.double().norm(), layer.weight.numel()
        moved = self.moved(layer, x, by)
        if not moved < 0.5:
            return Vectors(*(x.error * math.inf,) * 3)
        steep, spread = self.steep / (1 - moved), (self.spread + moved) / (1 - moved)
        less, mean = _own_rounding(g, steep, spread, by)
        slope = g.abs().max() * steep
        rounding = (less - 1) * (self.length + 2 * slope * x.error) + less * mean
        rounding = rounding + by.gamma(2) * b + 2 * by.tiny * math.sqrt(width)
        return x.through(slope, rounding, self.length + slope * x.error + b)


def _own_rounding(
    g: Tensor, steep: Tensor, spread: Tensor, by: Arithmetic
) -> tuple[Tensor, Tensor]:
    """What a layer norm's own rounding does: the factor on 1 / s, and what is added to g (x - mean) / s.

    With c = gamma(D + 8), the mean that is computed is off by c rms(x), the variance by 3 c rms(x)^2 at the most. Below
    the smallest number each square and each sum may be lost: the variance is off by 4 `tiny`, a product by `tiny`.
    """
    width, c = g.numel(), by.gamma(g.numel() + 8)
    variance = 3 * c * spread**2 + 4 * by.tiny * steep**2
    left = torch.where(variance < 0.5, 1 - variance, 0.0)  # nothing is known then: 1 / 0
    mean = c * spread * g.norm() + 4 * by.tiny * steep * g.norm()
    products = by.gamma(6) * 3 * spread * math.sqrt(width) * g.abs().max()
    return (1 + by.gamma(2 * LIBRARY + 2)) / left.sqrt(), mean + products


class Slopes(NamedTuple):
    """The measured maximal slope of a feed-forward layer, with the norm before it if there is one."""

    slope: Tensor

    @classmethod
    def of(cls, block: Block, x: Tensor) -> Slopes:
        """||V gelu'(h) W|| / s, with W after the norm's g; in the Frobenius norm, a quadratic form of gelu'(h)."""
        x, scale = x.double(), x.new_ones((), dtype=torch.float64)
        if block.pre:
            norm = block.feedforward_norm
            spread = x.square().mean(-1, keepdim=True).sqrt()
            normal, scale = _normal(norm, x)
            x = normal * norm.weight.double() + norm.bias.double()
            less, _ = _own_rounding(norm.weight.double(), scale, spread * scale, FLOAT64)
            scale = scale * less
        h = F.linear(x, block.expand.weight.double(), block.expand.bias.double())  # (B, T, F)
        bell = torch.exp(-h.square() / 2) / math.sqrt(2 * math.pi)
        d = (1 + torch.erf(h / math.sqrt(2))) / 2 + h * bell
        wide, narrow = _gained(block), block.contract.weight.double()
        form = (narrow.mT @ narrow) * (wide @ wide.mT)  # (F, F)
        square = ((d @ form) * d).sum(-1, keepdim=True).clamp(min=0)
        terms = ((narrow.abs().mT @ narrow.abs()) * (wide.abs() @ wide.abs().mT)).sum()
        square = square + FLOAT64.gamma(4 * sum(wide.shape)) * SLOPE**2 * terms  # of measuring so
        return cls((square.sqrt() * scale).max())

    def after(
        self,
        block: Block,
        steep: Tensor,
        moved: Tensor,
        error: Tensor,
        own: Tensor | float = 0.0,
        by: Arithmetic = FLOAT32,
    ) -> Tensor:
        """The slope anywhere within two errors of what was measured: 1 / s grows, and each gelu' moves with its h.

        `own` is the rounding of h itself; the h that was measured has such an error, too.
        """
        if not moved < 0.5:
            return moved * math.inf
        wide, narrow = _gained(block), block.contract.weight.double()
        steep = steep / (1 - moved)
        further = wide.norm(dim=1).max() * steep * by.away(block.expand, error)
        bend = BEND * (further + FLOAT64.unit / by.unit * own)
        norms = torch.linalg.matrix_norm(wide, 2) * torch.linalg.matrix_norm(narrow, 2)
        return self.slope / (1 - moved) + bend * norms * steep


class Mixtures(NamedTuple):
    """Measured maxima of an attention: visible keys, and sum_j w_j ||v_j - mean||, the spread of the values."""

    keys: Tensor
    apart: Tensor  # (H,)

    @classmethod
    def of(cls, logits: Tensor, keys_values: Tensor | None) -> Mixtures:
        b, h, _, s = logits.shape
        keys, weights = logits.isfinite().sum(-1).max(), logits.double().softmax(-1)
        if keys_values is None or keys_values.shape[1] != s:  # some are in a cache
            return cls(keys, weights.new_full((h,), math.inf))
        values = keys_values.double().view(b, s, 2, h, -1)[:, :, 1].transpose(1, 2)  # (B, H, S, K)
        exactly = "donot_use_mm_for_euclid_dist"
        far = torch.cdist(weights @ values, values, compute_mode=exactly)  # (B, H, T, S)
        return cls(keys, (weights * far).sum(-1).amax((0, 2)))


class Meter:
    """Measures a model while it runs, then bounds the rounding errors of its logits.

    with Meter(model) as meter:
        model(batch)  # any number of times
    meter.bound()  # no logit is further from exact arithmetic, on these inputs or on others with the same contexts
    meter.bound(FLOAT64)  # the same if the model runs in float64

    It may measure the model in float64, which is 2^29 times as precise. Then the bound is a little lower. With `coarse`
    it measures norms alone, in about a third of the time; the bound is then larger, but small enough for float64.
    """

    def __init__(self, model: Model, *, coarse: bool = False) -> None:
        self.model, self.coarse = model, coarse
        self._most: dict[nn.Module, Any] = {}  # measured maxima over all runs
        self._hooks: list[RemovableHandle] = []
        *_, self._head = self._all(nn.Linear)

    def __enter__(self) -> Self:
        groups: dict[nn.Module, int] = {self._head: self._head.out_features}  # each logit by itself
        for attention in self._all(Attention):
            groups |= {attention.query: attention.heads, attention.key_value: 2 * attention.heads}
            self._watch_mixing(attention)
        for linear in self._all(nn.Linear):
            self._watch(linear, partial(Products.of, groups=groups.get(linear, 1)))
        for norm in self._all(nn.LayerNorm):
            self._watch(norm, Moments.of)
        for block in [] if self.coarse else self._all(Block):
            entry = block.feedforward_norm if block.pre else block.expand
            self._watch(entry, lambda _, x, __, block=block: Slopes.of(block, x), block)
        return self

    def __exit__(self, *_: object) -> None:
        while self._hooks:
            self._hooks.pop().remove()

    def _all(self, kind: type[M]) -> list[M]:
        return [module for module in self.model.modules() if isinstance(module, kind)]

    def _watch_mixing(self, attention: Attention) -> None:
        latest: list[Tensor] = []

        def measure(_: nn.Module, logits: Tensor, __: Tensor) -> Mixtures:
            values = latest.pop() if latest else None
            return Mixtures.of(logits, None if self.coarse else values)

        keep = attention.key_value.register_forward_hook(lambda _, __, out: latest.append(out))
        self._hooks.append(keep)
        self._watch(attention.logits, measure, attention)

    def _watch(
        self, module: nn.Module, measure: Callable[..., Any], of: nn.Module | None = None
    ) -> None:
        about = module if of is None else of

        def ran(module: nn.Module, given: tuple[Tensor], out: Tensor) -> None:
            with torch.no_grad():
                values = measure(module, given[0], out)
                known = self._most.get(about, values)
                self._most[about] = type(values)(*map(torch.maximum, known, values))

        self._hooks.append(module.register_forward_hook(ran))

    @torch.no_grad()
    def bound(self, by: Arithmetic = FLOAT32) -> float | None:
        """An upper bound on |computed - exact| of every logit; None where an encoding states no bounds."""
        if not self._most:
            raise TenfoldError(
                "the meter has measured nothing yet; run the model inside its `with` block"
            )
        if any(steady_of(pe) is None for pe in self._all(PositionalEncoding)):
            return None
        x = None
        for stack in self._all(Stack):  # an encoder comes before the decoder that reads it
            x = self._stack(stack, x, by)
        assert x is not None
        bound = SLACK * self._after(self._head, x, by).error.max().item()
        return math.inf if math.isnan(bound) else bound

    def _after(self, layer: nn.Module, x: Vectors, by: Arithmetic) -> Vectors:
        return self._most[layer].after(layer, x, by)

    def _stack(self, stack: Stack, source: Vectors | None, by: Arithmetic) -> Vectors:
        steady = _steady(stack.encodings[0])
        rows = stack.embedding.weight.double()
        size = rows.norm(dim=1).max() + steady.embed
        lost = 2 * (steady.terms + 1) * by.tiny * math.sqrt(rows.shape[1])
        error = by.gamma(steady.terms) * size + lost
        x = Vectors(size, error, error)
        for layer, block in enumerate(stack.blocks):
            assert isinstance(block, Block)
            assert isinstance(block.attention, Attention)
            pe = stack.encodings[layer]
            x = self._mixed(block, block.attention, block.attention_norm, pe, x, None, by)
            if block.cross is not None and stack.cross_encodings is not None:
                pe = stack.cross_encodings[layer]
                x = self._mixed(block, block.cross, block.cross_norm, pe, x, source, by)
            x = self._fed_forward(block, x, by)
        return self._after(stack.norm, x, by) if stack.norm in self._most else x

    def _fed_forward(self, block: Block, x: Vectors, by: Arithmetic) -> Vectors:
        """Two bounds hold, the product of slopes and the measured slope of the whole; the smaller one is used."""
        given, steep, moved = x._replace(own=x.own * 0), torch.ones(()), torch.zeros(())
        if block.pre:
            seen: Moments = self._most[block.feedforward_norm]
            steep, moved = seen.steep, seen.moved(block.feedforward_norm, x, by)
            given = seen.after(block.feedforward_norm, given, by)
        wide = self._after(block.expand, given, by).joined()
        lost = 4 * by.tiny * math.sqrt(block.expand.out_features)
        bent = wide.through(SLOPE, by.gamma(GELU) * wide.computed + lost, wide.size)
        width = block.contract.out_features
        out = x.plus(self._after(block.contract, bent, by).joined(), width, by)
        if block in self._most:
            slope = 1 + self._most[block].after(block, steep, moved, x.error, wide.own, by)
            out = out._replace(error=torch.minimum(out.error, slope * x.error + out.own))
        return out if block.pre else self._after(block.feedforward_norm, out, by)

    def _mixed(
        self,
        block: Block,
        attention: Attention,
        norm: nn.LayerNorm | None,
        pe: PositionalEncoding,
        x: Vectors,
        source: Vectors | None,
        by: Arithmetic,
    ) -> Vectors:
        """Head by head. Where logits l change by d, sum_j w_j v_j does by sum_j w_j d_j (v_j - mean) to first order,
        along the whole way; in any case weights change, in the 1-norm, by no more than the largest d_j."""
        assert norm is not None
        steady, seen = _steady(pe), self._most[attention]
        keys = int(seen.keys)
        given = self._after(norm, x, by) if block.pre else x
        q = self._after(attention.query, given, by)
        both = self._after(attention.key_value, given if source is None else source, by)
        k, v = (Vectors(*part) for part in zip(*(t.view(2, -1) for t in both), strict=True))
        scale, reach = 1 / math.sqrt(attention.size), k.computed + steady.scores
        terms = scale * q.computed * reach + steady.bias
        logits = scale * (q.error * reach + q.size * k.error)
        logits = logits + by.gamma(attention.size + 4 + steady.terms) * terms
        logits = logits + by.tiny * (6 * attention.size + 4 + attention.size * q.computed)
        softmax = by.gamma(2 * keys + 3 * LIBRARY + 4) + 4 * keys * by.tiny
        taken = v.computed + steady.values
        apart = seen.apart + 6 * (logits + softmax) * v.computed + 2 * (v.error + steady.values)
        weighing = logits * torch.minimum(apart, taken) + softmax * taken
        rounding = by.gamma(2 * keys + 1 + steady.terms) * (1 + softmax) * taken
        rounding = rounding + by.tiny * (4 * keys + 2) * math.sqrt(attention.size)
        mixed = v.through(1 + softmax, weighing + rounding, v.size + steady.values)
        width = attention.out.out_features
        out = x.plus(self._after(attention.out, mixed.joined(), by).joined(), width, by)
        return out if block.pre else self._after(norm, out, by)


def _normal(norm: nn.LayerNorm, x: Tensor) -> tuple[Tensor, Tensor]:
    """(x - mean) / s, and 1 / s."""
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    scale = (variance + norm.eps).rsqrt()
    return (x - mean) * scale, scale


def _gained(block: Block) -> Tensor:
    """The first weight of a feed-forward layer, after the gain of the norm before it."""
    weight = block.expand.weight.double()
    return weight * block.feedforward_norm.weight.double() if block.pre else weight


def _steady(pe: PositionalEncoding) -> Steady:
    steady = steady_of(pe)
    assert steady is not None
    return steady
