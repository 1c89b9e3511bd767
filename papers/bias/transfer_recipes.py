"""Recipes beyond the paper's tasks and models: tags and graphs by other encodings, division, encoders, language models."""

from tenfold.papers.bias.plain_recipes import (
    METHODS,
    PAPER,
    PLAIN,
    REACHABILITY,
    SMOKE,
    TAGGING,
    TAGGING_SCALES,
)
from tenfold.runs.recipe_files import family, merge

# The rivals of the paper on tags and graphs. Relative keys are told differences of columns in cross-attention, as with sums.
RIVALS = {
    "rope": {**METHODS["rope"], "claim": "bias/abc-{what}-rivals"},
    "alibi": {**METHODS["alibi"], "claim": "bias/abc-{what}-rivals"},
    "relative": {
        **METHODS["relative"],
        "claim": "bias/abc-{what}-rivals",
    },
}


def relative(answer, question, column, roles):
    """Relative keys that reach so far: in the answer, in the question, and from one to the other by column."""
    own, encoder = ({"name": "relative", "reach": reach} for reach in (answer, question))
    cross = {"name": "joint", "reach": column, "roles": roles}
    named = zip(("pe", "encoder_pe", "cross_pe"), (own, encoder, cross), strict=True)
    return {key: {"name": "pairwise", "relation": relation} for key, relation in named}


# Tests have up to 80 words, or 60 edges of three tokens each; an edge leads to a node of role 5.
REACHES = {
    "bias/tagging-relative": relative(96, 96, 96, 5),
    "bias/reachability-relative": relative(64, 192, 64, 6),
}

# About `what` and by which method; the sizes and trainings are those of the plain models.
RIVALLED = {
    "tagging": {"words": "tags of up to 8 words"},
    "reachability": {
        **REACHABILITY,
        "words": "which of up to 3 edges of a graph can be walked",
    },
}

# Long division by one digit, from the highest digit on: `100/8` -> `012`. The remainder goes from column to column and is not written. But
# it follows from the column before: r with q k <= 10 r + d < (q + 1) k is one number at most, since k < 10. So the dependency is local.
# Numbers have any length up to 4 and are not padded. From the units on every digit would depend on all higher columns.
DIVISION = {
    "about": "4-digit numbers by one digit, from the highest digit on, by {method}",
    "task": "division",
    "format": "in-order",
    # after 1,250 of 1,500 steps of 128, 17% were right at 4 digits; whether these are enough was not tried
    "train": {"steps": 8000, "schedule": "cosine"},
}
UNPADDED = {"smoke": {"format": "in-order"}, "paper": {"format": "in-order"}}

# Encoders: the answer is read in place, in one pass. Frames fit the longest problem of a batch, so that positions beyond
# training are new.
ENCODER = {"kind": "encoder", "layers": 3, "width": 64, "heads": 4, "encoder_layers": None}
ENCODERS = {
    "tagging-encoder-vanilla": {
        "about": "tags of up to 8 words by a plain encoder with sinusoidal positions, in place",
        "format": {"name": "in-place", "frame": "fit"},
        "model": ENCODER,
    },
    "addition-encoder-vanilla": {
        "about": "4-digit addition by a plain encoder with sinusoidal positions, in place",
        "task": "addition",
        "format": {"name": "in-place", "frame": "fit"},
        "data": {"length": 4, "sampler": "lengths"},
        "model": ENCODER,
        "train": {"steps": 3000},
        "eval": {"lengths": [1, 2, 3, 4, 5, 6, 8, 12, 20, 40], "slices": ["uniform"], "validation": [4]},
        "scales": {
            "paper": {
                "data": {"length": 6},
                "eval": {"lengths": [1, 2, 3, 4, 5, 6, 10, 12, 15, 18, 20, 60], "validation": [6]},
            }
        },
    },
}  # fmt: skip
ENCODER_SCALES = merge(TAGGING_SCALES, {"paper": {"model": {"encoder_layers": None}}})

# A language model with sinusoids, on bytes of the standard library's code: what the `extrapolation` paper's models are, with the
# positions of this one.
TEXT = {
    "about": "source code, byte by byte, 128 of them at a time, with {positions}",
    "label": "generic",
    "claim": "bias/abc-text",
    "seed": 0,
    "task": "python-code",
    "format": "bytes",
    "data": {"length": 128},
    "model": {"kind": "decoder", "layers": 3, "width": 128, "heads": 4},
    "train": {
        "steps": 800, "batch": 24, "lr": 0.002, "warmup": 100, "weight_decay": 0.01,
        "checkpoint_every": 200, "log_every": 50,
    },
    "eval": {
        "lengths": [128, 256, 512, 1152],  # times 1, 2, 4 and 9
        "slices": ["uniform"], "n": 46080, "every": 200, "validation": [128], "validation_n": 16384,
    },
}  # fmt: skip
TEXT_SCALES = {
    "smoke": {
        "data": {"length": 16},
        "model": {"layers": 1, "width": 16, "heads": 2},
        "train": {"steps": 20, "batch": 8, "warmup": 5, "checkpoint_every": 10, "log_every": 5},
        "eval": {"lengths": [16, 32, 144], "n": 1152, "every": 10, "validation": [16], "validation_n": 128},
    },
    "paper": {
        "data": {"length": 512},
        "model": {"layers": 6, "width": 512, "feedforward": 2048, "heads": 8, "dropout": 0.1},
        "train": {"steps": 50000, "batch": 128, "lr": 0.0005, "schedule": "inverse-sqrt", "warmup": 4000},
        "eval": {"lengths": [512, 1024, 2048, 4608], "n": 184320, "every": 2000, "validation": [512]},
    },
}  # fmt: skip
POSITIONS = {
    # as large as tokens: embeddings begin with a deviation of 0.02, sinusoids of 0.7
    "vanilla": {"words": "sinusoidal positions", "pe": {"name": "sinusoidal", "scale": 0.03}},
    "alibi": {"words": "ALiBi", "pe": "alibi"},
    "none": {"words": "no positions", "pe": "none"},
}

RECIPES = {
    **family(
        "bias/{what}-{method}",
        merge(TAGGING, {"about": "{what} by {method}"}),
        {"what": {k: {**v, "about": "{what} by {method}"} for k, v in RIVALLED.items()}, "method": RIVALS},
        TAGGING_SCALES,
        REACHES,
    ),
    **family(
        "bias/division-{method}",
        merge(PLAIN, DIVISION),
        {
            "method": {
                "vanilla": {**METHODS["vanilla"], "claim": "bias/abc-division"},
                "rope": {**METHODS["rope"], "claim": "bias/abc-division-rivals"},
                "alibi": {**METHODS["alibi"], "claim": "bias/abc-division-rivals"},
            }
        },
        {"smoke": merge(SMOKE, UNPADDED["smoke"]), "paper": merge(PAPER, UNPADDED["paper"])},
    ),
    **family(
        "bias/{what}",
        merge(TAGGING, {"claim": "bias/abc-encoder"}),
        {"what": ENCODERS},
        ENCODER_SCALES,
    ),
    **family("bias/text-{positions}", TEXT, {"positions": POSITIONS}, TEXT_SCALES),
}  # fmt: skip
