"""Theory's expectation for an encoding that is trained at one length and used at another.

The criterion is how much weight a longer text adds: the sum of b(n) up to the serving length, relative to the sum up to
the training length (`growth`). A convergent series bounds it at any length. A divergent series may still add little over
the range in question, in all heads or in some (Sandwich), because it diverges only in the limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import options_of
from tenfold.encodings.decay_series import SeriesVerdict
from tenfold.encodings.encoding import ENCODINGS
from tenfold.features.reach.measured_rise import Rise, measured_rises
from tenfold.features.reach.partial_sums import WAVY, growth
from tenfold.features.reach.receptive_field import Fields, over_heads, reach, reaches
from tenfold.features.reach.series_by_name import UNWEIGHTED, NamedSeries, given

SHARES = (0.5, 0.05, 0.01)
LITTLE = 0.05  # the same tolerance as for a perplexity that counts as kept
SEEN = "such encodings held in our runs (sandwich, kerple-log)"
NOTHING = "theory says nothing"
NO_BIAS = "positions enter by rotation or at the input; no bias depends on distance, and the theory is about biases"
SIGHT = 0.05  # a head does not see keys that together hold less than this share of its weight
NEAR = 0.1  # a reach below this share of the training length is of little use
LIMITS = (
    "What a longer text adds is of the head that gains least and of the one that gains most. Sums count the bias alone: queries, keys and values are taken to matter alike at every distance.",
    "Convergence is enough for extrapolation in the paper's theorem; that divergence forbids it was only seen in experiments.",
    "Out of sight is the share of the longer text that lies beyond the farthest head's reach (eps 0.05), in one layer.",
    "Keeping perplexity is not using a longer text: what lies beyond a head's reach it hardly sees.",
    "Learned numbers (bam, kerple-log, kerple-power, t5) are as first drawn; training moves them. Of positions that enter by rotation or at the input, the theory says nothing.",
)


@dataclass(frozen=True)
class Advice:
    """Advice about one encoding: verdict, reaches for several shares, weight added by a longer text, expectation."""

    name: str
    converges: bool | None  # of all heads; None: heads differ, unknown, or no series
    verdict: str
    why: str
    reaches: list[Fields]
    adds: tuple[float, float] | None  # the smallest and the largest value over heads
    expect: str
    learned: bool
    unseen: float | None = None  # the share of the longer text beyond the farthest head's reach
    measured: Rise | None = None  # from committed runs, with default options


def advise(
    train: int,
    serve: int,
    requested: Sequence[NamedSeries] | None = None,
    heads: int = 8,
    shares: Sequence[float] = SHARES,
) -> list[Advice]:
    """Advise on encodings, formulas or tables. By default: every encoding without options, the most useful first.

    Of an encoding that needs options, the default says why it has no series, if that is so whatever they are.

    A useful encoding should keep its perplexity and see far; see `_rank`.

    >>> from tenfold.features.reach.series_by_name import several
    >>> for results in advise(2048, 16384, several(["alibi", "inverse", "fire"])):
    ...     print(f"{results.name}: {results.verdict}, {results.expect}")
    alibi: converges, should hold: a longer text adds 0.0% to the weight
    inverse: diverges, should get worse: a longer text adds 28.9% to 89.9% to the weight, and more the longer it is
    fire: no series, theory says nothing
    """
    if train < 1 or serve < train:
        raise TenfoldError(
            f"training at {train} and serving at {serve} tokens; at least 1, and serving no shorter than training"
        )
    if serve > WAVY:
        raise TenfoldError(f"serving at {serve} tokens; at most {WAVY:,}, sums are taken that far")
    chosen = requested or list(_without_options(heads))
    rises = measured_rises()
    results = [
        replace(advice(about, train, serve, shares), measured=rises.get(about.name))
        for about in chosen
    ]
    return results if requested else sorted(results, key=lambda each: _rank(each, train, serve))


def advice(about: NamedSeries, train: int, serve: int, shares: Sequence[float] = SHARES) -> Advice:
    series = about.series
    if series is None:
        return Advice(about.name, None, "no series", about.why_not, [], None, NOTHING, False)
    if series.decay is UNWEIGHTED:
        return Advice(about.name, None, "no bias", NO_BIAS, [], None, NOTHING, False)
    verdicts, ends = series.verdicts, series.decay.ends
    fields = reaches(series, shares, ends)  # for a table, within its length
    adds = unseen = None
    if ends is None or serve <= ends:
        each = growth(series, train, serve)
        adds = min(each), max(each)
        farthest = over_heads(reach(series, SIGHT, ends))[-1]
        unseen = 0.0 if farthest is None else max(0.0, 1 - farthest.low / serve)
    converges, verdict = of_all(verdicts)
    whys = list(dict.fromkeys(v.why for v in verdicts))
    whys = whys if len(whys) <= 2 else [series.decay.why]
    return Advice(
        about.name, converges, verdict, "; ".join(whys), fields, adds, _expect(verdicts, adds),
        about.learned, unseen,
    )  # fmt: skip


def of_all(verdicts: Sequence[SeriesVerdict]) -> tuple[bool | None, str]:
    """The common verdict of all heads, or None; and the verdict in words.

    >>> (
    ...     of_all([SeriesVerdict(True, ""), SeriesVerdict(False, "")]),
    ...     of_all([SeriesVerdict(None, "")]),
    ... )
    ((None, 'converges in 1 of 2 heads'), (None, 'undecided'))
    """
    outcomes = [verdict.converges for verdict in verdicts]
    yes, no = outcomes.count(True), outcomes.count(False)
    if yes == len(outcomes):
        return True, "converges"
    if no == len(outcomes):
        return False, "diverges"
    if yes:
        return None, f"converges in {yes} of {len(outcomes)} heads"
    return None, f"diverges in {no} of {len(outcomes)} heads" if no else "undecided"


def in_percent(adds: tuple[float, float]) -> str:
    """
    >>> in_percent((0.25, 0.5)), in_percent((0.0, 0.0001))
    ('25.0% to 50.0%', '0.0%')
    """
    return " to ".join(dict.fromkeys(f"{100 * share:.1f}%" for share in adds))


def _expect(verdicts: Sequence[SeriesVerdict], adds: tuple[float, float] | None) -> str:
    """An encoding diverges if one head does. It is undecided if none does but some head is undecided."""
    if adds is None:
        return "theory says nothing: the table ends before"
    outcomes = {verdict.converges for verdict in verdicts}
    least, most = adds
    text = f"a longer text adds {in_percent(adds)} to the weight"
    if most <= LITTLE:
        limit = ", though in the limit it has no bound" if False in outcomes else ""
        return f"should hold: {text}{limit or (', the limit is undecided' if None in outcomes else '')}"
    if outcomes == {True}:
        return f"should hold in the end, but not yet settled where it was trained: {text}"
    if False not in outcomes:
        return f"undecided: {text}, and nobody knows how much in the limit"
    if least <= LITTLE:
        return f"diverges in the limit alone, some heads are settled: {text}; {SEEN}"
    return f"should get worse: {text}, and more the longer it is"


def _without_options(heads: int) -> Iterator[NamedSeries]:
    for name in ENCODINGS.names():
        kind = ENCODINGS[name]
        if _plain(name):
            yield given(name, heads)
        elif hasattr(kind, "no_series"):  # as `stated_series.ExplainsNoSeries` has it
            yield NamedSeries(name, None, kind.no_series)


def _plain(name: str) -> bool:
    """Whether an encoding can be made without options."""
    needed = [p for p in options_of(ENCODINGS[name]).values() if p.default is p.empty]
    return {p.name for p in needed} <= {"width", "heads", "head_size"}


def _rank(each: Advice, train: int, serve: int) -> tuple[int, float]:
    """Sort key: encodings that should hold, the farthest-seeing first; then by the weight that a longer text adds.

    An encoding that sees less than a tenth of the training length comes after all that may hold: it loses most of the text.
    """
    if each.adds is None or each.unseen is None:
        return 5, 0.0
    least, most = each.adds
    if (1 - each.unseen) * serve < NEAR * train:
        return 3, each.unseen
    if most <= LITTLE:
        return 0, each.unseen
    if each.converges:
        return 1, most
    return (2 if each.converges is None or least <= LITTLE else 4), most
