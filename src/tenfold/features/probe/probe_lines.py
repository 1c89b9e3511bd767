"""What `tenfold probe` prints: a line a length, then what was found in sentences."""

from __future__ import annotations

import statistics

from tenfold.features.probe.probe_result import LengthResult, ProbeResult

HEAD = ("tokens", "perplexity", "sliding", "median field", "by gradient", "local heads", "sinks")


def probe_lines(result: ProbeResult) -> list[str]:
    """A table for each variant, and the sentences of the page."""
    lines = [_title(result)]
    for each in result.variants:
        if len(result.variants) > 1:
            lines.append(f"{each.name}:")
        rows = [HEAD, *(_row(one) for one in each.lengths)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
        lines += [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in rows
        ]
        lines += [line for line in each.encoding.theory if line not in lines]
    return [*lines, *result.answer()]


def _title(result: ProbeResult) -> str:
    model, text = result.model, result.text
    return (
        f"{model['name'] or model['class']}: {model['class']}, {model['parameters']:,} parameters, {model['layers']} layers of "
        f"{model['heads']} heads; {text['predicted_tokens']:,} tokens are predicted at every length"
    )


def _row(one: LengthResult) -> tuple[str, ...]:
    found = one.attention
    start = (f"{one.length:,}", f"{one.plain.perplexity:.4g}", f"{one.sliding.perplexity:.4g}")
    if found is None:
        return (*start, "-", "-", "-", "-")
    middle = statistics.median(found.fields.flatten().tolist())
    gradient = "-" if found.whole_field is None else f"{found.whole_field:,}"
    return (*start, f"{middle:,.0f}", gradient, f"{found.local_heads:.0%}", f"{found.sink_heads:.0%}")  # fmt: skip
