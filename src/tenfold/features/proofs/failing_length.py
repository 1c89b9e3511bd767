"""Search for a length at which a model without a window fails: problems that grow until one is answered wrongly."""

from __future__ import annotations

import numpy as np
import torch

from tenfold.data.batch import Batcher
from tenfold.data.tasks import samplers
from tenfold.models.model import Model

LENGTHS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)  # digits
TOKENS = 8000  # of the problems of one length, about


@torch.inference_mode()
def failing_problem(model: Model, batcher: Batcher) -> dict[str, str] | None:
    """A problem that the model, decoding the whole sequence, answers wrongly; None if none of those tried is."""
    training, rng = model.training, np.random.default_rng(0)
    model.eval()
    try:
        for length in LENGTHS:
            count = max(2, min(64, TOKENS // (4 * length)))
            examples = batcher.task.sample(count, length, rng, samplers.exact)
            batch = batcher(examples).to(model.device)
            answer = model.answer(batch.without_answer(batcher.task.vocabulary.pad))
            wrong = ((answer != batch.target) & (batch.target >= 0)).any(1).cpu().numpy()
            for row in np.flatnonzero(wrong)[:1].tolist():
                return {
                    "question": batcher.task.question(examples, row),
                    "truth": batcher.task.truth(examples, row),
                    "answer": batcher.format.read(
                        answer[row].cpu().numpy(), batcher.task.vocabulary
                    ),
                }
    finally:
        model.train(training)
    return None
