"""The page of a probe, `probe.html`, and its numbers, `probe.json`."""

from __future__ import annotations

import statistics
from html import escape
from pathlib import Path
from typing import Any

from tenfold.drawing.feature_page import (
    FeaturePage,
    captioned,
    cells,
    figure_folder,
    files_of,
    made_here,
    write_data,
    write_made,
)
from tenfold.drawing.figures import Figure
from tenfold.drawing.html import details, line_legend
from tenfold.features.probe import probe_figures as draw
from tenfold.features.probe.attention_findings import SINK, AttentionFindings
from tenfold.features.probe.attention_sums import FIRST
from tenfold.features.probe.probe_result import ProbeResult
from tenfold.features.probe.rope_scalings import AS_IS

QUESTION = "What happens beyond the training length, and how far does the model look?"
PERPLEXITY = (
    "The same tokens are predicted at every length. In windows one after another, the first token of a window sees one "
    "token and the last one sees the window. Sliding windows overlap by three quarters. Bands: 95% over passages."
)
POSITION = (
    "The mean loss of tokens by how many tokens are in sight, in windows of the longest length."
)
DISTANCE = (
    "The mean over the heads of a layer, for the last eighth of the queries; bins of distance double. Lines go from dark, "
    "the first layer, to light, the last. A rise at the far end is attention to the first tokens of the text."
)
HEADS = (
    "A field is the number of nearest tokens that hold all but a share of {eps:g}. By attention: of the attention weights of "
    "the last eighth of the queries. By gradient: of |w d logit / d w| for every weight w and the largest logit at the last "
    "token. Dark cells look near, yellow cells far."
)
FIELDS = (
    "On the dotted line, all of the text is in the field. By gradient: how far the largest logit at the last token depends on "
    "what enters the first layer."
)
Written = tuple[dict[str, Path], list[str]]  # the page and its data, files of figures


def write_probe(result: ProbeResult, out: Path, figures: Path | None = None) -> Written:
    """Write the page and the numbers; figures only where a folder for them is given."""
    with figure_folder(figures) as place:
        place.mkdir(parents=True, exist_ok=True)
        parts, drawn = _parts(result, place)
    title = f"Probe of {result.model['name'] or result.model['class']}"
    page = FeaturePage(title, QUESTION, result.answer(), parts)
    written = {
        "page": write_made(page, out / "probe.html", _made(result)),
        "data": write_data(out / "probe.json", result.as_json()),
    }
    return written, files_of(drawn, figures)


def _parts(result: ProbeResult, place: Path) -> tuple[list[str], list[Figure]]:
    """The sections of the page, and the figures in them."""
    perplexity = draw.perplexity_figure(result, place / "perplexity")
    position = draw.position_figure(result, place / "positions")
    several = len(result.variants) > 1
    parts = [
        "<h2>Perplexity</h2>",
        captioned(perplexity, PERPLEXITY, line_legend(draw.perplexity_styles(result))),
        _perplexities(result),
        "<h2>Loss by position</h2>",
        captioned(position, POSITION, line_legend(draw.position_styles(result)) if several else ""),
        "<h2>What the theory says of its positions</h2>",
        *_theory(result),
    ]
    drawn = [perplexity, position]
    found = result.variants[0].lengths[-1].attention
    if found is not None:
        fields = draw.field_figure(result, place / "fields")
        heads = draw.head_figure(found, place / "heads")
        distance = draw.distance_figure(found, place / "distance")
        drawn += [fields, heads, distance]
        parts += [
            "<h2>How far it looks</h2>",
            captioned(fields, FIELDS, line_legend(draw.field_styles(result.variants[:1]))),
            _by_length(result),
            captioned(heads, HEADS.format(eps=found.eps)),
            captioned(distance, DISTANCE),
            details("Every layer", _layers(found)),
        ]
    return parts, drawn


def _perplexities(result: ProbeResult) -> str:
    head = ["positions", "windows", *(f"{one.length:,}" for one in result.variants[0].lengths)]
    rows = []
    for each in result.variants:
        rows.append([each.name, "one after another", *(f"{one.plain.perplexity:.4g}" for one in each.lengths)])  # fmt: skip
        rows.append([each.name, "sliding", *(f"{one.sliding.perplexity:.4g}" for one in each.lengths)])  # fmt: skip
    return cells(head, rows)


def _theory(result: ProbeResult) -> list[str]:
    """What follows for each variant, then what the config states of all of them."""
    said: list[str] = []
    parts = []
    for each in result.variants:
        new = [line for line in each.encoding.theory if line not in said]
        said += new
        name = f"{each.name}: " if len(result.variants) > 1 and each.name != AS_IS else ""
        parts.append(f"<p>{escape(name + ' '.join(new))}</p>")
    known = [{"encoding": each.encoding.name, **each.encoding.facts} for each in result.variants]
    keys = list(dict.fromkeys(key for facts in known for key in facts))
    rows = [
        [key.replace("_", " "), *(plain(facts.get(key)) for facts in known)]
        for key in keys
        if any(facts.get(key) is not None for facts in known)
    ]
    return [*parts, cells(["", *(each.name for each in result.variants)], rows)]


def plain(value: Any) -> str:
    """Numbers in few digits; of a list of numbers, one after another.

    >>> plain([0.25, 0.00390625]), plain(10000.0), plain(None), plain({"a": 1})
    ('0.25, 0.003906', '10,000', '', 'a=1')
    """
    if isinstance(value, list):
        return ", ".join(map(plain, value))
    if isinstance(value, dict):
        return ", ".join(f"{key}={plain(each)}" for key, each in value.items())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _by_length(result: ProbeResult) -> str:
    several = len(result.variants) > 1
    head = [
        *(["positions"] if several else []), "tokens", "median field", "longest field", "field by gradient, whole model",
        "local heads", f"heads with {SINK:.0%} on the first token",
    ]  # fmt: skip
    rows = []
    for each in result.variants:
        for one in each.lengths:
            if (found := one.attention) is not None:
                middle = statistics.median(found.fields.flatten().tolist())
                gradient = "" if found.whole_field is None else f"{found.whole_field:,}"
                rows.append([
                    *([each.name] if several else []), f"{one.length:,}", f"{middle:,.0f}", f"{int(found.fields.max()):,}",
                    gradient, f"{found.local_heads:.0%}", f"{found.sink_heads:.0%}",
                ])  # fmt: skip
    return cells(head, rows)


def _layers(found: AttentionFindings) -> str:
    head = ["layer", "fields of its heads", "by gradient, heads", "by gradient, layer", f"on the first {FIRST} tokens"]  # fmt: skip
    rows = []
    for layer, fields in enumerate(found.fields.tolist()):
        by_head = "" if found.gradient_fields is None else ", ".join(map(str, found.gradient_fields[layer].tolist()))  # fmt: skip
        whole = "" if found.layer_fields is None else str(int(found.layer_fields[layer]))
        few = f"{float(found.first_few[layer].mean()):.1%}"
        rows.append([str(layer + 1), ", ".join(map(str, fields)), by_head, whole, few])
    return cells(head, rows)


def _made(result: ProbeResult) -> dict[str, Any]:
    about = {name: f"{value:,}" if isinstance(value, int) else value for name, value in result.model.items()}  # fmt: skip
    text = {name.replace("_", " "): value for name, value in result.text.items()}
    return {**about, **text, "training length": result.trained, **made_here()}
