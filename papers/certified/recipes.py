"""Recipes of models that can be proved right at every length, and of the certified adder's rivals."""

from tenfold.runs.recipe_files import family, merge


def local(behind=1, *, answers=0, hub=None, relation=None, roles=5, more=()):
    """Positions of a model that can be certified: a window on columns, which operand and column, and the role.

    By default a token sees its column and the one before; of the answer, the last digit.
    """
    window = {"name": "window", "behind": behind, "ahead": 0, "axis": "column"}
    window |= {} if answers is None else {"answers": answers}
    window |= {} if hub is None else {"hub": hub}
    joint = {"name": "joint", "reach": 1, "clip": True, **(relation or {})}
    parts = [
        window,
        {"name": "pairwise", "relation": joint},
        {"name": "learned", "axis": "role", "limit": roles},
        *more,
    ]
    return {"name": "compose", "parts": parts}


def soft(behind=1, *, slope=8.0, decay="alibi", **more):
    """Positions without a window: nothing is hidden, but keys outside of two columns decay with their distance."""
    joint = {"name": "joint", "reach": 1, "clip": True}
    window = {
        "name": "soft-window",
        "behind": behind,
        "answers": 0,
        "slope": slope,
        "decay": decay,
        **more,
    }
    return {
        "name": "compose",
        "parts": [
            window,
            {"name": "pairwise", "relation": joint},
            {"name": "learned", "axis": "role", "limit": 5},
        ],
    }


# One layer, a one-sided window of one column, no absolute position.
# laptop scale: about half a minute on one idle core; then `tenfold certify` takes some seconds.
ADDITION = {
    "about": "{task}, proved right at every length",
    "label": "window",
    "seed": 0,
    "task": "addition",
    "format": "reversed",
    "data": {"length": 5, "sampler": "lengths"},
    "pe": local(),
    "model": {"kind": "decoder", "layers": 1, "width": 64, "heads": 8},
    "stop": "certified",
    "train": {
        "steps": 2000, "batch": 256, "lr": 0.003, "weight_decay": 0.1, "warmup": 50,
        "checkpoint_every": 250, "log_every": 25,
    },
    "eval": {"lengths": [1, 5, 10, 20, 50, 100], "n": 200, "every": 250, "validation": [5, 20], "validation_n": 200},
}  # fmt: skip
SMOKE = {
    "data": {"length": 2},
    "model": {"width": 16, "heads": 2},
    "stop": None,
    "train": {"steps": 20, "batch": 16, "warmup": 5, "checkpoint_every": 10, "log_every": 5},
    "eval": {"lengths": [1, 2, 4], "n": 50, "every": 10, "validation": [2], "validation_n": 20},
}
SCALES = {
    "smoke": SMOKE,
    "demo": {},
    "paper": {},
}  # nothing was published: the laptop's is the real scale

