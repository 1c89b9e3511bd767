"""Metrics: which direction is better, and whether values are shares between 0 and 1.

Comparisons, "worst" and "best" ask here. A metric that is not listed, such as a count that an experiment adds, has no
better direction: `direction` is 0 for it.
"""

from __future__ import annotations

import re

SHARES = ("exact", "digit")  # what an evaluation of answers measures, between 0 and 1
TEXT = ("perplexity", "loss", "bits-per-byte")  # what an evaluation of a language model measures
MAIN = ("exact", "perplexity")  # what a table shows of a run by default: the first that it has

RIGHT = r"(first-)?exact|exact-(at-fit|covered|predicted)|digit(-\d+)*"  # shares of right answers
HIGHER = (  # patterns of names; a greater value is better
    RIGHT,
    "exact-gain",
    r"explained(-true)?(-\d+)?",
    "proved",
    "margin",
)
LOWER = (  # a smaller value is better
    "perplexity",
    "bits-per-byte",
    "(simulated-)?(train-|test-)?loss",
    "((largest|smallest)-)?rise",  # perplexity at a longer length over that at the training length
    "no-end",
    "wrong",
    ".+-error",
)


def direction(metric: str) -> int:
    """Return 1 if a greater value is better, -1 if a smaller one is, 0 if neither is.

    >>> direction("digit-6-11"), direction("perplexity"), direction("contexts")
    (1, -1, 0)
    """
    if any(re.fullmatch(pattern, metric) for pattern in HIGHER):
        return 1
    return -1 if any(re.fullmatch(pattern, metric) for pattern in LOWER) else 0


def is_share(metric: str) -> bool:
    """Return whether values are shares of right answers, between 0 and 1, which tables show in per cent.

    >>> is_share("digit-1"), is_share("exact-predicted"), is_share("exact-gain"), is_share("loss")
    (True, True, False, False)
    """
    return re.fullmatch(RIGHT, metric) is not None
