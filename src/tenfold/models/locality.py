"""How far a model sees: the hypotheses of a proof for every length, checked against what its encodings declare."""

from __future__ import annotations

from typing import NamedTuple

from tenfold.core.errors import TenfoldError
from tenfold.data.roles import Role
from tenfold.encodings.compose import Parted
from tenfold.encodings.encoding import PositionalEncoding, Span
from tenfold.models.model import Model, attention_in
from tenfold.models.stack import Encodings, Stack

AXIS = "column"


class NotCertifiable(TenfoldError):
    """The hypotheses of the theorem do not hold; the message is the reason."""


class Local(NamedTuple):
    """What an answer digit depends on besides its own column."""

    columns: int  # columns of digits behind it
    answers: int  # answer tokens before it
    start: int  # columns from which the beginning of the answer is seen
    hubs: frozenset[int] = frozenset()  # the roles of tokens that every column sees


def locality(model: Model, bounded: frozenset[str] = frozenset()) -> Local:
    """How far back an answer digit looks, from the windows that every layer declares.

    `bounded` names further axes with a bounded number of places, such as cyclic ones.
    """
    model = attention_in(model, "a proof for every length", NotCertifiable)
    if not model.stack.causal:
        raise NotCertifiable(
            f'models of the kind "{model.name}" are not certifiable; one that writes its answer from the '
            "lowest digit on may be"
        )
    allowed = frozenset({AXIS, "role", "significance"}) | bounded
    own = _spans(model.stack, model.stack.encodings, "attention", allowed)
    answers = 1 + sum(span.answers for span in own)
    start = sum(span.behind for span in own)
    encoder, cross = model.reader(), model.stack.cross_encodings
    if encoder is None or cross is None:
        return _checked(model, Local(start, answers, start, _hubs(own)))
    reading = _spans(encoder, encoder.encodings, "the encoder's attention", allowed)
    crossing = _spans(model.stack, cross, "cross-attention", allowed)
    source = sum(span.behind for span in reading)
    columns = crossing[0].behind + source
    for itself, across in zip(
        own[1:], crossing[1:], strict=True
    ):  # a token sees what others have read
        columns = max(columns + itself.behind, across.behind + source)
    return _checked(model, Local(columns, answers, start, _hubs([*reading, *crossing])))


def encodings_of(model: Model) -> list[PositionalEncoding]:
    """The encodings of every stack and layer, and the parts they are made of."""
    return [module for module in model.modules() if isinstance(module, PositionalEncoding)]


def _checked(model: Model, local: Local) -> Local:
    """Raise where some encoding of the model, or a part of one, breaks a hypothesis."""
    for pe in (pe for pe in encodings_of(model) if not isinstance(pe, Parted)):
        if AXIS in pe.axes and "rotate" in pe.ways and local.hubs:
            raise NotCertifiable(
                f'the encoding "{pe.name}" turns by "{AXIS}", and hubs have no place there: what a column '
                "sees of a hub would depend on where it is"
            )
        if "significance" in pe.axes and not pe.digits_of:
            raise NotCertifiable(
                f'the encoding "{pe.name}" reads the axis "significance", whose places have no bound'
            )
        for role in sorted(pe.digits_of - local.hubs):
            raise NotCertifiable(
                f'the encoding "{pe.name}" distinguishes the digits of operand {role - Role.OPERAND} by '
                'their place on "significance", which has no bound; only digits of a hub may be distinguished'
            )
    return local


def _spans(stack: Stack, encodings: Encodings, where: str, allowed: frozenset[str]) -> list[Span]:
    if not stack.blocks:  # tokens as they are embedded
        check_axes(encodings[0], f"{where} before its first layer", allowed)
    return [
        _span(encodings[layer], f"{where} in layer {layer}", allowed)
        for layer in range(len(stack.blocks))
    ]


def _hubs(spans: list[Span]) -> frozenset[int]:
    """The roles that are hubs in every layer; others would carry information from one column to all."""
    for span in spans:
        if span.hubs != spans[0].hubs:
            raise NotCertifiable("the same tokens must be hubs in every attention")
    return spans[0].hubs if spans else frozenset()


def check_axes(pe: PositionalEncoding, where: str, allowed: frozenset[str]) -> None:
    """Raise where an encoding reads places that have no bound."""
    for axis in sorted(pe.axes - allowed):
        raise NotCertifiable(
            f'{where}: the encoding "{pe.name}" reads the axis "{axis}", whose places have no bound; '
            f'positions may enter by differences of "{AXIS}", by roles and by cyclic places alone'
        )
    if AXIS in pe.axes and AXIS not in pe.invariant:
        raise NotCertifiable(
            f'{where}: the encoding "{pe.name}" reads absolute places on "{AXIS}", of which longer inputs '
            "have more"
        )


def _span(pe: PositionalEncoding, where: str, allowed: frozenset[str]) -> Span:
    check_axes(pe, where, allowed)
    if pe.reads_keys:
        raise NotCertifiable(
            f'{where}: the encoding "{pe.name}" counts over keys, also those that are not seen'
        )
    span = pe.window(AXIS)
    if span is None:
        raise NotCertifiable(
            f'{where} has no window on "{AXIS}" in every head, so a digit may depend on the whole input'
        )
    if span.ahead:
        raise NotCertifiable(
            f"{where}: its window is open ahead by {span.ahead}; a one-sided one (ahead: 0) is needed, or "
            "each layer sees one higher column"
        )
    return span
