"""The hypotheses of a proof without a window: a decoder, with or without a source, whose encodings fade on columns."""

from __future__ import annotations

from typing import NamedTuple

import torch

from tenfold.data.batch import Batcher
from tenfold.data.places import Places
from tenfold.data.roles import Role
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.fading import Fading, fading_of
from tenfold.models.decoder import Decoder
from tenfold.models.layers import Attention, Block
from tenfold.models.locality import AXIS, NotCertifiable, check_axes, encodings_of
from tenfold.models.model import Model
from tenfold.models.seq2seq import Seq2Seq

WAYS = frozenset({"embed", "scores", "bias", "visible"})  # that far keys are bounded for
AXES = frozenset({AXIS, "role", "significance"})


class Diverging(NotCertifiable):
    """The sum over all distances has no bound, so far tokens may outweigh near ones."""


class OneLayer(NamedTuple):
    """An attention of a decoder, and what its encoding adds for far pairs; `crossing` is that to the source."""

    model: Decoder | Seq2Seq
    block: Block
    attention: Attention
    pe: PositionalEncoding
    fading: Fading
    crossing: OneLayer | None = None

    def attentions(self) -> list[OneLayer]:
        return [self] if self.crossing is None else [self, self.crossing]


def soft_layers(model: Model, batcher: Batcher) -> list[OneLayer]:
    """The layers, if what far keys add in each has a bound. Raises `NotCertifiable` with the reason otherwise."""
    if type(model) not in (Decoder, Seq2Seq):
        raise NotCertifiable("without a window, a decoder or an encoder-decoder is certifiable")
    assert isinstance(model, Decoder | Seq2Seq)
    reader = model.reader()
    if not model.stack.blocks:
        raise NotCertifiable("without a window, a decoder with layers is certifiable")
    if reader is not None and reader.blocks:
        raise NotCertifiable(
            "without a window, an encoder-decoder is certifiable where its encoder has no layers (encoder_layers: 0): "
            "a layer that sees both ways would carry far digits to every column"
        )
    layers = [_layer(model, number, batcher) for number in range(len(model.stack.blocks))]
    if len(layers) > 1 and reader is None:  # a source is read as it was embedded
        for layer in layers:
            _check_unrelated(layer.pe)
    return layers


def _check_unrelated(pe: PositionalEncoding) -> None:
    """Between several layers, a token that all see at one weight would carry what it saw to any distance."""
    column, role = torch.tensor([[0, -1]]), torch.full((1, 2), int(Role.OPERATOR))
    at = Places(**{AXIS: column, "significance": column, "role": role})
    seen = pe.visible(at, at)
    if seen is None or bool((seen & torch.tensor([[False, True], [True, False]])).any()):
        raise NotCertifiable(
            "without a window, several layers are certifiable where tokens without a column are hidden from others "
            "(soft-window with unrelated: false)"
        )


def _layer(model: Decoder | Seq2Seq, number: int, batcher: Batcher) -> OneLayer:
    block = model.stack.blocks[number]
    if not (isinstance(block, Block) and isinstance(block.attention, Attention) and block.pre):
        raise NotCertifiable(
            "without a window, softmax attention with norms before it is certifiable"
        )
    if batcher.schemes or batcher.format.ends() != "each":
        raise NotCertifiable(
            'without a window, the format "reversed" without a width, start or schemes is certifiable'
        )
    pe, reader, cross = model.stack.encodings[number], model.reader(), model.stack.cross_encodings
    check_axes(pe, "attention", AXES)
    if reader is not None:
        check_axes(reader.encodings[0], "the encoder", AXES)
    for part in encodings_of(model):
        _check_part(part, batcher)
    layer = OneLayer(model, block, block.attention, pe, _fading(pe))
    if block.cross is None or cross is None:
        return layer
    check_axes(cross[number], "cross-attention", AXES)
    return layer._replace(
        crossing=OneLayer(model, block, block.cross, cross[number], _fading(cross[number]))
    )


def _fading(pe: PositionalEncoding) -> Fading:
    """What an encoding adds for far pairs; raises where that has no bound."""
    fading = fading_of(pe, AXIS)
    if fading is None:
        raise NotCertifiable(
            f'the encoding "{pe.name}" has no window on "{AXIS}", and does not state what it adds for far pairs'
        )
    _check_series(fading)
    return fading


def _check_part(pe: PositionalEncoding, batcher: Batcher) -> None:
    machine = batcher.task.transducer()
    hub = {Role.OPERAND + machine.hub} if machine is not None and machine.hub is not None else set()
    other = sorted(pe.ways - WAYS)
    if other or pe.reads_keys or pe.multiplies:
        what = f"takes part by {other[0]}" if other else "reads keys"
        raise NotCertifiable(
            f'without a window, no bound is known for the encoding "{pe.name}", which {what}'
        )
    if "significance" in pe.axes and not (pe.digits_of and pe.digits_of <= hub):
        raise NotCertifiable(
            f'the encoding "{pe.name}" reads the axis "significance", whose places have no bound'
        )


def _check_series(fading: Fading) -> None:
    """Raise unless, for every head, some series converges and none grows."""
    if not fading.series:
        raise Diverging(
            f'no window and no decay on "{AXIS}": every distance has the same weight, so the sum diverges'
        )
    for series in fading.series:
        if series.decay.wavy or series.decay.ends is not None or series.decay.assumes:
            raise NotCertifiable(f"the decay {series.decay.text} may grow, or is not known at every distance")  # fmt: skip
    heads = max(series.heads for series in fading.series)
    for head in range(heads):
        verdicts = [s.verdicts[min(head, s.heads - 1)] for s in fading.series]
        if not any(verdict.converges for verdict in verdicts):
            raise Diverging(f"the series of head {head} {verdicts[0].why}")
