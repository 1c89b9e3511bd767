"""How far a trained model looks, as JSON and as lines for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.features.reach.reach_text import aligned, number_text
from tenfold.features.reach.run_reach import MeasuredReach


def erf_as_json(reach: MeasuredReach) -> dict[str, Any]:
    measured = reach.fields
    layers = []
    for number, (attention, gradient) in enumerate(
        zip(measured.attention.tolist(), measured.head_gradient.tolist(), strict=True)
    ):
        theory: Sequence[int | None] = reach.theory[number] or [None] * len(attention)
        heads = zip(attention, gradient, theory, strict=True)
        layers.append(
            {
                "layer": number + 1,
                "gradient": int(measured.layer_gradient[number]),
                "heads": [
                    {"head": head, "attention": a, "gradient": g, "theory": t}
                    for head, (a, g, t) in enumerate(heads, 1)
                ],
            }
        )
    return {
        "eps": measured.eps,
        "tokens": measured.tokens,
        "gradient": measured.gradient,
        "layers": layers,
    }


def erf_lines(result: dict[str, Any]) -> list[str]:
    rows = [
        [
            str(layer["layer"]),
            str(head["head"]),
            *(number_text(head[key]) for key in ("attention", "gradient", "theory")),
        ]
        for layer in result["layers"]
        for head in layer["heads"]
    ]
    lines = aligned(["layer", "head", "by attention", "by gradient", "theory"], rows)
    by_layer = ", ".join(f"layer {each['layer']} {each['gradient']}" for each in result["layers"])
    return [
        f"tokens that hold {100 * (1 - result['eps']):g}% of the weight, of {result['tokens']}",
        *lines,
        f"gradient of the last logit by what enters a layer: {by_layer}",
        f"the whole model, by gradient: {result['gradient']} of {result['tokens']} tokens",
    ]
