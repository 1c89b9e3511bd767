"""Run a local model on every context that its task can bring before it: proved for all lengths, or refuted.

Shapes: C contexts, N of them in a batch, A answer places, V vocabulary.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import Batch, Batcher, Tokens
from tenfold.data.roles import Role
from tenfold.data.schemes import periods
from tenfold.data.tasks import samplers
from tenfold.data.tasks.task import DIGITS, Ints
from tenfold.data.tasks.transducer import END, Transducer
from tenfold.features.proofs.context_search import LIMIT, TooMany, View
from tenfold.features.proofs.contexts import Contexts, reachable
from tenfold.features.proofs.rounding import Meter
from tenfold.models.locality import Local, NotCertifiable, encodings_of, locality
from tenfold.models.model import Model

BATCH = 4096
METERING = 4  # times as long as without it
METERED = 1_000_000  # contexts up to which rounding is bounded, unless told otherwise
SAMPLES = (1024, 16_384, 65_536)  # contexts that are tried before all are, where there are more
SUSPECTS = 2048
LONG = 100_000  # digits up to which it is tried whether an encoding still takes them
SHOWN = 10  # counterexamples
EXACT = 1e-6  # a lead in float64 that its own rounding, 2^-29 of float32's, does not explain
SLACK = 1e-3  # by which a margin found on another machine may differ

Verdict = Literal["proved", "proved in exact arithmetic", "refuted", "undecided"]
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Certificate:
    """What was found. `columns` is how many an answer digit depends on; `margin` the least by which a right
    digit's logit leads the next, over all contexts; `bound` how far rounding in float32 may move a margin, where
    that can be bounded. Proved is proved also in float32: the margin exceeds the bound."""

    verdict: Verdict
    contexts: int
    columns: int
    margin: float
    bound: float | None
    wrong: int  # contexts with a wrong digit
    counterexamples: list[dict[str, str]]  # question, truth, answer: the shortest, run whole
    weights: str  # SHA-256 of the model's weights
    seconds: float
    about: dict[str, Any] = field(default_factory=dict)  # task, format, version: what it is about

    @property
    def proved(self) -> bool:
        """In float32, or at least in exact arithmetic."""
        return self.in_float32 or self.verdict == "proved in exact arithmetic"

    @property
    def in_float32(self) -> bool:
        return self.verdict == "proved"

    def as_json(self) -> dict[str, Any]:
        margin = self.margin if math.isfinite(self.margin) else None
        told = {"proved": self.proved, "in_float32": self.in_float32, **asdict(self)}
        return {**told, "margin": margin}

    def differences(self, held: dict[str, Any]) -> list[str]:
        """What a certificate that is held says otherwise than this one, found just now."""
        told = [
            f"{name} is {getattr(self, name)}, the certificate says {held.get(name)}"
            for name in ("weights", "verdict", "proved", "contexts", "columns", "wrong")
            if getattr(self, name) != held.get(name)
        ]
        about = held.get("about") or {}
        told += [
            f"{name} is {self.about[name]}, the certificate says {about.get(name)}"
            for name in ("task", "format", "schemes", "pe", "model")
            if name in self.about and _said(self.about[name]) != _said(about.get(name))
        ]
        for name in ("margin", "bound"):
            ours, theirs = getattr(self, name), held.get(name)
            both = isinstance(ours, float | int) and isinstance(theirs, float | int)
            if not (abs(theirs - ours) <= SLACK if both else ours is theirs):
                told.append(f"the {name} is {ours}, the certificate says {theirs}")
        return told


def _said(value: Any) -> Any:
    """Without options that are not set: a later version may have more of them than the one that proved."""
    if isinstance(value, dict):
        return {key: each for key, each in value.items() if each is not None}
    return value


def certify_model(
    model: Model, batcher: Batcher, *, limit: int = LIMIT, tell: Tell | None = None
) -> Certificate:
    """By induction over columns: right on every reachable context, given the true digits before it, a model is
    right at every length. Raises NotCertifiable where the hypotheses do not hold."""
    return Prover(model, batcher, limit).certify(model, tell)


class Prover:
    """The contexts of a task and of a shape of model, found once; any weights can then be tried on them."""

    def __init__(self, model: Model, batcher: Batcher, limit: int = LIMIT) -> None:
        self.batcher = batcher
        self.contexts = enumerated(model, batcher, limit)
        self.depths = self.contexts.depths()
        self._suspects = np.zeros(0, dtype=np.int64)  # wrong when last tried

    def certify(
        self, model: Model, tell: Tell | None = None, rounding: bool | None = None
    ) -> Certificate:
        """`rounding`: whether to bound it, which takes several times as long; by default up to a million contexts."""
        began, contexts = time.monotonic(), self.contexts
        every, bound = np.arange(len(contexts)), None
        margins = self._margins(model, every, tell)
        if (margins > 0).all():  # float32 finds nothing wrong: now as good as exactly
            exact = copy.deepcopy(model).double()
            if len(contexts) <= METERED if rounding is None else rounding:
                with Meter(exact) as meter:
                    margins = self._margins(exact, every, tell)
                bound = _of_two(meter.bound())
            else:
                margins = self._margins(exact, every, tell)
        wrong = np.flatnonzero(~(margins > EXACT))  # a margin may be NaN
        self._suspects = wrong[:SUSPECTS]
        margin, failing = float(margins.min()), self._failing(model, wrong)
        verdict: Verdict = "proved in exact arithmetic"
        if len(wrong):
            verdict = "refuted" if failing else "undecided"
        elif bound is not None and margin > bound:
            verdict = "proved"
        return Certificate(
            verdict=verdict,
            contexts=len(contexts),
            columns=contexts.view.columns + 1,
            margin=margin,
            bound=bound,
            wrong=len(wrong),
            counterexamples=failing,
            weights=weights_hash(model),
            seconds=time.monotonic() - began,
        )

    def refuted(self, model: Model, seed: int) -> bool:
        """Whether some contexts show soon that a model is wrong: those that were last, and samples."""
        rng, rows = np.random.default_rng(seed), self._suspects
        for size in (size for size in SAMPLES if size < 2 * len(self.contexts)):
            drawn = rng.integers(0, len(self.contexts), min(size, len(self.contexts)))
            rows = np.unique(np.concatenate([rows, drawn]))
            if not (self._margins(model, rows, None) > 0).all():
                return True
            rows = rows[:0]
        return False

    def seconds(self, model: Model) -> float:
        """About how long a certificate takes, from a part of it."""
        rows = np.arange(max(0, len(self.contexts) - BATCH // 2), len(self.contexts))
        self._margins(model, rows[:64], None)
        began = time.monotonic()
        self._margins(model, rows, None)
        whole = (time.monotonic() - began) * len(self.contexts) / len(rows)
        return whole * (1 + METERING if len(self.contexts) <= METERED else 1)

    def _margins(self, model: Model, rows: Ints, tell: Tell | None) -> np.ndarray:
        """By how much the right token leads on each of these contexts."""
        training, done = model.training, 0
        model.eval()
        margins = np.full(len(rows), math.inf)
        depths = self.depths[rows]
        for depth in np.unique(depths):
            alike = np.flatnonzero(depths == depth)
            for start in range(0, len(alike), BATCH):
                some = alike[start : start + BATCH]
                margins[some] = self._lead(model, rows[some], int(depth) - 1)
                done += len(some)
                if tell is not None:
                    tell(done, len(rows))
        model.train(training)
        return margins

    def _lead(self, model: Model, rows: Ints, place: int) -> np.ndarray:
        batcher, output = self.batcher, self.contexts.output[rows]
        batch = asked(batcher, self.contexts, rows)
        target = torch.from_numpy(np.where(output == END, batcher.task.vocabulary.end, output))
        if not torch.equal(batch.target[:, place], target):
            raise TenfoldError(
                f'the machine that the task "{batcher.task.name}" declares does not write its answers'
            )
        logits = logits_at(model, batch, place).double().cpu()  # (N, V)
        right = logits.gather(1, target[:, None])[:, 0]
        others = logits.scatter(1, target[:, None], -math.inf).amax(1)
        return (right - others).numpy()

    def _failing(self, model: Model, wrong: Ints) -> list[dict[str, str]]:
        """The shortest inputs of these contexts that fail indeed, each answered whole."""
        shortest = wrong[np.argsort(self.depths[wrong], kind="stable")][: 10 * SHOWN]
        training = model.training
        model.eval()
        asked = (self._asked(model, int(row)) for row in shortest)
        found = list(itertools.islice((c for c in asked if c["answer"] != c["truth"]), SHOWN))
        model.train(training)
        return found

    def _asked(self, model: Model, row: int) -> dict[str, str]:
        """The problem of a context, answered by the model from the start."""
        batcher = self.batcher
        examples = batcher.task.solve(*self.contexts.problems(np.array([row])))
        batch = batcher(examples).to(model.device)
        tokens = model.answer(batch.asked(batcher.task.vocabulary.pad))[0].cpu().numpy()
        return {
            "question": batcher.task.question(examples, 0),
            "truth": batcher.task.truth(examples, 0),
            "answer": batcher.format.read(tokens, batcher.task.vocabulary),
        }


def _of_two(error: float | None) -> float | None:
    """How far two logits may come together, each off by the error; None where that is not bounded."""
    return 2 * error if error is not None and math.isfinite(error) else None


def asked(batcher: Batcher, contexts: Contexts, rows: Ints) -> Batch:
    """Problems that bring these contexts about (all with histories of one length), whole."""
    return batcher(batcher.task.solve(*contexts.problems(rows)))


@torch.inference_mode()
def logits_at(model: Model, batch: Batch, place: int, before: Ints | None = None) -> Tensor:
    """The logits at one answer place (N, V); after the true answer so far, or after `before` (N, place)."""
    whole, stop = batch.sequence, batch.given + place  # nothing later is seen
    tokens = whole.tokens[:, :stop].clone()
    if before is not None and place:
        tokens[:, batch.given :] = torch.from_numpy(before)
    valid = None if whole.valid is None else whole.valid[:, :stop]
    here = Tokens(tokens, whole.places.slice(0, stop), valid)
    target = batch.target[:, place : place + 1]
    return model(replace(batch, sequence=here, target=target).to(model.device))[:, -1]


def view_of(model: Model, batcher: Batcher) -> tuple[View, Local]:
    """What of a problem the model sees for each digit, if that is bounded at all."""
    cyclic = periods(batcher.schemes)
    local = locality(model, frozenset(cyclic))
    ends = batcher.format.ends()
    if ends is None:
        raise NotCertifiable(
            "operands must be written without a fixed width and the answer from its units on: format "
            '"reversed" or "interleaved" without a width'
        )
    if len(cyclic) < len(batcher.schemes):
        raise NotCertifiable("of the schemes only cyclic ones have a bounded number of places")
    _check_limits(model, batcher)
    period = math.lcm(*cyclic.values())
    view = View(local.columns, local.answers, local.start, period, ends == "together")
    return view, local


def _check_limits(model: Model, batcher: Batcher) -> None:
    """A model that refuses what is long is not right there."""
    length = 2 + max((pe.limit for pe in encodings_of(model) if pe.limit is not None), default=0)
    if length > LONG:
        raise NotCertifiable(f"an encoding ends at {length - 2}: longer inputs are refused")
    long = batcher.task.sample(1, length, np.random.default_rng(0), samplers.exact)
    try:
        model.check(batcher(long))
    except TenfoldError as reason:
        raise NotCertifiable(f"inputs of {length} digits are refused: {reason}") from None


def enumerated(model: Model, batcher: Batcher, limit: int = LIMIT) -> Contexts:
    """Every context that the task can bring before the model, once it is known that these decide."""
    view, local = view_of(model, batcher)
    machine = batcher.task.transducer()
    if machine is None:
        raise NotCertifiable(f'the task "{batcher.task.name}" {batcher.task.no_transducer}')
    _check_hub(machine, local, view)
    contexts = reachable(machine, view, limit)
    if contexts.conflict is not None:
        raise NotCertifiable(_told_apart(batcher, contexts))
    return contexts


def unprovable(model: Model, batcher: Batcher, limit: int = LIMIT) -> str | None:
    """Why nothing can be proved of a model, whatever its weights; none where something can."""
    try:
        enumerated(model, batcher, limit)
    except (NotCertifiable, TooMany) as error:
        return str(error)
    return None


def _check_hub(machine: Transducer, local: Local, view: View) -> None:
    hub = frozenset[int]() if machine.hub is None else frozenset({Role.OPERAND + machine.hub})
    for role in sorted(local.hubs - hub):
        raise NotCertifiable(
            f"every column sees operand {role - Role.OPERAND}, of which longer inputs have more digits"
        )
    if hub - local.hubs or (hub and view.together):
        raise NotCertifiable(
            f"every column needs operand {machine.hub}, and not every one sees it; with the format "
            f'"reversed" and a window with hub: {machine.hub} it does'
        )


def _told_apart(batcher: Batcher, contexts: Contexts) -> str:
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
        f"{contexts.view.columns + 1} column(s) do not decide: at column "
        f"{len(contexts.conflict.first[0]) - 1} {shown[0]}, at column "
        f"{len(contexts.conflict.second[0]) - 1} {shown[1]}, and the model sees the same"
    )


def weights_hash(model: Model) -> str:
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
