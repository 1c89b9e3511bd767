"""Whether a model is local: every answer digit from a bounded number of columns, wherever they are.

The hypotheses: in every layer a query sees only keys of columns c-w..c; positions enter only through
differences of column and through roles. Then the digit at column i depends on columns i-R..i, R the sum of
the windows over layers. One-sided windows matter: where the highest digit comes first, a window that is open
ahead leaks one higher column a layer. Answer tokens may be seen less far; then older ones do not count.
"""

from __future__ import annotations

from typing import NamedTuple

from tenfold.errors import TenfoldError
from tenfold.models.base import Model
from tenfold.pe.base import PositionalEncoding, Span

AXIS = "column"


class NotCertifiable(TenfoldError):
    """The theorem's hypotheses do not hold, for the reason given."""


class Local(NamedTuple):
    """What an answer digit depends on, beside its own column."""

    columns: int  # columns of digits behind it
    answers: int  # answer digits before it


def locality(model: Model) -> Local:
    """How far back an answer digit looks, from the windows that every layer declares."""
    if model.layout != "causal":
        raise NotCertifiable(
            f'models of the kind "{model.name}" are not certifiable; a decoder, which writes the lowest '
            "digit first, may be"
        )
    stack = model.stack
    spans = [_span(stack.encodings[layer], layer) for layer in range(len(stack.blocks))]
    return Local(sum(span.behind for span in spans), 1 + sum(span.answers for span in spans))


def _span(pe: PositionalEncoding, layer: int) -> Span:
    for axis in sorted(pe.axes - {AXIS, "role"}):
        raise NotCertifiable(
            f'in layer {layer} the encoding "{pe.name}" reads the axis "{axis}", whose places have no '
            f'bound; positions may enter by differences of "{AXIS}" and by roles alone'
        )
    if AXIS in pe.axes and AXIS not in pe.invariant:
        raise NotCertifiable(
            f'in layer {layer} the encoding "{pe.name}" reads absolute places on "{AXIS}", of which '
            "longer inputs have more"
        )
    if pe.reads_keys:
        raise NotCertifiable(
            f'in layer {layer} the encoding "{pe.name}" counts over keys, also those that are not seen'
        )
    span = pe.window(AXIS)
    if span is None:
        raise NotCertifiable(
            f'attention in layer {layer} has no window on "{AXIS}" in every head, so a digit may depend '
            "on the whole input"
        )
    if span.ahead:
        raise NotCertifiable(
            f"the window of layer {layer} is open ahead by {span.ahead}; a one-sided one (ahead: 0) is "
            "needed, or each layer sees one higher column"
        )
    return span
