"""Recipes of the `principled` paper: a GPT on sums, on modular sums and products, and on full products of n digits."""

from tenfold.papers.principled.addition_recipes import (
    ADDITION,
    ENCODINGS,
    MINI,
    PAPER,
    SMOKE,
    UNITS_FIRST_PAPER,
    random_start,
    relative,
    units_first,
)
from tenfold.papers.principled.addition_recipes import RECIPES as SUMS
from tenfold.papers.principled.training_sets import PRODUCTS as TRAINING_PRODUCTS
from tenfold.papers.principled.training_sets import SUMS as TRAINING_SUMS
from tenfold.papers.principled.training_sets import drawn_once
from tenfold.papers.principled.upward_recipes import RECIPES as UPWARD
from tenfold.runs.recipe_files import family, merge


def with_shorter(share, digits=None):
    """Problems of the longest length, and this share of those with a shorter number; of some digits alone."""
    if digits is None:
        return {"name": "mixed", "share": share, "easy": "longest", "hard": "unequal"}
    easy, hard = ({"name": name, "digits": digits} for name in ("domain", "unequal"))
    return {"name": "mixed", "share": share, "easy": easy, "hard": hard}


# Sums modulo a number, from n digits, with a learned vector per position.
# laptop scale: n = 2. Of 3 digits (a + b) mod 30 asks for the sum of all six modulo 3, which nano does not find in minutes. Four in five
# training problems have a shorter number (all are of D_2): among uniform ones no digit of one number alone tells anything
# about the answer, and training stays where it began for thousands of steps (LAB.md).
MODULAR = merge(
    ADDITION,
    {
        "about": "GPT nano on 2-digit sums modulo {modulus} with {encoding}",
        "format": {"name": "reversed", "width": 5, "start": True},
        "data": {"length": 2, "sampler": with_shorter(0.8)},
        "pe": {"name": "learned", "limit": 20},
        "train": {"steps": 4000},
        "eval": {"lengths": [1, 2, 3, 4, 5], "validation": [2]},
    },
)
MODULAR_SCALES = {
    "smoke": SMOKE,
    "paper": merge(PAPER, {"data": {"sampler": "longest"}}),
}


def sums(modulus, claim, **more):
    task = {"name": "modular-addition", "modulus": modulus}
    return {"task": task, "claim": f"principled/modular-addition-{claim}", **more}


LONGER = {"train": {"steps": 8000}}  # after 4,000 it is right at n digits, not yet at all others
MODULI = {
    "30": sums(30, "predicted"),
    "50": sums(50, "dividing", **LONGER),
    "70": sums(70, "predicted"),
    "100": sums(100, "dividing", **LONGER),
    "101": sums(101, "predicted", **LONGER),
}
ABSOLUTE = {"absolute": {"words": "a learned vector per position"}}
FROM_UNITS = {"smoke": {"format": units_first(5)}, "paper": {"format": UNITS_FIRST_PAPER}}
RELATIVE = {
    "relative": {
        "words": "a learned vector per difference of positions",
        "format": units_first(5),
        "pe": relative(20),
        "scales": merge(FROM_UNITS, {"paper": {"pe": relative(256)}}),
    }
}


def of_encodings(words, positions):
    """Numbers from their units on; no dropout, half the weight decay and half the steps of absolute positions."""
    return {
        "words": words,
        "claim": "principled/modular-addition-dividing-encodings",
        "format": units_first(5),
        "model": {"dropout": 0.0},
        "train": {"steps": 4000, "weight_decay": 0.5},
        **positions,
        "scales": merge(FROM_UNITS, positions["scales"]),
    }


OTHERS = {
    "rope": of_encodings(
        "rotary positions, numbers from their units on",
        {"pe": "rotary", "scales": {"paper": {"pe": "rotary"}}},
    ),
    "abacus": of_encodings(
        "Abacus places from a random start and rotary positions", random_start("abacus")
    ),
    "coupled": of_encodings(
        "coupled places from a random start and rotary positions", random_start("coupled")
    ),
    # Relative keys on columns in windows, each problem in its own width: what carries sums upward, since every column
    # is treated alike. Modulo a number columns are not alike.
    "aligned": {
        **ENCODINGS["aligned"],
        "about": "GPT nano on 2-digit sums modulo 50, its own width each, with a learned vector per pair of roles and difference of columns in windows",
        "claim": "principled/modular-addition-dividing-encodings",
        "eval": MODULAR["eval"],
    },
}