ONE_COLUMN = local(behind=0)  # one column and the last digit written decide
TWO_BEHIND = {
    # The carry is up to 98; two answer digits and two columns behind show it.
    "pe": local(behind=2, answers=1, hub=0, relation={"reach": 2, "hub": 0, "digits": 2}),
    "eval": {"every": 1000},
}
# An encoder-decoder with the windows and the format of ABS (`bias` paper): columns side by side, padded with zeros to the
# longer number; the source as it is embedded; one decoder layer whose self- and cross-attention see this column and the
# one before.
SEQ2SEQ = {
    "format": "interleaved",
    "model": {"kind": "seq2seq", "encoder_layers": 0},
    "stop": "certified-exactly",
    "train": {"steps": 4000},
}
TASKS = {
    "addition": {
        "about": "5-digit addition by a one-layer decoder that sees two columns, to be proved right at every length",
    },
    # 12+345+6: the carry is up to 2. 5.3 million contexts.
    "addition-3": {
        "about": "addition of three numbers, to be proved right at every length",
        "task": {"name": "addition", "terms": 3},
        "pe": local(relation={"roles": 6}, roles=6),
        "stop": "certified-exactly",
        "train": {"steps": 4000},
    },
    "addition-base-2": {
        "words": "addition in base 2",
        "task": {"name": "addition", "base": 2},
        "model": {"width": 16, "heads": 2},
    },
    # Each layer sees two columns, so a digit depends on three. Proved in float32 by adjoints; norms do not suffice.
    "addition-base-2-two-layers": {
        "words": "addition in base 2 by two layers",
        "task": {"name": "addition", "base": 2},
        "model": {"layers": 2, "width": 16, "heads": 2},
    },
    "addition-base-16": {
        "words": "addition in base 16",
        "task": {"name": "addition", "base": 16},
        "train": {"steps": 4000},
    },
    # Cyclic positions (CPI of the `bias` paper): the place of a token modulo 3 is added to it. A phase is part of the context.
    "addition-cyclic": {
        "about": "addition with cyclic positions, to be proved right at every length and for every phase",
        "schemes": ["cyclic"],
        "pe": local(more=[{"name": "learned", "axis": "cyclic", "limit": 3}]),
        "stop": "certified-exactly",  # an attempt in float32 takes minutes with this many contexts
        "train": {"steps": 4000},
    },
    "addition-seq2seq": {
        "words": "addition by an encoder-decoder with windows on self- and cross-attention",
        **SEQ2SEQ,
    },
    # 1000-999 = 0001: the borrow goes on like a carry.
    "subtraction": {"words": "subtraction of a smaller number", "task": "subtraction"},
    # 999 -> 1000.
    "successor": {
        "words": "the number after a number",
        "task": "successor",
        "model": {"width": 32, "heads": 4},
    },
    # 1101 -> 1011, from the units on: whether the ones so far are odd in number.
    "parity": {
        "words": "running parity of bits",
        "task": "parity",
        "pe": ONE_COLUMN,
        "model": {"width": 16, "heads": 2},
        "train": {"batch": 64},
    },
    # 21?12 -> ><, from the units on: which number is larger so far.
    "comparison": {
        "words": "which of two numbers is larger, column by column",
        "task": "comparison",
        "pe": ONE_COLUMN,
        "model": {"width": 32, "heads": 4},
    },
    # 6*47 = 282: the multiplier is a hub, which every column sees; the carry shows in the last digit written.
    "multiplication": {
        "words": "a number of any length times one digit",
        "task": "multiplication",
        "pe": local(hub=0),
        "train": {"steps": 4000},
    },
    # 12*345: a multiplier of up to two digits.
    "multiplication-2": {
        "about": "a number of any length times one of up to two digits; an attempt",
        "task": {"name": "multiplication", "multiplier": 2},
        **TWO_BEHIND,
        "model": {"width": 128, "heads": 8, "feedforward": 1024},
        "train": {"steps": 20000, "batch": 512, "lr": 0.002},
    },
    # Times 0 to 12, directly: a hub of up to two digits, a carry of up to 11. One column behind does not decide (the
    # certificate says so and shows why); two columns and two answer digits do.
    "multiplication-12": {
        "words": "a number of any length times 0 to 12",
        "task": {"name": "multiplication", "multiplier": 2, "most": 12},
        **TWO_BEHIND,
        "model": {"width": 64, "heads": 8, "feedforward": 512},
        "train": {"steps": 6000, "batch": 256, "lr": 0.003},
    },
}

# The certified adder with other positions and nothing else: the same size and data, 500 steps (about what the certified
# adder takes; `python -m tenfold.papers.certified.rivals` gives 2,000). None of them can be certified.
RIVAL = {
    "about": "the certified adder's rival with {positions}",
    "label": "generic",
    "stop": None,
    "train": {"steps": 500},
    "eval": {"lengths": [1, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 50, 100], "slices": ["uniform"], "every": 500},
}  # fmt: skip
POSITIONS = {
    "absolute": {
        "words": "learned absolute positions",
        "pe": {"name": "learned", "limit": 512},
    },
    "relative": {
        "words": "relative positions (a vector per difference)",
        "pe": {"name": "pairwise", "relation": {"name": "relative", "reach": 512}},
    },
    "rotary": {"words": "rotary positions", "pe": "rotary"},
    "index-alibi": {"words": "ALiBi", "pe": "alibi"},
}

