"""Recipes of the `symmetry` paper for sums and products in place."""

from tenfold.runs.recipe_files import family, merge


def relative(reach):
    """A learned vector per difference of positions (RPE)."""
    return {"name": "pairwise", "relation": {"name": "relative", "reach": reach}}


def by_column(reach):
    """A learned vector per pair of roles and difference of columns."""
    return {"name": "pairwise", "relation": {"name": "joint", "reach": reach}}


def in_place(frame, **more):
    return {"name": "in-place", "frame": frame, **more}


def fixed(inner, count=100_000):
    """The paper's training set: so many problems, drawn once."""
    return {"name": "finite", "count": count, "inner": inner}


PER_DIFFERENCE = "with a learned vector per difference of positions"
PER_COLUMN = "with a learned vector per pair of roles and difference of columns"

# The in-place adder with relative keys (RPE), trained on up to 5 digits.
# laptop scale: about 3 minutes on one idle core, and 1 to measure it.
ADDITION = {
    "about": f"{{what}}, read in place, {PER_DIFFERENCE}",
    "label": "generic",
    "seed": 0,
    "task": "addition",
    "format": in_place(20),
    "data": {"length": 5, "sampler": "lengths"},  # the paper draws uniform numbers: nine in ten have 5 digits
    "pe": relative(40),
    "model": {"kind": "encoder", "layers": 3, "width": 96, "heads": 4},
    "train": {"steps": 2000, "batch": 64, "lr": 0.001, "warmup": 100, "weight_decay": 0.01, "average": 0.999},
    "eval": {
        "lengths": [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20], "n": 500, "every": 500, "validation": [5, 7, 10, 15],
    },
}  # fmt: skip
SMOKE = {
    "data": {"length": 2},
    "format": in_place(4),
    "model": {"layers": 1, "width": 16, "heads": 2},
    "train": {"steps": 20, "batch": 16, "warmup": 5, "checkpoint_every": 10, "log_every": 5},
    "eval": {"lengths": [1, 2, 4], "n": 50, "every": 10, "validation": [2], "validation_n": 20},
}
PAPER = {
    "model": {"layers": 6, "width": 768, "heads": 8, "dropout": 0.1, "norm": "post"},
    "train": {"steps": 100000, "lr": 0.0001, "weight_decay": 0.00003, "average": 0.0, "schedule": "constant"},
    "eval": {"every": 2000, "n": 10000},
}  # fmt: skip
SCALES = {
    "smoke": SMOKE,
    "demo": {
        "train": {"steps": 1000, "lr": 0.0015, "average": 0.995, "checkpoint_every": 250, "log_every": 10},
        "eval": {"lengths": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20], "slices": ["uniform"], "every": 250, "n": 500},
    },
    "paper": {**PAPER, "data": {"sampler": fixed("numbers")}},
}  # fmt: skip

