"""One training step of our encoder with relative keys against BERT's, of the same shape, on the same batch.

Measured also: what computing the last layer only where it is read brings, what a fused optimizer brings, the
share of the machine's matrix-multiply rate that our step reaches, and the share that making a batch takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.paired import CLOCKS, TWIN, measure
from benchmarks.peer import Bert, Ours, attention_difference, model_difference
from tenfold.data.batch import Batch
from tenfold.models import Shape
from tenfold.models.layers import set_generator
from tenfold.runs.build import Built, build
from tenfold.runs.recipe import Recipe

BERT = "BERT, fused AdamW"
BERT_LOOP = "BERT, AdamW as torch defaults"
OURS = "ours"
OURS_ALL = "ours, last layer at all 41 tokens"
DATA, GEMM = "16 batches of problems", "matrix products"
SIDE = 1024  # of the matrices whose product is taken for the machine's rate


@dataclass(frozen=True)
class Setting:
    width: int = 128
    layers: int = 4
    heads: int = 4
    batch: int = 64
    frame: int = 20
    rounds: int = 30

    def shape(self, dropout: float = 0.0) -> Shape:
        return Shape(self.layers, self.width, self.heads, dropout=dropout)

    def built(self) -> Built:
        return build(
            Recipe.of(
                {
                    "format": {"name": "in-place", "frame": self.frame},
                    "data": {"length": self.frame},
                    "eval": {"lengths": (self.frame,)},
                    "train": {"batch": self.batch},
                }
            )
        )


def run(quick: bool = False, full: bool = False) -> dict[str, Any]:
    setting = Setting(rounds=60 if full else 30)
    if quick:
        setting = Setting(rounds=2, batch=8, width=32)
    built = setting.built()
    batch, vocabulary = built.batch_at(0), len(built.batcher.task.vocabulary)
    checked = {
        "attention": attention_difference(batch, setting.shape()),
        "model": model_difference(batch, setting.shape(), vocabulary),
    }
    for name, difference in checked.items():
        if not difference < 1e-5:
            raise SystemExit(f"{name}: outputs differ by {difference:g} for equal weights")
    result: dict[str, Any] = {"setting": vars(setting), "largest_difference": checked}
    for title, dropout in (("without dropout", 0.0), ("dropout 0.1", 0.1)):
        result[title] = _against_bert(setting, built, dropout)
    for width in (setting.width, setting.width // 2):
        result[f"matrix-multiply rate, d={width}"] = _against_machine(
            replace(setting, width=width), built
        )
    return result


def _against_bert(setting: Setting, built: Built, dropout: float) -> dict[str, Any]:
    batch, shape = built.batch_at(0), setting.shape(dropout)
    vocabulary = len(built.batcher.task.vocabulary)
    models = {
        BERT: Bert(vocabulary, shape),
        BERT_LOOP: Bert(vocabulary, shape),
        OURS: Ours(vocabulary, shape),
        OURS_ALL: Ours(vocabulary, shape, read_all=True),
    }
    arms = {name: stepper(model, batch, name != BERT_LOOP) for name, model in models.items()}
    measured = measure(arms, setting.rounds)
    return {
        **measured.as_json(),
        "parameters": {
            name: sum(p.numel() for p in model.parameters()) for name, model in models.items()
        },
        "flops": {name: flops(arm) for name, arm in arms.items()},
    }


def _against_machine(setting: Setting, built: Built) -> dict[str, Any]:
    """Our step, without dropout, beside large matrix products and the making of batches."""
    batch, vocabulary = built.batch_at(0), len(built.batcher.task.vocabulary)
    step = stepper(Ours(vocabulary, setting.shape()), batch)
    a, b, out = (torch.randn(SIDE, SIDE) for _ in range(3))
    products = 6

    def multiply() -> None:
        for _ in range(products):
            torch.mm(a, b, out=out)

    def batches() -> None:
        for number in range(16):
            built.batch_at(number)

    measured = measure({OURS: step, GEMM: multiply, DATA: batches}, setting.rounds)
    work, rate = flops(step), 2 * products * SIDE**3  # one product: 2 n^3 operations
    return {
        **measured.as_json(),
        "flops": work,
        "gflops_of_products": {
            clock: rate / measured.median(GEMM, clock) / 1e9 for clock in CLOCKS
        },
        "share_of_rate": {  # (work / time of a step) / (rate / time of the products)
            clock: asdict(measured.ratio(OURS, GEMM, clock).times(work / rate)) for clock in CLOCKS
        },
        "share_of_data": {
            clock: asdict(measured.ratio(OURS, DATA, clock).times(1 / 16)) for clock in CLOCKS
        },
    }


def stepper(model: nn.Module, batch: Batch, fused: bool = True) -> Callable[[], object]:
    """A training step as either library's user writes it, clipping included."""
    model.train()
    set_generator(model, torch.Generator().manual_seed(0))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=fused or None)

    def step() -> None:
        optimizer.zero_grad()
        model.loss(batch).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step


def flops(step: Callable[[], object]) -> int:
    """Of the matrix products that a step really does, forward and backward."""
    with FlopCounterMode(display=False) as counter:
        step()
    return counter.get_total_flops()


def table(result: dict[str, Any]) -> list[str]:
    """What was measured, in Markdown."""
    setting = result["setting"]
    tokens = 2 * setting["frame"] + 1
    checked = result["largest_difference"]
    lines = [
        f"One training step: d={setting['width']}, {setting['layers']} layers, {setting['heads']} heads, "
        f"batch {setting['batch']}, {tokens} tokens, one thread. Before timing, for equal weights, the "
        f"attentions differ by at most {checked['attention']:.0e} and the logits of the whole models by "
        f"{checked['model']:.0e}.",
        "",
        "| step | dropout | times as fast as BERT with fused AdamW (wall) | (CPU time) | A/A (wall, CPU) |",
        "|---|---|---|---|---|",
    ]
    for title, dropout in (("without dropout", "0"), ("dropout 0.1", "0.1")):
        part = result[title]
        wall, cpu = part["ratios"]["wall"], part["ratios"]["cpu"]
        twins = f"{wall[TWIN]['median']:.3f}, {cpu[TWIN]['median']:.3f}{flag(part)}"
        lines += [
            f"| {arm} | {dropout} | {shown(wall[arm])} | {shown(cpu[arm])} | {twins} |"
            for arm in (OURS, OURS_ALL, BERT_LOOP)
        ]
    lines += [
        "",
        "| our step, without dropout | share of the matrix-multiply rate (wall) | (CPU time) | that rate "
        "| making a batch takes |",
        "|---|---|---|---|---|",
    ]
    for width in (setting["width"], setting["width"] // 2):
        part = result[f"matrix-multiply rate, d={width}"]
        rate, data = part["share_of_rate"], part["share_of_data"]
        lines.append(
            f"| d={width} | {shown(rate['wall'])} | {shown(rate['cpu'])} "
            f"| {part['gflops_of_products']['cpu']:.0f} GFLOPS | {100 * data['wall']['median']:.2f}% |"
        )
    return lines


def shown(ratio: dict[str, float]) -> str:
    return f"{ratio['median']:.3f} [{ratio['low']:.3f}, {ratio['high']:.3f}]"


def flag(part: dict[str, Any]) -> str:
    return "" if part["quiet"] else " (noisy!)"
