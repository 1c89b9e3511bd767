"""Can a number of a float32 computation overflow, in some order of its sums? A proof in float32 assumes that none does.

Torch's own order may just fit where another one does not: the textbook formula of the variance squares numbers before
it takes the mean away. So every sum is bounded by its number of terms times the largest of them.
"""

from __future__ import annotations

from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from tenfold.encodings.encoding import PositionalEncoding
from tenfold.models.model import Model

ROOM = 2.0**126  # below the largest float32 number, 2^128, with room for rounding


class Overflow:
    """Measures a model while it runs: `with Overflow(model) as sizes: ...`, then `sizes.fits()`.

    Model and inputs are those of a proof, in float64. What is measured: the inputs and outputs of linear layers and
    layer norms. Attention multiplies outputs with each other, and with the tables of encodings.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.largest = torch.zeros((), dtype=torch.float64)
        self._hooks: list[RemovableHandle] = []

    def __enter__(self) -> Self:
        tables = [
            x.detach().abs().max().double()
            for module in self.model.modules()
            if isinstance(module, PositionalEncoding)
            for x in module.parameters()
        ]
        table = torch.stack([torch.ones((), dtype=torch.float64), *tables]).max()

        def ran(layer: Any, given: tuple[Tensor, ...], out: Tensor) -> None:
            with torch.no_grad():
                x, y = given[0].abs().max().double(), out.abs().max().double()
                terms = x * x
                if isinstance(layer, nn.Linear):
                    weight, bias = (p.abs().max().double() for p in (layer.weight, layer.bias))
                    terms = torch.maximum(x * weight + bias, y * torch.maximum(y, table))
                self.largest = torch.maximum(self.largest, given[0].shape[-1] * terms)

        for module in self.model.modules():
            if isinstance(module, nn.Linear | nn.LayerNorm):
                self._hooks.append(module.register_forward_hook(ran))
        return self

    def __exit__(self, *_: object) -> None:
        while self._hooks:
            self._hooks.pop().remove()

    def fits(self) -> bool:
        """Whether no sum can leave the numbers of float32; False where something was not a number."""
        return bool(self.largest < ROOM)
