"""Recipes of the `extrapolation` paper: language models on four corpora by 17 encodings, read far and farther; digits in images; one adder."""

from tenfold.papers.bias.recipes import PHASES, WINDOW, WINDOW_SCALES
from tenfold.runs.recipe_files import family, merge

# A causal language model: trained on short text, read at up to 18 times that.
# laptop scale: bytes of the standard library, 128 of them, 2.5 million in all; about 3 minutes on one idle core, and 1 to measure it.
# The paper trains on 512 tokens of Github; its optimizer is that of the nearest published recipe.
LANGUAGE = {
    "about": "{corpus}, byte by byte, 128 of them at a time, with {encoding}",
    "label": "bias",
    "seed": 0,
    "format": "bytes",
    "data": {"length": 128},
    "model": {"kind": "decoder", "layers": 3, "width": 128, "heads": 4},
    "train": {
        "steps": 800, "batch": 24, "lr": 0.002, "warmup": 100, "weight_decay": 0.01,
        "checkpoint_every": 200, "log_every": 50,
    },
    "eval": {
        "lengths": [128, 256, 512, 1152, 2304],  # times 1, 2, 4, 9 and 18
        "slices": ["uniform", "positions"],
        "n": 92160,  # tokens, the same at every length
        "every": 400, "validation": [128], "validation_n": 16384,
    },
}  # fmt: skip
SCALES = {
    "smoke": {
        "data": {"length": 16},
        "model": {"layers": 1, "width": 16, "heads": 2},
        "train": {"steps": 20, "batch": 8, "warmup": 5, "checkpoint_every": 10, "log_every": 5},
        "eval": {"lengths": [16, 32, 288], "n": 1152, "every": 10, "validation": [16], "validation_n": 128},
    },
    "paper": {
        "format": {"name": "bpe", "size": 50257},
        "data": {"length": 512},
        "model": {"layers": 6, "width": 512, "feedforward": 2048, "heads": 8, "dropout": 0.1},
        "train": {
            "steps": 50000, "batch": 32, "accumulate": 4, "lr": 0.0005, "schedule": "inverse-sqrt", "warmup": 4000,
            "weight_decay": 0.2, "clip": 1.0, "checkpoint_every": 1000, "log_every": 100,
        },
        "eval": {
            "lengths": [512, 1024, 2048, 4608, 9216], "n": 184320, "every": 2000, "validation": [512],
            "validation_n": 51200,
        },
    },
}  # fmt: skip
CORPORA = {
    "code": {
        "words": "source code",
        "task": "python-code",
        "scales": {"paper": {"task": "github"}},
    },
    # Docstrings of the standard library; at paper scale Wikitext-103.
    "prose": {
        "words": "docstrings",
        "task": "python-prose",
        "scales": {"paper": {"task": "wikitext-103"}},
    },
}


def encoding(words, claim, pe, label="bias", **more):
    return {"words": words, "claim": f"extrapolation/{claim}", "pe": pe, "label": label, **more}


def power(exponent, words="-(kn)^{:g}", **options):
    pe = {"name": "power", "power": exponent, **options}
    return encoding(f"a bias of {words.format(exponent)}", "{corpus}-flat", pe)


ENCODINGS = {
    "alibi": encoding("ALiBi", "{corpus}-flat", "alibi"),
    "type-1": encoding("a bias of -ln(1 + (kn)^2)", "{corpus}-flat", "type-1"),
    "type-2": encoding("a bias of -(ln(3 + kn))^2", "{corpus}-flat", "type-2"),
    "kerple-log": encoding("Kerple's learned logarithmic bias", "{corpus}-flat", "kerple-log"),
    "kerple-power": encoding("Kerple's learned power of distance as bias", "{corpus}-flat", "kerple-power"),
    "sandwich": encoding("Sandwich, the inner product of sinusoids as bias", "{corpus}-flat", "sandwich"),
    "power-0.5": power(0.5),
    "power-0.75": power(0.75, "-0.5 (kn)^{:g}", factor=0.5),
    "power-1.25": power(1.25),
    "power-2": power(2.0),
    "power-4": power(4.0),
    "inverse": encoding("weights like 1/n, a series that diverges", "{corpus}-rises", "inverse"),
    "inverse-log": encoding("weights like 1/(n ln n), a series that diverges", "{corpus}-rises", "inverse-log"),
    "sinusoidal": encoding("sinusoidal positions", "{corpus}-rises", "sinusoidal", "absolute"),
    "rotary": encoding("rotary positions", "{corpus}-rises", "rotary", "rotary"),
    "nope": encoding("no positions", "{corpus}-rises", "none", "none"),
    "learned": encoding(
        "learned positions, of which those beyond training never were",
        "learned-fails",
        {"name": "learned", "limit": 2304},
        "absolute",
        scales={"paper": {"pe": {"name": "learned", "limit": 9216}}},
    ),
}  # fmt: skip

# The encodings that the paper names, on two further texts, and farther than it reads.
DIVERGENT = ("inverse", "inverse-log", "sinusoidal", "rotary", "nope")
PAPER_ENCODINGS = {
    kind: {**values, "claim": f"extrapolation/{{text}}-{'rises' if kind in DIVERGENT else 'flat'}"}
    for kind, values in ENCODINGS.items()
    if kind != "learned"
}

# Corpora of the hub at every scale, which are downloaded when training starts, or local copies: `--task.folder COPY`,
# of wiki-book `--task.wikipedia COPY --task.books COPY`.
HUB = {"about": "{text}, byte by byte, 128 of them at a time, with {encoding}"}
HUB_TEXTS = {
    "books": {"words": "books", "task": "books"},
    "wiki-book": {"words": "Wikipedia and books", "task": "wiki-book"},
}

