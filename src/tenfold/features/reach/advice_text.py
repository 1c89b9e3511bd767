"""What to expect of encodings at a longer length, as JSON and as lines for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tenfold.features.reach.advice import LIMITS, Advice, in_percent
from tenfold.features.reach.measured_rise import Rise
from tenfold.features.reach.reach_text import LEARNED, aligned, three, three_texts


def advice_as_json(items: Sequence[Advice], shares: Sequence[float]) -> dict[str, Any]:
    return {
        "encodings": [
            {
                "name": each.name,
                "converges": each.converges,
                "verdict": each.verdict,
                "why": each.why,
                "trf": {f"{eps:g}": three(f) for eps, f in zip(shares, each.reaches, strict=False)},
                "adds": None if each.adds is None else {"min": each.adds[0], "max": each.adds[1]},
                "out_of_sight": each.unseen,
                "expect": each.expect,
                "measured": None if each.measured is None else asdict(each.measured),
                "learned": each.learned,
            }
            for each in items
        ],
        "limits": list(LIMITS),
    }


def advice_lines(items: Sequence[Advice], shares: Sequence[float]) -> list[str]:
    head = [
        "",
        "series",
        *(f"eps {eps:g}" for eps in shares),
        "adds",
        "out of sight",
        "measured",
        "expect",
    ]
    rows = [
        [
            each.name + ("*" if each.learned else ""),
            each.verdict,
            *(three_texts(three(fields))[-1] for fields in each.reaches or [[None]] * len(shares)),
            "-" if each.adds is None else in_percent(each.adds),
            "-" if each.unseen is None else f"{100 * each.unseen:.1f}%",
            "-" if each.measured is None else rise_text(each.measured),
            each.expect.split(":")[0],
        ]
        for each in items
    ]
    wide = max(len(row[-1]) for row in rows)
    rows = [[*row[:-1], row[-1].ljust(wide)] for row in rows]
    lines = aligned(head, rows)
    by_reason: dict[str, list[str]] = {}
    for each in items:
        by_reason.setdefault(each.why, []).append(each.name)
    reasons = [f"{', '.join(names)}: {why}" for why, names in by_reason.items()]
    note = ["* " + LEARNED] if any(each.learned for each in items) else []
    return [*lines, *note, "", *reasons, "", *LIMITS, *_about_measured(items)]


def rise_text(rise: Rise) -> str:
    """
    >>> rise_text(Rise(128, 2304, 0.966, 1.21, 4)), rise_text(Rise(128, 2304, 2.0, 2.001, 2))
    ('x0.97 to 1.21', 'x2.00')
    """
    return "x" + " to ".join(dict.fromkeys(f"{factor:.2f}" for factor in (rise.least, rise.most)))


def _about_measured(items: Sequence[Advice]) -> list[str]:
    """One line for each pair of lengths that runs were measured at."""
    lengths = dict.fromkeys((m.train, m.serve) for each in items if (m := each.measured))
    return [
        f"Measured: perplexity at {serve:,} tokens over that at {train:,}, the training length; lowest to highest of the "
        "committed runs of extrapolation/perplexity and extrapolation/perplexity-prose, with default options."
        for train, serve in lengths
    ]
