"""Where a run's heads look in the question, at any length, and which lines its encodings learned."""

from __future__ import annotations

import numpy as np
import torch

from tenfold.features.calibration.calibration import Calibration
from tenfold.features.calibration.mean_attention import biases
from tenfold.features.calibration.question_attention import Looks, looks
from tenfold.features.calibration.shared_lines import InCommon, in_common
from tenfold.models import attention_in
from tenfold.runs.run import Run, Which

PROBLEMS = 256
CHOOSING = 1  # the seed of the problems by which a head is chosen; others are measured
NEAR = (0, 1)  # a digit's own column, and the one that its carry comes from
Place = tuple[int, int]  # layer and head, from 1


def looks_of(
    run: Run,
    length: int,
    n: int = PROBLEMS,
    *,
    seed: int = 0,
    own: bool = True,
    which: Which = "best",
) -> Looks:
    """While it answers n problems of a length; with `own` false, while it is told the true digits so far."""
    torch.set_num_threads(run.recipe.train.threads)
    ((_, _, problems),) = run.built.examiner(seed).questions([length], ["uniform"], n)
    upto = torch.from_numpy(problems.longest)
    return looks(run.model(which).cpu(), run.built.batcher(problems), upto=upto, own=own)


def leading_head(run: Run, n: int = PROBLEMS) -> Place:
    """The head that is led by a digit's own column most often, at the training length."""
    shares = looks_of(run, run.recipe.data.length, n, seed=CHOOSING).each_head
    layer, head = np.unravel_index(int(shares.argmax()), shares.shape)
    return int(layer) + 1, int(head) + 1


def shares(measured: Looks, trained: Looks, place: Place) -> dict[str, float]:
    """How much of attention is where it belongs, and how much would be by chance; `trained` is of the training length.

    `attention-on-column`: digits at which the own column leads some head; `one-head-on-column`: one that was chosen before;
    `one-head-where-trained`: digits at which that head leads at the index at which it does in training, whatever is there.
    `weight-on-columns`: attention on the own column and the one before, mean over heads; by chance, where it is even.
    """
    layer, head = place
    return {
        "attention-on-column": measured.some_head,
        "attention-on-column-by-chance": measured.some_head_by_chance,
        "one-head-on-column": float(measured.each_head[layer - 1, head - 1]),
        "one-head-by-chance": measured.even_weight(),
        "one-head-where-trained": float(measured.where(trained)[layer - 1, head - 1]),
        "weight-on-columns": measured.weight(NEAR),
        "weight-by-chance": measured.even_weight(NEAR),
    }


def compared(calibration: Calibration, learned: Run, n: int = PROBLEMS) -> InCommon:
    """A calibration's lines beside the biases that another run learned end to end, on problems of its training length."""
    ((_, _, problems),) = learned.built.examiner().questions(
        [learned.recipe.data.length], ["uniform"], n
    )
    model = attention_in(learned.model(), "a comparison of lines").cpu()
    return in_common(calibration, biases(model, [learned.built.batcher(problems)]))
