"""Recipes of the `principled` paper for sums upward: by the width that numbers are padded to, and by relative keys from 1 to 6 digits."""

from tenfold.papers.principled.addition_recipes import (
    ADDITION,
    PAPER,
    SCALES,
    SMOKE,
    UNITS_FIRST_PAPER,
    relative,
    units_first,
)
from tenfold.runs.recipe_files import family, merge

# How wide zero padding is, and nothing else: the training of `addition-absolute` and `addition-relative`, which have 6. In its own
# width a problem is as wide as its longest number and one place more: `^0123+0748=1780;`, four places at n = 3.
# laptop scale: bfloat16, for in a width of 20 a problem has 65 tokens instead of 23.
WIDTHS = ("own", "5", "9", "20")


def written(width, order):
    own = {"width": 1, "spare": 1} if width == "own" else {"width": int(width)}
    return {"name": "reversed", **own, **order, "start": True}


def by_width(width):
    """The same format at every scale: what is padded to 5 places at paper scale cannot be longer."""
    words = {"own": "in its own width"}.get(width, f"in a width of {width}")
    lengths = [1, 2, 3, 4, 5] + ([6] if width != "5" else [])
    return {
        "words": words,
        "eval": {"lengths": lengths},
        "scales": {"smoke": {"eval": {"lengths": [1, 2, 3, 4, 5]}}, "paper": {"eval": {"lengths": lengths}}},
    }  # fmt: skip


POSITIONS = {
    "absolute": {"words": "a learned vector per position", "pe": {"name": "learned", "limit": 70}},
    "relative": {
        "words": "numbers from their units on, and a learned vector per difference of positions",
        "pe": relative(70),
        "scales": {"paper": {"pe": relative(256)}},
    },
}
BY_WIDTH = merge(
    ADDITION,
    {
        "about": "GPT nano on 3-digit addition {width}, with {positions}",
        "claim": "principled/width-not-upward",
        "train": {"precision": "bfloat16"},
    },
)
PADDED_SCALES = merge(SCALES, {"paper": {"train": {"precision": "float32"}}})
FORMATS = {
    f"principled/addition-width-{width}-{positions}": {
        "format": written(width, order),
        "scales": {scale: {"format": written(width, order)} for scale in ("smoke", "paper")},
    }
    for width in WIDTHS
    for positions, order in {"absolute": {}, "relative": {"operands": "reversed"}}.items()
}

# Relative keys upward, from 1 to 6 digits: how long each number is, is uniform. No window. What was tried is in LAB.md.
# `own`: each problem in its own width, differences of columns with the roles of both digits, those above 1 alike (clip). A column
# sees all others and cannot tell which of them is where.
# `own-index`: the same width with differences of positions. How far a digit of the answer is from its own digits grows with the
# width, so that nothing is invariant. It learns 6 digits slowly: four times the steps, no dropout.
# `one-width`: differences of positions where every problem has one width, and so as much distance: the theorem's case. With the
# dropout and the decay of `addition-relative`, without which a trial had 22% at 7 digits instead of 100.
ONE_WIDTH = 13  # at laptop scale, so that 12 digits fit; the paper's is 20
BY_COLUMN = {"name": "pairwise", "relation": {"name": "joint", "reach": 1, "clip": True}}
OWN = written("own", {"operands": "reversed"})
KEYS = {
    "own": {
        "words": "its own width each, with a learned vector per pair of roles and difference of columns, up to 1",
        "label": "significance",
        "claim": "principled/relative-own-upward",
        "format": OWN,
        "pe": BY_COLUMN,
        "scales": {"smoke": {"format": OWN}, "paper": {"format": OWN, "pe": BY_COLUMN}},
    },
    "own-index": {
        "words": "its own width each, with a learned vector per difference of positions",
        "claim": "principled/relative-own-index-not-upward",
        "format": OWN,
        "pe": relative(80),
        "model": {"dropout": 0.0},
        "train": {"steps": 8000},
        "scales": {"smoke": {"format": OWN}, "paper": {"format": OWN, "pe": relative(256)}},
    },
    "one-width": {
        "words": f"in a width of {ONE_WIDTH}, with a learned vector per difference of positions",
        "claim": "principled/relative-one-width-upward",
        "format": units_first(ONE_WIDTH),
        "pe": relative(80),
        "train": {"steps": 3000, "weight_decay": 1.0},
        "eval": {"lengths": [1, 2, 3, 4, 5, 6, 7, 8, 9, 12]},
        "scales": {
            "smoke": {"format": units_first(ONE_WIDTH)},
            "paper": {"format": UNITS_FIRST_PAPER, "pe": relative(256)},
        },
    },
}
LENGTHS = {"data": {"length": 6}, "eval": {"lengths": [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 18], "validation": [6]}}  # fmt: skip
BY_KEYS = merge(
    ADDITION,
    LENGTHS,
    {
        "about": "GPT nano on sums of 1 to 6 digits, numbers from their units on, {keys}",
        "data": {"sampler": "lengths"},
        "train": {"steps": 2000, "weight_decay": 0.1, "precision": "bfloat16"},
    },
)
KEYS_SCALES = {
    "smoke": merge(SMOKE, {"eval": {"lengths": [1, 2, 3, 4, 6]}}),
    "paper": merge(PAPER, LENGTHS, {"train": {"precision": "float32"}}),
}

RECIPES = {
    **family(
        "principled/addition-width-{width}-{positions}",
        BY_WIDTH,
        {"width": {width: by_width(width) for width in WIDTHS}, "positions": POSITIONS},
        PADDED_SCALES,
        FORMATS,
    ),
    **family("principled/addition-relative-{keys}", BY_KEYS, {"keys": KEYS}, KEYS_SCALES),
}