# Products modulo a number, from n digits, with a learned vector per position. The
# paper's own n is 3, with half the dropout of its sums and a learning rate that stays. laptop scale: n = 2, three in ten
# training problems with a shorter number, no dropout, the paper's own weight decay, and more steps than sums have: there is little but
# to learn all 9,900 products by heart (LAB.md).
PRODUCT = merge(
    MODULAR,
    {
        "about": "GPT nano on 2-digit products modulo {modulus} with a learned vector per position",
        "data": {"sampler": with_shorter(0.3)},
        "model": {"dropout": 0.0},
        "train": {"steps": 20000, "weight_decay": 0.1, "checkpoint_every": 1000},
        "eval": {"every": 1000},
    },
)
PRODUCT_SCALES = {
    "smoke": SMOKE,
    "paper": merge(
        MODULAR_SCALES["paper"],
        {
            "data": {"length": 3},
            "model": {"dropout": 0.1},
            "train": {"final_lr": 1.0},
            "eval": {"validation": [3]},
        },
    ),
}


def products(modulus, claim, **more):
    task = {"name": "modular-multiplication", "modulus": modulus}
    return {"task": task, "claim": f"principled/modular-multiplication-{claim}", **more}


# The last two digits of a product: found within minutes where half of the training problems have a shorter number and
# weight decay is half that of sums.
DIVIDING = {
    "data": {"sampler": with_shorter(0.5)},
    "train": {"steps": 16000, "weight_decay": 0.5, "checkpoint_every": 500},
    "eval": {"every": 500},
}
PRODUCT_MODULI = {
    "50": products(50, "50-100", **DIVIDING),
    "51": products(51, "51"),
    "100": products(100, "50-100", **DIVIDING),
    "101": products(101, "101"),
    "150": products(150, "not-learned"),
    "200": products(200, "not-learned"),
    "201": products(201, "not-learned"),
}

# Full products: the longer number has 1 or 2 digits (D12). The answer has room for two numbers of the format's width.
# laptop scale: no dropout and half the weight decay of sums; with theirs 2 digits are 26% right after 5,000 steps of GPT micro,
# with less 95% after 3,500 of nano (LAB.md).
MULTIPLICATION = merge(
    ADDITION,
    {
        "task": {"name": "full-multiplication", "digits": 5},
        "format": {"name": "reversed", "width": 5, "start": True},
        "data": {"length": 2, "sampler": {"name": "domain", "lengths": [1, 2], "equal": True}},
        "pe": {"name": "learned", "limit": 25},
        "model": {"dropout": 0.0},
        "train": {"steps": 16000, "weight_decay": 0.5},  # 2 digits are right after 4,000; the rest is for what lies beyond
        "eval": {"lengths": [1, 2, 3, 4, 5], "validation": [1, 2]},
    },
)  # fmt: skip
MULTIPLICATION_SCALES = {
    "smoke": merge(SMOKE, {"eval": {"validation": [1, 2]}}),
    "paper": merge(
        PAPER,
        {
            "task": {"name": "full-multiplication", "digits": 9},
            "data": {"length": 2},
            "model": {"layers": 4, "heads": 4, "width": 128, "dropout": 0.1},  # micro
            "train": {"final_lr": 1.0},
            "eval": {"validation": [1, 2]},
        },
    ),
}


def two_operations(digits):
    product = {"name": "full-multiplication", "digits": digits}
    return {"task": {"name": "several", "of": {"sum": "addition", "product": product}}}


ALONE_2, ALONE_3 = {"eval": {"validation": [2]}}, {"data": {"length": 3}, "eval": {"validation": [3]}}  # fmt: skip
MULTIPLICATIONS = {
    "multiplication-absolute": {
        "words": "products of 1 and 2 digits",
        "claim": "principled/multiplication-truncates",
    },
    # From one length alone (D2).
    "multiplication-one-length": {
        "words": "2-digit products",
        "claim": "principled/multiplication-one-length",
        "data": {"sampler": "longest"},
        "train": {"steps": 8000},
        **ALONE_2,
        "scales": {"smoke": ALONE_2, "paper": ALONE_2},
    },
    # From 3 digits alone (D3).
    "multiplication-d3": {
        "words": "3-digit products",
        "claim": "principled/multiplication-truncates-one-length",
        "data": {"length": 3, "sampler": "longest"},
        "train": {"steps": 8000},
        "eval": {"validation": [3]},
        "scales": {"smoke": ALONE_3, "paper": ALONE_3},
    },
    "multiplication-relative": {
        "about": "GPT nano on products of 1 and 2 digits, numbers from their units on, with a learned vector per difference of positions",
        "claim": "principled/relative-multiplication-not-upward",
        "format": units_first(5),
        "pe": relative(25),
        "scales": {
            "smoke": {"format": units_first(5)},
            "paper": {"format": UNITS_FIRST_PAPER, "pe": relative(256)},
        },
    },
    # Two steps, (a+b)*c of 1 and 2 digits, `^00012+00034*00005=`. The answer has a digit more than a product.
    "two-steps": {
        "about": "GPT nano on (a+b)*c of 1 and 2 digits with a learned vector per position",
        "claim": "principled/two-steps-truncates",
        "task": {"name": "multiplied-sum", "digits": 5},
        "pe": {"name": "learned", "limit": 32},
        "train": {"steps": 20000},
        "scales": {"paper": {"task": {"name": "multiplied-sum", "digits": 9}}},
    },
    # Sums and products in one model, of 1 and 2 digits in equal parts; the operator tells which: `^00012+00034=`, `^00012*00034=`.
    "two-operations": {
        "about": "GPT nano on sums and products of 1 and 2 digits in one model with a learned vector per position",
        "claim": "principled/two-operations-alike",
        **two_operations(5),
        "eval": {"slices": ["uniform", "parts"]},
        "scales": {"paper": two_operations(9)},
    },
}

