"""Recipes of the `symmetry` paper: sums and products in place, among text and in sentences, and models beyond the paper."""

from tenfold.papers.certified.recipes import ADDITION as CERTIFIED_ADDITION
from tenfold.papers.certified.recipes import SCALES as CERTIFIED_SCALES
from tenfold.papers.certified.recipes import local
from tenfold.papers.symmetry.in_place_recipes import (
    ADDITION,
    DIGITS,
    MULTIPLICATION,
    MULTIPLICATION_SCALES,
    SCALES,
    SMOKE,
    UNIFORM,
    in_place,
    in_stages,
)
from tenfold.papers.symmetry.in_place_recipes import RECIPES as IN_PLACE
from tenfold.runs.recipe_files import family, merge


def among_words(frame, most, words):
    return {"format": {"name": "in-text", "frame": frame, "most": most, "words": words}}


def in_sentences(frame):
    return {"format": {"name": "sentences-in-place", "frame": frame, "held_out": 3}}


def half_of_the_heads(relation, **more):
    """Absolute positions at the input; half of the heads have relations among the tokens of integers alone."""
    related = {"name": "pairwise", "relation": relation, **more}
    heads = {"name": "per-head", "parts": [related, "none"]}
    return {"name": "compose", "parts": [{"name": "learned", "limit": 104}, heads]}


# Among text (Figures 6 and 7): up to 20 random words before, between and after the integers. Half of the heads have
# relative keys by the place within an integer, among number tokens alone; the others have none. Absolute positions enter
# at the input. Nothing is masked. 101 tokens at the most.
AMONG_WORDS = {
    "words": " in a frame of 20 among random words, read in place",
    **among_words(20, 20, 100),
    "scales": {"smoke": among_words(4, 3, 10)},
}
# Beyond the paper: asked in sentences ("what is 12 plus 345?"), the heads as among random words. Fifteen templates are
# trained on; three more are asked only when it is measured (slices unseen-1 to unseen-3).
IN_SENTENCES = {
    "words": " asked in sentences, numbers in a frame of 20, read in place",
    "claim": None,
    **in_sentences(20),
    "eval": {"lengths": [1, 3, 5, 6, 7, 8, 10, 15], "slices": ["uniform", "sentences"], "n": 200},
    "scales": {"smoke": in_sentences(4)},
}
# Pairs with a word have no vector, as in the paper; in `text-addition` and `text-multiplication-1`, and in sentences, they have a learned
# one at laptop scale.
BY_COLUMN = {"name": "significance", "reach": 20, "axis": "column"}
BY_MULTIPLIER = {**UNIFORM, "axis": "column"}


def no_vector_for_words(scales, relation):
    return merge(scales, {"paper": {"pe": half_of_the_heads(relation, unrelated=False)}})


# laptop scale: about 12 minutes on one idle core among words, 6 in sentences, and 3 to measure it.
TEXT_ADDITION = merge(
    ADDITION,
    {
        "about": "5-digit addition{text}; two of four heads know which places of two integers belong together",
        "label": "significance",
        "claim": "symmetry/fig7-addition-with-text",
        "pe": half_of_the_heads(BY_COLUMN),
    },
)
NO_VECTORS_IN_SUMS = {
    "about": "5-digit addition{text}; two of four heads know which places of two integers belong together, and have no vector for words",
    "pe": half_of_the_heads(BY_COLUMN, unrelated=False),
}
# One vector for each digit of the multiplier, whoever asks (UPE), and relative keys by the place within the other integer.
# laptop scale: with three digits the longest recipe of the paper, some 2 hours on one idle core. Only there do pairs with a word
# have no vector.
TEXT_MULTIPLICATION = merge(
    MULTIPLICATION,
    {
        "about": "{digits}{text}; two of four heads know the multiplier and the places of the other integer",
        "label": "significance",
        "claim": "symmetry/fig7-multiplication-with-text",
        "pe": half_of_the_heads(BY_MULTIPLIER),
    },
)
# The same by the curriculum of `multiplication-3-uniform-staged`, among words from the first step on. Frames do not vary.
# laptop scale: some three hours on one idle core.
TEXT_STAGED = merge(
    in_stages("3"),
    {"train": {"precision": "bfloat16"}, "eval": {"slices": ["uniform", "multipliers"], "n": 200}},
)
NO_VECTORS = {"pe": half_of_the_heads(BY_MULTIPLIER, unrelated=False)}
TEXT_ONE_DIGIT = {**DIGITS["1"], "words": "one digit times a number of up to 5 digits"}

# Sums asked in sentences, answered by a decoder that sees two columns of digits and no word: what a window leaves of text.
# laptop scale: about a minute on one idle core.
SENTENCES_WINDOW = {
    "about": "5-digit addition asked in sentences, by a one-layer decoder that sees two columns and not the words",
    "format": {"name": "sentences", "held_out": 3},
    "stop": None,
    "train": {"steps": 600},
    "eval": {
        "lengths": [1, 5, 6, 7, 10, 20, 50, 100, 200],
        "slices": ["uniform", "cascades", "nines", "sentences"],
    },
}

