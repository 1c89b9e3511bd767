"""How far vectors can be off after each kind of layer: sizes that are measured, and the steps of the error analysis.

The rules and the assumptions stand in `rounding.py`, which puts the steps together.

Shapes: G groups of numbers (the heads of an attention, or single logits); N tokens; D width; F wider.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tenfold.models.layers import Block

LIBRARY = 8  # roundings that 4 units in the last place are worth
GELU = 10  # roundings of |h| that gelu(h) may be off by
SLOPE, BEND = 1.13, 0.8  # the most of |gelu'|, at sqrt 2, and of |gelu''|, at 0
SLACK = 1.001  # for the arithmetic of the bound itself, in float64


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

    def away(self, layer: nn.Linear | nn.LayerNorm, x: Vectors) -> Tensor:
        """How far a computed vector may be from the measured one: both may be off."""
        return x.error * (1 + self.measured(layer)) + x.shift


FLOAT32 = Arithmetic(2.0**-24, 2.0**-126)
FLOAT64 = Arithmetic(2.0**-53, 2.0**-1022)
gamma = FLOAT32.gamma


NONE = torch.zeros((), dtype=torch.float64)


class Beyond(NamedTuple):
    """What keys that were not measured, because they are far, do to what is measured."""

    attention: float = 0.0  # on them, in any head
    moved: float = 0.0  # the residual after attention
    last: float = 0.0  # what enters the last norm
    keys: int = 0  # that have a weight which is not exactly 0
    bias: float = 0.0  # the largest of such a key
    lost: float = 0.0  # attention on keys whose computed weight is 0


NOTHING_BEYOND = Beyond()


class Vectors(NamedTuple):
    """Bounds on the 2-norms of the vectors at one point of a model, in groups: (G,) or ()."""

    size: Tensor  # no exact vector is longer
    error: Tensor  # no computed vector is further from the exact one
    own: Tensor  # the part of the error that the last step makes on exact inputs
    shift: Tensor = (
        NONE  # no exact vector is further from one that was measured, by what was not measured
    )

    @property
    def computed(self) -> Tensor:
        return self.size + self.error

    def joined(self) -> Vectors:
        """The groups as one vector."""
        size, error, own, shift = (part.norm() for part in self)
        return Vectors(size, error, own, shift)

    def through(self, slope: Tensor | float, rounding: Tensor, size: Tensor) -> Vectors:
        """The bounds after a map with this slope and these rounding errors of its own."""
        error, own = slope * self.error + rounding, slope * self.own + rounding
        return Vectors(size, error, own, slope * self.shift)

    def plus(self, other: Vectors, width: int, by: Arithmetic) -> Vectors:
        """The sum of two vectors of this width; the own error is the other's."""
        rounding = by.unit * (self.computed + other.computed) + by.tiny * math.sqrt(width)
        error = self.error + other.error + rounding
        shift = self.shift + other.shift
        return Vectors(self.size + other.size, error, other.own + rounding, shift)


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
        terms = self.terms + by.away(layer, x) * absolute
        rounding = by.gamma(n + 1) * terms + lost
        return x.through(slope, rounding, self.out + slope * (x.error + x.shift) + rounding)


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
        return by.away(layer, x) * self.steep / math.sqrt(layer.weight.numel())

    def after(self, layer: nn.LayerNorm, x: Vectors, by: Arithmetic = FLOAT32) -> Vectors:
        """g (x - mean) / s + b has slope max|g| / s, and rounding of its own."""
        g, b, width = layer.weight.double(), layer.bias.double().norm(), layer.weight.numel()
        moved = self.moved(layer, x, by)
        if not moved < 0.5:
            return Vectors(*(x.error * math.inf,) * 4)
        steep, spread = self.steep / (1 - moved), (self.spread + moved) / (1 - moved)
        less, mean = _own_rounding(g, steep, spread, by)
        slope = g.abs().max() * steep
        length = self.length + slope * (x.error + x.shift)
        rounding = (less - 1) * (length + slope * x.error) + less * mean
        rounding = rounding + by.gamma(2) * b + 2 * by.tiny * math.sqrt(width)
        return x.through(slope, rounding, length + b)


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
        x: Vectors,
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
        further = wide.norm(dim=1).max() * steep * by.away(block.expand, x)
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


def _normal(norm: nn.LayerNorm, x: Tensor) -> tuple[Tensor, Tensor]:
    """(x - mean) / s, and 1 / s."""
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    scale = (variance + norm.eps).rsqrt()
    return (x - mean) * scale, scale


def _gained(block: Block) -> Tensor:
    """The first weight of a feed-forward layer, after the gain of the norm before it."""
    weight = block.expand.weight.double()
    return weight * block.feedforward_norm.weight.double() if block.pre else weight
