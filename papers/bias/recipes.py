"""Recipes of the `bias` paper: the plain models, windows on columns, and one-layer models to be proved."""

from tenfold.papers.bias.plain_recipes import FAINT, HALF, PAPER, PLAIN, SMOKE
from tenfold.papers.bias.plain_recipes import RECIPES as PLAIN_RECIPES
from tenfold.papers.bias.transfer_recipes import RECIPES as TRANSFER_RECIPES
from tenfold.papers.certified.recipes import ADDITION as PROVABLE
from tenfold.papers.certified.recipes import SCALES as PROVABLE_SCALES
from tenfold.papers.certified.recipes import SEQ2SEQ
from tenfold.runs.recipe_files import family, merge

# Scaffolding (ABS), w = 1. Operands stand side by side, column by column, behind the operator:
# 12+345 is `+00031425`, answered `7530`. The token that writes digit i works on column i. In self-attention it sees itself and
# the token before it (j = i - k, k = 0..w); in cross-attention the digits of columns i and i - 1, which lie on the anti-diagonal
# of the matrix, since the answer is reversed, two tokens to a column. The operator counts as the column above all digits, as
# the start token of a question does in the paper's code. README.md says why the window is not open ahead.
# Up to 6 digits, as in the paper: with T = 3 every phase then has a column from which the start is out of sight. Every problem has
# its own width, one more than its digits: where all have one, nothing else is seen in the last column than zeros, or where a number ends.
SEEN = {"name": "window", "behind": 1, "ahead": 0, "axis": "column"}
OWN_WIDTH = {"name": "interleaved", "width": 1, "spare": 1, "mark": True}
WINDOW = merge(
    PLAIN,
    {
        "about": "{task} through windows on columns, {positions}",
        "label": "window",
        "format": OWN_WIDTH,
        "data": {"length": 6},
        "cross_pe": SEEN,
        # From the plain model's rate of 0.003; from 0.001 N x 1 with T = 3 was not trained out.
        "train": {"steps": 3000, "schedule": "cosine"},
        "eval": {"lengths": [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 60, 100, 200], "n": 300, "validation": [6]},
    },
)  # fmt: skip
WINDOW_SCALES = {
    "smoke": merge(SMOKE, {"format": OWN_WIDTH}),
    "paper": merge(
        PAPER,
        {
            "format": OWN_WIDTH,
            "eval": {"lengths": [1, 2, 3, 4, 5, 6, 10, 12, 15, 18, 20, 60, 100, 200]},
        },
    ),
}
# Cyclic positions (CPI), T = 3: a column's place is its number modulo 3. The paper pads every question to one length, where the
# index modulo 3 of a column is always the same; here widths differ, and the column keeps its phase.
PHASES = {
    "schemes": [{"name": "cyclic", "period": 3, "axis": "column"}],
    "encoder_pe": {"name": "sinusoidal", "axis": "cyclic"},
}
POSITIONS = {
    "": {
        "words": "with sinusoidal positions",
        "claim": "bias/abs-window-alone-fails-{task}",
        "pe": {"name": "compose", "parts": [SEEN, "sinusoidal"]},
        "encoder_pe": "sinusoidal",
    },
    "-cyclic": {
        "words": "with cyclic positions",
        "claim": "bias/abs-cyclic-{task}",
        **PHASES,
        "pe": {"name": "compose", "parts": [SEEN, {"name": "sinusoidal", "axis": "cyclic"}]},
    },
    # The digits of two columns in sight, in no order.
    "-none": {
        "words": "without positions",
        "claim": "bias/abs-no-positions-{task}",
        "pe": SEEN,
        "encoder_pe": "none",
    },
}
NO_SPARE = {**OWN_WIDTH, "spare": 0}
WINDOW_PARITY = {
    "task": "parity",
    "format": NO_SPARE,
    "data": {"length": 18},
    "train": {"steps": 600, "lr": 0.001},
    "eval": {"lengths": [6, 10, 15, 18, 20, 50, 60, 100, 200], "validation": [18]},
    "scales": {
        "smoke": {"format": NO_SPARE},
        "paper": {
            "data": {"length": 18},
            "format": NO_SPARE,
            "train": {"steps": HALF},
            "eval": {"lengths": [6, 10, 15, 18, 20, 50, 60, 100, 200], "validation": [18]},
        },
    },
}
WINDOW_TASKS = {
    "addition": {"words": "6-digit addition"},
    "successor": {
        "words": "the successor of 6-digit numbers",
        "claim": "bias/abs-window-successor",
        "task": "successor",
        "train": {"steps": 1500, "lr": 0.001},
        "scales": {"paper": {"train": {"steps": HALF}}},
    },
    "times": {"words": "6-digit numbers times one digit", "task": "multiplication"},
    "parity": {
        "words": "running parity of up to 18 bits",
        "claim": "bias/abs-window-parity",
        **WINDOW_PARITY,
    },
}
# Cross-attention open on both sides of the digit's own column: columns i - 1, i and i + 1.
BOTH_SIDES = {
    "about": "6-digit addition through windows on columns, {positions}, open on both sides",
    "claim": "bias/both-sides-need-positions",
    "cross_pe": {**SEEN, "ahead": 1},
    "train": {"lr": 0.001},
}

