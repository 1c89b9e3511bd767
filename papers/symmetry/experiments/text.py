"""Sums and products among random words, trained on up to 5 digits: does text cost anything (Figures 6, 7), three seeds.

    tenfold reproduce symmetry/text

And where the heads that were made for arithmetic look: `attention-to-text` is the share of their attention, from tokens of
numbers and operators, that falls on words; `text-share` what it would be if they looked everywhere alike. Mean over layers,
these heads, and problems of the training length, best checkpoint.

In the paper the heads made for arithmetic have no vector for a pair with a word (`no-vectors`); in the other two recipes such pairs
share a learned one at laptop scale. Multipliers of one digit stand for the paper's three, which take hours here (`symmetry/text-multiplication`).
About 90 minutes on two idle cores at laptop scale; finished runs are not done again.
"""

import numpy as np
import torch

from tenfold.data.tasks import samplers
from tenfold.drawing import figures_from_rows as from_rows
from tenfold.models import trace
from tenfold.runs.recipe_files import recipe

SERIES = {
    "symmetry/text-addition": "sums",
    "symmetry/text-addition-no-vectors": "sums, no vectors for words",
    "symmetry/text-multiplication-1": "products with one digit",
}
PROBLEMS = 200


def grid(scale):
    return [recipe(name, scale, seed=seed) for seed in range(3) for name in SERIES]


def measure_run(lab, run):
    length = run.recipe.data.length
    looks, alike = attention_to_text(run, length, PROBLEMS)
    known = {**lab.about(run), "checkpoint": "best", "length": length, "slice": "uniform"}
    known["n"] = PROBLEMS
    yield {**known, "metric": "attention-to-text", "value": looks}
    yield {**known, "metric": "text-share", "value": alike}


def draw(drawing):
    from_rows.by_length(
        drawing.rows, SERIES, drawing.folder / "figure-7", "Among up to 60 random words"
    )


def attention_to_text(run, length, count):
    """The share of the arithmetic heads' attention on words, and the share of words among what they could look at."""
    batcher, model = run.built.batcher, run.model()
    rng = np.random.default_rng((length, 1))
    batch = batcher(batcher.task.sample(count, length, rng, samplers.longest))
    heads = model.stack.encodings[0].parts[-1].split[0]  # the first part has the relations
    layers = [f"stack.blocks.{layer}.attention.weights" for layer in range(len(model.stack.blocks))]
    with torch.inference_mode(), trace(model, *layers) as seen:
        model(batch.without_answer(batcher.vocabulary.pad))
    places, valid = batch.sequence.places, batch.sequence.valid
    role = places["role"].expand(len(batch), -1)
    words = role == 0
    there = role >= 0 if valid is None else valid
    asking = there & ~words
    looks, alike, pairs = 0.0, 0.0, 0
    for layer in layers:
        weights = seen[layer][0][:, :heads]  # (B, H, T, S); of the last layer, the last queries
        asks = asking[:, asking.shape[1] - weights.shape[2] :]  # (B, T)
        on_words = (weights * words[:, None, None]).sum(-1).mean(1)  # (B, T)
        looks += float(on_words[asks].double().sum())
        share = words.sum(1) / there.sum(1)  # (B,)
        alike += float((share[:, None] * asks).double().sum())
        pairs += int(asks.sum())
    return looks / pairs, alike / pairs
