"""A calibration as text. For each head: kept lines with their scores, dropped lines, and the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.features.calibration.calibration import Calibration
from tenfold.features.calibration.line_selection import Head, Scored

SIDES = {"causal": "self-attention", "cross": "cross-attention", "two-way": "two-way attention"}


def calibration_lines(calibration: Calibration, dropped: int = 2) -> list[str]:
    """One line per head: `cross-attention, layer 1, head 2: keeps operand 1, column +0 (3.1); dropped ...`."""
    rules = calibration.rules
    where = "the last layer, for all" if rules.source == "last" else "each layer"
    lines = [
        f"{calibration.run}: right on {calibration.accuracy}"
        + ("" if calibration.interpolates else "; imperfect"),
        f"{rules.scores} of {where}, averaged over {calibration.samples} problems; thresholds {thresholds(calibration)}",
        *(f"note: {note}" for note in calibration.notes),
        *(_head(head, dropped) for head in calibration.heads),
    ]
    empty = len(calibration.transparent)
    lines.append(
        f"{calibration.kept} lines; {empty} of {len(calibration.heads)} heads keep nothing and stay open"
        if empty
        else f"{calibration.kept} lines; every head keeps some"
    )
    return lines


def thresholds(calibration: Calibration) -> str:
    """`self: automatic, cross: kappa 4.5`."""
    rules = calibration.rules
    share = rules.kappa_share
    unnamed = (
        "automatic" if share is None else f"kappa {share:.0%} of the largest that a line could pass"
    )
    how = {"self": rules.kappa_self, "cross": rules.kappa_cross}
    return ", ".join(
        f"{side}: {unnamed if kappa is None else f'kappa {kappa:g}'}" for side, kappa in how.items()
    )


def title(head: Head) -> str:
    return f"{SIDES[head.attention]}, layer {head.layer}, head {head.head}"


def _head(head: Head, dropped: int) -> str:
    bounds = [
        f"{family.side} {family.direction} {family.threshold:.3g}"
        for family in head.families
        if family.threshold is not None
    ]
    kept = named_lines(head.kept, len(head.kept)) if head.kept else "nothing"
    others = named_lines(head.dropped, dropped)
    above = f"; above {', '.join(bounds)}" if bounds else "; no line stands out"
    return f"{title(head)}: keeps {kept}{above}; dropped {others}"


def _line(line: Scored) -> str:
    return f"{line.track} ({line.mean:.3g})"


def named_lines(lines: Sequence[Scored], most: int) -> str:
    """The first lines with their means; how many more there are."""
    if not lines:
        return "none"
    more = f" and {len(lines) - most} more" if len(lines) > most else ""
    return "   ".join(map(_line, lines[:most])) + more


def as_json(calibration: Calibration) -> dict[str, Any]:
    """The kept lines, without the averages, which are in the file."""
    known = calibration.model_dump(mode="json", exclude={"heads"})
    heads = [
        {
            "attention": head.attention,
            "layer": head.layer,
            "head": head.head,
            "kept": [{"line": str(line.track), "mean": line.mean} for line in head.kept],
            "dropped": len(head.dropped),
            "thresholds": {
                f"{family.side} {family.direction}": family.threshold for family in head.families
            },
        }
        for head in calibration.heads
    ]
    return {**known, "lines": calibration.kept, "heads": heads}
