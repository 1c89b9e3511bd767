"""What a model is: it gives logits for a batch and answers it. An `AttentionModel` has a stack of blocks besides.

The trainer, the evaluator and everything that handles runs work with any `Model`. What looks into attention takes an
`AttentionModel`, by `attention_in`, which refuses other models in one line. `trace` reads activations by name: the identity
modules of the attention, and any other module.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar

import torch
from torch import Tensor, nn

from tenfold.core.errors import TenfoldError, unknown
from tenfold.data.batch import Batch
from tenfold.models.layers import Mixer
from tenfold.models.stack import Stack

# Parameters of a constructor that the other keys of a recipe fill in; the rest are the options of `model`.
SUPPLIED = ("vocabulary", "end", "shape", "pe", "encoder_pe", "cross_pe")


class Model(nn.Module, ABC):
    """A constructor takes those of `SUPPLIED` that it names; its other parameters are options of a recipe."""

    name: ClassVar[str]
    layout: ClassVar[str]  # how its batches are arranged: in_place, causal or seq2seq
    gives: ClassVar[str] = (
        ""  # what a method with this model is given; its label, if nothing else is given
    )

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor:
        """Logits of the answer tokens, given those before them: (B, A, V)."""

    @abstractmethod
    def answer(self, batch: Batch) -> Tensor:
        """The model's own answer (B, A); answer tokens in the batch are not read."""

    def check(self, batch: Batch) -> None:
        """Raise one clear error where the model cannot take this batch, such as one that is too long."""

    def in_parts(self, batch: Batch, size: int) -> Iterator[Tensor]:
        """The logits of `forward` part by part: (B, up to `size`, V) each, in order; here as one part."""
        yield self(batch)

    def write(self, batch: Batch, choose: Callable[[Tensor], Tensor]) -> Tensor:
        """As `answer`, but each token (B,) is chosen from its logits (B, V), one after another."""
        raise TenfoldError(f'a model of the kind "{self.name}" does not write token by token')

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @property
    def attends(self) -> bool:
        """Whether it compares all pairs of tokens, so that its memory grows with the square of the length."""
        return True

    def parameter_count(self) -> int:
        return sum(p.numel() for p in self.parameters())


class AttentionModel(Model):
    """A model whose answer is written by a stack of blocks."""

    stack: Stack  # that writes the answer

    def reader(self) -> Stack | None:
        """The stack that reads the question, where that is another one."""
        return None

    @property
    def attends(self) -> bool:
        return any(isinstance(each, Mixer) and each.attends for each in self.modules())

    def check(self, batch: Batch) -> None:
        """Raise one clear error where the batch is beyond what the encodings can represent."""
        source_at = None if batch.source is None else batch.source.places
        self.stack.check(batch.sequence.places, batch.sequence.places, source_at)


def attention_in(
    model: Model, purpose: str, refusal: type[TenfoldError] = TenfoldError
) -> AttentionModel:
    """The model, if it attends; otherwise one line that names the purpose and the kind of the model."""
    if not isinstance(model, AttentionModel):
        raise refusal(
            f'{purpose} needs attention, which a model of the kind "{model.name}" does not have; '
            "encoder, decoder, seq2seq and looped do"
        )
    for stack in (model.stack, model.reader()):
        for mixer in [] if stack is None else stack.mixers():
            if not mixer.attends:
                raise refusal(
                    f'{purpose} needs attention; this {model.name} has the mixer "{mixer.name}" in its place'
                )
    return model


def activations(model: nn.Module) -> list[str]:
    """The names that `trace` takes: `stack.blocks.0.attention.weights`, ..."""
    return [name for name, module in model.named_modules() if isinstance(module, nn.Identity)]


@contextmanager
def trace(model: nn.Module, *names: str) -> Iterator[dict[str, list[Tensor]]]:
    """Collect the outputs of the named modules, one tensor a call; all named activations by default.

    with trace(model) as seen:
        model(batch)
    seen["stack.blocks.0.attention.weights"][0]  # (B, H, T, S)
    """
    modules = dict(model.named_modules())
    wanted = names or tuple(activations(model))
    if not wanted:
        raise TenfoldError(
            f"a trace without names needs attention, which {type(model).__name__} does not have; name its modules"
        )
    seen: dict[str, list[Tensor]] = {name: [] for name in wanted}
    hooks = []
    for name in wanted:
        if name not in modules:
            raise unknown("activation", name, activations(model))

        def keep(_module: nn.Module, _given: object, out: Tensor, name: str = name) -> None:
            seen[name].append(out.detach())

        hooks.append(modules[name].register_forward_hook(keep))
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()