# Sums whose longest cascade is uniform over 0-5 (Figure 8(c)). As for the sums of `addition-relative`, where the numbers end
# varies at laptop scale; the paper scale draws as the paper does.
COMPLEX = {
    "claim": "symmetry/fig8c-complex-data-helps",
    "data": {"sampler": {"name": "complexity", "shorter": True}},
    "scales": {"paper": {"data": {"sampler": fixed("complexity")}}},
}
# Half of the sums as `addition-relative` draws them, half as `addition-complex` (Figure 8(c)).
MIXED = {
    "claim": "symmetry/fig8c-mix-is-best",
    "data": {
        "sampler": {"name": "mixed", "easy": "lengths", "hard": {"name": "complexity", "shorter": True}}
    },
    "scales": {"paper": {"data": {"sampler": fixed("mixed")}}},
}  # fmt: skip
CASCADES = "5-digit addition, trained on all lengths of cascades equally"
HALF_AND_HALF = "5-digit addition, trained half on uniform sums and half on all lengths of cascades equally"  # fmt: skip
ABSOLUTE = {"pe": {"name": "learned", "limit": 41}}  # a learned vector per position (APE)
NARROW = {
    "format": in_place(10),
    "eval": {
        "lengths": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
        "slices": ["uniform", "full", "unequal"],
        "validation": [5, 7, 9],
    },
}
# Norms after each block, one learning rate, and dropout, as in the paper, whose scale has them anyway; two heads. With norms before
# each block longer sums are lost again once the loss is near 0; with these they are learned for thousands of steps (LAB.md).
POST = {
    "model": {"heads": 2, "dropout": 0.1, "embedding_dropout": 0.0, "norm": "post"},
    "train": {"schedule": "constant", "precision": "bfloat16"},
    "scales": {"paper": {"model": {"embedding_dropout": None}, "train": {"precision": "float32"}}},
}
POST_20 = {
    "train": {"steps": 8000},
    "eval": {"slices": ["uniform"], "lengths": [5, 10, 15, 18, 19, 20], "validation": [5, 10, 15, 18, 19]},
}  # fmt: skip
# Eight heads, as in the paper, half of the rate and ten times the decay. With two heads one seed of three fails beyond 10 digits (LAB.md).
EIGHT_HEADS = {
    "model": {"width": 128, "heads": 8},
    "train": {"steps": 5000, "lr": 0.0005, "weight_decay": 0.1},
}
SEVERAL_NUMBERS = [1, 2, 3, 5, 6, 7, 8, 10, 12, 15, 20]  # lengths
ADDITIONS = {
    "addition-relative": {
        "words": "5-digit addition in a frame of 20",
        "claim": "symmetry/fig2-rpe-holds",
    },
    # laptop scale: about 15 minutes on one idle core.
    "addition-relative-post": merge(
        {
            "words": "5-digit addition in a frame of 20, with norms after each block",
            "claim": "symmetry/fig2-rpe-to-20",
        },
        merge(POST, POST_20),
    ),
    # laptop scale: about 10 minutes on one idle core, and so are its mixes below.
    "addition-relative-post-eight": merge(
        {
            "words": "5-digit addition in a frame of 20, with norms after each block and eight heads",
            "claim": "symmetry/fig2-rpe-to-20",
        },
        merge(POST, POST_20, EIGHT_HEADS),
    ),
    "addition-absolute-post": merge(
        {
            "about": "5-digit addition in a frame of 20, with norms after each block, read in place, with a learned vector per position",
            "claim": "symmetry/fig2-rpe-to-20",
            **ABSOLUTE,
        },
        merge(POST, POST_20),
    ),
    # Same size, same data, same budget.
    "addition-absolute": {
        "about": "5-digit addition in a frame of 20, read in place, with a learned vector per position",
        "claim": "symmetry/fig2-ape-collapses",
        **ABSOLUTE,
    },
    # Shifted copies too: as many zeros behind both integers as the frame holds (Figure 2(c), Table 1).
    "addition-augmented": {
        "about": "5-digit addition and its copies shifted by zeros, up to 20 digits, read in place, with a learned vector per position",
        "claim": "symmetry/fig2-augmentation-fails",
        **ABSOLUTE,
        "data": {"sampler": {"name": "appended", "to": 20, "inner": "lengths"}},
        "train": {"steps": 4000},  # twice those of the others: every place of the frame is to be learned
        "eval": {"slices": ["uniform", "shifted", "full", "unequal", "cascades", "nines"]},
        "scales": {
            "smoke": {"data": {"sampler": {"name": "appended", "to": 4, "inner": "lengths"}}},
            "paper": {"data": {"sampler": {"name": "appended", "to": 20, "inner": fixed("numbers")}}},
        },
    },
    "addition-complex": {"words": f"{CASCADES}, in a frame of 20", **COMPLEX},
    "addition-mixed": {"words": f"{HALF_AND_HALF}, in a frame of 20", **MIXED},
    "addition-complex-post": merge(
        {"words": f"{CASCADES}, in a frame of 20, with norms after each block", **COMPLEX},
        merge(POST, POST_20),
        {"claim": "symmetry/fig8-eighteen-digits"},
    ),
    "addition-mixed-post": merge(
        {"words": f"{HALF_AND_HALF}, in a frame of 20, with norms after each block", **MIXED},
        merge(POST, POST_20),
        {"claim": "symmetry/fig8-eighteen-digits"},
    ),
    "addition-complex-post-eight": merge(
        {
            "words": f"{CASCADES}, in a frame of 20, with norms after each block and eight heads",
            **COMPLEX,
        },
        merge(POST, POST_20, EIGHT_HEADS),
        {"claim": "symmetry/fig8-eighteen-digits"},
    ),
    "addition-mixed-post-eight": merge(
        {
            "words": f"{HALF_AND_HALF}, in a frame of 20, with norms after each block and eight heads",
            **MIXED,
        },
        merge(POST, POST_20, EIGHT_HEADS),
        {"claim": "symmetry/fig8-eighteen-digits"},
    ),
    # Sums whose longest cascade is uniform over 0-2, none longer (Appendix E). As for the sums of `addition-relative`, where the
    # numbers end varies at laptop scale; the paper scale draws numbers of up to 5 digits.
    "addition-cascades-2": {
        "words": "5-digit addition, trained on sums in which no carry runs over more than two columns, in a frame of 20",
        "claim": "symmetry/appe-list-follows-cascades",
        "data": {"sampler": {"name": "complexity", "most": 2, "shorter": True}},
        "scales": {"paper": {"data": {"sampler": fixed({"name": "complexity", "most": 2})}}},
    },
    # Trained as the paper does it, at one learning rate and without averaging weights, and looked at often: how much its
    # accuracy changes from checkpoint to checkpoint (Figure 2(b)).
    "addition-checkpoints": {
        "about": f"5-digit addition in a frame of 20, read in place, {PER_DIFFERENCE}, at a constant learning rate, asked every 100 steps",
        "claim": "symmetry/fig2-rpe-fluctuates",
        "train": {"steps": 3000, "average": 0.0, "schedule": "constant"},
        "eval": {"slices": ["uniform"], "every": 100, "validation": [5, 10, 15], "validation_n": 300},
        "scales": {"smoke": {"eval": {"every": 5, "validation": [2, 4]}}},
    },
    # A frame of 10, which the adder fills at laptop scale: what happens where no pad is left (Figure 2(b)).
    "addition-narrow": {
        "words": "5-digit addition in a frame of 10",
        "claim": "symmetry/fig2-falls-at-full-length",
        **NARROW,
        "pe": relative(20),
    },
    # Relations by column instead of index, in the same frame: a vector per (role, role, difference of columns).
    "addition-significance": {
        "about": f"5-digit addition in a frame of 10, read in place, {PER_COLUMN}",
        "label": "significance",
        "claim": "symmetry/fig2-fall-is-spurious",
        **NARROW,
        "pe": by_column(10),
    },
    # Beyond the paper: no fall at full length. The frame varies from batch to batch and often leaves no padding, which only
    # relations by column can follow (with those by index the other integer's digits would be elsewhere in every frame).
    "addition-frames": {
        "about": f"5-digit addition in frames that vary from 5 to 20, read in place, {PER_COLUMN}",
        "label": "significance",
        "claim": "symmetry/fig2-fall-is-spurious",
        "format": in_place(20, vary=True),
        "pe": by_column(20),
        "eval": {"slices": ["uniform", "unequal", "cascades", "nines"]},
        "scales": {"smoke": {"format": in_place(4, vary=True)}},
    },
    # Digit-wise sums, each column modulo 10, with nothing carried (Figure 10): only the positions are to be learned.
    # With the paper's dropout: without it the loss is 0 after 500 steps, and longer sums are then no longer learned (LAB.md).
    "no-carry-relative": {
        "words": "digit-wise sums of up to 5 digits, nothing carried, in a frame of 20",
        "claim": "symmetry/fig10-no-carry",
        "task": "digitwise-addition",
        "model": {"dropout": 0.1},
        "eval": {"slices": ["uniform", "full", "unequal", "pads"]},
    },
    # Three numbers in place, which the paper leaves to later work: `___1+__22+_333`, each in a frame of its own.
    # The answer is read at the last operator and the last number.
    "addition-3-relative": {
        "words": "sums of three numbers of up to 5 digits, each in a frame of 20",
        "claim": "symmetry/sec6-more-integers",
        "task": {"name": "addition", "terms": 3},
        "pe": relative(61),
        "train": {"steps": 4000},
        "eval": {"lengths": SEVERAL_NUMBERS, "slices": ["uniform", "full", "unequal", "levels", "nines"]},
    },
    # Two, three or four numbers, in one model: `12+345`, `12+345+7`. What is missing is padding in front.
    "addition-terms": {
        "words": "sums of two to four numbers of up to 5 digits in one model, each in a frame of 20",
        "claim": "symmetry/sec6-more-integers",
        "task": {
            "name": "several",
            "of": {
                "two": "addition",
                "three": {"name": "addition", "terms": 3},
                "four": {"name": "addition", "terms": 4},
            },
        },
        "pe": relative(82),
        "train": {"steps": 4000},
        "eval": {"lengths": SEVERAL_NUMBERS, "slices": ["uniform", "parts", "full", "cascades", "nines"]},
    },
}  # fmt: skip

