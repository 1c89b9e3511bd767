"""Decoding long sums: how time grows with the length, and a fixed point against one digit at a time with a cache.

The models are the proved adder that comes with the package, and, for models that are not local, one with ALiBi of
the same size, untrained: its answers are no sums, but the same both ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from benchmarks.paired import CLOCKS, TWIN, measure
from tenfold.data.batch import Batch
from tenfold.data.tasks.samplers import exact
from tenfold.features.proofs.run_machine import extract_machine
from tenfold.models.decoding import Swift, by_neighbours, by_sweeps
from tenfold.runs.build import build
from tenfold.runs.recipe_files import recipe
from tenfold.runs.run import shipped

CACHED, FIXED, TABLE = "one digit at a time, with a cache", "fixed point", "its machine"


@dataclass(frozen=True)
class Setting:
    short: int = 100_000
    long: int = 1_000_000
    compared: int = 2_000
    rival: int = 50  # digits for the model that is not local
    rounds: int = 8


def run(quick: bool = False, full: bool = False) -> dict[str, Any]:
    setting = Setting(rounds=16 if full else 8)
    if quick:
        setting = Setting(2_000, 20_000, 100, 10, 2)
    return {"setting": vars(setting), "growth": growth(setting), "ways": ways(setting), "rival": rival(setting)}  # fmt: skip


def growth(setting: Setting) -> dict[str, Any]:
    """A sum ten times as long, both ways."""
    adder = _Adder()
    problems = {n: adder.problem(n) for n in (setting.short, setting.long)}
    for examples, batch in problems.values():
        answer = adder.fixed(batch)[0]
        assert np.array_equal(
            answer[answer != adder.end], examples.answer[0, : examples.answer_length[0]]
        )
    names = {n: f"{n:,} digits" for n in problems}
    arms = {names[n]: lambda batch=batch: adder.fixed(batch) for n, (_, batch) in problems.items()}
    machine = extract_machine(adder.run)
    tables = {
        names[n]: lambda examples=examples: machine.answer(examples)
        for n, (examples, _) in problems.items()
    }
    return {
        FIXED: measure(arms, setting.rounds, warmup=1).as_json(),
        TABLE: measure(tables, 2 * setting.rounds, warmup=2).as_json(),
    }


def ways(setting: Setting) -> dict[str, Any]:
    """One sum, three ways; all answer the same."""
    adder = _Adder()
    examples, batch = adder.problem(setting.compared)
    machine = extract_machine(adder.run)
    answer = adder.fixed(batch)
    assert np.array_equal(answer, adder.model.answer(batch).numpy())
    found = machine.answer(examples)
    assert np.array_equal(answer[0, : len(found)], found)
    arms = {
        CACHED: lambda: adder.model.answer(batch),
        FIXED: lambda: adder.fixed(batch),
        TABLE: lambda: machine.answer(examples),
    }
    return measure(arms, setting.rounds, warmup=1).as_json()


def rival(setting: Setting) -> dict[str, Any]:
    """A model that is not local: sweeps over the whole sequence."""
    built = build(recipe("certified/addition-index-alibi"))
    model, task = built.model().eval(), built.batcher.task
    examples = task.sample(1, setting.rival, np.random.default_rng(0), exact)
    batch = built.batcher(examples).without_answer(task.vocabulary.pad)
    end = task.vocabulary.end
    answer, sweeps = by_sweeps(model, batch, end)
    assert torch.equal(answer, model.answer(batch))
    arms = {CACHED: lambda: model.answer(batch), FIXED: lambda: by_sweeps(model, batch, end)}
    return {"sweeps": sweeps, **measure(arms, 4 * setting.rounds, warmup=2).as_json()}


class _Adder:
    def __init__(self) -> None:
        run = shipped("addition")
        assert run is not None
        self.run, self.model = run, run.model()
        swift = Swift(self.model, run.built.batcher)
        assert swift.local is not None
        self.local, self.end = swift.local, swift.end

    def problem(self, digits: int) -> tuple[Any, Batch]:
        batcher = self.run.built.batcher
        examples = batcher.task.sample(1, digits, np.random.default_rng(digits), exact)
        return examples, batcher(examples).without_answer(batcher.task.vocabulary.pad)

    def fixed(self, batch: Batch) -> np.ndarray:
        return by_neighbours(self.model, batch, self.local, self.end)[0].numpy()


def table(result: dict[str, Any]) -> list[str]:
    short, long, compared = (result["setting"][k] for k in ("short", "long", "compared"))
    lines = [
        f"The proved adder, one random sum, one thread. A sum of {long:,} digits takes so many times as long as one of {short:,}:", "",
        "| way | times as long (wall) | (CPU time) | seconds for the long one | A/A (wall, CPU) |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for way, found in result["growth"].items():
        arm = f"{long:,} digits"
        ratios = [_inverse(found["ratios"][clock][arm]) for clock in CLOCKS]
        seconds = found["median_seconds"]["wall"][arm]
        lines.append(f"| {way} | {' | '.join(ratios)} | {seconds:.3g} | {_twins(found)} |")
    lines += [
        "", f"At {compared:,} digits, against one digit at a time with a cache of keys and values:", "",
        "| way | times as fast (wall) | (CPU time) | seconds | A/A (wall, CPU) |", "|---|---|---|---|---|",
    ]  # fmt: skip
    lines += _compared(result["ways"], (FIXED, TABLE))
    digits, sweeps = result["setting"]["rival"], result["rival"]["sweeps"]
    lines += [
        "", f"A model that is not local (ALiBi, untrained) at {digits} digits, {sweeps} sweeps over the whole sequence:", "",
        "| way | times as fast (wall) | (CPU time) | seconds | A/A (wall, CPU) |", "|---|---|---|---|---|",
    ]  # fmt: skip
    return lines + _compared(result["rival"], (FIXED,))


def _compared(found: dict[str, Any], ways: tuple[str, ...]) -> list[str]:
    lines = []
    for way in ways:
        ratios = [found["ratios"][clock][way] for clock in CLOCKS]
        shown = " | ".join(f"{r['median']:.3g} [{r['low']:.3g}, {r['high']:.3g}]" for r in ratios)
        lines.append(
            f"| {way} | {shown} | {found['median_seconds']['wall'][way]:.3g} | {_twins(found)} |"
        )
    return lines


def _inverse(ratio: dict[str, float]) -> str:
    return f"{1 / ratio['median']:.3g} [{1 / ratio['high']:.3g}, {1 / ratio['low']:.3g}]"


def _twins(found: dict[str, Any]) -> str:
    shown = ", ".join(f"{found['ratios'][clock][TWIN]['median']:.3f}" for clock in CLOCKS)
    return shown if found["quiet"] else f"{shown} (noisy)"
