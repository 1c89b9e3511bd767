"""Weights changed in hundreds of ways: is the verdict what brute force finds, and is nothing proved that is wrong?

The changes: noise of several sizes on all weights, one flipped bit of one weight, one weight set to a number such as 1e30
or NaN, and gradient steps against one context until it is almost wrong or just wrong. The brute force is the independent
checker's: its own list of contexts, its own forward pass in float64. A proof must find every context right there. What the
checker finds wrong must not be proved. What it finds right by more than rounding may not be refuted.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from unittest import mock

import numpy as np
import torch

import tenfold
from tenfold.features.proofs import certify
from tenfold.features.proofs.independent_checker import (
    END,
    contexts_of,
    forward,
    in_sight,
    problem_of,
    read_statement,
)
from tenfold.features.proofs.prover import Prover, problem_batch
from tenfold.models.model import Model

MODELS = ["parity", "addition-base-2", "comparison", "successor"]
HEAD = (
    "change",
    "cases",
    "proved",
    "in float64 only",
    "refuted",
    "wrong by brute force",
    "false proofs",
    "refuted, though right",
)
NOISE = (1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.2, 0.3, 1.0)  # of the spread of a tensor
VALUES = (0.0, 1e-40, 1e5, 1e10, 1e30, -1e30, float("inf"), float("nan"))
EDGE = 1e-4  # a margin this close to 0 may be lost to float32


def run(names: list[str], *, quick: bool) -> tuple[list[str], bool]:
    """The table as Markdown, and whether something was proved or refuted falsely."""
    counted: dict[str, Counter[str]] = {}
    for name in names:
        for change, outcome in cases(name, 2 if quick else 45):
            counted.setdefault(change, Counter())[outcome] += 1
    lines, failed = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"], False
    everything = sum(counted.values(), Counter())
    for change, outcomes in {**counted, "all": everything}.items():
        cells = [
            outcomes.total(),
            *(_with(outcomes, word) for word in ("proved", "float64", "refuted", "wrong")),
        ]
        false = _with(outcomes, "false proof"), _with(outcomes, "refuted, though right")
        failed |= any(false)
        lines.append(f"| {change} | {' | '.join(map(str, [*cells, *false]))} |")
    return lines, failed


def _with(outcomes: Counter[str], word: str) -> int:
    return sum(count for outcome, count in outcomes.items() if word in outcome.split("; "))


def cases(name: str, each: int) -> Iterator[tuple[str, str]]:
    """Changed models: the kind of change, and what came of it."""
    run, rng = tenfold.open_run(name), np.random.default_rng(0)
    model, judge = run.model().eval(), Judge(name)
    prover = Prover(model, run.built.batcher)
    kinds = {
        "noise": noisy,
        "a flipped bit": bit_flipped,
        "a weight replaced": replaced,
        "one context by gradient": pushed,
    }
    for kind, change in kinds.items():
        for number in range(each):
            yield kind, judge.outcome(change(model, prover, rng, number), prover)


class Judge:
    """Brute force by the independent checker, on the contexts of one shipped model."""

    def __init__(self, name: str) -> None:
        about = json.loads((tenfold.open_run(name).folder / "certificate.json").read_text())[
            "about"
        ]
        window, self.relation, self.heads = read_statement(about)
        problem, behind = problem_of(about["task"]), window["behind"]
        answers = behind if window.get("answers") is None else min(window["answers"], behind)
        needed = contexts_of(problem, behind, answers + 1)
        self.sights = [in_sight(context, problem, behind, answers) for context in needed]
        self.target = np.array([problem.base + 1 if out == END else out for out in needed.values()])

    def margins(self, model: Model) -> np.ndarray:
        weights = {name: x.double().numpy() for name, x in model.state_dict().items()}
        with np.errstate(all="ignore"):
            logits = forward(weights, self.sights, self.relation, self.heads)
            rows = np.arange(len(logits))
            right = logits[rows, self.target].copy()
            logits[rows, self.target] = -np.inf
            return right - logits.max(1)

    def outcome(self, model: Model, prover: Prover) -> str:
        """What the prover says, and the brute force. Declarations do not change with the weights: not tested again."""
        with mock.patch.object(prover, "violations", return_value=[]):
            said = certify.prove(prover, model)
        margins = self.margins(model)
        wrong = not (margins > 0).all()
        clear = bool((margins > EDGE).all())  # not NaN, and no tie
        words = [
            "proved"
            if said.proved
            else "float64"
            if said.verdict == certify.IN_FLOAT64
            else "refuted"
        ]
        words += ["wrong"] * wrong
        words += ["false proof"] * (wrong and said.proved)
        words += ["refuted, though right"] * (clear and words[0] == "refuted")
        return "; ".join(words)


def _copied(model: Model) -> tuple[Model, list[torch.Tensor]]:
    other = copy.deepcopy(model)
    return other, [x for _, x in sorted(other.state_dict().items())]


def noisy(model: Model, prover: Prover, rng: np.random.Generator, number: int) -> Model:
    other, tensors = _copied(model)
    for x in tensors:
        drawn = torch.from_numpy(rng.standard_normal(x.shape)).float()
        x += NOISE[number % len(NOISE)] * drawn * x.std(correction=0)
    return other


def _one(tensors: list[torch.Tensor], rng: np.random.Generator) -> torch.Tensor:
    """One weight, drawn by tensor, then by place."""
    x = tensors[rng.integers(len(tensors))].view(-1)
    at = int(rng.integers(len(x)))
    return x[at : at + 1]


def bit_flipped(model: Model, prover: Prover, rng: np.random.Generator, number: int) -> Model:
    other, tensors = _copied(model)
    bits = _one(tensors, rng).view(torch.int32)
    bits ^= int(np.int32(np.uint32(1 << (31 - number % 32)).view(np.int32)))
    return other


def replaced(model: Model, prover: Prover, rng: np.random.Generator, number: int) -> Model:
    other, tensors = _copied(model)
    _one(tensors, rng).fill_(VALUES[number % len(VALUES)])
    return other


def pushed(model: Model, prover: Prover, rng: np.random.Generator, number: int) -> Model:
    """Down the gradient of one context until some context is wrong; for even numbers, the step before that."""
    other, _ = _copied(model)
    row = np.array([rng.integers(len(prover.contexts))])
    place = int(prover.depths[row[0]]) - 1
    batch = problem_batch(prover.batcher, prover.contexts, row)
    target = batch.target[0, place]
    optimizer, before = torch.optim.SGD(other.parameters(), lr=0.01), other.state_dict()
    for _ in range(1000):
        if not (prover.margins(other) > 0).all():
            break
        before = copy.deepcopy(other.state_dict())
        torch.log_softmax(other(batch)[0, place], -1)[target].backward()
        torch.nn.utils.clip_grad_norm_(other.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    if number % 2 == 0:
        other.load_state_dict(before)
    return other
