"""Run a local model on every context that its task can bring before it: proved for all lengths, or refuted.

Shapes: C contexts, N of them in a batch, A answer places, V vocabulary.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import torch

from tenfold.batch import Batcher
from tenfold.certify.contexts import LIMIT, Contexts, reachable
from tenfold.certify.locality import NotCertifiable, locality
from tenfold.errors import TenfoldError
from tenfold.models.base import Model
from tenfold.tasks.base import Ints
from tenfold.tasks.transducer import END

BATCH = 4096
SHOWN = 10  # counterexamples

Verdict = Literal["proved in exact arithmetic", "refuted"]


@dataclass(frozen=True)
class Certificate:
    """What was found. `columns` is how many an answer digit depends on; `margin` the least by which a right
    digit's logit leads the next, over all contexts."""

    verdict: Verdict
    contexts: int
    columns: int
    margin: float
    wrong: int  # contexts with a wrong digit
    counterexamples: list[dict[str, str]]  # question, truth, answer: the shortest, run whole
    weights: str  # SHA-256 of the model's weights

    @property
    def proved(self) -> bool:
        return self.verdict == "proved in exact arithmetic"

    def as_json(self) -> dict[str, Any]:
        return {"proved": self.proved, **asdict(self)}


def certify(
    model: Model,
    batcher: Batcher,
    *,
    limit: int = LIMIT,
    tell: Callable[[int, int], None] | None = None,
) -> Certificate:
    """By induction over columns: right on every reachable context, given the true digits before it, a model is
    right at every length. Raises NotCertifiable where the hypotheses do not hold."""
    contexts = enumerated(model, batcher, limit)
    device, model = model.device, model.eval()
    margins = np.full(len(contexts), math.inf)
    lengths, done = contexts.lengths(), 0
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        for start in range(0, len(rows), BATCH):
            some = rows[start : start + BATCH]
            margins[some] = _margins(model, batcher, contexts, some, int(length) - 1, str(device))
            done += len(some)
            if tell is not None:
                tell(done, len(contexts))
    wrong = np.flatnonzero(margins <= 0)
    shortest = wrong[np.argsort(lengths[wrong], kind="stable")][:SHOWN]
    return Certificate(
        verdict="refuted" if len(wrong) else "proved in exact arithmetic",
        contexts=len(contexts),
        columns=contexts.reach + 1,
        margin=float(margins.min()),
        wrong=len(wrong),
        counterexamples=[_asked(model, batcher, contexts, int(row)) for row in shortest],
        weights=weights_hash(model),
    )


def enumerated(model: Model, batcher: Batcher, limit: int = LIMIT) -> Contexts:
    """Every context that the task can bring before the model, once it is known that these decide."""
    seen = locality(model)
    machine = batcher.task.transducer()
    if machine is None:
        raise NotCertifiable(
            f'the task "{batcher.task.name}" is not declared as a finite machine over columns'
        )
    if batcher.schemes or not batcher.format.by_columns():
        raise NotCertifiable(
            'operands must be written in full and the answer from its units on: format "reversed" '
            "without a width, and no schemes"
        )
    contexts = reachable(machine, seen.columns, seen.answers, limit)
    if contexts.conflict is not None:
        raise NotCertifiable(_told_apart(batcher, contexts))
    return contexts


@torch.inference_mode()
def _margins(
    model: Model, batcher: Batcher, contexts: Contexts, rows: Ints, place: int, device: str
) -> np.ndarray:
    """By how much the right token leads at this answer place of problems that bring the contexts about."""
    examples = batcher.task.solve(*contexts.problems(rows))
    batch = batcher(examples)
    truth = np.where(
        contexts.output[rows] == END, batcher.task.vocabulary.end, contexts.output[rows]
    )
    target = torch.from_numpy(truth).to(device)
    if not torch.equal(batch.target[:, place].to(device), target):
        raise TenfoldError(
            f'the machine that the task "{batcher.task.name}" declares does not write its answers'
        )
    logits = model(batch.to(device))[:, place].double()  # (N, V)
    right = logits.gather(1, target[:, None])[:, 0]
    others = logits.scatter(1, target[:, None], -math.inf).amax(1)
    return (right - others).cpu().numpy()


def _asked(model: Model, batcher: Batcher, contexts: Contexts, row: int) -> dict[str, str]:
    """The problem of a context, answered by the model from the start."""
    examples = batcher.task.solve(*contexts.problems(np.array([row])))
    batch = batcher(examples).to(model.device)
    blank = batcher.task.vocabulary.pad
    tokens = model.answer(batch.asked(blank))[0].cpu().numpy()
    return {
        "question": batcher.task.question(examples, 0),
        "truth": batcher.task.truth(examples, 0),
        "answer": batcher.format.read(tokens, batcher.task.vocabulary),
    }


def _told_apart(batcher: Batcher, contexts: Contexts) -> str:
    assert contexts.conflict is not None
    machine = contexts.transducer
    shown = []
    for history, output in (contexts.conflict.first, contexts.conflict.second):
        columns = machine.digits(history).T  # (M, i + 1)
        written = [
            "".join(str(d) for d in operand[::-1] if d != machine.base) for operand in columns
        ]
        digit = "the end" if output == END else str(output)
        shown.append(f"{batcher.task.operator.join(written)} needs {digit}")
    return (
        f"{contexts.reach + 1} columns do not decide: at column {len(contexts.conflict.first[0]) - 1} "
        f"{shown[0]}, at column {len(contexts.conflict.second[0]) - 1} {shown[1]}, and the model "
        "sees the same"
    )


def weights_hash(model: Model) -> str:
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
