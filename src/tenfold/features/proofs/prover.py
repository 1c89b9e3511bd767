"""Run a local model on every context that its task can produce, and measure the margin of the correct token.

`Prover` holds the contexts of one task and one model architecture. It can then check any weights.

Shapes: C contexts, N of them in a batch, A answer places, V vocabulary.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import time
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import Batch, Batcher
from tenfold.data.roles import Role
from tenfold.data.tasks import samplers
from tenfold.data.tasks.task import DIGITS, Digits, Ints, significant
from tenfold.data.tasks.transducer import END, REFUSED, Transducer
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.steady import Steady, steady_of
from tenfold.features.proofs.contexts import LIMIT, Contexts, TooMany, View, reachable
from tenfold.features.proofs.declarations import violations
from tenfold.features.proofs.far_bound import Far
from tenfold.features.proofs.rounding_steps import NOTHING_BEYOND, Beyond
from tenfold.models.locality import Local, NotCertifiable, encodings_of, locality
from tenfold.models.locality_check import logits_at
from tenfold.models.model import Model

BATCH = 4096
METERED = 1_000_000  # by default, rounding is bounded for at most this many contexts
METERING = 4  # bounding the rounding errors takes this many times as long as one pass without it
SAMPLES = (1024, 16_384, 65_536)  # sizes of the samples that `refuted` tries before a whole proof
SUSPECTS = 2048  # contexts that failed last time and are tried first
LONG = 100_000  # the greatest number of digits for which an encoding's limit is tested
SHOWN = 10  # counterexamples in a certificate
ROOM = 2.0**126  # below the largest float32 number, 2^128, with room for rounding

Progress = Callable[[int, int], None]  # contexts done, contexts in all (0 where that is not known)
Floats = NDArray[np.float64]


class Prover:
    """Every context of a task that a model of this architecture can distinguish; the weights may change."""

    def __init__(self, model: Model, batcher: Batcher, limit: int = LIMIT) -> None:
        """Enumerate the contexts. Raises `NotCertifiable` where the hypotheses of the proof do not hold."""
        contexts = enumerate_contexts(model, batcher, limit)
        self._hold(batcher, contexts, view_of(model, batcher)[1])

    def _hold(self, batcher: Batcher, contexts: Contexts, local: Local) -> None:
        self.batcher, self.contexts, self.local = batcher, contexts, local
        self.depths = contexts.depths()
        self._suspects = np.zeros(0, dtype=np.int64)  # contexts that failed at the last whole check

    def margins(
        self, model: Model, rows: Ints | None = None, progress: Progress | None = None
    ) -> Floats:
        """Logit of the correct token minus the largest other logit, for these contexts or for all: (C,)."""
        rows = np.arange(len(self.contexts)) if rows is None else rows
        training, done = model.training, 0
        model.eval()
        margins = np.full(len(rows), math.inf)
        depths = self.depths[rows]
        for depth in np.unique(depths):
            alike = np.flatnonzero(depths == depth)
            for start in range(0, len(alike), BATCH):
                some = alike[start : start + BATCH]
                margins[some] = self._batch_margins(model, rows[some], int(depth) - 1)
                done += len(some)
                if progress is not None:
                    progress(done, len(rows))
        model.train(training)
        return margins

    def _batch_margins(self, model: Model, rows: Ints, place: int) -> Floats:
        batcher, output = self.batcher, self.contexts.output[rows]
        batch = problem_batch(batcher, self.contexts, rows)
        target = torch.from_numpy(np.where(output == END, batcher.task.vocabulary.end, output))
        if not torch.equal(batch.target[:, place], target):
            raise TenfoldError(
                f'the finite machine of the task "{batcher.task.name}" disagrees with its answers'
            )
        logits = logits_at(model, batch, place).double().cpu()  # (N, V)
        right = logits.gather(1, target[:, None])[:, 0]
        others = logits.scatter(1, target[:, None], -math.inf).amax(1)
        return (right - others).numpy()

    def steady(self, pe: PositionalEncoding) -> Steady | None:
        """Bounds on what an encoding adds for pairs that meet."""
        return steady_of(pe)

    def far(self, model: Model, error: float) -> Far | None:
        """What tokens out of sight can do to the model in float64; None where they are not seen at all."""
        return None

    def beyond(self, model: Model, far: Far | None) -> Beyond | None:
        """What keys out of sight do to float32 rounding; None where nothing bounds it."""
        return NOTHING_BEYOND

    def violations(self, model: Model, far: Far | None) -> list[str]:
        """What the model at hand and its task do not keep of their declarations."""
        return violations(model, self.batcher, self.local)

    def failing(self, model: Model) -> dict[str, str] | None:
        """A longer problem that the model answers wrongly, where contexts do not decide."""
        return None

    def counterexamples(self, model: Model, wrong: Ints) -> list[dict[str, str]]:
        """The shortest problems with these contexts that the model, decoding from the start, answers wrongly."""
        self._suspects = wrong[:SUSPECTS]
        shortest = wrong[np.argsort(self.depths[wrong], kind="stable")][: 10 * SHOWN]
        training = model.training
        model.eval()
        answers = (self._decoded(model, int(row)) for row in shortest)
        failing = (case for case in answers if case["answer"] != case["truth"])
        shown = list(itertools.islice(failing, SHOWN))
        model.train(training)
        return shown

    def _decoded(self, model: Model, row: int) -> dict[str, str]:
        """The problem of one context with the model's own whole answer."""
        batcher = self.batcher
        examples = batcher.task.solve(*problems(self.contexts, np.array([row])))
        batch = batcher(examples).to(model.device)
        tokens = model.answer(batch.without_answer(batcher.task.vocabulary.pad))[0].cpu().numpy()
        return {
            "question": batcher.task.question(examples, 0),
            "truth": batcher.task.truth(examples, 0),
            "answer": batcher.format.read(tokens, batcher.task.vocabulary),
        }

    def refuted(self, model: Model, seed: int) -> bool:
        """Whether the contexts that failed last, or random samples, already show an error. This is fast."""
        rng, rows = np.random.default_rng(seed), self._suspects
        for size in (size for size in SAMPLES if size < 2 * len(self.contexts)):
            drawn = rng.integers(0, len(self.contexts), min(size, len(self.contexts)))
            rows = np.unique(np.concatenate([rows, drawn]))
            if not (self.margins(model, rows) > 0).all():
                return True
            rows = rows[:0]
        return False

    def seconds(self, model: Model) -> float:
        """Estimate how long a certificate takes, from timing one batch."""
        rows = np.arange(max(0, len(self.contexts) - BATCH // 2), len(self.contexts))
        self.margins(model, rows[:64])
        began = time.monotonic()
        self.margins(model, rows)
        whole = (time.monotonic() - began) * len(self.contexts) / len(rows)
        return whole * (1 + METERING if len(self.contexts) <= METERED else 1)


def problems(contexts: Contexts, rows: Ints) -> tuple[Digits, Ints]:
    """Problems that begin with these contexts, whose histories have one length: digits, lengths.

    Operands that have not ended are continued beyond what the model sees, where needed, with as few ones as make a
    problem of the task: no leading zero, lengths that match the phases, 7-12 becomes 17-12.
    """
    machine = contexts.transducer
    columns = machine.digits(contexts.paths(rows)[0]).transpose(0, 2, 1)  # (N, M', i+1)
    hub, phase = contexts.value[contexts.node[rows]], contexts.lengths[contexts.node[rows]]
    n, terms, count = columns.shape
    more = (
        1 + 2 * contexts.view.period
    )  # room for one more digit, for one longer yet, and their phases
    digits = np.zeros((n, terms + (machine.hub is not None), count + more), dtype=np.uint8)
    lengths = np.ones(digits.shape[:2], dtype=np.int64)
    left = np.arange(n)
    ways = itertools.product(range(more), repeat=1 if contexts.view.together else terms)
    for further in sorted(ways, key=sum):
        shape = np.array(further)
        drawn, sizes = _extended(contexts, columns[left], shape, more)
        if machine.hub is not None:
            drawn, sizes = _with_hub(machine, drawn, sizes, hub[left])
        written = machine.write(drawn, sizes)
        fine = _admitted(contexts, drawn, sizes, phase[left], columns[left], shape)
        fine &= ~(written == REFUSED).any(1)
        digits[left[fine]], lengths[left[fine]] = drawn[fine], sizes[fine]
        left = left[~fine]
        if not len(left):
            return digits, lengths
    raise TenfoldError("a context that the search reached belongs to no problem of the task")


def _extended(contexts: Contexts, columns: Ints, further: Ints, more: int) -> tuple[Digits, Ints]:
    """Operands with these columns; those that have not ended are continued by `further` ones."""
    machine = contexts.transducer
    there = columns != machine.base  # (N, M', i+1)
    digits = np.zeros((*columns.shape[:2], columns.shape[2] + more), dtype=np.uint8)
    digits[:, :, : columns.shape[2]] = np.where(there, columns, 0)
    going = there[:, :, -1]
    lengths = there.sum(-1) + going * further
    place = np.arange(digits.shape[2])
    added = (place >= there.sum(-1)[..., None]) & (place < lengths[..., None])
    if contexts.view.together:  # one operand is the longest
        added[:, 1:] = False
    digits[added] = 1
    return digits, significant(digits) if contexts.view.together else lengths


def _admitted(
    contexts: Contexts, digits: Digits, lengths: Ints, phase: Ints, columns: Ints, further: Ints
) -> NDArray[np.bool_]:
    """Which problems match their context: no leading zeros, the length of the history, the right phases."""
    machine, view = contexts.transducer, contexts.view
    by_column = [m for m in range(digits.shape[1]) if m != machine.hub]
    there = (columns != machine.base).sum(-1)  # (N, M')
    going = columns[:, :, -1] != machine.base
    ours, sizes = digits[:, by_column], lengths[:, by_column]
    written = there + going * further  # as long as these are in the text
    if view.together:
        fine = sizes.max(1) == written[:, 0]
        sizes = written[:, :1]
    else:
        top = np.take_along_axis(ours, sizes[..., None] - 1, -1)[..., 0]
        fine = ((top > 0) | (sizes == 1)).all(1)
    for m in range(sizes.shape[1]):
        fine &= sizes[:, m] % view.period == phase // view.period**m % view.period
    return fine


def _with_hub(
    machine: Transducer, digits: Digits, lengths: Ints, value: Ints
) -> tuple[Digits, Ints]:
    """Insert the hub into the operands."""
    multiplier = np.zeros((len(digits), 1, digits.shape[2]), dtype=np.uint8)
    size = max(1, len(np.base_repr(int(value.max()), machine.base)))
    multiplier[:, 0, :size] = value[:, None] // machine.base ** np.arange(size) % machine.base
    assert machine.hub is not None
    sizes = significant(multiplier)
    return np.insert(digits, machine.hub, multiplier[:, 0], 1), np.insert(
        lengths, machine.hub, sizes[:, 0], 1
    )


def problem_batch(batcher: Batcher, contexts: Contexts, rows: Ints) -> Batch:
    """Whole problems that contain these contexts; their histories must have one length."""
    return batcher(batcher.task.solve(*problems(contexts, rows)))


def enumerate_contexts(model: Model, batcher: Batcher, limit: int = LIMIT) -> Contexts:
    """Check the hypotheses of the proof and list every context that the task can produce."""
    if limit < 1:
        raise TenfoldError(f"the limit is {limit} contexts; it must be at least 1")
    view, local = view_of(model, batcher)
    machine = machine_of(batcher)
    _check_hub(machine, local, view)
    contexts = reachable(machine, view, limit)
    if contexts.conflict is not None:
        raise NotCertifiable(explain_conflict(batcher, contexts))
    return contexts


def machine_of(batcher: Batcher) -> Transducer:
    """The finite machine of a task; raises `NotCertifiable` where it has none."""
    machine = batcher.task.transducer()
    if machine is None:
        raise NotCertifiable(f'the task "{batcher.task.name}" {batcher.task.no_transducer}')
    return machine


def unprovable(model: Model, batcher: Batcher, limit: int = LIMIT) -> str | None:
    """Why nothing can be proved about this architecture, whatever its weights; None where a proof is possible."""
    try:
        enumerate_contexts(model, batcher, limit)
    except (NotCertifiable, TooMany) as error:
        return str(error)
    return None


def view_of(model: Model, batcher: Batcher) -> tuple[View, Local]:
    """The part of a problem on which each answer digit depends. Raises `NotCertifiable` if it has no bound."""
    cyclic = batcher.periods
    local = locality(model, frozenset(cyclic))
    ends = batcher.format.ends()
    if ends is None:
        raise NotCertifiable(
            "the format must write operands without a fixed width and the answer lowest digit first: "
            '"reversed" or "interleaved" without a width'
        )
    if len(cyclic) < len(batcher.schemes):
        raise NotCertifiable("only cyclic schemes have a bounded number of places")
    _check_limits(model, batcher)
    period = math.lcm(*cyclic.values())
    together, marked = ends == "together", batcher.format.marked
    view = View(local.columns, local.answers, local.start, period, together, marked)
    return view, local


def _check_limits(model: Model, batcher: Batcher) -> None:
    """Refuse a model whose encodings cannot represent long inputs."""
    length = 2 + max((pe.limit for pe in encodings_of(model) if pe.limit is not None), default=0)
    if length > LONG:
        raise NotCertifiable(
            f"an encoding represents at most {length - 2} positions; it refuses longer inputs"
        )
    long = batcher.task.sample(1, length, np.random.default_rng(0), samplers.exact)
    try:
        model.check(batcher(long))
    except TenfoldError as reason:
        raise NotCertifiable(f"the model refuses inputs of {length} digits: {reason}") from None


def _check_hub(machine: Transducer, local: Local, view: View) -> None:
    hub = frozenset[int]() if machine.hub is None else frozenset({Role.OPERAND + machine.hub})
    for role in sorted(local.hubs - hub):
        raise NotCertifiable(
            f"every column sees operand {role - Role.OPERAND}, whose number of digits has no bound"
        )
    if hub - local.hubs or (hub and view.together):
        raise NotCertifiable(
            f"every column needs operand {machine.hub}, but not every column sees it; use the format "
            f'"reversed" and a window with hub: {machine.hub}'
        )


def explain_conflict(batcher: Batcher, contexts: Contexts) -> str:
    """Two histories that look the same to the model and need different outputs, in a sentence."""
    assert contexts.conflict is not None
    machine = contexts.transducer
    shown = []
    for history, output in (contexts.conflict.first, contexts.conflict.second):
        columns = machine.digits(history).T  # (M, i + 1)
        text = ["".join(DIGITS[d] for d in line[::-1] if d != machine.base) for line in columns]
        digit = "the end" if output == END else batcher.task.vocabulary.symbols[output]
        if machine.hub is not None:
            text.insert(machine.hub, np.base_repr(contexts.conflict.value, machine.base).lower())
        shown.append(f"{batcher.task.operator.join(text)} needs {digit}")
    return (
        f"{contexts.view.columns + 1} column(s) do not determine the answer: at column "
        f"{len(contexts.conflict.first[0]) - 1} {shown[0]}, at column "
        f"{len(contexts.conflict.second[0]) - 1} {shown[1]}, but the model sees the same context"
    )


def weights_hash(model: Model) -> str:
    """SHA-256 of all weights, by name."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


class Overflow:
    """Can some order of its sums overflow float32? `with Overflow(model) as sizes: ...`, then `sizes.fits()`.

    A proof in float32 assumes that none does. Torch's own order may just fit where another one does not. So every sum
    is bounded by its number of terms times the largest of them.

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
