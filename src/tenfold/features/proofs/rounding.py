"""Bound how far float32 logits can be from exact ones, layer by layer, from norms and sizes.

This is a forward error analysis. n roundings change a number by a factor of at most 1 + gamma(n), gamma(n) = n u /
(1 - n u), u = 2^-24, in any order of sums, with or without FMA (Higham, Accuracy and Stability of Numerical Algorithms,
2002, ch. 3). The norms of vectors are measured. A measured value was itself computed, so it may be off by the error, too.

Assumptions: the exact weights are the numbers stored; +, -, * round to nearest as IEEE 754 has it (no TF32, no
bfloat16); division, sqrt, exp, erf are within 4 units in the last place, and exp(-inf) is 0; mean and
variance are computed in one of the ways of Chan, Golub & LeVeque (1983); nothing over- or underflows.

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

U = 2.0**-24
LIBRARY = 8  # roundings that 4 units in the last place are worth
SLOPE, BEND = 1.13, 0.8  # the most of |gelu'|, at sqrt 2, and of |gelu''|, at 0
SLACK = 1.001  # for all that is done in float64

M = TypeVar("M", bound=nn.Module)


def gamma(roundings: int) -> float:
    """The largest relative change of a number by this many roundings."""
    return roundings * U / (1 - roundings * U)


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

    def plus(self, other: Vectors) -> Vectors:
        """The sum of two vectors; the own error is the other's."""
        rounding = U * (self.computed + other.computed)
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

    def after(self, layer: nn.Linear, x: Vectors) -> Vectors:
        """Bounds after the layer: every term of a sum is rounded in_features + 1 times."""
        weight = layer.weight.double().view(len(self.out), -1, layer.in_features)
        slope, absolute = torch.linalg.matrix_norm(weight, 2), torch.linalg.matrix_norm(weight)
        rounding = gamma(layer.in_features + 1) * (self.terms + away(layer, x.error) * absolute)
        return x.through(slope, rounding, self.out + slope * x.error + rounding)


class Moments(NamedTuple):
    """Measured maxima of a layer norm, s = sqrt(variance + eps): 1 / s, rms(x) / s, ||g (x - mean) / s||."""

    steep: Tensor
    spread: Tensor
    length: Tensor

    @classmethod
    def of(cls, layer: nn.LayerNorm, x: Tensor, _: Tensor | None = None) -> Moments:
        x = x.double()
        normal, scale = _normal(layer, x)
        rms = x.square().mean(-1, keepdim=True).sqrt()
        length = (normal * layer.weight.double()).norm(dim=-1)
        return cls(scale.max(), (rms * scale).max(), length.max())

    def moved(self, layer: nn.LayerNorm, x: Vectors) -> Tensor:
        """The largest relative difference of s from its measured value; it changes by 1 / sqrt(D) of the change of x."""
        return away(layer, x.error) * self.steep / math.sqrt(layer.weight.numel())

    def after(self, layer: nn.LayerNorm, x: Vectors) -> Vectors:
        """g (x - mean) / s + b has slope max|g| / s. With c = gamma(D + 8), the mean that is computed is off by
        c rms(x), the variance by 3 c rms(x)^2 at the most."""
        g, b, width = layer.weight.double(), layer.bias.double().norm(), layer.weight.numel()
        moved = self.moved(layer, x)
        spread = (self.spread + moved) / (1 - moved)
        variance = 3 * gamma(width + 8) * spread**2
        if not (moved < 0.5 and variance < 0.5):
            return Vectors(*(x.error * math.inf,) * 3)
        slope = g.abs().max() * self.steep / (1 - moved)
        scale = (1 + gamma(2 * LIBRARY + 2)) / (1 - variance).sqrt()  # of 1 / s, relative
        mean = gamma(width + 8) * spread * g.norm()
        products = gamma(6) * 3 * spread * math.sqrt(width) * g.abs().max()
        rounding = (scale - 1) * (self.length + 2 * slope * x.error) + scale * (mean + products)
        return x.through(slope, rounding + gamma(2) * b, self.length + slope * x.error + b)


