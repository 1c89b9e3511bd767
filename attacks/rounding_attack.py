"""How far do float32 logits go from exact ones, if the same model is computed in other ways?

After "No Soundness in the Real World" (arXiv 2506.01054), which broke verifiers by the order of sums. Each way computes
the same function: contexts in other batches, units in another order, several threads, other instruction sets with and
without FMA, numbers below the smallest normal one flushed to zero, the context inside a long problem. The lead of
the right token over each other one is compared with float64, whose own error is below 1e-8. The proof claims that no way
exceeds its bound. A model without a window also sees what is far in these problems.

Shapes: C contexts, V vocabulary, D width, F hidden units.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

import tenfold
from tenfold.data.tasks.transducer import END
from tenfold.features.proofs.prover import problem_batch
from tenfold.features.proofs.soft_prover import prover_of
from tenfold.models.locality_check import logits_at
from tenfold.models.model import Model

ROOT = Path(__file__).parents[1]
MODELS = [
    "parity", "addition-base-2", "successor", "comparison", "multiplication", "subtraction",
    "addition", "addition-alibi", "multiplication-12", "addition-base-16",
]  # fmt: skip
PLACES = {  # how libraries are told which instructions to use; without AVX2 there is no FMA
    "no vectors": {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2"},
    "AVX2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
    "AVX-512": {"ATEN_CPU_CAPABILITY": "avx512", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE", "MKL_ENABLE_INSTRUCTIONS": "AVX512"},
    "MKL without FMA": {"MKL_CBWR": "COMPATIBLE", "ONEDNN_MAX_CPU_ISA": "AVX"},
}  # fmt: skip
HEAD = (
    "model",
    "contexts",
    "batches",
    "units",
    "threads",
    "denormals",
    "long",
    "instructions",
    "largest",
    "bound",
)
LONG = 300  # digits


def run(names: list[str], *, quick: bool) -> tuple[list[str], bool]:
    """The table as Markdown, and whether some error exceeded its bound."""
    most = 64 if quick else 2048
    found = {name: _in_this_process(name, most) for name in names}
    for settings in PLACES.values():
        for name, error in _elsewhere(names, most, settings).items():
            found[name]["instructions"] = max(found[name].get("instructions", 0.0), error)
    lines, failed = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"], False
    for name, errors in found.items():
        contexts, bound = int(errors.pop("contexts")), errors.pop("bound")
        largest = max(errors.values())
        failed |= not largest <= bound
        cells = [f"{errors[key]:.1e}" for key in HEAD[2:-2]]
        lines.append(
            f"| {name} | {contexts:,} | {' | '.join(cells)} | {largest:.1e} | {bound:.1e} |"
        )
    return lines, failed


def _elsewhere(names: list[str], most: int, settings: dict[str, str]) -> dict[str, float]:
    """The largest error of each model in a process with other instructions."""
    words = [sys.executable, "-m", "attacks.rounding_attack", str(most), *names]
    ran = subprocess.run(
        words, cwd=ROOT, env=os.environ | settings, capture_output=True, text=True, check=True
    )
    return json.loads(ran.stdout)


class Attacked:
    """A shipped model with some of its contexts, those of the least margins among them, and their exact logits."""

    def __init__(self, name: str, most: int) -> None:
        self.run = tenfold.open_run(name)
        self.model, self.batcher = self.run.model().eval(), self.run.built.batcher
        self.prover = prover_of(self.model, self.batcher)
        rng = np.random.default_rng(0)
        count = len(self.prover.contexts)
        drawn = rng.permutation(count)[: 4 * most]
        margins = self.prover.margins(self.model, drawn)
        self.rows = drawn[np.argsort(margins)][:most]
        self.exact = copy.deepcopy(self.model).double()
        self.truth = self.logits(self.exact)
        output, end = self.prover.contexts.output[self.rows], self.batcher.task.vocabulary.end
        self.target = torch.from_numpy(np.where(output == END, end, output))

    def logits(
        self, model: Model, order: np.ndarray | None = None, size: int = 4096
    ) -> torch.Tensor:
        """(C, V), computed in this order, in batches of at most this size."""
        order = np.arange(len(self.rows)) if order is None else order
        out = torch.zeros(len(self.rows), len(self.batcher.vocabulary), dtype=torch.float64)
        depths = self.prover.depths[self.rows[order]]
        for depth in np.unique(depths):
            alike = order[depths == depth]
            for start in range(0, len(alike), size):
                some = alike[start : start + size]
                batch = problem_batch(self.batcher, self.prover.contexts, self.rows[some])
                out[torch.from_numpy(some)] = logits_at(model, batch, int(depth) - 1).double()
        return out

    def error(self, model: Model | None = None, **ways: object) -> float:
        """The largest change of the lead of a right token over another one."""
        return lead_change(self.logits(model or self.model, **ways) - self.truth, self.target)

    def in_long_problems(self) -> float:
        """The same for every digit of whole problems."""
        worst = 0.0
        for seed in range(3):
            examples = self.batcher.task.sample(2, LONG, np.random.default_rng(seed))
            batch = self.batcher(examples)
            with torch.inference_mode():
                off = (self.model(batch) - self.exact(batch))[batch.target >= 0]
            worst = max(worst, lead_change(off, batch.target[batch.target >= 0]))
        return worst


def lead_change(off: torch.Tensor, target: torch.Tensor) -> float:
    """How much a lead changes at most, where logits are off by (N, V) and the right tokens are (N,)."""
    return float((off.gather(1, target[:, None]) - off).abs().max())


def _in_this_process(name: str, most: int) -> dict[str, float]:
    attacked = Attacked(name, most)
    rng = np.random.default_rng(1)
    few = rng.permutation(len(attacked.rows))[:64]
    alone = max(
        lead_change(
            attacked.logits(attacked.model, one, 1)[one] - attacked.truth[one], attacked.target[one]
        )
        for one in few.reshape(-1, 1)
    )
    orders = [rng.permutation(len(attacked.rows)) for _ in range(3)]
    threads = torch.get_num_threads()
    errors: dict[str, float] = {"contexts": len(attacked.rows), "bound": _bound(attacked)}
    batches = (
        attacked.error(order=order, size=size)
        for order, size in zip(orders, (4096, 37, 256), strict=True)
    )
    errors["batches"] = max(alone, *batches)
    errors["units"] = max(attacked.error(model) for model in _reordered(attacked.model, rng, 8))
    errors["threads"] = 0.0
    for count in (1, 2, 4):
        torch.set_num_threads(count)
        errors["threads"] = max(errors["threads"], attacked.error())
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    errors["denormals"] = attacked.error()
    torch.set_flush_denormal(False)
    errors["long"] = attacked.in_long_problems()
    return errors


def _bound(attacked: Attacked) -> float:
    """How much of a lead may be lost, by the certificate."""
    return json.loads((attacked.run.folder / "certificate.json").read_text())["bound"]


def _reordered(model: Model, rng: np.random.Generator, count: int) -> Iterator[Model]:
    """The same function with the numbers of a vector and the hidden units in other orders: sums run in another order."""
    for _ in range(count):
        other = copy.deepcopy(model)
        state = {name: x.clone() for name, x in other.state_dict().items()}
        width, hidden = state["stack.blocks.0.contract.weight"].shape
        by_width, by_hidden = (torch.from_numpy(rng.permutation(n)) for n in (width, hidden))
        for name, x in state.items():
            if "expand" in name or "contract.weight" in name:
                x = x[:, by_hidden] if "contract" in name else x[by_hidden]
            reads = ("query.weight", "key_value.weight", "expand.weight", "head.weight")
            if name.endswith(reads) or "embedding" in name or name.endswith("own.2.table"):
                x = x[:, by_width]
            elif "norm" in name or "attention.out" in name or "contract" in name:
                x = x[by_width]
            state[name] = x
        other.load_state_dict(state)
        yield other


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps({name: Attacked(name, int(sys.argv[1])).error() for name in sys.argv[2:]}))
