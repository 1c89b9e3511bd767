"""From nothing to 99% of 5-digit sums: our in-place relative adder and BERT's, on the same problems.

All arms train in one process, in turns of a few steps, so that slow moments of the machine hit all alike;
batch number i holds the same problems in every arm. What is timed is making the batch and the step;
evaluation, on the same held-out problems for all, is not. Arms differ in what the table says, and in what
makes BERT BERT: norms after each sublayer and after the embeddings, and its initialisation.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.paired import CLOCKS
from benchmarks.peer import Bert, Ours
from tenfold.evals.exact_match import grade
from tenfold.models import Shape
from tenfold.models.layers import set_generator
from tenfold.runs.build import build
from tenfold.runs.recipe import Recipe
from tenfold.training.options import learning_rate, make_optimizer


@dataclass(frozen=True)
class Kind:
    """What distinguishes an arm."""

    name: str
    model: type[nn.Module]
    frame: int | str
    dropout: float
    differs: str


KINDS = (
    Kind("BERT as given", Bert, 20, 0.1, "frame 20, dropout 0.1 (its default)"),
    Kind("BERT, no dropout", Bert, 20, 0.0, "frame 20, no dropout"),
    Kind("ours", Ours, 20, 0.0, "frame 20, no dropout; last layer where it is read"),
    Kind("ours, fit", Ours, "fit", 0.0, "frame as long as the batch's longest operand"),
    Kind("BERT, fit", Bert, "fit", 0.0, "frame as ours, fit; no dropout"),
)


@dataclass(frozen=True)
class Setting:
    width: int = 64
    layers: int = 3
    heads: int = 4
    length: int = 5
    batch: int = 64
    lr: float = 2e-3  # of 1e-3 and 2e-3 the better for BERT, in frame 20 and in fitting frames
    warmup: int = 100
    turn: int = 10  # steps before the next arm has its turn
    every: int = 50  # steps between evaluations
    problems: int = 1000
    wanted: float = 0.99
    limit: int = 6000  # steps after which an arm has failed
    seeds: tuple[int, ...] = (0, 1, 2)

    def recipe(self, kind: Kind, seed: int) -> Recipe:
        return Recipe.of(
            {
                "seed": seed,
                "format": {"name": "in-place", "frame": kind.frame},
                "data": {"length": self.length},
                "eval": {"lengths": (self.length,)},
                "train": {
                    "batch": self.batch,
                    "lr": self.lr,
                    "warmup": self.warmup,
                    "schedule": "constant",
                },
            }
        )


@dataclass
class Arm:
    """A model in training, and how long it took so far."""

    kind: Kind
    setting: Setting
    seed: int
    step: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(CLOCKS, 0.0))
    curve: list[tuple[int, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        setting = self.setting
        recipe = setting.recipe(self.kind, self.seed)
        self.built, self.options = build(recipe), recipe.train
        shape = Shape(setting.layers, setting.width, setting.heads, dropout=self.kind.dropout)
        torch.manual_seed(self.seed)
        self.model = self.kind.model(len(self.built.batcher.task.vocabulary), shape)
        set_generator(self.model, torch.Generator().manual_seed(self.seed))
        self.optimizer = make_optimizer(self.model, self.options)
        held_out = np.random.default_rng((self.seed, 2**32))  # batches are (seed, number)
        self.exam = self.built.batcher(
            self.built.batcher.task.sample(setting.problems, setting.length, held_out)
        )

    @property
    def score(self) -> float:
        return self.curve[-1][1] if self.curve else 0.0

    @property
    def done(self) -> bool:
        return self.score >= self.setting.wanted or self.step >= self.setting.limit

    def turn(self) -> None:
        self.model.train()
        before = {clock: read() for clock, read in CLOCKS.items()}
        for _ in range(self.setting.turn):
            self._step()
        for clock, read in CLOCKS.items():
            self.seconds[clock] += read() - before[clock]
        if self.step % self.setting.every == 0:
            self.curve.append((self.step, self._examine()))

    def _step(self) -> None:
        batch = self.built.batch_at(self.step)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.step, self.options)
        self.optimizer.zero_grad()
        self.model.loss(batch).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.options.clip)
        self.optimizer.step()
        self.step += 1

    def _examine(self) -> float:
        self.model.eval()
        whole, _, _ = grade(self.model.answer(self.exam), self.exam.target)
        return float(whole.double().mean())

    def as_json(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "reached": self.score >= self.setting.wanted,
            "steps": self.step,
            "seconds": self.seconds,
            "curve": self.curve,
        }


def run(quick: bool = False, full: bool = False) -> dict[str, Any]:
    setting = Setting(seeds=(0, 1, 2) if full else (0,))
    if quick:
        setting = replace(setting, width=16, layers=1, batch=8, limit=20, every=10, problems=20)
    arms: dict[str, list[Arm]] = {kind.name: [] for kind in KINDS}
    for seed in setting.seeds:
        for arm in race([Arm(kind, setting, seed) for kind in KINDS]):
            arms[arm.kind.name].append(arm)
    return {
        "setting": asdict(setting),
        "arms": {name: [arm.as_json() for arm in each] for name, each in arms.items()},
    }


def race(arms: list[Arm]) -> list[Arm]:
    """Train the arms by turns, forth and back, until each has reached the wanted score or the limit."""
    for arm in arms:  # first calls are slower: a throw-away step of a copy, untimed
        Arm(arm.kind, replace(arm.setting, turn=1), arm.seed).turn()
    forth = True
    while running := [arm for arm in arms if not arm.done]:
        for arm in running if forth else running[::-1]:
            arm.turn()
            if arm.done:
                said = f"seed {arm.seed}, {arm.kind.name}: {arm.score:.1%} after {arm.step} steps"
                print(said, file=sys.stderr, flush=True)
        forth = not forth
    return arms


def table(result: dict[str, Any]) -> list[str]:
    """What was measured, in Markdown; an arm that has not arrived is given the time that it had."""
    setting, arms = result["setting"], result["arms"]
    base = KINDS[0].name
    lines = [
        f"From scratch to {setting['wanted']:.0%} of {setting['length']}-digit sums "
        f"({setting['problems']} held-out problems, examined every {setting['every']} steps): "
        f"d={setting['width']}, {setting['layers']} layers, {setting['heads']} heads, batch "
        f"{setting['batch']}, lr {setting['lr']:g} after {setting['warmup']} steps of warm-up, fused AdamW "
        f"and clipping for all, {len(setting['seeds'])} seed(s); medians over seeds.",
        "",
        f"| arm | what differs | steps | CPU seconds | wall | ms a step (CPU) | times as soon as {base} |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in KINDS:
        each = arms[kind.name]
        steps, cpu, wall = (
            [seed["steps"] for seed in each],
            [seed["seconds"]["cpu"] for seed in each],
            [seed["seconds"]["wall"] for seed in each],
        )
        late = sum(not seed["reached"] for seed in each)
        note = f"; {late} of {len(each)} did not arrive" if late else ""
        lines.append(
            f"| {kind.name} | {kind.differs}{note} | {np.median(steps):.0f} | {np.median(cpu):.0f} "
            f"| {np.median(wall):.0f} | {1e3 * sum(cpu) / sum(steps):.1f} "
            f"| {sooner(arms[base], each)} |"
        )
    ours, fit, no_dropout, bert_fit = (
        arms[kind.name] for kind in (KINDS[2], KINDS[3], KINDS[1], KINDS[4])
    )
    lines += [
        "",
        f"Like for like: ours against BERT, both in frame 20 without dropout, {sooner(no_dropout, ours)}; "
        f"both in fitting frames, {sooner(bert_fit, fit)}. A model trained in fitting frames is also "
        "examined in them: it has seen no padding, and is not asked to read any.",
    ]
    return lines


def sooner(base: list[dict[str, Any]], arm: list[dict[str, Any]]) -> str:
    """The median over seeds of the ratio of CPU times, and the least and greatest."""
    ratios = [b["seconds"]["cpu"] / a["seconds"]["cpu"] for a, b in zip(arm, base, strict=True)]
    if len(ratios) == 1:
        return f"{ratios[0]:.2f}x"
    return f"{np.median(ratios):.2f}x ({min(ratios):.2f}-{max(ratios):.2f})"
