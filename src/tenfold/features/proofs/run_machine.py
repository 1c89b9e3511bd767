"""The finite machine of a run's model, and answers that are looked up in it."""

from __future__ import annotations

import torch

from tenfold.features.proofs.contexts import LIMIT
from tenfold.features.proofs.extraction import Extracted, extract
from tenfold.features.proofs.prover import Progress
from tenfold.runs.answer import Answer
from tenfold.runs.run import Run, Which


def extract_machine(
    run: Run,
    *,
    which: Which = "best",
    limit: int = LIMIT,
    progress: Progress | None = None,
) -> Extracted:
    """Extract the finite machine that a local model computes, once for each run and checkpoint.

    The machine gives the same answer as the model to every problem.
    """
    key = ("machine", which)
    if key not in run.computed:
        torch.set_num_threads(run.recipe.train.threads)
        run.computed[key] = extract(
            run.model(which), run.built.batcher, limit=limit, progress=progress
        )
    extracted: Extracted = run.computed[key]
    return extracted


def look_up(run: Run, question: str, *, which: Which = "best") -> Answer:
    """Answer a question by the machine of the run's model."""
    problems = run.built.source.problems()
    examples = problems.batcher.parse(question)
    return problems.read(examples, extract_machine(run, which=which).answer(examples))
