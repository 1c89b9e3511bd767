"""What a proof takes from declarations: whose they are, and whether the model at hand keeps them.

The prover knows the exact classes below: for them the hypotheses were checked by hand and by the laws. Any other class,
a subclass among them, only declares how far it sees, or which machine a task is. A proof then holds if its declarations do.
Declarations are tested, whoever made them. A test can refute a declaration; it cannot prove one.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from tenfold import encodings
from tenfold.data.batch import Batch, Batcher, Tokens
from tenfold.data.formats.interleaved import Interleaved
from tenfold.data.formats.numeric import Reversed
from tenfold.data.schemes import cyclic
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.comparison import Comparison
from tenfold.data.tasks.arithmetic.digitwise_addition import DigitwiseAddition
from tenfold.data.tasks.arithmetic.modular_addition import ModularAddition
from tenfold.data.tasks.arithmetic.multiplication import Multiplication
from tenfold.data.tasks.arithmetic.subtraction import Subtraction
from tenfold.data.tasks.arithmetic.successor import Successor
from tenfold.data.tasks.symbolic.parity import Parity
from tenfold.data.tasks.symbolic.tagging import Tagging
from tenfold.data.tasks.task import Examples
from tenfold.data.tasks.transducer import END
from tenfold.models.decoder import Decoder
from tenfold.models.decoding import Neighbours
from tenfold.models.layers import Attention, Block, Dropout
from tenfold.models.locality import AXIS, Local
from tenfold.models.locality_check import leak, logits_at, long_batches, tested_places
from tenfold.models.model import Model
from tenfold.models.seq2seq import Seq2Seq
from tenfold.models.stack import Encodings, Stack

LAYERS = {
    *(nn.Linear, nn.LayerNorm, nn.Embedding, nn.Identity, nn.ModuleList, nn.ModuleDict),
    *(Dropout, Attention, Block, Encodings, Stack, Decoder, Seq2Seq),
}
POSITIONS = {
    kind
    for name in encodings.__all__
    if inspect.isclass(kind := getattr(encodings, name))
    and issubclass(kind, encodings.PositionalEncoding)
}
RELATIONS = {encodings.Relative, encodings.Significance, encodings.Uniform, encodings.Joint}
TASKS = {
    *(Addition, Comparison, DigitwiseAddition, ModularAddition, Multiplication, Parity),
    *(Subtraction, Successor, Tagging),
}
FORMATS = {Reversed, Interleaved}

SHIFTS = (1, 7, 1000)  # columns
CLOSE = 1e-6  # in float64; what is not exactly invariant differs by much more
SHORT = 32  # digits, up to which every length of the task is compared with its machine
LONG = 1000
DRAWN = 32  # longer lengths that are compared
ANSWERED = (3, 10, 30, 100, 300)  # digits of the problems that are answered whole


def trusted(model: Model, batcher: Batcher) -> list[str]:
    """The components whose declarations are taken on trust: those that are not of a class known to the prover."""
    found = [_name("model", module) for module in model.modules() if not _known(module)]
    relations = (getattr(module, "relation", None) for module in model.modules())
    for what, thing, kinds in (
        *(("relation", relation, RELATIONS) for relation in relations if relation is not None),
        ("task", batcher.task, TASKS),
        ("format", batcher.format, FORMATS),
    ):
        found += [] if type(thing) in kinds and not _replaced(thing) else [_name(what, thing)]
    found += [] if type(batcher) is Batcher else [_name("batcher", batcher)]
    schemes = (getattr(scheme, "func", scheme) for scheme in batcher.schemes)
    found += [f"scheme {scheme!r}" for scheme in schemes if scheme is not cyclic]
    return list(dict.fromkeys(found))


def _known(module: nn.Module) -> bool:
    """Whether a module is of an exact class known to the prover, with no method replaced and no hook."""
    hooked = module._forward_hooks or module._forward_pre_hooks
    return type(module) in LAYERS | POSITIONS and not hooked and not _replaced(module)


def _replaced(thing: object) -> list[str]:
    """The methods of a class that one of its instances has replaced."""
    return [name for name in vars(thing) if inspect.isroutine(getattr(type(thing), name, None))]


def _name(what: str, thing: object) -> str:
    kind = type(thing)
    what = "encoding" if isinstance(thing, encodings.PositionalEncoding) else what
    known = LAYERS | POSITIONS | RELATIONS | TASKS | FORMATS
    changed = ", changed" if kind in known else ""
    return f"{what} {kind.__module__}.{kind.__qualname__}{changed}"


def violations(model: Model, batcher: Batcher, local: Local) -> list[str]:
    """What the model at hand and its task do not keep of their declarations, a sentence each.

    For a model that is right on every context: it must then answer whole problems right, too.
    """
    training = model.training
    model.eval()
    exact = copy.deepcopy(model).double()
    tests = (
        leak(model, batcher, local),
        length_dependence(exact, batcher, local),
        shift_dependence(exact, batcher),
        other_machine(batcher),
        wrong_answer(model, batcher),
    )
    model.train(training)
    return [sentence for sentence in tests if sentence is not None]


def length_dependence(model: Model, batcher: Batcher, local: Local) -> str | None:
    """Where the logits of a digit are others within a long sequence than from the tokens in sight alone."""
    for columns, batch in long_batches(model, batcher):
        near = Neighbours(model, batch, local)
        for place in tested_places(columns, batch.read):
            digits = np.arange(len(batch)) * batch.read + place
            there = near.there()[digits]
            with torch.inference_mode():
                alone = near.logits(digits[there])
            whole = logits_at(model, batch, place).cpu()[torch.from_numpy(there)]
            if not _close(alone, whole):
                return (
                    f"the logits at column {place} of {columns} are not those of the tokens in sight alone: the model "
                    "sees more, such as the length"
                )
    return None


def shift_dependence(model: Model, batcher: Batcher) -> str | None:
    """Where the logits change if all columns are moved alike."""
    for columns, batch in long_batches(model, batcher):
        place = tested_places(columns, batch.read)[-1]
        first = logits_at(model, batch, place)
        for by in SHIFTS:
            source = None if batch.source is None else _moved(batch.source, by)
            moved: Batch = replace(batch, sequence=_moved(batch.sequence, by), source=source)
            if not _close(first, logits_at(model, moved, place)):
                return f"the logits at {columns} columns change if all columns are moved by {by}"
    return None


def _moved(side: Tokens, by: int) -> Tokens:
    column = side.places[AXIS]
    places = side.places.add(**{AXIS: torch.where(column >= 0, column + by, -1)})
    return replace(side, places=places)


def _close(first: Tensor, second: Tensor) -> bool:
    largest = 1 + float(first.abs().max()) if first.numel() else 1.0
    return bool(((first - second).abs() <= CLOSE * largest).all())


def other_machine(batcher: Batcher) -> str | None:
    """Where the task's answers are not those of its machine: at every length up to 32 and some up to 1,000."""
    task, machine = batcher.task, batcher.task.transducer()
    assert machine is not None
    for examples in _problems(batcher):
        written = machine.write(examples.operands, examples.lengths)
        places = max(written.shape[1], int(examples.answer_length.max()) + 1)
        answer = np.full((len(examples), places), END, dtype=np.int64)
        ours = np.arange(places) < examples.answer_length[:, None]
        kept = examples.answer[:, :places].astype(np.int64)
        answer[:, : kept.shape[1]] = np.where(ours[:, : kept.shape[1]], kept, END)
        machines = np.full_like(answer, END)
        machines[:, : written.shape[1]] = written
        wrong = np.flatnonzero((answer != machines).any(1))
        if len(wrong):
            row = int(wrong[0])
            length = int(examples.lengths[row].max())
            return (
                f'the task "{task.name}" answers a problem of {length} digits otherwise than its machine: '
                f"{task.question(examples, row)[:120]}"
            )
    return None


def _problems(batcher: Batcher) -> Iterator[Examples]:
    rng = np.random.default_rng(0)
    for length in [*range(1, SHORT + 1), *rng.integers(SHORT, LONG + 1, DRAWN).tolist()]:
        sampler = samplers.longest if length % 2 else samplers.exact
        yield batcher.task.sample(8 if length <= SHORT else 2, length, rng, sampler)


def wrong_answer(model: Model, batcher: Batcher) -> str | None:
    """A problem that the model, decoding the whole sequence token by token, answers wrongly."""
    rng = np.random.default_rng(0)
    for length in ANSWERED:
        examples = batcher.task.sample(4, length, rng, samplers.longest)
        batch = batcher(examples).to(model.device)
        answer = model.answer(batch.without_answer(batcher.task.vocabulary.pad))
        wrong = ((answer != batch.target) & (batch.target >= 0)).any(1).cpu().numpy()
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            told = batcher.format.read(answer[row].cpu().numpy(), batcher.task.vocabulary)
            return (
                f"right on every context, but asked whole it answers {batcher.task.question(examples, row)[:120]} "
                f"with {told[:120] or '(nothing)'}, truly {batcher.task.truth(examples, row)[:120]}"
            )
    return None
