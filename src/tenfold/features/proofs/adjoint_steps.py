"""The steps of the adjoint bound: what an operation rounds, how far its result moves, and its adjoint.

`adjoint_bound.py` says what is proved and puts the steps together. Each class here is one operation at some tokens, made
at measured values with a ball around them. Its `back` takes adjoints of the result, a centre `a` and a radius `ra`, and
returns those of what enters it, and what the operation's own rounding costs.

A centre is the adjoint at the measured values. The radius bounds, in the 2-norm, how far the adjoint is from the centre
anywhere in the ball, with the float64 rounding of the centre (`fine`). So own rounding errors d with |d_j| <= own_j cost
at most sum_j |a_j| own_j + ra ||own||  (`priced`).

Shapes: N tokens, M of them (some more than once), O adjoints of each, D width or inputs, E outputs, H heads, K head
size, S keys.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from tenfold.encodings.steady import Steady
from tenfold.features.proofs.rounding_steps import FLOAT64, LIBRARY, Arithmetic

TURN = math.sqrt(2)  # the second derivative of x -> (x - mean) / s is at most TURN / (sqrt(D) s^2)
BALL = 1.001  # a ball holds exact, float32 and measured values, and the arithmetic of the bound
MEASURED = 2.0**-28  # more than what float64 rounds, relative to float32 (2^-29)


def fine(terms: int) -> float:
    """The relative error of a float64 sum of this many products, with room for erf and exp."""
    return FLOAT64.gamma(2 * terms + 1000)


def priced(a: Tensor, ra: Tensor, own: Tensor) -> Tensor:
    """What rounding errors of at most `own` (M, E) cost for adjoints (M, O, E) with radii (M, O)."""
    return (a.abs() @ own.unsqueeze(-1))[..., 0] + ra * own.norm(dim=-1, keepdim=True)


class Norm:
    """A layer norm at tokens x (N, D), each within `radius` (N,) of the measured one.

    With n = (x - mean) / s the result is g n + b. The computed mean is off by kappa, 1 / s by a factor 1 + lambda,
    products and sums by rho: own = lambda g n - kappa (1 + lambda) g / s + rho. The first two errors are the same for
    all numbers of a token. So an adjoint a pays |lambda| |sum a g n| + |kappa / s| |sum a g|, no sum of absolute values.
    The sizes of lambda, kappa and rho are those of `rounding_steps._own_rounding`, number by number.
    """

    def __init__(self, layer: nn.LayerNorm, x: Tensor, radius: Tensor, by: Arithmetic) -> None:
        self.g, self.width, self.radius = layer.weight, x.shape[-1], radius
        variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
        self.scale = (variance + layer.eps).rsqrt()[:, 0]  # 1 / s
        self.n = (x - mean) * self.scale.unsqueeze(-1)
        self.out = self.n * self.g + layer.bias
        moved = radius * self.scale / math.sqrt(self.width)  # s is 1 / sqrt(D)-Lipschitz
        least = torch.where(moved < 0.5, 1 - moved, 0.0)  # nothing is known beyond: 1 / 0
        self.steep = BALL * self.scale / least  # 1 / s anywhere in the ball
        self.moves = radius * self.steep  # of n, whose slope is at most 1 / s
        spread = BALL * (x.square().mean(-1).sqrt() * self.scale + moved) / least  # rms / s
        c = by.gamma(self.width + 8)
        off = 3 * c * spread**2 + 4 * by.tiny * self.steep**2  # of the variance
        left = torch.where(off < 0.5, 1 - off, 0.0)
        factor = (1 + by.gamma(2 * LIBRARY + 2)) / left.sqrt()
        self.lam, self.kappa = factor - 1, factor * (c * spread + 4 * by.tiny * self.steep)
        sizes = (x.abs() + radius.unsqueeze(-1)) * self.steep.unsqueeze(-1)
        sizes = factor.unsqueeze(-1) * (sizes + 2 * spread.unsqueeze(-1)) * self.g.abs()
        lost = 2 * by.tiny * (1 + self.g.abs())  # also before the product with g
        self.rho = by.gamma(6) * sizes + by.gamma(2) * layer.bias.abs() + lost
        self.most = self.g.abs().max()
        shared = self.lam * math.sqrt(self.width) * self.most + self.kappa * self.g.norm()
        self.own = shared + self.rho.norm(dim=-1)  # (N,), in the 2-norm
        root = math.sqrt(self.width)
        own = by.gamma(6) * factor * (x.norm(dim=-1) + radius) * self.steep
        own = own + root * (self.lam + self.kappa + 3 * by.gamma(6) * factor * spread + by.tiny)
        self.blur = 3 * fine(self.width) + MEASURED * (2 * own / root + self.lam)  # of the slope
        self.ball = self.most * self.moves + self.own  # (N,), of the result

    def back(self, a: Tensor, ra: Tensor, at: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Adjoints (M, O, D) of the tokens `at`.

        The derivative J of n has ||J|| <= 1 / s, and in the ball it changes by TURN radius / (sqrt(D) s^2) at most. With
        y = g a: ||J'^T y' - J^T y|| <= ||y' - y|| / s + ||y|| TURN radius / (sqrt(D) s^2), s the least in the ball.
        """
        n, scale, steep = self.n[at], self.scale[at][:, None], self.steep[at][:, None]
        y = a * self.g  # (M, O, D)
        size, ry, root = y.norm(dim=-1), self.most * ra, math.sqrt(self.width)
        along, total = (y @ n.unsqueeze(-1))[..., 0], y.sum(-1)
        off = fine(self.width) * root * size
        shared = along.abs() + ry * root + size * self.moves[at][:, None] + off
        cost = self.lam[at][:, None] * shared
        cost = cost + self.kappa[at][:, None] * (total.abs() + ra * self.g.norm() + off)
        cost = cost + priced(a, ra, self.rho[at])
        flat = y - (total / self.width).unsqueeze(-1)
        centre = flat - n.unsqueeze(1) * (along / self.width).unsqueeze(-1)
        return centre * scale.unsqueeze(-1), ry * steep + self.bent(size, at), cost

    def bent(self, size: Tensor, at: Tensor) -> Tensor:
        """How far the derivative moves vectors of these lengths (M, O) elsewhere in the ball, float64 included."""
        steep = self.steep[at][:, None]
        bend = TURN * self.radius[at][:, None] * steep / math.sqrt(self.width)
        return size * steep * (bend + self.blur[at][:, None])