# The certified models without a window (docs/soft-proof.md). Attention outside of two columns decays and is penalised
# in training. Proved in exact arithmetic, then in float32 where rounding allows.
SOFT = {
    "label": "no window",
    "pe": soft(),
    "stop": "certified-exactly",
    "train": {"penalty": {"name": "far-attention", "weight": 1.0}},
    "eval": {"lengths": [1, 5, 20, 100], "n": 100, "slices": ["uniform", "nines"]},
}
ALIBI = {"about": "{task} without a window, by ALiBi outside of two columns, to be proved right at every length"}  # fmt: skip
SOFT_TASKS = {
    "addition-alibi": {"words": "addition", **ALIBI},
    "addition-type-1": {
        "words": "addition",
        "about": "{task} without a window, by a decay of Type 1 outside of two columns, to be proved right at every length",
        "pe": soft(slope=60.0, decay="type-1"),
    },
    # ALiBi itself: the column before is as far as any other, and the model learns to make up for it.
    "addition-alibi-plain": {
        "words": "addition",
        "about": "{task} by plain ALiBi on columns, to be proved right at every length",
        "pe": {"parts": [{"name": "alibi", "axis": "column", "slope": 8.0}, *soft()["parts"][1:]]},
    },
    # The same without the penalty: attention on far keys is what training made of it.
    "addition-alibi-plain-unpenalised": {
        "words": "addition",
        "about": "{task} by plain ALiBi on columns without a penalty, to be proved right at every length",
        "pe": {"parts": [{"name": "alibi", "axis": "column", "slope": 8.0}, *soft()["parts"][1:]]},
        "train": {"penalty": None},
    },
    "addition-alibi-base-2": {
        "words": "addition in base 2",
        "task": {"name": "addition", "base": 2},
        "model": {"width": 16, "heads": 2},
        **ALIBI,
    },
    # Two layers: a token without a column would carry what it saw to any distance, so operators are hidden.
    "addition-alibi-base-2-two-layers": {
        "words": "addition in base 2",
        "about": "{task} by two layers without a window, by ALiBi outside of two columns, to be proved right at every length",
        "task": {"name": "addition", "base": 2},
        "pe": soft(slope=12.0, unrelated=False),
        "model": {"layers": 2, "width": 16, "heads": 2},
    },
    # The answer's digits read one another, and the question's digits in a source; both without a window.
    "addition-alibi-base-2-seq2seq": {
        "words": "addition in base 2",
        "about": "{task} by an encoder-decoder without a window, by ALiBi outside of two columns, to be proved right at every length",
        "task": {"name": "addition", "base": 2},
        "model": {"kind": "seq2seq", "encoder_layers": 0, "width": 16, "heads": 2},
    },
    "subtraction-alibi": {"words": "subtraction", "task": "subtraction", **ALIBI},
    "multiplication-alibi": {
        "words": "multiplication by one digit",
        "task": "multiplication",
        "train": {"steps": 4000},
        **ALIBI,
    },
    "successor-alibi": {
        "words": "the number after a number",
        "task": "successor",
        "model": {"width": 32, "heads": 4},
        **ALIBI,
    },
    "parity-alibi": {
        "words": "running parity of bits",
        "task": "parity",
        "pe": soft(behind=0),
        "model": {"width": 16, "heads": 2},
        "train": {"batch": 64, "penalty": {"columns": 0}},
        **ALIBI,
    },
}

RECIPES = {
    **family("certified/{task}", ADDITION, {"task": TASKS}, SCALES),
    **family("certified/{task}", merge(ADDITION, SOFT), {"task": SOFT_TASKS}, SCALES),
    **family("certified/addition-{positions}", merge(ADDITION, RIVAL), {"positions": POSITIONS}, SCALES),
}  # fmt: skip