# A frame of 50, as in Figure 2(b), for 40-digit sums, as in Figure 8(c).
# laptop scale: about 8 minutes on one idle core.
LONG = merge(
    ADDITION,
    {
        "about": f"{{drawn}}in a frame of 50, read in place, {PER_DIFFERENCE}",
        "format": in_place(50),
        "pe": relative(100),
        "eval": {
            "lengths": [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 35, 40, 45, 48, 49, 50],
            "slices": ["uniform", "pads"],
            "validation": [5, 10, 20, 30],
        },
    },
)
# laptop scale: about 50 minutes on one idle core. Eight heads, as in the paper. With two heads, twice the rate and a tenth of the
# decay, sums of 10 digits are lost again after 3,000 steps (LAB.md).
LONG_POST = merge(
    POST,
    EIGHT_HEADS,
    {
        "train": {"steps": 20000},
        "eval": {
            "slices": ["uniform"],
            "lengths": [5, 10, 20, 30, 40, 49, 50],
            "n": 200,
            "validation": [5, 10, 20, 30, 40, 49],
        },
    },
)
FORTY_DIGITS = {"claim": "symmetry/fig8-forty-digits"}
AFTER_EACH = "with norms after each block"
DRAWN = {
    "relative": {"words": "5-digit addition ", "claim": "symmetry/fig2-rpe-to-50"},
    "relative-post": {
        "words": f"5-digit addition {AFTER_EACH} ",
        "claim": "symmetry/fig2-rpe-to-50",
        **LONG_POST,
    },
    "complex": {"words": f"{CASCADES}, ", **COMPLEX},
    "mixed": {"words": f"{HALF_AND_HALF}, ", **MIXED},
    "complex-post": merge(
        {"words": f"{CASCADES}, {AFTER_EACH} ", **COMPLEX}, LONG_POST, FORTY_DIGITS
    ),
    "mixed-post": merge(
        {"words": f"{HALF_AND_HALF}, {AFTER_EACH} ", **MIXED}, LONG_POST, FORTY_DIGITS
    ),
}

