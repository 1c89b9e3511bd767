"""Sizes of models by the names that papers have for them: `model: {size: nano}`.

A size is spelled out where it is written, before it is laid over anything: what is said later changes it, a size what was
said before. So a run's recipe has layers, heads and width, and no name for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenfold.errors import unknown

SIZES: dict[str, dict[str, int]] = {
    "nano": {"layers": 3, "heads": 3, "width": 48},  # these three: `principled`, after minGPT
    "micro": {"layers": 4, "heads": 4, "width": 128},
    "mini": {"layers": 6, "heads": 6, "width": 384},
    "gpt2": {"layers": 12, "heads": 12, "width": 768},
    "gpt2-medium": {"layers": 24, "heads": 16, "width": 1024},
}


def spelled(values: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe's values, or changes of them, with a named size spelled out.

    >>> spelled({"seed": 1, "model": {"size": "nano", "heads": 6}})
    {'seed': 1, 'model': {'layers': 3, 'heads': 6, 'width': 48}}
    """
    model = values.get("model")
    if not isinstance(model, Mapping) or "size" not in model:
        return dict(values)
    said = {key: value for key, value in model.items() if key != "size"}
    if model["size"] not in SIZES:
        raise unknown("size of a model", model["size"], SIZES)
    return {**values, "model": {**SIZES[model["size"]], **said}}
