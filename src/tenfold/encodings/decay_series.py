"""Decays: the weight b(n) = exp(bias) that an encoding puts on distance n, and what is known of its sum.

The `extrapolation` paper (2307.10156): a relative encoding extrapolates if the sum of b(n) over n >= 0
converges. Each formula stands here once; encodings add log b(n) to the logits, `features.reach` sums it.

    ALiBi         -k n                                converges (geometric)
    Type 1        -ln(1 + (k n)^2)                    converges
    Type 2        -(ln(3 + k n))^2                    converges
    1/n           -ln(1 + k n)                        diverges
    1/(n ln n)    -(z + ln z), z = ln(3 + k n)        diverges
    powers        -c (k n)^p                          converge
    Kerple-log    -p ln(1 + a n)                      converges for p > 1 alone
    BAM           -k (n + 1e-5)^p                     converges for p > 0 alone
    Sandwich      c (sum_i cos(n w_i) - D)            diverges: bounded below
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import torch
from torch import Tensor

NEAREST = 1e-5  # what BAM adds to a distance, so that a negative power of 0 exists


class SeriesVerdict(NamedTuple):
    """Whether a sum over all distances is finite; None: undecided."""

    converges: bool | None
    why: str


@dataclass(frozen=True)
class Decay:
    """log b(n) as a formula of the distance n >= 0 and of parameters, and the integral of b from n on.

    The integral is infinite where the sum diverges, or too large for a float. b never grows with n,
    unless `wavy`. Distances and parameters are tensors that broadcast against each other.

    Known of some: `bend`, at least the total variation of b' from n on, which ties the sum to the integral;
    `bounds`, what the sum from n on lies between, where that is known otherwise; `closed`, the number above
    which the least whole number is the receptive field; `judged`, a verdict on every head with a reason of its
    own, which may be that it is not known. A table `ends`. A verdict may rest on what the decay `assumes`.

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
    bend: Callable[..., Tensor] | None = None  # n, *parameters
    bounds: Callable[..., tuple[Tensor, Tensor]] | None = None  # n, *parameters
    closed: Callable[..., Tensor] | None = None  # eps, *parameters
    judged: Callable[..., list[SeriesVerdict]] | None = None  # *parameters
    ends: int | None = None  # the first distance that is not known
    assumes: str = ""

    def rest(self, n: Tensor, *parameters: Tensor) -> tuple[Tensor, Tensor]:
        """What the sum of b from a whole number n on lies between.

        Euler and Maclaurin: the integral and b(n) / 2 make it up to an eighth of the variation of b'.
        Where that is not known: b does not grow, so that the sum is at most b(n) above the integral.

        >>> one = torch.tensor(1.0, dtype=torch.float64)
        >>> [round(float(side), 4) for side in GEOMETRIC.rest(5 * one, one / 8)]  # 4.5553
        [4.5414, 4.5581]
        """
        if self.bounds is not None:
            return self.bounds(n, *parameters)
        integral, first = self.tail(n, *parameters), self.log_b(n, *parameters).exp()
        if self.bend is None:
            return integral, integral + first
        slack = self.bend(n, *parameters) / 8
        return integral + first / 2 - slack, integral + first / 2 + slack


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
        """For each head, whether the sum over all distances is known to be finite."""
        return self.decay.sums(*self.parameters)[:, 0].tolist()

    @property
    def verdicts(self) -> list[SeriesVerdict]:
        """For each head, with the reason.

        >>> log = Series(KERPLE_LOG, (torch.tensor([[2.0], [1.0]]), torch.ones(2, 1)))
        >>> [verdict.converges for verdict in log.verdicts]
        [True, False]
        """
        if self.decay.judged is not None:
            return self.decay.judged(*self.parameters)
        return [SeriesVerdict(converges, self.decay.why) for converges in self.converges]

    def log_b(self, n: Tensor) -> Tensor:
        """(N,) or (H, N) -> (H, N)"""
        return self.decay.log_b(n, *self.parameters)

    def tail(self, n: Tensor) -> Tensor:
        """The integral of b from n on: (N,) or (H, N) -> (H, N)"""
        return self.decay.tail(n, *self.parameters)

    def rest(self, n: Tensor) -> tuple[Tensor, Tensor]:
        """What the sum of b from n on lies between: (N,) or (H, N) -> (H, N) twice"""
        return self.decay.rest(n, *self.parameters)