# The depth of the paper without positions: with three layers and 3,000 steps addition had 86 to 88% at 60 digits (99.4 published).
DEEP = {
    "about": "{task} through windows on columns, {positions}, by six layers",
    "model": {"layers": 6},
    "train": {"steps": 10000},
    "eval": {"every": 500},
}
# Positions that training covers: as in the paper's code all questions have the width of the longest test, 60 digits and one column
# for what overflows. Beyond the training length these columns are always zero in training. A quarter of the batch, since questions are
# nine times as long.
COVERED = {
    "about": "{task} through windows on columns, {positions} that cover the longest test in training",
    "format": {"width": 61},
    "train": {"batch": 64},
    "eval": {"lengths": [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 40, 60], "every": 250, "validation_n": 200},
    "scales": {
        "smoke": {"format": {"width": 5}},
        "paper": {
            "format": {"width": 61},
            "train": {"batch": 512},
            "eval": {"lengths": [1, 2, 3, 4, 5, 6, 10, 12, 15, 18, 20, 60], "every": 1792, "validation_n": 1000},
        },
    },
}  # fmt: skip
# Sinusoids that are about half as large as the embeddings of tokens at the start, as in the paper's code, where embeddings are
# multiplied by sqrt(D). With a scale of 1 they are 35 times as large here, and every digit is learned by where it stands.
FAINT_POSITIONS = {
    "words": "with sinusoidal positions no larger than tokens",
    "claim": POSITIONS[""]["claim"],
    "pe": {"name": "compose", "parts": [SEEN, FAINT]},
    "encoder_pe": FAINT,
}
# So many problems that the interval of a model without an error is above 99%.
ENOUGH_PROBLEMS = {
    f"bias/{task}-window-faint": {"eval": {"n": 500}} for task in ("successor", "parity")
}
COVERED_PARITY = {
    "format": {"width": 60},
    "eval": {"lengths": [6, 10, 15, 18, 20, 40, 50, 60]},
    "scales": {
        "smoke": {"format": {"width": 4}},
        "paper": {"format": {"width": 60}, "eval": {"lengths": [6, 10, 15, 18, 20, 50, 60]}},
    },
}

