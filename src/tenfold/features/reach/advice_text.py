"""What to expect of encodings at a longer length, as JSON and as lines for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.features.reach.advice import LIMITS, Advice, in_percent
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
                "expect": each.expect,
                "learned": each.learned,
            }
            for each in items
        ],
        "limits": list(LIMITS),
    }


def advice_lines(items: Sequence[Advice], shares: Sequence[float]) -> list[str]:
    head = ["", "series", *(f"eps {eps:g}" for eps in shares), "adds", "expect"]
    rows = [
        [
            each.name + ("*" if each.learned else ""),
            each.verdict,
            *(three_texts(three(fields))[-1] for fields in each.reaches or [[None]] * len(shares)),
            "-" if each.adds is None else in_percent(each.adds),
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
    return [*lines, *note, "", *reasons, "", *LIMITS]