def flattened(decay: Decay, flat: int) -> Decay:
    """1 up to a distance of `flat`, then the decay from there on, relative to its own beginning.

    >>> decay = flattened(TYPE_1, 2)
    >>> decay.log_b(torch.tensor([0.0, 2.0, 3.0]), torch.tensor(1.0)).exp().tolist()
    [1.0, 1.0, 0.5]
    """

    def first(n: Tensor, *parameters: Tensor) -> Tensor:
        return decay.log_b(torch.zeros_like(n), *parameters)

    def log_b(n: Tensor, *parameters: Tensor) -> Tensor:
        return decay.log_b((n - flat).clamp(min=0), *parameters) - first(n, *parameters)

    def bounds(n: Tensor, *parameters: Tensor) -> tuple[Tensor, Tensor]:
        even, scale = (flat - n).clamp(min=0), first(n, *parameters).exp()
        low, high = decay.rest((n - flat).clamp(min=0), *parameters)
        return even + low / scale, even + high / scale

    def tail(n: Tensor, *parameters: Tensor) -> Tensor:
        even, scale = (flat - n).clamp(min=0), first(n, *parameters).exp()
        return even + decay.tail((n - flat).clamp(min=0), *parameters) / scale

    return Decay(
        f"{decay.text}, counted from {flat} on",
        log_b,
        tail,
        decay.sums,
        decay.why,
        wavy=decay.wavy,
        bounds=bounds,
        judged=decay.judged,
        ends=None if decay.ends is None else decay.ends + flat,
        assumes=decay.assumes,
    )


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


def _bend(steep: Tensor, before: Tensor, steepest: Tensor) -> Tensor:
    """The variation of b' from here on, |b'| rising to its `steepest` while `before` it, then falling to 0."""
    return torch.where(before, 2 * steepest - steep, steep)


def _type_1_bend(n: Tensor, k: Tensor) -> Tensor:
    """|b'| = 2 k u / (1 + u^2)^2 with u = k n is steepest at u^2 = 1/3."""
    u = k * n
    return _bend(2 * k * u / (1 + u**2) ** 2, 3 * u**2 < 1, k * 3 * math.sqrt(3) / 8)


def _type_2_bend(n: Tensor, k: Tensor) -> Tensor:
    """Convex from the start: |b'| = 2 k z e^(-z^2) / e^z falls with z = ln(3 + k n) >= ln 3."""
    z = torch.log(3 + k * n)
    return 2 * k * z * torch.exp(-(z**2) - z)


def _power_bend(n: Tensor, k: Tensor, p: Tensor, c: Tensor) -> Tensor:
    """|b'| = p c (k n)^p e^(-c (k n)^p) / n is steepest at c (k n)^p = 1 - 1/p, for p <= 1 at 0."""
    top = ((1 - 1 / p).clamp(min=0) / c) ** (1 / p) / k  # where it is steepest

    def steep(n: Tensor) -> Tensor:
        v = c * (k * n) ** p
        return torch.where(
            n > 0, p * v * torch.exp(-v) / n, p * c * k**p * torch.zeros_like(n) ** (p - 1)
        )

    return _bend(steep(n), n < top, steep(top))


def _type_2_tail(n: Tensor, k: Tensor) -> Tensor:
    """With u = ln(3 + k x): the integral of exp(u - u^2) / k from there on."""
    u = torch.log(3 + k * n)
    return math.exp(0.25) * math.sqrt(math.pi) / 2 * torch.erfc(u - 0.5) / k


def _kerple_log_tail(n: Tensor, p: Tensor, a: Tensor) -> Tensor:
    finite = (1 + a * n) ** (1 - p) / (a * (p - 1))
    return torch.where(p > 1, finite, math.inf)


def _kerple_log_verdicts(p: Tensor, a: Tensor) -> list[SeriesVerdict]:
    compared = [
        (power, f"comparison with a p-series, p = {beside_one(power)}")
        for power in p[:, 0].tolist()
    ]
    return [
        SeriesVerdict(True, f"converges: {reason}")
        if power > 1
        else SeriesVerdict(False, f"diverges: {reason}, though it falls over practical ranges")
        for power, reason in compared
    ]


def _bam_where(p: Tensor, falling: Tensor, else_: float) -> Tensor:
    return torch.where(p > 0, falling, else_)