class Slopes(NamedTuple):
    """The measured maximal slope of a feed-forward layer, with the norm before it if there is one."""

    slope: Tensor

    @classmethod
    def of(cls, block: Block, x: Tensor) -> Slopes:
        """||V gelu'(h) W|| / s, with W after the norm's g; in the Frobenius norm, a quadratic form of gelu'(h)."""
        x, scale = x.double(), x.new_ones(())
        if block.pre:
            norm = block.feedforward_norm
            normal, scale = _normal(norm, x)
            x = normal * norm.weight.double() + norm.bias.double()
        h = F.linear(x, block.expand.weight.double(), block.expand.bias.double())  # (B, T, F)
        bell = torch.exp(-h.square() / 2) / math.sqrt(2 * math.pi)
        d = (1 + torch.erf(h / math.sqrt(2))) / 2 + h * bell
        wide, narrow = _gained(block), block.contract.weight.double()
        form = (narrow.mT @ narrow) * (wide @ wide.mT)  # (F, F)
        square = ((d @ form) * d).sum(-1, keepdim=True).clamp(min=0)
        return cls((square.sqrt() * scale).max())

    def after(self, block: Block, steep: Tensor, moved: Tensor, error: Tensor) -> Tensor:
        """The slope anywhere within two errors of what was measured: 1 / s grows, and each gelu' moves with its h."""
        if not moved < 0.5:
            return moved * math.inf
        wide, narrow = _gained(block), block.contract.weight.double()
        steep = steep / (1 - moved)
        bend = BEND * wide.norm(dim=1).max() * steep * away(block.expand, error)
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
    """Measures a model while it runs, then bounds the float32 rounding errors of its logits.

    with Meter(model) as meter:
        model(batch)  # any number of times
    meter.bound()  # no logit is further from exact arithmetic, on these inputs or on others with the same contexts

    It may measure the model in float64, which is 2^29 times as precise. Then the bound is a little lower.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
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
        for block in self._all(Block):
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
            return Mixtures.of(logits, latest.pop() if latest else None)

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
    def bound(self) -> float | None:
        """An upper bound on |computed - exact| of every logit; None where an encoding states no bounds."""
        if not self._most:
            raise TenfoldError(
                "the meter has measured nothing yet; run the model inside its `with` block"
            )
        if any(steady_of(pe) is None for pe in self._all(PositionalEncoding)):
            return None
        x = None
        for stack in self._all(Stack):  # an encoder comes before the decoder that reads it
            x = self._stack(stack, x)
        assert x is not None
        bound = SLACK * self._after(self._head, x).error.max().item()
        return math.inf if math.isnan(bound) else bound

    def _after(self, layer: nn.Module, x: Vectors) -> Vectors:
        return self._most[layer].after(layer, x)

    def _stack(self, stack: Stack, source: Vectors | None) -> Vectors:
        steady = _steady(stack.encodings[0])
        size = stack.embedding.weight.double().norm(dim=1).max() + steady.embed
        error = gamma(steady.terms) * size
        x = Vectors(size, error, error)
        for layer, block in enumerate(stack.blocks):
            assert isinstance(block, Block)
            assert isinstance(block.attention, Attention)
            x = self._mixed(
                block, block.attention, block.attention_norm, stack.encodings[layer], x, None
            )
            if block.cross is not None and stack.cross_encodings is not None:
                pe = stack.cross_encodings[layer]
                x = self._mixed(block, block.cross, block.cross_norm, pe, x, source)
            x = self._fed_forward(block, x)
        return self._after(stack.norm, x) if stack.norm in self._most else x

    def _fed_forward(self, block: Block, x: Vectors) -> Vectors:
        """Two bounds hold, the product of slopes and the measured slope of the whole; the smaller one is used."""
        given, steep, moved = x._replace(own=x.own * 0), torch.ones(()), torch.zeros(())
        if block.pre:
            seen: Moments = self._most[block.feedforward_norm]
            steep, moved = seen.steep, seen.moved(block.feedforward_norm, x)
            given = seen.after(block.feedforward_norm, given)
        wide = self._after(block.expand, given).joined()
        bent = wide.through(SLOPE, gamma(LIBRARY + 2) * wide.computed, wide.size)
        out = x.plus(self._after(block.contract, bent).joined())
        slope = 1 + self._most[block].after(block, steep, moved, x.error)
        out = out._replace(error=torch.minimum(out.error, slope * x.error + out.own))
        return out if block.pre else self._after(block.feedforward_norm, out)

    def _mixed(
        self,
        block: Block,
        attention: Attention,
        norm: nn.LayerNorm | None,
        pe: PositionalEncoding,
        x: Vectors,
        source: Vectors | None,
    ) -> Vectors:
        """Head by head. Where logits l change by d, sum_j w_j v_j does by sum_j w_j d_j (v_j - mean) to first order,
        along the whole way; in any case weights change, in the 1-norm, by no more than the largest d_j."""
        assert norm is not None
        steady, seen = _steady(pe), self._most[attention]
        keys = int(seen.keys)
        given = self._after(norm, x) if block.pre else x
        q = self._after(attention.query, given)
        both = self._after(attention.key_value, given if source is None else source)
        k, v = (Vectors(*part) for part in zip(*(t.view(2, -1) for t in both), strict=True))
        scale, reach = 1 / math.sqrt(attention.size), k.computed + steady.scores
        terms = scale * q.computed * reach + steady.bias
        logits = scale * (q.error * reach + q.size * k.error)
        logits = logits + gamma(attention.size + 4 + steady.terms) * terms
        softmax = gamma(2 * keys + 3 * LIBRARY + 4)
        taken = v.computed + steady.values
        apart = seen.apart + 6 * (logits + softmax) * v.computed + 2 * (v.error + steady.values)
        weighing = logits * torch.minimum(apart, taken) + softmax * taken
        rounding = gamma(2 * keys + 1 + steady.terms) * (1 + softmax) * taken
        mixed = v.through(1 + softmax, weighing + rounding, v.size + steady.values)
        out = x.plus(self._after(attention.out, mixed.joined()).joined())
        return out if block.pre else self._after(norm, out)


def away(layer: nn.Linear | nn.LayerNorm, error: Tensor) -> Tensor:
    """How far a computed vector may be from the measured one: in float32 both are off by the error."""
    return error * (2 if layer.weight.dtype == torch.float32 else 1)


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