# A number times a multiplier in place (Figures 4 and 5), trained on up to 5 digits.
# laptop scale: about 10 minutes on one idle core; about 12 with three digits.
MULTIPLICATION = {
    "label": "generic",
    "format": in_place(20),
    "data": {"length": 5, "sampler": "numbers"},  # uniform numbers, as in the paper: with uniform lengths relative keys are ahead (LAB.md)
    "model": ADDITION["model"],
    "train": {"steps": 4000, "batch": 96, "lr": 0.001, "warmup": 100, "weight_decay": 0.01, "average": 0.999},
    "eval": {
        "lengths": [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 18, 19, 20],
        "slices": ["uniform", "pads", "nines"], "n": 500, "every": 500, "validation": [5, 7, 10, 15],
    },
}  # fmt: skip
MULTIPLICATION_SCALES = {
    "smoke": merge(SMOKE, {"eval": {"lengths": [1, 2, 3, 4]}}),
    "paper": merge(PAPER, {"train": {"batch": 64}, "data": {"sampler": fixed("numbers")}}),
}
# Of up to so many digits, all lengths alike, at laptop scale; of exactly so many, uniform numbers, at the paper's.
DIGITS = {
    "1": {
        "words": "one digit times a number of up to 5",
        "task": {"name": "multiplication", "multiplier": 1},
        "scales": {"paper": {"task": {"least": 1}}},
    },
    # Between Figures 4 and 5, which the paper leaves out.
    "2": {
        "words": "a number of up to 2 digits times one of up to 5",
        "task": {"name": "multiplication", "multiplier": 2},
        "scales": {"paper": {"task": {"least": 10}}},
    },
    # The model is larger, and the training set too, as in the paper.
    "3": {
        "words": "a number of up to 3 digits times one of up to 5",
        "task": {"name": "multiplication", "multiplier": 3},
        "model": {"layers": 4, "width": 128},
        "scales": {
            "paper": {
                "task": {"least": 100},
                "model": {"layers": 9},
                "data": {"sampler": {"count": 500_000}},
            }
        },
    },
}
UNIFORM = {"name": "uniform", "reach": 24, "digits": 3}
POSITIONS = {
    "absolute": {  # APE
        "words": "a learned vector per position",
        "pe": {"name": "learned", "limit": 24},
    },
    "relative": {  # RPE
        "words": "a learned vector per difference of positions",
        "pe": relative(24),
    },
    # One vector for each digit of the multiplier, whoever asks (UPE), and relative keys elsewhere.
    "uniform": {
        "words": "a vector per digit of the multiplier and per difference of positions",
        "pe": {"name": "pairwise", "relation": UNIFORM},
    },
}
AUGMENTED = {
    "": {"about": "{digits} in a frame of 20, read in place, with {positions}"},
    # Shifted copies too: zeros behind the multiplicand, up to the whole frame; the multiplier stays.
    "-augmented": {
        "about": "{digits} digits and its copies shifted by zeros, up to 20, read in place, with {positions}",
        "data": {"sampler": {"name": "appended", "to": 20, "inner": "numbers"}},
        "scales": {
            "smoke": {"data": {"sampler": {"name": "appended", "to": 4, "inner": "numbers"}}},
            "paper": {"data": {"sampler": {"inner": {"name": "appended", "to": 20, "inner": "numbers"}}}},
        },
    },
}  # fmt: skip
CLAIMS = {
    "1-absolute": "fig4-ape-fails",
    "1-relative": "fig4-rpe-declines",
    "1-uniform": "fig4-upe-holds",
    **{f"1-{positions}-augmented": "sec3-augmentation-one-digit" for positions in POSITIONS},
    **{f"2-{positions}{copies}": "sec3-two-digits" for positions in POSITIONS for copies in AUGMENTED},
    "3-absolute": "fig5-ape-augmented-below-upe",
    "3-absolute-augmented": "fig5-ape-augmented-below-upe",
    "3-relative": "fig5-rpe-fails",
    "3-relative-augmented": "fig5-rpe-augmented-below-upe",
    "3-uniform": "fig5-upe-keeps-90",
    "3-uniform-augmented": "fig5-upe-keeps-90",
}  # fmt: skip
ONE_DIGIT = "one digit times a number of up to 5 digits in a frame of 20"
OWN = {
    f"symmetry/multiplication-{which}": {"claim": f"symmetry/{claim}"}
    for which, claim in CLAIMS.items()
}
for kind in POSITIONS:
    OWN[f"symmetry/multiplication-1-{kind}"]["about"] = f"{ONE_DIGIT}, read in place, with {{positions}}"  # fmt: skip

