"""Trained at one length, served at another: what theory expects of each encoding, and what it cannot say.

What decides is how much weight a longer text adds to what a query already spreads: the sum of b(n) up to the serving
length over that up to the training length (`growth`). A convergent series bounds it whatever the length; a divergent one
may still add little over the range that is asked about (Sandwich).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tenfold.errors import TenfoldError
from tenfold.pe.base import ENCODINGS
from tenfold.registry import options_of
from tenfold.theory.given import Given, given
from tenfold.theory.partial import WAVY, growth
from tenfold.theory.reach import Fields, reaches

SHARES = (0.5, 0.05, 0.01)
LITTLE = 0.05  # the same share by which a perplexity counts as kept
LIMITS = (
    "What a longer text adds is of the largest head. Sums count the bias alone: queries, keys and values are taken to matter alike at every distance.",
    "Convergence is enough for extrapolation in the paper's theorem; that divergence forbids it was only seen in experiments.",
    "Keeping perplexity is not using a longer text: what lies beyond a head's reach it hardly sees.",
    "Learned numbers (kerple-log, kerple-power, t5) are as first drawn; training moves them. Of places that enter by rotation or at the input, theory sees only that no weight falls with distance.",
)


@dataclass(frozen=True)
class Advice:
    """Of one encoding: a verdict, reaches for several shares, what a longer text adds at most, what to expect."""

    name: str
    converges: bool | None  # of all heads; None: not of all, not known, or no series
    verdict: str
    why: str
    reaches: list[Fields]
    adds: float | None
    expect: str
    learned: bool


def advise(
    train: int,
    serve: int,
    asked: Sequence[Given] | None = None,
    heads: int = 8,
    shares: Sequence[float] = SHARES,
) -> list[Advice]:
    """For encodings, formulas or tables; if none is named, for every encoding that needs no options.

    >>> from tenfold.theory.given import several
    >>> for told in advise(2048, 16384, several(["alibi", "inverse", "fire"])):
    ...     print(f"{told.name}: {told.verdict}, {told.expect}")
    alibi: converges, should hold: a longer text adds 0.0% to the weight
    inverse: diverges, should get worse: a longer text adds 89.9% to the weight, and more the longer it is
    fire: no series, theory says nothing
    """
    if train < 1 or serve < train:
        raise TenfoldError(
            f"training at {train} and serving at {serve} tokens; at least 1, and serving no shorter than training"
        )
    if serve > WAVY:
        raise TenfoldError(f"serving at {serve} tokens; at most {WAVY:,}, sums are taken that far")
    plain = [given(name, heads) for name in ENCODINGS.names() if _plain(name)] if not asked else []
    told = [advice(about, train, serve, shares) for about in asked or plain]
    return told if asked else sorted(told, key=_rank)


def advice(about: Given, train: int, serve: int, shares: Sequence[float] = SHARES) -> Advice:
    series = about.series
    if series is None:
        nothing = "theory says nothing"
        return Advice(about.name, None, "no series", about.why_not, [], None, nothing, False)
    verdicts = series.verdicts
    yes = sum(verdict.converges is True for verdict in verdicts)
    found = reaches(series, shares)
    adds = None
    if series.decay.ends is None or serve <= series.decay.ends:
        adds = max(growth(series, train, serve))
    held = {verdict.converges for verdict in verdicts}
    converges = held.pop() if len(held) == 1 else None
    said = {True: "converges", False: "diverges", None: "undecided"}
    verdict = said[converges]
    if converges is None and yes:
        verdict = f"converges in {yes} of {len(verdicts)} heads"
    whys = list(dict.fromkeys(v.why for v in verdicts))
    whys = whys if len(whys) <= 2 else [series.decay.why]
    return Advice(
        about.name, converges, verdict, "; ".join(whys), found, adds, _expect(converges, adds),
        about.learned,
    )  # fmt: skip


def _expect(converges: bool | None, adds: float | None) -> str:
    if adds is None:
        return "theory says nothing: the table ends before"
    told = f"a longer text adds {100 * adds:.1f}% to the weight"
    if adds <= LITTLE:
        return f"should hold: {told}" + (
            "" if converges else ", though in the limit it has no bound"
        )
    if converges:
        return f"should hold in the end, but not yet settled where it was trained: {told}"
    return f"should get worse: {told}, and more the longer it is"


def _plain(name: str) -> bool:
    """Whether an encoding can be made without options."""
    needed = [p for p in options_of(ENCODINGS[name]).values() if p.default is p.empty]
    return {p.name for p in needed} <= {"width", "heads", "head_size"}


def _rank(told: Advice) -> tuple[int, float]:
    """What should hold first."""
    if told.adds is None:
        return 3, 0.0
    return (0 if told.converges and told.adds <= LITTLE else 1), told.adds