# One layer of the scaffolded model, to be proved right at every length: columns without a fixed width, since a proof is about
# all of them; of the answer, the last digit alone (w = 0 in self-attention), which keeps contexts few.
CERTIFIED = merge(
    PROVABLE,
    SEQ2SEQ,
    {
        "about": "{task} by {layers} through windows on columns, {positions}",
        "format": {"name": "interleaved", "mark": True},
        "data": {"length": 6},
        "cross_pe": SEEN,
        "eval": {"lengths": [1, 6, 12, 60, 100], "slices": ["uniform"]},
    },
)
CERTIFIED_TASKS = {
    "addition": {
        "words": "addition",
        "scales": {"smoke": {"task": {"name": "addition", "base": 2}}},
    },
    "successor": {
        "words": "the successor of a number",
        "task": "successor",
        "model": {"width": 32, "heads": 4},
    },
    "parity": {
        "words": "running parity of bits",
        "task": "parity",
        "model": {"width": 16, "heads": 2},
        "train": {"batch": 64},
    },
    # The digit stands once, in front, where every column sees it: `6*47`. That is what is proved, not a digit in every column.
    "times": {
        "words": "a number times one digit",
        "task": "multiplication",
        "format": {"name": "reversed"},
        "cross_pe": {**SEEN, "hub": 0},
        "scales": {"smoke": {"task": {"name": "multiplication", "base": 2}}},
    },
}
CERTIFIED_POSITIONS = {
    "cyclic": {
        "words": "with cyclic positions, to be proved right at every length",
        "claim": "bias/certified-cyclic",
        **PHASES,
    },
    # The digits of two columns in no order, of which one layer cannot tell which is which.
    "none": {
        "words": "without positions",
        "claim": "bias/certified-none",
        "encoder_pe": "none",
        "train": {"steps": 1000},
    },
    # The places of sinusoids have no bound, so that no proof is possible.
    "window": {
        "words": "with sinusoidal positions, which cannot be certified",
        "claim": "bias/certified-sinusoids-refused",
        "encoder_pe": "sinusoidal",
    },
}
LAYERS = {
    "": {"words": "one layer"},
    "-2": {"words": "two layers", "claim": "bias/certified-two-layers", "model": {"layers": 2}},
}
LAST_DIGIT = {**SEEN, "answers": 0}
OWN_ANSWER = {"addition": LAST_DIGIT, "successor": SEEN, "parity": SEEN, "times": {**LAST_DIGIT, "hub": 0}}  # fmt: skip
ADDED = {"cyclic": [{"name": "sinusoidal", "axis": "cyclic"}], "none": [], "window": ["sinusoidal"]}


def certified(tasks, positions, layers):
    """Certified recipes; what a token sees of its own answer depends on the task, what is added to it on the positions."""
    own = {}
    for task in tasks:
        for kind in positions:
            seen, added = OWN_ANSWER[task], ADDED[kind]
            pe = {"name": "compose", "parts": [seen, *added]} if added else seen
            own[f"bias/certified-{task}-{kind}{layers}"] = {"pe": pe}
    axes = {
        "task": {task: CERTIFIED_TASKS[task] for task in tasks},
        "positions": {kind: CERTIFIED_POSITIONS[kind] for kind in positions},
        "layers": {layers: LAYERS[layers]},
    }
    name = "bias/certified-{task}-{positions}{layers}"
    return family(name, CERTIFIED, axes, PROVABLE_SCALES, own)


RECIPES = {
    **PLAIN_RECIPES,
    **TRANSFER_RECIPES,
    **family(
        "bias/{task}-window{positions}",
        WINDOW,
        {"positions": POSITIONS | {"-faint": FAINT_POSITIONS}, "task": WINDOW_TASKS},
        WINDOW_SCALES,
        ENOUGH_PROBLEMS,
    ),
    **family(
        "bias/addition-window{positions}-{sides}",
        WINDOW,
        {
            "positions": {kind: POSITIONS[kind] for kind in ("-cyclic", "-none")},
            "sides": {"both": BOTH_SIDES},
        },
        WINDOW_SCALES,
    ),
    **family(
        "bias/{task}-window{positions}-{depth}",
        WINDOW,
        {
            "positions": {"-none": POSITIONS["-none"]},
            "task": {task: WINDOW_TASKS[task] for task in ("addition", "times")},
            "depth": {"deep": DEEP},
        },
        WINDOW_SCALES,
    ),
    **family(
        "bias/{task}-window{positions}-{cover}",
        WINDOW,
        {
            "positions": {"": POSITIONS[""]},
            "task": WINDOW_TASKS,
            "cover": {"covered": COVERED},
        },
        WINDOW_SCALES,
        {"bias/parity-window-covered": COVERED_PARITY},
    ),
    **certified(CERTIFIED_TASKS, CERTIFIED_POSITIONS, ""),
    **certified(["successor"], ["cyclic"], "-2"),
    **certified(["parity"], ["none"], "-2"),
}
