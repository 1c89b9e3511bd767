"""Recipes of the `principled` paper for sums: by what training covers, by size and by encoding."""

from tenfold.papers.principled.training_sets import SUMS as TRAINING_SUMS
from tenfold.papers.principled.training_sets import drawn_once
from tenfold.runs.recipe_files import family, merge

MILLION = 1_000_000  # steps at paper scale

# A GPT (nano) learns sums of which at least one number has n digits (the domain D_n), written as in the paper: both numbers
# padded with zeros to one width, the answer from its units on, then an end: `000123+000748=1780000;`.
# laptop scale: n = 3 instead of 4, numbers of up to 6 digits instead of 20. What it takes in minutes until longer sums are cut to
# their last n digits was tried (LAB.md): a token in front that is always the same (`^000123+...`), ten times the paper's weight
# decay, averaged weights. The paper has none of these, and a million steps.
ADDITION = {
    "about": "GPT nano on {what} with a learned vector per position",
    "label": "generic",
    "seed": 0,
    "task": "addition",
    "format": {"name": "reversed", "width": 6, "start": True},
    "data": {"length": 3, "sampler": "longest"},
    "pe": {"name": "learned", "limit": 23},
    "model": {"kind": "decoder", "size": "nano", "dropout": 0.1},
    "train": {
        "steps": 8000, "batch": 128, "lr": 0.002, "final_lr": 0.1, "warmup": 100, "betas": [0.9, 0.99],
        "weight_decay": 1.0, "average": 0.998, "checkpoint_every": 500, "log_every": 50,
    },
    "eval": {
        "lengths": [1, 2, 3, 4, 5, 6], "slices": ["uniform"], "n": 1000, "every": 500,
        "validation": [3],  # what lies beyond is not chosen by
        "validation_n": 500,
    },
}  # fmt: skip
SMOKE = {
    "data": {"length": 2},
    "format": {"name": "reversed", "width": 5, "start": True},
    "model": {"layers": 1, "width": 24, "heads": 3, "dropout": 0.0},
    "train": {"steps": 20, "batch": 16, "warmup": 5, "checkpoint_every": 10, "log_every": 5},
    "eval": {"lengths": [1, 2, 3, 4, 5], "n": 50, "every": 10, "validation": [2], "validation_n": 20},
}  # fmt: skip
PAPER = {
    "data": {"length": 4},
    "format": {"name": "reversed", "width": 20},
    "pe": {"name": "learned", "limit": 256},
    "model": {"dropout": 0.2},
    "train": {
        "steps": MILLION, "batch": 64, "lr": 0.001, "weight_decay": 0.1, "average": 0,
        "checkpoint_every": 10000, "log_every": 500,
    },
    "eval": {
        "lengths": [1, 2, 3, 4, 5, 6, 7, 8, 9], "n": 10000, "every": 10000, "validation": [4], "validation_n": 1000,
    },
}  # fmt: skip
SCALES = {"smoke": SMOKE, "paper": PAPER}

