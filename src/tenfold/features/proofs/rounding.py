"""Bound how far computed logits can be from exact ones, in float32 or in float64, from norms and sizes.

This is a forward error analysis. n roundings change a number by a factor of at most 1 + gamma(n), gamma(n) = n u /
(1 - n u), u = 2^-24 or 2^-53, in any order of sums, with or without FMA (Higham, Accuracy and Stability of Numerical
Algorithms, 2002, ch. 3). The norms of vectors are measured. A measured value was itself computed, so it may be off, too.
If a bound is e for u, it is at most t e for t u with t < 1: every step keeps this. So the error of a measurement in
float64 is at most 2^-29 of the error in float32.

Assumptions: the exact weights are the numbers stored; +, -, * round to nearest as IEEE 754 has it (no TF32, no
bfloat16); division, sqrt and exp are within 4 units in the last place, and exp(-inf) is 0; gelu(h) is off by at most
gamma(10) |h|; a result below the smallest normal number may be 0 instead (`tiny`); mean and variance are computed in
one of the ways of Chan, Golub & LeVeque (1983); nothing overflows.

Shapes: G groups of numbers (the heads of an attention, or single logits); N tokens; D width; F wider.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Self, TypeVar

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from tenfold.core.errors import TenfoldError
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.steady import Steady, steady_of
from tenfold.features.proofs.rounding_steps import (
    FLOAT32,
    GELU,
    LIBRARY,
    NOTHING_BEYOND,
    SLACK,
    SLOPE,
    Arithmetic,
    Beyond,
    Mixtures,
    Moments,
    Products,
    Slopes,
    Vectors,
)
from tenfold.features.proofs.rounding_steps import FLOAT64 as FLOAT64
from tenfold.features.proofs.rounding_steps import gamma as gamma
from tenfold.models.layers import Attention, Block
from tenfold.models.model import Model
from tenfold.models.stack import Stack

M = TypeVar("M", bound=nn.Module)


class Meter:
    """Measures a model while it runs, then bounds the rounding errors of its logits.

    with Meter(model) as meter:
        model(batch)  # any number of times
    meter.bound()  # no logit is further from exact arithmetic, on these inputs or on others with the same contexts
    meter.bound(FLOAT64)  # the same if the model runs in float64

    It may measure the model in float64, which is 2^29 times as precise. Then the bound is a little lower. With `coarse`
    it measures norms alone, in about a third of the time; the bound is then larger, but small enough for float64.
    """

    def __init__(
        self,
        model: Model,
        *,
        coarse: bool = False,
        steady: Callable[[PositionalEncoding], Steady | None] = steady_of,
    ) -> None:
        self.model, self.coarse, self.steady = model, coarse, steady
        self._beyond = NOTHING_BEYOND
        self._most: dict[nn.Module, Any] = {}  # measured maxima over all runs
        self._hooks: list[RemovableHandle] = []
        *_, self._head = self._all(nn.Linear)

    def __enter__(self) -> Self:
        groups: dict[nn.Module, int] = {self._head: self._head.out_features}  # each logit by itself
        for attention in self._all(Attention):
            groups |= {attention.query: attention.heads, attention.key_value: 2 * attention.heads}
            self._watch_mixing(attention)
        for linear in self._all(nn.Linear):
            self._watch(linear, partial(Products.of, groups=groups.get(linear, 1)))
        for norm in self._all(nn.LayerNorm):
            self._watch(norm, Moments.of)
        for block in [] if self.coarse else self._all(Block):
            entry = block.feedforward_norm if block.pre else block.expand
            self._watch(entry, lambda _, x, __, block=block: Slopes.of(block, x), block)
        return self

    def __exit__(self, *_: object) -> None:
        while self._hooks:
            self._hooks.pop().remove()

    def _all(self, kind: type[M]) -> list[M]:
        return [module for module in self.model.modules() if isinstance(module, kind)]

    def _watch_mixing(self, attention: Attention) -> None:
        latest: list[Tensor] = []

        def measure(_: nn.Module, __: Tensor, logits: Tensor) -> Mixtures:
            values = latest.pop() if latest else None
            return Mixtures.of(logits, None if self.coarse else values)

        keep = attention.key_value.register_forward_hook(lambda _, __, out: latest.append(out))
        self._hooks.append(keep)
        self._watch(attention.logits, measure, attention)

    def _watch(
        self, module: nn.Module, measure: Callable[..., Any], of: nn.Module | None = None
    ) -> None:
        about = module if of is None else of

        def ran(module: nn.Module, given: tuple[Tensor], out: Tensor) -> None:
            with torch.no_grad():
                values = measure(module, given[0], out)
                known = self._most.get(about, values)
                self._most[about] = type(values)(*map(torch.maximum, known, values))

        self._hooks.append(module.register_forward_hook(ran))

    @torch.no_grad()
    def bound(self, by: Arithmetic = FLOAT32, beyond: Beyond = NOTHING_BEYOND) -> float | None:
        """An upper bound on |computed - exact| of every logit; None where an encoding states no bounds.

        With `beyond`, of a model that also attends to keys that were not measured.
        """
        self._beyond = beyond
        if not self._most:
            raise TenfoldError(
                "the meter has measured nothing yet; run the model inside its `with` block"
            )
        if any(self.steady(pe) is None for pe in self._all(PositionalEncoding)):
            return None
        x, self.logit_error = None, 0.0  # the latter of the attentions
        for stack in self._all(Stack):  # an encoder comes before the decoder that reads it
            x = self._stack(stack, x, by)
        assert x is not None
        bound = SLACK * self._after(self._head, x, by).error.max().item()
        return math.inf if math.isnan(bound) else bound

    def _after(self, layer: nn.Module, x: Vectors, by: Arithmetic) -> Vectors:
        return self._most[layer].after(layer, x, by)

    def _stack(self, stack: Stack, source: Vectors | None, by: Arithmetic) -> Vectors:
        steady = self._steady(stack.encodings[0])
        rows = stack.embedding.weight.double()
        size = rows.norm(dim=1).max() + steady.embed
        lost = 2 * (steady.terms + 1) * by.tiny * math.sqrt(rows.shape[1])
        error = by.gamma(steady.terms) * size + lost
        x = Vectors(size, error, error)
        for layer, block in enumerate(stack.blocks):
            assert isinstance(block, Block)
            assert isinstance(block.attention, Attention)
            pe = stack.encodings[layer]
            x = self._mixed(block, block.attention, block.attention_norm, pe, x, None, by)
            if block.cross is not None and stack.cross_encodings is not None:
                pe = stack.cross_encodings[layer]
                x = self._mixed(block, block.cross, block.cross_norm, pe, x, source, by)
            x = self._fed_forward(block, x, by)
        return self._after(stack.norm, x, by) if stack.norm in self._most else x

    def _steady(self, pe: PositionalEncoding) -> Steady:
        steady = self.steady(pe)
        assert steady is not None
        return steady

    def _fed_forward(self, block: Block, x: Vectors, by: Arithmetic) -> Vectors:
        """Two bounds hold, the product of slopes and the measured slope of the whole; the smaller one is used."""
        given, steep, moved = x._replace(own=x.own * 0), torch.ones(()), torch.zeros(())
        if block.pre:
            seen: Moments = self._most[block.feedforward_norm]
            steep, moved = seen.steep, seen.moved(block.feedforward_norm, x, by)
            given = seen.after(block.feedforward_norm, given, by)
        wide = self._after(block.expand, given, by).joined()
        lost = 4 * by.tiny * math.sqrt(block.expand.out_features)
        bent = wide.through(SLOPE, by.gamma(GELU) * wide.computed + lost, wide.size)
        width = block.contract.out_features
        out = x.plus(self._after(block.contract, bent, by).joined(), width, by)
        if block in self._most:
            slope = 1 + self._most[block].after(block, steep, moved, x, wide.own, by)
            error = torch.minimum(out.error, slope * x.error + out.own)
            out = out._replace(error=error, shift=torch.minimum(out.shift, slope * x.shift))
        out = out._replace(shift=out.shift.clamp(max=self._beyond.last))
        return out if block.pre else self._after(block.feedforward_norm, out, by)

    def _mixed(
        self,
        block: Block,
        attention: Attention,
        norm: nn.LayerNorm | None,
        pe: PositionalEncoding,
        x: Vectors,
        source: Vectors | None,
        by: Arithmetic,
    ) -> Vectors:
        """Head by head. Where logits l change by d, sum_j w_j v_j does by sum_j w_j d_j (v_j - mean) to first order,
        along the whole way; in any case weights change, in the 1-norm, by no more than the largest d_j."""
        assert norm is not None
        steady, seen, beyond = self._steady(pe), self._most[attention], self._beyond
        keys = int(seen.keys) + beyond.keys
        given = self._after(norm, x, by) if block.pre else x
        q = self._after(attention.query, given, by)
        both = self._after(attention.key_value, given if source is None else source, by)
        k, v = (Vectors(*part) for part in zip(*(t.view(2, -1) for t in both), strict=True))
        scale, reach = 1 / math.sqrt(attention.size), k.computed + steady.scores
        terms = scale * q.computed * reach + steady.bias
        logits = scale * (q.error * reach + q.size * k.error)
        rounded = by.gamma(attention.size + 4 + steady.terms)
        logits = logits + rounded * terms
        logits = logits + by.tiny * (6 * attention.size + 4 + attention.size * q.computed)
        self.logit_error = max(self.logit_error, logits.max().item())
        softmax = by.gamma(2 * keys + 3 * LIBRARY + 4) + 4 * keys * by.tiny + 2 * beyond.lost
        further = rounded * beyond.bias  # the logit of a far key is off by so much more
        mass = beyond.attention * (2 * (logits + further)).exp()  # of far keys, on the whole way
        taken = v.computed + steady.values
        moved = logits + 2 * mass * further  # of all weights together
        apart = seen.apart + 6 * (moved + softmax) * v.computed + 2 * (v.error + steady.values)
        apart = apart + 4 * mass * v.computed
        weighing = logits * torch.minimum(apart, taken) + (softmax + 2 * mass * further) * taken
        rounding = by.gamma(2 * keys + 1 + steady.terms) * (1 + softmax) * taken
        rounding = rounding + by.tiny * (4 * keys + 2) * math.sqrt(attention.size)
        mixed = v.through(1 + softmax, weighing + rounding, v.size + steady.values)
        mixed = mixed._replace(shift=2 * beyond.attention * v.size)
        width = attention.out.out_features
        out = x.plus(self._after(attention.out, mixed.joined(), by).joined(), width, by)
        out = out._replace(shift=out.shift.clamp(max=beyond.moved))
        return out if block.pre else self._after(norm, out, by)