# Multipliers of exactly two and three digits by a curriculum: first those with zeros (`70`, `700`, `704`), then all. Short numbers
# are as common as long ones there. Frames vary with uniform positions, which know the multiplier wherever it stands; absolute
# and relative ones would have to learn it anew in each frame, and stay in that of 20. The last 500 steps draw uniform numbers
# in a frame of 20, as the recipes without stages do. A multiplier is not padded, as in the paper: where one of its digits is
# missing, heads that look for it go astray on longer numbers (LAB.md).
# Three digits have six layers and eight heads, which reach further than four and four (LAB.md); the paper has nine and eight.
# laptop scale: 5 to 8 minutes on one idle core with two digits, 40 to 60 with three, and 3 to measure it.
HALF_AND_HALF_LENGTHS = {"name": "mixed", "easy": "numbers", "hard": "lengths"}
CURRICULA = {
    "2": [(500, {"a0": 1}), (4000, {"a0": 1, "ab": 5})],
    "3": [
        (500, {"a00": 1}),
        (4000, {"a00": 1, "a0b": 2, "ab0": 2}),
        (24000, {"a00": 1, "a0b": 2, "ab0": 2, "abc": 10}),
    ],
}
MODELS_IN_STAGES = {
    "2": {"layers": 4, "width": 128},
    "3": {"layers": 6, "width": 128, "heads": 8},
}


