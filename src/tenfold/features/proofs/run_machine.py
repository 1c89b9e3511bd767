"""The finite machine that a run's model computes, and answers looked up in it."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tenfold.features.proofs.context_search import LIMIT
from tenfold.features.proofs.extraction import Extracted, extract
from tenfold.runs.answer import Answer
from tenfold.runs.run import Run, Which


def extract_machine(
    run: Run,
    *,
    which: Which = "best",
    limit: int = LIMIT,
    tell: Callable[[int, int], None] | None = None,
) -> Extracted:
    """The finite machine that a local model computes; its answers are always the model's. Extracted once for each run."""
    key = ("machine", which)
    if key not in run.computed:
        torch.set_num_threads(run.recipe.train.threads)
        run.computed[key] = extract(run.model(which), run.built.batcher, limit=limit, tell=tell)
    extracted: Extracted = run.computed[key]
    return extracted


def look_up(run: Run, question: str, *, which: Which = "best") -> Answer:
    """The model's answer to a question, looked up in its machine."""
    problems = run.built.source.problems()
    examples = problems.batcher.parse(question)
    return problems.read(examples, extract_machine(run, which=which).answer(examples))
