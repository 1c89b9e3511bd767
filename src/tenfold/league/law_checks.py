"""The laws that an encoding must obey before it enters the league, checked on a small model in float64.

A law that is broken raises one line with the numbers. `tests/laws` holds encodings of the package to more of them.

Shapes: B rows, T tokens, A answer tokens, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import described
from tenfold.data.batch import Batch, Batcher, Tokens
from tenfold.data.tasks import samplers
from tenfold.encodings import ENCODINGS
from tenfold.models import Model, trace
from tenfold.models.model import AttentionModel
from tenfold.runs.build import build
from tenfold.runs.recipe import Recipe

CLOSE = 1e-8  # what float64 may differ by
MOVED = 90  # positions
SMALL = {"layers": 2, "width": 16, "heads": 2}


class BrokenLaw(TenfoldError):
    """A law that an encoding does not obey, and by how much."""


@dataclass(frozen=True)
class Subject:
    """A small model with the encoding, and batches to try it on."""

    name: str
    model: Model
    batcher: Batcher
    batch: Batch  # rows of different lengths

    def problems(self, n: int, length: int) -> Batch:
        rng = np.random.default_rng(7)
        drawn = self.batcher.task.sample(n, length, rng, samplers.exact)
        return self.batcher(drawn)


def check_laws(recipe: Recipe) -> list[str]:
    """Check all laws for the encoding of a recipe; returns the names of those that hold."""
    try:
        subject = _subject(recipe)
        with torch.no_grad():
            for _, law in LAWS:
                law(subject)
        _gradients(subject)
    except TenfoldError:
        raise
    except Exception as error:  # of somebody else's code
        name = recipe.pe.name
        raise BrokenLaw(
            f'encoding "{name}" fails in a small model: {described(error, ENCODINGS[name])}'
        ) from error
    return [*(name for name, _ in LAWS), "a gradient reaches every parameter"]


def _subject(recipe: Recipe) -> Subject:
    built = build(recipe.replace(model=SMALL, stop=None))
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        model = built.model()
        for parameter in model.parameters():  # so that every one of them matters
            parameter.copy_(torch.randn(parameter.shape))
    batcher = built.source.problems().batcher
    rng = np.random.default_rng(3)
    ragged = batcher(batcher.task.sample(6, 4, rng, samplers.lengths))
    return Subject(recipe.pe.name, model.double().eval(), batcher, ragged)


def _difference(one: Tensor, other: Tensor) -> float:
    if not (one.isfinite().all() and other.isfinite().all()):
        return float("inf")
    return float((one - other).abs().max()) if one.numel() else 0.0


def _require(subject: Subject, law: str, difference: float) -> None:
    if not difference <= CLOSE:
        raise BrokenLaw(
            f'encoding "{subject.name}" breaks the law "{law}": logits differ by {difference:.3g}, '
            f"at most {CLOSE:g} would be right"
        )


def _first(sequence: Tokens, count: int) -> Tokens:
    valid = None if sequence.valid is None else sequence.valid[:, :count]
    return Tokens(sequence.tokens[:, :count], sequence.places.slice(0, count), valid)


def _cut(batch: Batch, answered: int) -> Batch:
    """The batch as it is when so many answer tokens are written."""
    count = batch.given + answered
    return Batch(
        _first(batch.sequence, count), batch.target[:, : answered + 1], batch.given, batch.source
    )


def _prefix(subject: Subject) -> None:
    """What is read does not depend on what comes later."""
    batch = subject.batch
    whole = subject.model(batch)  # (B, A, V)
    real = batch.sequence.valid
    for answered in range(batch.read - 1):
        part = subject.model(_cut(batch, answered))[:, -1]
        place = batch.given - 1 + answered
        rows = slice(None) if real is None else real[:, place]
        law = "a prefix is read as in the longer sequence"
        _require(subject, law, _difference(part[rows], whole[rows, answered]))


def _cached(subject: Subject) -> None:
    """Decoding with a cache gives the logits of decoding without one."""
    batch = subject.batch.without_answer(subject.batcher.task.vocabulary.pad)
    with trace(subject.model, "head") as seen:
        answer = subject.model.answer(batch)
    written = replace(
        batch.sequence, tokens=torch.cat([batch.sequence.tokens[:, : batch.given], answer[:, : batch.read - 1]], 1)
    )  # fmt: skip
    again = replace(batch, sequence=written)
    real = batch.sequence.valid
    for place, logits in enumerate(seen["head"]):
        plain = subject.model(_cut(again, place))[:, -1]
        at = batch.given - 1 + place
        rows = slice(None) if real is None else real[:, at]
        difference = _difference(logits.reshape(plain.shape)[rows], plain[rows])
        _require(subject, "cached decoding equals uncached", difference)


def _alone(subject: Subject) -> None:
    """Padding and the other rows of a batch change nothing."""
    law = "a row alone is the row in a batch of several lengths"
    drawn = subject.batcher.task.sample(4, 4, np.random.default_rng(5), samplers.lengths)
    together = subject.model(subject.batcher(drawn))
    for row in range(len(drawn)):
        logits = subject.model(subject.batcher(drawn.rows(slice(row, row + 1))))[0]
        _require(subject, law, _difference(together[row, : len(logits)], logits))


def _finite(subject: Subject) -> None:
    """Ten times the length gives finite numbers, unless the encoding states a limit."""
    try:
        logits = subject.model(subject.problems(2, 40))
    except TenfoldError:  # a stated limit; it ends the ladder
        return
    wrong = int((~logits.isfinite()).sum())
    if wrong:
        raise BrokenLaw(
            f'encoding "{subject.name}" breaks the law "finite at ten times the length": '
            f"{wrong} of {logits.numel()} logits are not finite, 0 would be right"
        )


def _invariance(subject: Subject) -> None:
    """Moving positions changes nothing along the axes that it calls invariant."""
    if not isinstance(subject.model, AttentionModel):
        return
    batch = subject.problems(2, 3)
    for axis in sorted(subject.model.stack.encodings[0].invariant):
        place = batch.sequence.places[axis]
        further = torch.where(place >= 0, place + MOVED, -1)
        sequence = replace(batch.sequence, places=batch.sequence.places.add(**{axis: further}))
        difference = _difference(
            subject.model(batch), subject.model(replace(batch, sequence=sequence))
        )
        _require(subject, f"positions may be moved along {axis}", difference)


def _gradients(subject: Subject) -> None:
    subject.model(subject.batch).pow(3).sum().backward()
    without = [
        name
        for name, parameter in subject.model.named_parameters()
        if parameter.grad is None or not parameter.grad.abs().sum() > 0
    ]
    if without:
        raise BrokenLaw(
            f'encoding "{subject.name}" breaks the law "a gradient reaches every parameter": '
            f"{len(without)} of {sum(1 for _ in subject.model.parameters())} get none, such as {without[0]}"
        )


Law = Callable[[Subject], None]
LAWS: tuple[tuple[str, Law], ...] = (  # a promise first: models rely on it
    ("positions may be moved where it says so", _invariance),
    ("a prefix is read as in the longer sequence", _prefix),
    ("cached decoding equals uncached", _cached),
    ("a row alone is the row in a batch of several lengths", _alone),
    ("finite at ten times the length", _finite),
)
