"""Positional maps: what the encodings of a trained model learned, layer by layer, and summary measures.

The `symmetry` paper's Figures 11 and 12 plot a layer's vectors p_(i-j) by offset i - j, query minus key. The paper writes
the most significant digit first, so a carry comes from the column to the right: P_-1, "the previous position". The
measures here count **columns back**: 1 is that column, in either order of digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from tenfold.data.batch import Batch, Tokens
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.learned_maps import Map, Pairs, maps_of
from tenfold.models import Model, attention_in
from tenfold.models.stack import Encodings, visibility

Lengths = Mapping[int, float]  # lengths of vectors by columns back


@dataclass(frozen=True)
class Layer:
    """The learned tables of one layer. `name` is `layer 2`, `encoder, layer 1`, `cross, all layers`."""

    name: str
    encoding: str
    maps: tuple[Map, ...]
    back: dict[str, int]  # axis: the offset of the same number's next lower digit

    @property
    def nothing(self) -> str:
        """A line that states that there is nothing to show."""
        return "" if self.maps else f'the encoding "{self.encoding}" has nothing learned to show'

    def columns_back(self) -> dict[int, float] | None:
        """The lengths of vectors by columns back; None unless vectors differ by offset only."""
        vectors = [each.occurring for each in self.maps if each.axis and each.across == "element"]
        step = self.back.get(vectors[0].axis or "") if len(vectors) == 1 else None
        if step not in (1, -1):
            return None
        lengths = vectors[0].strengths.tolist()
        return {place * step: size for place, size in zip(vectors[0].places, lengths, strict=True)}


def layers(model: Model, batch: Batch) -> list[Layer]:
    """The maps of every layer for the places in this batch. Pairs of places that never occur are left out."""
    model = attention_in(model, "a positional map")
    all_layers: list[Layer] = []
    reader = model.reader()
    if reader is not None and batch.source is not None:
        whole = _meeting(batch.source, reader.causal)
        all_layers += _layers("encoder, ", reader.encodings, len(reader.blocks), whole, None)
    own = _meeting(batch.sequence, model.stack.causal)
    which = "" if reader is None else "decoder, "
    all_layers += _layers(which, model.stack.encodings, len(model.stack.blocks), own, batch.read)
    if model.stack.cross_encodings is not None and batch.source is not None:
        q_at, source = batch.sequence.places, batch.source
        shape = (1, q_at.count, source.places.count)
        seen = torch.ones(shape, dtype=torch.bool)
        seen = seen if source.valid is None else source.valid[:, None, :] & seen
        pairs = Pairs(q_at, source.places, seen)
        count = len(model.stack.blocks)
        all_layers += _layers("cross, ", model.stack.cross_encodings, count, pairs, batch.read)
    return all_layers


def _meeting(tokens: Tokens, causal: bool) -> Pairs:
    count = tokens.tokens.shape[1]
    allowed = visibility(count, count, tokens.valid, causal, tokens.tokens.device)
    seen = torch.ones(1, count, count, dtype=torch.bool) if allowed is None else allowed[:, 0]
    return Pairs(tokens.places, tokens.places, seen)


def _layers(
    which: str, encodings: Encodings, count: int, pairs: Pairs, read: int | None
) -> Iterator[Layer]:
    """The layers of one kind of attention. The last layer computes only the outputs that are read."""
    each = [pe for pe in encodings.each if isinstance(pe, PositionalEncoding)]
    for number, pe in enumerate(each):
        alone = len(each) == 1 and count > 1
        seen = pairs
        if read is not None and number == count - 1 and not alone:
            seen = Pairs(pairs.q_at.last(read), pairs.k_at, pairs.allowed[:, -read:])
        with torch.no_grad():
            maps = tuple(maps_of(pe, seen))
        axes = {each.axis for each in maps if each.axis is not None}
        steps = {axis: step for axis in axes if (step := _step(pairs, axis)) is not None}
        name = "all layers" if alone else f"layer {number + 1}"
        yield Layer(f"{which}{name}", pe.name, maps, steps)


def _step(pairs: Pairs, axis: str) -> int | None:
    known: set[str] = set(pairs.q_at) & set(pairs.k_at)
    return pairs.step_back(axis) if {"column", "role", axis} <= known else None


def led_by(tables: Sequence[Lengths], back: int = 1) -> float:
    """The share of layers in which the vector `back` columns back is the longest.

    >>> led_by([{0: 1.0, 1: 3.0}, {0: 2.0, 1: 1.0}])
    0.5
    """
    return float(np.mean([max(table, key=table.__getitem__) == back for table in tables]))


def dispersion(table: Lengths) -> float:
    """The entropy, in nats, of a layer's squared lengths over offsets; 0 if only one vector is not zero.

    >>> round(dispersion({0: 2.0, 1: 2.0}), 4)  # ln 2
    0.6931
    """
    squares = np.array(list(table.values()), dtype=np.float64) ** 2
    share = squares[squares > 0] / squares.sum()
    return float(-(share * np.log(share)).sum())


def weight_at(tables: Sequence[Lengths], backs: Sequence[int]) -> float:
    """The mean squared length of the vectors at these numbers of columns back, over vectors and layers.

    >>> weight_at([{2: 1.0, 3: 3.0}, {2: 0.0, 3: 0.0}], (2, 3))
    2.5
    """
    return float(np.mean([table[back] ** 2 for table in tables for back in backs if back in table]))


def measures(all_layers: Sequence[Layer]) -> dict[str, float]:
    """The paper's statements about its maps as numbers; empty if vectors do not differ by offset only.

    `layers-led-by-previous`: the share of layers in which one column back has the longest vector. `dispersion`: the mean
    over layers from the second on (or the only layer). `weight-at-2-3`, `weight-at-4-5`: mean squared lengths.
    """
    tables = [table for layer in all_layers if (table := layer.columns_back()) is not None]
    if not tables:
        return {}
    results = {
        "layers-led-by-previous": led_by(tables),
        "dispersion": float(np.mean([dispersion(table) for table in tables[1:] or tables])),
    }
    for near, far in ((2, 3), (4, 5)):
        if any(back in table for table in tables for back in (near, far)):
            results[f"weight-at-{near}-{far}"] = weight_at(tables, (near, far))
    return results