# Beyond the paper: the in-place adder as a loop. One layer sees a column and the one before it; its own last answer comes back
# in; it stops when nothing changes. Trained on up to 5 digits, with long cascades mixed in.
# laptop scale: about a minute on one idle core.
TWO_COLUMNS = {
    "label": "window",
    "claim": "symmetry/sec6-architecture",
    "task": "addition",
    "format": in_place("fit"),
    "data": {"length": 5, "sampler": {"name": "mixed", "share": 0.5}},
    "pe": local(answers=None),
    "train": {
        "steps": 1500, "batch": 256, "lr": 0.003, "weight_decay": 0.1, "warmup": 50,
        "checkpoint_every": 250, "log_every": 25,
    },
    "eval": {
        "lengths": [1, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 50, 100, 200],
        "slices": ["uniform", "cascades", "nines"], "n": 200, "every": 250, "validation": [5, 50],
    },
}  # fmt: skip
LOOP = {"kind": "looped", "layers": 1, "width": 64, "heads": 8, "loops": 6, "feedback": "guess"}
ARCHITECTURES = {
    "looped-addition": {
        "about": "5-digit addition in place by one looped layer that sees two columns and its own last answer, and stops when nothing changes",
        "model": LOOP,
    },
    # Hidden vectors come back in instead of the answer; gradients flow through every loop.
    "looped-addition-state": {
        "about": "5-digit addition in place by one looped layer that sees two columns and its own last hidden vectors, and stops when nothing changes",
        "model": {**LOOP, "feedback": "state", "through": 6},
    },
    # The same window without a loop: each layer sees a column and the one before it.
    "windowed-addition": {
        "about": "5-digit addition in place by six layers that each see two columns",
        "model": {"kind": "encoder", "layers": 6, "width": 64, "heads": 8},
        "scales": {"smoke": {"model": {"layers": 2}}},
    },
}
WINDOW_SMOKE = {key: SMOKE[key] for key in ("data", "train", "eval")}
WINDOW_SCALES = {  # nothing was published: the laptop's is the real scale
    "smoke": {**WINDOW_SMOKE, "model": {"width": 16, "heads": 2}},
    "paper": {},
}

# Beyond the paper: products with up to three digits where every layer sees three columns and the whole multiplier, so that
# nothing in the model knows how long the other number is. As many spare places as the multiplier has digits hold what overflows.
# laptop scale: about 25 minutes on one idle core.
WINDOWED_PRODUCTS = {
    "about": "a number of up to 3 digits times one of up to 5, read in place by six layers that each see three columns and the multiplier",
    "label": "window",
    "claim": "symmetry/sec6-long-products",
    "task": {"name": "multiplication", "multiplier": 3},
    "format": in_place("fit", spare=3),
    "data": {"length": 5, "sampler": "lengths"},
    "pe": local(behind=2, answers=None, hub=0, relation={"reach": 2, "hub": 0, "digits": 3}),
    "model": {"kind": "encoder", "layers": 6, "width": 128, "heads": 8},
    "train": {"steps": 8000, "batch": 128, "lr": 0.001, "warmup": 100, "weight_decay": 0.01, "average": 0.999},
    "eval": {
        "lengths": [1, 2, 3, 4, 5, 6, 8, 10, 20, 40], "slices": ["uniform", "nines"], "n": 200, "every": 500,
        "validation": [5, 20],
    },
}  # fmt: skip
WINDOWED_SCALES = {
    "smoke": merge(WINDOW_SMOKE, {"model": SMOKE["model"], "eval": {"lengths": [1, 2, 3, 4]}}),
    "paper": {},
}

RECIPES = {
    **IN_PLACE,
    **family(
        "symmetry/{text}-addition",
        TEXT_ADDITION,
        {"text": {"text": AMONG_WORDS, "sentences": IN_SENTENCES}},
        no_vector_for_words(SCALES, BY_COLUMN),
    ),
    **family(
        "symmetry/{text}-addition-no-vectors",
        TEXT_ADDITION,
        {"text": {"text": {**AMONG_WORDS, **NO_VECTORS_IN_SUMS}}},
        SCALES,
    ),
    **family(
        "symmetry/{text}-multiplication{digits}",
        TEXT_MULTIPLICATION,
        {
            "digits": {"": {**DIGITS["3"], **NO_VECTORS}, "-1": TEXT_ONE_DIGIT},
            "text": {"text": AMONG_WORDS},
        },
        no_vector_for_words(MULTIPLICATION_SCALES, BY_MULTIPLIER),
    ),
    **family(
        "symmetry/{text}-multiplication{digits}",
        TEXT_MULTIPLICATION,
        {"digits": {"-staged": {**TEXT_STAGED, **NO_VECTORS}}, "text": {"text": AMONG_WORDS}},
        no_vector_for_words(MULTIPLICATION_SCALES, BY_MULTIPLIER),
        {
            "symmetry/text-multiplication-staged": {
                "about": f"{TEXT_STAGED['words']}{AMONG_WORDS['words']}, by a curriculum; half of the heads know the multiplier and the places of the other integer",
                "claim": "symmetry/fig7-three-digits-with-text",
            }
        },
    ),
    **family(
        "symmetry/{text}-multiplication{digits}",
        TEXT_MULTIPLICATION,
        {"digits": {"": TEXT_ONE_DIGIT}, "text": {"sentences": IN_SENTENCES}},
        no_vector_for_words(MULTIPLICATION_SCALES, BY_MULTIPLIER),
    ),
    **family(
        "symmetry/sentences-addition-window",
        merge(CERTIFIED_ADDITION, SENTENCES_WINDOW),
        scales=CERTIFIED_SCALES,
    ),
    **family("symmetry/{model}", TWO_COLUMNS, {"model": ARCHITECTURES}, WINDOW_SCALES),
    **family("symmetry/windowed-multiplication-3", WINDOWED_PRODUCTS, scales=WINDOWED_SCALES),
}
