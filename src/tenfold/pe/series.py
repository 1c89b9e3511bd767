"""Decays: the weight b(n) = exp(bias) that an encoding puts on distance n, and what is known of its sum.

The `extrapolation` paper (2307.10156): a relative encoding extrapolates if the sum of b(n) over n >= 0
converges. Each formula stands here once; encodings add log b(n) to the logits, `tenfold.theory` sums it.

    ALiBi         -k n                                converges (geometric)
    Type 1        -ln(1 + (k n)^2)                    converges
    Type 2        -(ln(3 + k n))^2                    converges
    1/n           -ln(1 + k n)                        diverges
    1/(n ln n)    -(z + ln z), z = ln(3 + k n)        diverges
    powers        -c (k n)^p                          converge
    Kerple-log    -p ln(1 + a n)                      converges for p > 1 alone
    Sandwich      c (sum_i cos(n w_i) - D)            diverges: bounded below
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Decay:
    """log b(n) as a formula of the distance n >= 0 and of parameters, and the integral of b from n on.

    The integral is infinite where the sum diverges, or too large for a float. b never grows with n,
    unless `wavy`. Distances and parameters are tensors that broadcast against each other.

    >>> TYPE_1.log_b(torch.tensor([0.0, 1.0]), torch.tensor(1.0)).exp().tolist()
    [1.0, 0.5]
    >>> round(float(TYPE_1.tail(torch.tensor(0.0), torch.tensor(1.0))), 3)  # pi / 2
    1.571
    """

    text: str
    log_b: Callable[..., Tensor]  # n, *parameters
    tail: Callable[..., Tensor]
    sums: Callable[..., Tensor]  # *parameters -> bool: whether the sum converges
    why: str
    wavy: bool = False


@dataclass(frozen=True)
class Series:
    """A decay with the parameters of every head, as columns (H, 1) in float64.

    >>> alibi = Series(GEOMETRIC, (torch.tensor([[1.0], [0.5]]),))
    >>> alibi.log_b(torch.tensor([0.0, 2.0])).tolist()
    [[-0.0, -2.0], [-0.0, -1.0]]
    """

    decay: Decay
    parameters: tuple[Tensor, ...]

    @property
    def heads(self) -> int:
        return len(self.parameters[0])

    @property
    def converges(self) -> list[bool]:
        """For each head, whether the sum over all distances is finite."""
        return self.decay.sums(*self.parameters)[:, 0].tolist()

    def log_b(self, n: Tensor) -> Tensor:
        """(N,) or (H, N) -> (H, N)"""
        return self.decay.log_b(n, *self.parameters)

    def tail(self, n: Tensor) -> Tensor:
        """The integral of b from n on: (N,) or (H, N) -> (H, N)"""
        return self.decay.tail(n, *self.parameters)


def slopes(heads: int) -> Tensor:
    """2^(-8h/H), h = 1..H; for H not a power of two, as ALiBi's code does it: those of the next lower
    power of two, then every other one of the next higher.

    >>> slopes(4).tolist()
    [0.25, 0.0625, 0.015625, 0.00390625]
    """
    whole = 2 ** (heads.bit_length() - 1)
    first = [2 ** (-8 * h / whole) for h in range(1, whole + 1)]
    between = [2 ** (-4 * h / whole) for h in range(1, 2 * whole + 1, 2)]
    return torch.tensor((first + between)[:heads], dtype=torch.float64)


def unbounded(n: Tensor, *parameters: Tensor) -> Tensor:
    """The integral of what diverges."""
    return torch.full_like(n + parameters[0][:, :1], math.inf)


def always(*parameters: Tensor) -> Tensor:
    return torch.ones_like(parameters[0], dtype=torch.bool)


def never(*parameters: Tensor) -> Tensor:
    return torch.zeros_like(parameters[0], dtype=torch.bool)


def _power_tail(n: Tensor, k: Tensor, p: Tensor, c: Tensor) -> Tensor:
    """With u = c (k x)^p: the integral of exp(-u) from n on is Gamma(1/p, c (k n)^p) / (p k c^(1/p))."""
    n, k, p, c = (x.double() for x in (n, k, p, c))
    whole = torch.lgamma(1 / p).exp() / (p * k * c ** (1 / p))
    return whole * torch.special.gammaincc(1 / p, c * (k * n) ** p)


def _type_2_tail(n: Tensor, k: Tensor) -> Tensor:
    """With u = ln(3 + k x): the integral of exp(u - u^2) / k from there on."""
    u = torch.log(3 + k * n)
    return math.exp(0.25) * math.sqrt(math.pi) / 2 * torch.erfc(u - 0.5) / k


def _kerple_log_tail(n: Tensor, p: Tensor, a: Tensor) -> Tensor:
    finite = (1 + a * n) ** (1 - p) / (a * (p - 1))
    return torch.where(p > 1, finite, math.inf)


def _inverse_log(n: Tensor, k: Tensor) -> Tensor:
    z = torch.log(3 + k * n)
    return -(z + z.log())


def _window(n: Tensor, w: Tensor) -> Tensor:
    return torch.zeros_like(n + w).masked_fill(n > w, -math.inf)


def _sandwich(n: Tensor, share: Tensor, waves: Tensor) -> Tensor:
    """Summed wave by wave: no tensor of all distances times all waves."""
    total = torch.zeros_like(n)
    for rate in waves.unbind(-1):
        total = total + torch.cos(n * rate)
    return share * (total - waves.shape[-1])


CONSTANT = Decay(
    "0",
    lambda n, zero: n * zero,
    unbounded,
    never,
    "diverges: every distance has the same weight",
)
GEOMETRIC = Decay(
    "-k n",
    lambda n, k: -k * n,
    lambda n, k: torch.exp(-k * n) / k,
    always,
    "converges: a geometric series",
)
TYPE_1 = Decay(
    "-ln(1 + (k n)^2)",
    lambda n, k: -torch.log1p((k * n) ** 2),
    lambda n, k: torch.atan2(torch.ones_like(k * n), k * n) / k,
    always,
    "converges: below 1/(k n)^2, a p-series with p = 2",
)
TYPE_2 = Decay(
    "-(ln(3 + k n))^2",
    lambda n, k: -(torch.log(3 + k * n) ** 2),
    _type_2_tail,
    always,
    "converges: n^(-ln n) falls faster than any power, by the integral test",
)
INVERSE = Decay(
    "-ln(1 + k n)",
    lambda n, k: -torch.log1p(k * n),
    unbounded,
    never,
    "diverges: the harmonic series",
)
INVERSE_LOG = Decay(
    "-(z + ln z), z = ln(3 + k n)",
    _inverse_log,
    unbounded,
    never,
    "diverges: the integral of 1/(n ln n) is ln ln n",
)
POWER = Decay(
    "-c (k n)^p",
    lambda n, k, p, c: -c * (k * n) ** p,
    _power_tail,
    always,
    "converges: by the integral test, a gamma function",
)
KERPLE_LOG = Decay(
    "-p ln(1 + a n)",
    lambda n, p, a: -p * torch.log1p(a * n),
    _kerple_log_tail,
    lambda p, a: p > 1,
    "a p-series: converges where p > 1, diverges where p <= 1",
)
SANDWICH = Decay(
    "c (sum_i cos(n w_i) - D)",
    _sandwich,
    unbounded,
    never,
    "diverges: never below exp(-2 c D), though it falls over practical ranges",
    wavy=True,
)
WINDOW = Decay(
    "0 for n <= w, else -inf",
    _window,
    lambda n, w: (w + 1 - n).clamp(min=0),  # the sum itself
    lambda w: w.isfinite(),
    "converges where w is finite: nothing beyond it is seen",
)