COVERAGE = {
    "absolute": {"words": "3-digit addition", "claim": "principled/addition-truncates"},
    # Twice the steps: after 8,000 one seed of three is at 83 to 98% against the truncated function, and that comes after the trained
    # length is learned.
    "absolute-long": {
        "words": "3-digit addition, for longer,",
        "claim": "principled/longer-training-truncates",
        "train": {"steps": 16000, "precision": "bfloat16"},
        "scales": {"paper": {"train": {"precision": "float32"}}},
    },
    # Two lengths in training: the longer number has n - 1 or n digits (D23 here, D45 in the paper), as many
    # problems of each: of all pairs, those of n - 1 digits are one in a hundred.
    "union": {
        "words": "sums of 2 and 3 digits",
        "claim": "principled/addition-unions",
        "data": {"sampler": {"name": "domain", "lengths": [2, 3], "equal": True}},
        "scales": {
            "smoke": {"data": {"sampler": {"name": "domain", "lengths": [1, 2], "equal": True}}},
            "paper": {
                "data": {"length": 5, "sampler": {"name": "domain", "lengths": [4, 5], "equal": True}},
                "eval": {"validation": [4, 5]},
            },
        },
    },
    # The paper's own n at laptop scale, where the others have 3: a place more in each number. At the other scales it is `absolute`.
    # laptop scale: 12,000 steps for 8,000; whether these are enough was not tried.
    "four": {
        "words": "4-digit addition",
        "claim": "principled/addition-truncates-four",
        "format": {"width": 7},
        "data": {"length": 4},
        "pe": {"name": "learned", "limit": 26},
        "train": {"steps": 12000},
        "eval": {"lengths": [1, 2, 3, 4, 5, 6, 7], "validation": [4]},
    },
    # Both numbers have n digits (D_ab,n): none begins with a zero in training.
    "both": {
        "words": "sums of two 3-digit numbers",
        "claim": "principled/addition-both-long",
        "data": {"sampler": "exact"},
    },
    # Training with holes: no digit below 6 ever occurs but for the zeros in front. Measured on uniform sums as the others, and by
    # its experiment on sums of these digits (`digits-6-9`).
    "holes": {
        "words": "3-digit sums of the digits 6 to 9",
        "claim": "principled/addition-holes-break-downward",
        "data": {"sampler": {"name": "domain", "digits": "6789"}},
    },
    # Even digits alone, so that every carry has its kind but half of the digits never occur.
    "even": {
        "words": "3-digit sums of even digits",
        "claim": "principled/coverage-decides",
        "data": {"sampler": {"name": "domain", "digits": "02468"}},
    },
    "no-nine": {
        "about": "GPT nano on 3-digit sums without a 9 in either number, with a learned vector per position",
        "claim": "principled/coverage-decides",
        "data": {"sampler": {"name": "domain", "digits": "012345678"}},
    },
    # Both numbers have n digits, and no column sums to 10.
    "no-carry": {
        "about": "GPT nano on 3-digit sums without carries, with a learned vector per position",
        "claim": "principled/coverage-decides",
        "data": {"sampler": "no-carry"},
    },
    # The training of `addition-absolute`, followed: the task is the sum of the last n digits, which changes no training problem, and
    # every look on the way asks it at all lengths. So the log has accuracy against the truncated function over training.
    "followed": {
        "about": "GPT nano on 3-digit addition with a learned vector per position, measured against the sum of the last 3 digits on the way",
        "claim": "principled/truncation-comes-later",
        "task": {"name": "truncated", "of": "addition", "digits": 3},
        "eval": {"every": 250, "validation": [1, 2, 3, 4, 5, 6], "validation_n": 300},
        "scales": {
            "smoke": {
                "task": {"name": "truncated", "of": "addition", "digits": 2},
                "eval": {"validation": [1, 2, 3, 4, 5]},
            },
            "paper": {
                "task": {"name": "truncated", "of": "addition", "digits": 4},
                "eval": {"validation": [1, 2, 3, 4, 5, 6, 7, 8, 9]},
            },
        },
    },
}  # fmt: skip
# The paper's largest size, 10.7 million parameters. laptop scale: half the batch, the paper's own rate, bfloat16. A step
# takes 0.2 to 0.3 seconds of one core with bfloat16 instructions, so 4,000 take less than 20 minutes.
MINI = {
    "model": {"size": "mini"},
    "train": {"steps": 4000, "batch": 64, "lr": 0.001, "precision": "bfloat16"},
    "scales": {
        "smoke": {"model": {"layers": 3}},
        "paper": {"train": {"precision": "float32"}},
    },
}
LARGER = {
    "absolute-micro": {
        "words": "micro",
        "model": {"size": "micro"},
        "train": {"steps": 3000},
        "scales": {"smoke": {"model": {"layers": 2}}},
    },
    # Three times the steps: after 3,000 it is at 59 to 96% against the truncated function at n + 1 digits.
    "absolute-micro-long": {
        "about": "GPT micro on 3-digit addition, for longer, with a learned vector per position",
        "claim": "principled/truncates-across-sizes",
        "model": {"size": "micro"},
        "train": {"steps": 9000, "precision": "bfloat16"},
        "scales": {
            "smoke": {"model": {"layers": 2}},
            "paper": {"train": {"precision": "float32"}},
        },
    },
    "absolute-mini": {"words": "mini", **MINI},
    # The size of GPT-2 small, which the paper leaves to later work. Laptop scale has shorter numbers and fewer steps, not a smaller
    # model: days on one core. `tenfold train principled/addition-gpt2 --dry-run` prints what it would cost.
    "gpt2": {
        "about": "GPT-2 small on 3-digit addition with a learned vector per position",
        "model": {"size": "gpt2", "dropout": 0.1},
        "train": {"lr": 0.0006},
        "scales": {"paper": {"model": {"dropout": 0.1}, "train": {"lr": 0.0006}}},
    },
    "gpt2-medium": {
        "about": "GPT-2 medium on 3-digit addition with a learned vector per position",
        "model": {"size": "gpt2-medium", "dropout": 0.1},
        "train": {"lr": 0.0003},
        "scales": {"paper": {"model": {"dropout": 0.1}, "train": {"lr": 0.0003}}},
    },
}
BY_SIZE = merge(
    ADDITION,
    {
        "about": "GPT {size} on 3-digit addition with a learned vector per position",
        "claim": "principled/holds-across-sizes",
    },
)