# Training that leaves digits out, beyond sums: full products, and sums and products modulo 50, each with its own settings.
HOLES = {"no-nine": ("012345678", "without a 9"), "holes": ("6789", "of the digits 6 to 9 alone")}


def left_out(words, sampler, paper=lambda digits: {"name": "domain", "digits": digits}):
    """What training leaves out of some problems: `sampler` draws them from the digits that are left, `paper` at its scale."""
    return {
        which: {
            "about": f"GPT nano on {words} {text}, with a learned vector per position",
            "claim": "principled/coverage-beyond-sums",
            "data": {"sampler": sampler(digits)},
            "scales": {"paper": {"data": {"sampler": paper(digits)}}},
        }
        for which, (digits, text) in HOLES.items()
    }


def of_two_lengths(digits):
    return {**MULTIPLICATION["data"]["sampler"], "digits": digits}


PRODUCT_HOLES = left_out("products of 1 and 2 digits", of_two_lengths, of_two_lengths)
MODULAR_HOLES = left_out("2-digit sums modulo 50", lambda digits: with_shorter(0.8, digits))
MODULAR_PRODUCT_HOLES = left_out(
    "2-digit products modulo 50", lambda digits: with_shorter(0.5, digits)
)


def by_mini(words):
    """GPT mini on problems modulo a number, in these words."""
    about = f"GPT mini on 2-digit {words} modulo {{modulus}} with a learned vector per position"
    return {"mini": {"about": about, "claim": "principled/moduli-mini", **MINI}}


# One modulus that divides a power of ten, one of which a third of the sums is right (30), one of which hardly any is.
SUMS_BY_MINI, PRODUCTS_BY_MINI = by_mini("sums"), by_mini("products")


def some(options, *labels):
    return {label: options[label] for label in labels}


MODULAR_NAME = "principled/modular-{modulus}-{encoding}"
FIFTY, HUNDRED = some(MODULI, "50"), some(MODULI, "100")
MODULAR_SUMS = {
    **family(MODULAR_NAME, MODULAR, {"modulus": MODULI, "encoding": ABSOLUTE}, MODULAR_SCALES),
    **family(MODULAR_NAME, MODULAR, {"modulus": FIFTY | HUNDRED, "encoding": RELATIVE}, MODULAR_SCALES),
    **family(MODULAR_NAME, MODULAR, {"modulus": FIFTY, "encoding": OTHERS}, MODULAR_SCALES),
    **family(MODULAR_NAME, MODULAR, {"modulus": some(MODULI, "30", "50", "101"), "encoding": SUMS_BY_MINI}, MODULAR_SCALES),
    **family("principled/modular-{modulus}-{without}", MODULAR, {"modulus": FIFTY, "without": MODULAR_HOLES}, MODULAR_SCALES),
}  # fmt: skip
ALL_PRODUCTS = {
    **family("principled/modular-product-{modulus}", PRODUCT, {"modulus": PRODUCT_MODULI}, PRODUCT_SCALES),
    **family("principled/modular-product-{modulus}-{size}", PRODUCT, {"modulus": some(PRODUCT_MODULI, "50", "101"), "size": PRODUCTS_BY_MINI}, PRODUCT_SCALES),
    **family("principled/modular-product-{modulus}-{without}", PRODUCT, {"modulus": some(PRODUCT_MODULI, "50"), "without": MODULAR_PRODUCT_HOLES}, PRODUCT_SCALES),
    **family("principled/multiplication-{without}", MULTIPLICATION, {"without": PRODUCT_HOLES}, MULTIPLICATION_SCALES),
    **family("principled/{what}", MULTIPLICATION, {"what": MULTIPLICATIONS}, MULTIPLICATION_SCALES),
}  # fmt: skip
RECIPES = {
    **SUMS,
    **UPWARD,
    **drawn_once(MODULAR_SUMS, TRAINING_SUMS),
    **drawn_once(ALL_PRODUCTS, TRAINING_PRODUCTS),
}
