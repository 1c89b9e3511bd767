"""The positional maps of a run: what its encodings learned, for the places of its training problems."""

from __future__ import annotations

import numpy as np
import torch

from tenfold.features.maps.positional_maps import Layer, layers
from tenfold.runs.run import Run, Which

PROBLEMS = 64  # enough for every offset to occur


def maps(run: Run, which: Which = "best") -> list[Layer]:
    """The learned tables of every layer. Pairs of places that no training problem contains are left out.

    `maps(Run.open("runs/..."))[1].maps[0].strongest(3)` -> [("-1", 2.09), ("3", 1.44), ("2", 1.36)]
    """
    built, data = run.built, run.recipe.data
    rng = np.random.default_rng((run.recipe.seed, 11))
    problems = built.batcher.task.sample(PROBLEMS, data.length, rng, built.draw)
    generator = torch.Generator().manual_seed(run.recipe.seed)
    return layers(run.model(which).cpu(), built.batcher(problems, generator))