# Read at up to 128 times the training length, which is 64 here: 8,192 bytes. The paper trains on 512 and stops at 18 times.
# laptop scale: as many bytes of training as above; about 4 minutes on one idle core, and 2 to measure it.
FAR = {
    "about": "{text}, byte by byte, 64 of them at a time, read at up to 8,192, with {encoding}",
}
FAR_TEXTS = {
    "far": {
        "words": "source code",
        "task": "python-code",
        "data": {"length": 64},
        "train": {"batch": 48},
        "eval": {
            "lengths": [64 * 2**power for power in range(8)],  # times 1 to 128
            "slices": ["uniform"], "n": 49152, "validation": [64],
        },
        "scales": {
            "smoke": {"train": {"batch": 8}, "eval": {"lengths": [16, 64, 2048], "n": 4096}},
            "paper": {
                "task": "github",
                "train": {"batch": 32},
                "eval": {"lengths": [512 * 2**power for power in range(8)], "n": 655360},
            },
        },
    },
}  # fmt: skip

# Does a theory of language models say anything of an encoder-decoder that adds? The scaffolded adder of the `bias` paper: phases of
# columns in the question, windows in cross-attention. Only in self-attention, to the answer so far, nothing is hidden: weights by
# distance instead. The experiment `sums` puts other encodings in ALiBi's place. About 2 minutes on one core.
SUMS = {
    "about": "6-digit addition by an encoder-decoder that looks at its own answer with ALiBi",
    "claim": "extrapolation/sums-follow-series",
    "pe": "alibi",
    "model": {"layers": 2},
    "train": {"steps": 1000},
    "eval": {"lengths": [3, 6, 12, 20, 60], "every": 100},
}


# Images of digits, 8 x 8 patches in training, read at finer resolutions: an encoder looks at all patches, with weights by distance in
# each direction, and one layer of a decoder looks at what it made of them and names the digit. A pair of patches has the weight
# b(down) b(across), so that the sum over the plane converges exactly where the series does. About 4 minutes on one idle core.
IMAGES = {
    "about": "digits in images of 8 x 8 patches by a vision transformer with {encoding}",
    "seed": 0,
    "task": "digit-images",
    "format": "in-order",
    "schemes": ["down", "across"],
    "data": {"length": 64, "sampler": "exact"},
    "pe": "none",
    "cross_pe": "none",
    "model": {"kind": "seq2seq", "layers": 1, "encoder_layers": 3, "width": 64, "heads": 4},
    "train": {
        "steps": 3000, "batch": 64, "lr": 0.002, "warmup": 100, "weight_decay": 0.01,
        "checkpoint_every": 200, "log_every": 50,
    },
    "eval": {
        "lengths": [64, 144, 256, 576],  # 1, 1.5, 2 and 3 times the resolution
        "slices": ["uniform"], "n": 500, "every": 200, "validation": [64], "validation_n": 300,
    },
}  # fmt: skip
IMAGE_SCALES = {
    "smoke": {
        "data": {"length": 16},
        "model": {"encoder_layers": 1, "width": 16, "heads": 2},
        "train": {"steps": 20, "batch": 8, "warmup": 5, "checkpoint_every": 10, "log_every": 5},
        "eval": {"lengths": [16, 36, 64, 144], "n": 20, "every": 10, "validation": [16], "validation_n": 8},
    },
    "paper": {
        "data": {"length": 196},
        "model": {"encoder_layers": 6, "width": 192, "heads": 8, "dropout": 0.1},
        "train": {"steps": 20000, "batch": 128, "lr": 0.0005, "warmup": 1000},
        "eval": {"lengths": [196, 441, 784, 1764], "n": 1000, "every": 1000, "validation": [196], "validation_n": 1000},
    },
}  # fmt: skip


def in_plane(kind, words, claim, **options):
    """The encoding in each of the two directions."""
    parts = [{"name": kind, "axis": axis, **options} for axis in ("down", "across")]
    pe = {"name": "compose", "parts": parts}
    return {"words": words, "claim": f"extrapolation/{claim}", "encoder_pe": pe, "label": "bias"}


IMAGE_ENCODINGS = {
    "alibi": in_plane("alibi", "ALiBi in both directions", "images-keep-accuracy"),
    "type-1": in_plane("type-1", "biases of -ln(1 + (kn)^2) in both directions", "images-keep-accuracy"),
    "power-2": in_plane("power", "biases of -(kn)^2 in both directions", "images-keep-accuracy", power=2.0),
    "inverse": in_plane("inverse", "weights like 1/n in both directions", "images-lose-accuracy"),
    "inverse-log": in_plane("inverse-log", "weights like 1/(n ln n) in both directions", "images-lose-accuracy"),
    "sinusoidal": {
        "words": "sinusoidal positions row by row", "claim": "extrapolation/images-lose-accuracy",
        "encoder_pe": "sinusoidal", "label": "absolute",
    },
}  # fmt: skip


RECIPES = {
    **family("extrapolation/{corpus}-{encoding}", LANGUAGE, {"corpus": CORPORA, "encoding": ENCODINGS}, SCALES),
    **family("extrapolation/{text}-{encoding}", merge(LANGUAGE, HUB), {"text": HUB_TEXTS, "encoding": PAPER_ENCODINGS}, SCALES),
    **family("extrapolation/{text}-{encoding}", merge(LANGUAGE, FAR), {"text": FAR_TEXTS, "encoding": PAPER_ENCODINGS}, SCALES),
    **family("extrapolation/images-{encoding}", IMAGES, {"encoding": IMAGE_ENCODINGS}, IMAGE_SCALES),
    **family("extrapolation/sums-alibi", merge(WINDOW, PHASES, SUMS), scales=WINDOW_SCALES),
}  # fmt: skip