class Affine:
    """A linear layer at tokens x (N, D): every term of a sum is rounded D + 1 times.

    `further` (N, E) bounds |W| |x' - x| in the ball, `length` (N,) the 2-norm of x'. Each product and each partial sum may
    be lost below the smallest number.
    """

    def __init__(
        self, layer: nn.Linear, x: Tensor, further: Tensor, length: Tensor, by: Arithmetic
    ) -> None:
        self.weight, count = layer.weight, layer.in_features
        self.out = x @ self.weight.mT + layer.bias
        terms = x.abs() @ self.weight.abs().mT + layer.bias.abs() + further
        lost = by.tiny * (2 * count + 2 + math.sqrt(count) * length)
        self.own = BALL * (by.gamma(count + 1) * terms + lost.unsqueeze(-1))  # (N, E)
        self.slope = torch.linalg.matrix_norm(self.weight, 2)
        self.blur = fine(layer.out_features) * torch.linalg.matrix_norm(self.weight)

    @classmethod
    def after(cls, layer: nn.Linear, norm: Norm, by: Arithmetic) -> Affine:
        """Of the result of a norm."""
        further = norm.ball.unsqueeze(-1) * layer.weight.norm(dim=1)
        return cls(layer, norm.out, further, norm.out.norm(dim=-1) + norm.ball, by)

    def back(self, a: Tensor, ra: Tensor, at: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        cost = priced(a, ra, self.own[at])
        return a @ self.weight, self.slope * ra + self.blur * a.norm(dim=-1), cost


def rounded(weight: Tensor, norm: Norm, own: Tensor, groups: int) -> Tensor:
    """How far W (g n + b) is off by rounding of its own and of the norm, in groups of outputs: (N, E) -> (N, G)."""
    slope = torch.linalg.matrix_norm(weight.view(groups, -1, weight.shape[1]), 2)
    return BALL * (norm.own.unsqueeze(-1) * slope + own.view(len(own), groups, -1).norm(dim=-1))


def reached(weight: Tensor, norm: Norm, own: Tensor, groups: int) -> Tensor:
    """How far W (g n + b) moves in the ball, in groups of outputs: (N, E) own errors -> (N, G)."""
    gained = (weight * norm.g).view(groups, -1, weight.shape[1])
    moved = norm.moves.unsqueeze(-1) * torch.linalg.matrix_norm(gained, 2)
    return BALL * moved + rounded(weight, norm, own, groups)


class Heads(NamedTuple):
    """What attention reads at some nodes: of queries, keys and values the measured ones and the radii of balls."""

    q: Tensor  # (N, H, K)
    rq: Tensor  # (N, H)
    k: Tensor  # (N, S, H, K)
    rk: Tensor  # (N, S, H)
    v: Tensor
    rv: Tensor
    there: Tensor  # (N, S, H)
    scores: Tensor | None  # (N, S, H, K)
    bias: Tensor | None  # (N, S, H)
    values: Tensor | None


class Mixing:
    """Attention between projections at N nodes, head by head: l = q.(k + p) / sqrt(K) + b, w = softmax(l), m = w (v + r).

    Logits move by rl at most, up to a shift of all, which softmax ignores: q.(k - c) with any c for all keys. Exact
    softmax weights then change by factors between exp(-2 rl) and exp(2 rl). `wide` bounds them in the ball.
    """

    def __init__(self, heads: Heads, steady: Steady, by: Arithmetic) -> None:
        q, rq, k, rk, v, self.rv, there, scores, bias, values = heads
        self.steady, self.there = steady, there
        size, count = q.shape[-1], there.sum(1).clamp(min=1).unsqueeze(1)  # (N, 1, H)
        self.scale, self.q, self.rq, self.rk = 1 / math.sqrt(size), q, rq, rk
        self.k, self.v = k if scores is None else k + scores, v if values is None else v + values
        logits = self.scale * torch.einsum("nhk,nshk->nsh", q, self.k)
        self.logits = (logits if bias is None else logits + bias).masked_fill(~there, -math.inf)
        w = self.w = self.logits.softmax(1)  # (N, S, H)
        self.count = count
        self.mixed = torch.einsum("nsh,nshk->nhk", w, self.v)
        length, rq1 = q.norm(dim=-1).unsqueeze(1), rq.unsqueeze(1)  # (N, 1, H)
        middle = torch.einsum("nsh,nshk->nhk", w, self.k).unsqueeze(1)
        blur, long = fine(size + there.shape[1]), self.k.norm(dim=-1)
        self.from_middle = (self.k - middle).norm(dim=-1) + blur * long.amax(1, keepdim=True)
        terms = torch.einsum("nhk,nshk->nsh", q.abs(), k.abs())
        terms = terms + length * rk + rq1 * (k.norm(dim=-1) + rk)
        terms = self.scale * (terms + (length + rq1) * steady.scores) + steady.bias
        lost = by.tiny * (6 * size + 4 + size * (length + rq1))
        own = BALL * by.gamma(size + 4 + steady.terms) * terms + lost
        self.own_logits = torch.where(there, own, 0.0)
        moved = self.scale * ((length + rq1) * rk + rq1 * self.from_middle) + self.own_logits
        self.rl = BALL * torch.where(there, moved, 0.0).amax(1, keepdim=True)  # (N, 1, H)
        self.change = BALL * torch.expm1(2 * self.rl) + blur  # relative, of weights
        self.wide = torch.minimum(w * (1 + self.change), there.double())
        far = (self.v - self.mixed.unsqueeze(1)).norm(dim=-1)
        self.apart = far + blur * self.v.norm(dim=-1).amax(1, keepdim=True)
        self._round(there, steady, by, v)

    def _round(self, there: Tensor, steady: Steady, by: Arithmetic, v: Tensor) -> None:
        """Own errors of the weights and of the mixture, and the ball of the mixture.

        exp(l - max) is off by the factor 1 + u |l - max| and by LIBRARY roundings; the sum by as much on average (where
        x exp(-x) <= 1/2) and by S - 1; the quotient by LIBRARY. Where exp(l - max) is below the smallest number, the
        weight and the computed weight are.
        """
        faint = -math.log(by.tiny)
        below = self.logits.amax(1, keepdim=True) - self.logits
        below = torch.where(there, below + 2 * self.rl, 0.0).clamp(max=faint)
        roundings = 1.5 * self.count + 3 * LIBRARY + 4 + below
        relative = by.unit * roundings / (1 - by.unit * roundings)
        own = self.wide * relative + 6 * by.tiny
        self.own_weights = BALL * torch.where(there, own, 0.0)  # (N, S, H)
        taken = self.wide + self.own_weights
        sizes = v.abs() + (self.rv + steady.values).unsqueeze(-1)
        total = torch.einsum("nsh,nshk->nhk", taken, sizes)
        gamma = by.unit * (2 * self.count + 1 + steady.terms)
        gamma = (gamma / (1 - gamma))[:, 0].unsqueeze(-1)  # (N, H, 1)
        self.own_mixed = BALL * gamma * total + by.tiny * (4 * self.count[:, 0].unsqueeze(-1) + 2)
        self.exact = BALL * ((self.wide * self.rv).sum(1) + (self.w * self.apart * self.change).sum(1))  # fmt: skip
        weighing = (self.own_weights * (self.v.norm(dim=-1) + self.rv)).sum(1)
        rounding = BALL * (weighing + self.own_mixed.norm(dim=-1))
        self.far = torch.zeros_like(rounding)
        self.moves, self.exact = self.exact + rounding, self.exact + MEASURED * rounding  # (N, H)

    def joined_by(self, far: Tensor) -> None:
        """Further keys move the mixture by at most this, (N, H) in the 2-norm: one more error of its own."""
        self.far, self.moves = far, self.moves + far

    def back(self, a: Tensor, ra: Tensor, at: Tensor) -> Received:
        """From adjoints of the mixture (M, O, H, K) with radii (M, O, H).

        The adjoint of a logit is w (v - m).a. In the ball w is at most `wide` and changes by w `change`, v - m by rv + the
        exact mixture's ball. So it moves by at most
            wide ((apart + rv + exact) ra + (rv + exact) |a|) + w change |(v - m).a|.
        The adjoint of q is sum_s al_s k_s / sqrt(K). Adjoints of logits sum to 0, so k_s may be taken less their mean;
        but what float64 loses of them does not sum to 0.
        """
        w, wide, change, rv = (x[at].unsqueeze(1) for x in (self.w, self.wide, self.change, self.rv))  # fmt: skip
        apart, exact = self.apart[at].unsqueeze(1), self.exact[at][:, None, None]
        v, k, q, rk = self.v[at], self.k[at], self.q[at], self.rk[at].unsqueeze(1)
        own_w, size = self.own_weights[at].unsqueeze(1), a.norm(dim=-1)
        cost = (a.abs() * self.own_mixed[at].unsqueeze(1)).sum((-1, -2))
        further = self.own_mixed[at].norm(dim=-1).unsqueeze(1) * ra
        cost = cost + (further + (size + ra) * self.far[at].unsqueeze(1)).sum(-1)
        on_w = torch.einsum("mohk,mshk->mosh", a, v)  # (M, O, S, H)
        ra1, size1, long = ra.unsqueeze(2), size.unsqueeze(2), v.norm(dim=-1).unsqueeze(1)
        blur = fine(k.shape[-1] + k.shape[1])
        moved = long * (ra1 + blur * size1) + rv * (size1 + ra1)
        cost = cost + (own_w * (on_w.abs() + moved)).sum((-1, -2))
        centred = on_w - (w * on_w).sum(2, keepdim=True)
        al = w * centred
        lost = blur * long.amax(2, keepdim=True) * size1  # of (v - m).a, in float64
        ral = wide * ((apart + rv + exact) * ra1 + (rv + exact) * size1 + lost)
        ral = ral + w * change * centred.abs()
        both = al.abs() + ral
        cost = cost + (both * self.own_logits[at].unsqueeze(1)).sum((-1, -2))
        aq = self.scale * torch.einsum("mosh,mshk->mohk", al, k)
        far = self.from_middle[at].unsqueeze(1)
        blurred = ((blur * al.abs() + wide * lost) * k.norm(dim=-1).unsqueeze(1)).sum(2)
        raq = self.scale * ((ral * far + both * rk).sum(2) + blurred)
        ak = self.scale * al.unsqueeze(-1) * q[:, None, None]
        length, rq = q.norm(dim=-1)[:, None, None], self.rq[at][:, None, None]
        rak = self.scale * (ral * (length + rq) + al.abs() * (rq + fine(1) * length))
        av = w.unsqueeze(-1) * a.unsqueeze(2)
        rav = (wide + own_w) * ra1 + (w * change + own_w) * size1
        return Received(aq, BALL * raq, ak, BALL * rak, av, BALL * rav, BALL * cost)


class Received(NamedTuple):
    """Adjoints of what attention reads, and what its own rounding costs."""

    q: Tensor  # (M, O, H, K)
    rq: Tensor  # (M, O, H)
    k: Tensor  # (M, O, S, H, K)
    rk: Tensor  # (M, O, S, H)
    v: Tensor
    rv: Tensor
    cost: Tensor  # (M, O)