def _bam_tail(n: Tensor, k: Tensor, p: Tensor) -> Tensor:
    falls = p.clamp(min=1e-3)  # any number where p <= 0
    return _bam_where(p, _power_tail(n + NEAREST, torch.ones_like(k), falls, k), math.inf)


def _bam_bend(n: Tensor, k: Tensor, p: Tensor) -> Tensor:
    falls = p.clamp(min=1e-3)
    return _bam_where(p, _power_bend(n + NEAREST, torch.ones_like(k), falls, k), 0.0)


def _bam_verdicts(k: Tensor, p: Tensor) -> list[SeriesVerdict]:
    even, rises = "every distance has the same weight", "weights rise with distance, as p < 0"
    return [
        SeriesVerdict(True, "converges: by the integral test, a gamma function")
        if power > 0
        else SeriesVerdict(False, f"diverges: {rises if power < 0 else even}")
        for power in p[:, 0].tolist()
    ]


def beside_one(x: Fraction | float) -> str:
    """In few digits, but not as 1 what is not 1.

    >>> beside_one(1.25), beside_one(1 + Fraction(1, 10**17)), beside_one(Fraction(1))
    ('1.25', '1 + 1e-17', '1')
    """
    text, away = f"{float(x):.6g}", float(x - 1)
    return text if text != "1" or not away else f"1 {'-' if away < 0 else '+'} {abs(away):.3g}"


def _window_verdicts(w: Tensor) -> list[SeriesVerdict]:
    seen, all_seen = "nothing beyond the window is seen", "every distance has the same weight"
    return [
        SeriesVerdict(True, f"converges: {seen}")
        if finite
        else SeriesVerdict(False, f"diverges: {all_seen}")
        for finite in w[:, 0].isfinite().tolist()
    ]


def _inverse_log(n: Tensor, k: Tensor) -> Tensor:
    z = torch.log(3 + k * n)
    return -(z + z.log())


def _window_rest(n: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    count = (w + 1 - n).clamp(min=0)  # the sum itself
    return count, count


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
    bend=lambda n, k: k * torch.exp(-k * n),
    closed=lambda eps, k: -torch.log(eps) / k,  # the rest from j on is e^(-k j) of the whole
)
TYPE_1 = Decay(
    "-ln(1 + (k n)^2)",
    lambda n, k: -torch.log1p((k * n) ** 2),
    lambda n, k: torch.atan2(torch.ones_like(k * n), k * n) / k,
    always,
    "converges: below 1/(k n)^2, a p-series with p = 2",
    bend=_type_1_bend,
)
TYPE_2 = Decay(
    "-(ln(3 + k n))^2",
    lambda n, k: -(torch.log(3 + k * n) ** 2),
    _type_2_tail,
    always,
    "converges: n^(-ln n) falls faster than any power, by the integral test",
    bend=_type_2_bend,
)
INVERSE = Decay(
    "-ln(1 + k n)",
    lambda n, k: -torch.log1p(k * n),
    unbounded,
    never,
    "diverges: the harmonic series, though it falls over practical ranges",
)
INVERSE_LOG = Decay(
    "-(z + ln z), z = ln(3 + k n)",
    _inverse_log,
    unbounded,
    never,
    "diverges: by the integral test, ln ln n has no bound, though it falls over practical ranges",
)
POWER = Decay(
    "-c (k n)^p",
    lambda n, k, p, c: -c * (k * n) ** p,
    _power_tail,
    always,
    "converges: by the integral test, a gamma function",
    bend=_power_bend,
)
KERPLE_LOG = Decay(
    "-p ln(1 + a n)",
    lambda n, p, a: -p * torch.log1p(a * n),
    _kerple_log_tail,
    lambda p, a: p > 1,
    "a p-series: converges where p > 1, diverges where p <= 1",
    judged=_kerple_log_verdicts,
    bend=lambda n, p, a: p * a * (1 + a * n) ** (-p - 1),  # convex
)
BAM_PRIOR = Decay(
    "-k (n + 1e-5)^p",
    lambda n, k, p: -k * (n + NEAREST) ** p,
    _bam_tail,
    lambda k, p: p > 0,
    "converges where p > 0, a gamma function; diverges where p <= 0",
    judged=_bam_verdicts,
    bend=_bam_bend,
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
    judged=_window_verdicts,
    bounds=_window_rest,
    closed=lambda eps, w: (1 - eps) * (w + 1),
)