def stages(curriculum, formats, last=HALF_AND_HALF_LENGTHS):
    """The stages of a curriculum. `last` draws the numbers of the last one, by default half of them uniform."""
    inner = ["lengths"] * (len(curriculum) - 1) + [last]
    return [
        {"steps": steps, **written, "sampler": {"name": "patterns", "of": of, "inner": drawn}}
        for (steps, of), written, drawn in zip(curriculum, formats, inner, strict=True)
    ]


def in_stages(digits, frames_vary=False):
    curriculum = CURRICULA[digits]
    widths = [8] + [20] * (len(curriculum) - 1)
    formats = [{"format": {"frame": each, "vary": True}} for each in widths]
    fixed_frames = [{}] * len(curriculum)
    few = stages([(5, curriculum[0][1])], [{}])
    return {
        "model": MODELS_IN_STAGES[digits],
        "words": f"{'two' if digits == '2' else 'three'} digits times a number of up to 5",
        "task": {"name": "multiplication", "multiplier": int(digits), "least": 10 ** (int(digits) - 1)},
        "data": {"stages": stages(curriculum, formats if frames_vary else fixed_frames)},
        "train": {"steps": 500 + sum(steps for steps, _ in curriculum)},
        "scales": merge(DIGITS[digits]["scales"], {"smoke": {"data": {"stages": few}}}),
    }  # fmt: skip


IN_STAGES = merge(
    MULTIPLICATION,
    {
        "about": "{which}, by a curriculum, in a frame of 20 at last, read in place",
        "train": {"batch": 128, "precision": "bfloat16"},
        "eval": {"slices": ["uniform", "pads", "nines", "multipliers"]},
    },
)
STAGED = {
    f"{digits}-{kind}": {
        **(chosen := in_stages(digits, frames_vary=kind == "uniform")),
        "words": f"{chosen['words']}, with {positions['words']}",
        "claim": f"symmetry/{CLAIMS[f'{digits}-{kind}']}",
        "pe": positions["pe"],
    }
    for digits in CURRICULA
    for kind, positions in POSITIONS.items()
}
# With shifted copies in the last stage and after it.
SHIFTED = {"name": "appended", "to": 20, "inner": HALF_AND_HALF_LENGTHS}
STAGED_COPIES = {
    f"3-{kind}-augmented": {
        **merge(
            STAGED[f"3-{kind}"],
            AUGMENTED["-augmented"],
            {"data": {"stages": stages(CURRICULA["3"], [{}] * 3, SHIFTED)}},
        ),
        "about": "{which}, by a curriculum and at last shifted by zeros up to 20, read in place",
        "claim": f"symmetry/{CLAIMS[f'3-{kind}-augmented']}",
    }
    for kind in ("absolute", "relative")
}