def units_first(width):
    """Both numbers are written from their units on, `^321000+847000=1780000;`.

    So a digit of the answer is as far from its own digits in every column: only so are sums invariant under translation.
    """
    return {"name": "reversed", "width": width, "operands": "reversed", "start": True}


def relative(reach):
    return {"name": "pairwise", "relation": {"name": "relative", "reach": reach}}


UNITS_FIRST_PAPER = {"name": "reversed", "width": 20, "operands": "reversed"}
OWN_WIDTH = {"name": "reversed", "width": 1, "spare": 1, "start": True}
COLUMNS = {
    "name": "compose",
    "parts": [
        {"name": "window", "behind": 1, "ahead": 0, "axis": "column"},
        {"name": "pairwise", "relation": {"name": "joint", "reach": 1, "clip": True}},
    ],
}


def random_start(axis):
    """Places of an axis that are counted from a random start, added at the input; rotary positions beside them."""

    def positions(reach, limit):
        learned = {"name": "learned", "axis": axis, "limit": limit}
        schemes = [{"name": axis, "reach": reach}]
        return {"schemes": schemes, "pe": {"name": "compose", "parts": [learned, "rotary"]}}

    return {**positions(8, 24), "label": "significance", "scales": {"paper": positions(100, 256)}}


ENCODINGS = {
    # A learned vector per difference of positions.
    "relative": {
        "words": "numbers from their units on, with a learned vector per difference of positions",
        "claim": "principled/relative-addition-upward",
        "pe": relative(23),
        "scales": {"paper": {"pe": relative(256)}},
    },
    # The same in the paper's own order, `^000123+000748=1780000;`: a column further, a digit of the answer is two places further
    # from its own digits, so a vector per difference is one per column after all.
    "relative-forward": {
        "words": "numbers from their highest digit on, with a learned vector per difference of positions",
        "claim": "principled/relative-order-matters",
        "format": ADDITION["format"],
        "pe": relative(23),
        "scales": {
            "smoke": {"format": SMOKE["format"]},
            "paper": {"format": PAPER["format"], "pe": relative(256)},
        },
    },
    "rope": {
        "words": "numbers from their units on, with rotary positions",
        "pe": "rotary",
        "scales": {"paper": {"pe": "rotary"}},
    },
    # Abacus (McLeish et al. 2024): a digit's place within its number, counted from a random start, added at the input; rotary
    # positions beside it, so that the token that writes the units finds where they are. Without dropout and with the paper's own
    # weight decay 3 digits are right after 1,000 steps.
    "abacus": {
        "words": "numbers from their units on, with Abacus places from a random start and rotary positions",
        "model": {"dropout": 0.0},
        "train": {"steps": 4000, "weight_decay": 0.1},
        **random_start("abacus"),
    },
    # Coupled positions (Cho et al. 2024): one vector for all digits of one power of ten, from a random start.
    "coupled": {
        "words": "numbers from their units on, with coupled places from a random start and rotary positions",
        "model": {"dropout": 0.0},
        "train": {"steps": 4000, "weight_decay": 0.1},
        **random_start("coupled"),
    },
    # Relative on the aligned axis, in the paper's own order: a learned vector per pair of roles and difference of columns, and a
    # column sees itself and the one below it alone, so that nothing tells how far from the units it stands. Every problem has its
    # own width: padded to one width, digits are right beyond n, but the answer ends where zeros were always followed by an end.
    # What was tried is in LAB.md.
    "aligned": {
        "words": "its own width each, with a learned vector per pair of roles and difference of columns in windows",
        "label": "significance",
        "claim": "principled/aligned-upward",
        "format": OWN_WIDTH,
        "pe": COLUMNS,
        "model": {"dropout": 0.0},
        "train": {"steps": 2000, "lr": 0.001, "weight_decay": 0.1},
        "eval": {"lengths": [1, 2, 3, 4, 5, 6, 7, 8, 9]},
        "scales": {"smoke": {"format": OWN_WIDTH}, "paper": {"format": OWN_WIDTH, "pe": COLUMNS}},
    },
}
BY_ENCODING = merge(
    ADDITION,
    {
        "about": "GPT nano on 3-digit addition, {encoding}",
        "claim": "principled/encodings-upward",
        "format": units_first(6),
    },
)
UNITS_FIRST_SCALES = {
    "smoke": merge(SMOKE, {"format": units_first(5)}),
    "paper": merge(PAPER, {"format": UNITS_FIRST_PAPER}),
}

RECIPES = drawn_once({
    **family("principled/addition-{what}", ADDITION, {"what": COVERAGE}, SCALES),
    **family("principled/addition-{size}", BY_SIZE, {"size": LARGER}, SCALES),
    **family("principled/addition-{encoding}", BY_ENCODING, {"encoding": ENCODINGS}, UNITS_FIRST_SCALES),
}, TRAINING_SUMS)  # fmt: skip