# Beyond the paper: one digit times a number, by how the multiplicands of training are drawn. With `lengths` a fifth of them
# has 5 digits, with `numbers` nine in ten, with `exact` all. Otherwise as `multiplication-1-uniform` and its siblings, in bfloat16.
# laptop scale: 2 to 3 minutes on one idle core, and half a minute to measure it.
SAMPLED = merge(
    MULTIPLICATION,
    DIGITS["1"],
    {
        "about": "{drawn}, read in place, with {positions}",
        "claim": "symmetry/own-sampler-decides",
        "train": {"precision": "bfloat16"},
        "eval": {"lengths": [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20], "slices": ["uniform"]},
    },
)
SAMPLERS = {
    "lengths": "of all lengths up to 5 alike",
    "numbers": "drawn uniformly, of up to 5 digits",
    "exact": "of exactly 5 digits",
}


def drawn_by(sampler, words, copies):
    shifted = {"name": "appended", "to": 20, "inner": sampler}
    if not copies:
        return {
            "words": f"one digit times numbers {words}, in a frame of 20",
            "data": {"sampler": sampler},
            "scales": {"paper": {"data": {"sampler": fixed(sampler)}}},
        }
    return {
        "words": f"one digit times numbers {words}, and their copies shifted by zeros, up to 20",
        "claim": "symmetry/own-copies-settle-it",
        "data": {"sampler": shifted},
        "scales": {
            "smoke": {"data": {"sampler": {**shifted, "to": 4}}},
            "paper": {"data": {"sampler": fixed(shifted)}},
        },
    }


SAMPLERS_AND_COPIES = {
    f"{sampler}{copies}": drawn_by(sampler, words, copies)
    for sampler, words in SAMPLERS.items()
    for copies in AUGMENTED
}

# Addition and multiplication in one model, which the paper leaves to later work: `___12+__345`, `____6*__345`.
# The operator tells which. A multiplier's digit has one vector, whoever asks (UPE); all other pairs, those of an
# addend too, have one by their difference.
TWO_OPERATIONS = merge(
    MULTIPLICATION,
    {
        "about": "sums, and products with one digit, of numbers of up to 5 digits in one model, each number in a frame of 20, read in place, with {positions}",
        "claim": "symmetry/sec6-several-operations",
        "task": {
            "name": "several",
            "of": {"sum": "addition", "product": {"name": "multiplication", "multiplier": 1}},
        },
        "train": {"steps": 3500, "batch": 64},
        "eval": {
            "lengths": SEVERAL_NUMBERS,
            "slices": ["uniform", "parts", "full", "cascades", "nines"],
        },
    },
)
TWO_OPERATIONS_POSITIONS = {
    "": {
        "words": POSITIONS["uniform"]["words"],
        "pe": {
            "name": "pairwise",
            "relation": {"name": "uniform", "operand": 2, "digits": 1, "reach": 40},
        },
    },
    "-relative": {"words": POSITIONS["relative"]["words"], "pe": relative(40)},
}

RECIPES = {
    **family("symmetry/{what}", ADDITION, {"what": ADDITIONS}, SCALES),
    **family("symmetry/long-addition-{drawn}", LONG, {"drawn": DRAWN}, SCALES),
    **family(
        "symmetry/multiplication-{digits}-{positions}{augmented}",
        MULTIPLICATION,
        {"digits": DIGITS, "positions": POSITIONS, "augmented": AUGMENTED},
        MULTIPLICATION_SCALES,
        OWN,
    ),
    **family(
        "symmetry/multiplication-{which}-staged",
        IN_STAGES,
        {"which": {**STAGED, **STAGED_COPIES}},
        MULTIPLICATION_SCALES,
    ),
    **family(
        "symmetry/multiplication-1-{positions}-{drawn}",
        SAMPLED,
        {"positions": POSITIONS, "drawn": SAMPLERS_AND_COPIES},
        MULTIPLICATION_SCALES,
    ),
    **family(
        "symmetry/two-operations{positions}",
        TWO_OPERATIONS,
        {"positions": TWO_OPERATIONS_POSITIONS},
        MULTIPLICATION_SCALES,
    ),
}
