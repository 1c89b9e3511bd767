"""What a run will cost."""

import pytest

from tenfold.runs.build import build
from tenfold.runs.cost import cost
from tenfold.runs.recipe_files import recipe


def test_counts_follow_the_size():
    small = recipe("symmetry/addition-relative", "smoke")
    estimate = cost(build(small))
    assert estimate.parameters == build(small).model().parameter_count()
    assert estimate.measured
    twice = cost(build(small.replace(train={"accumulate": 2})))
    assert twice.flops_per_step == 2 * estimate.flops_per_step


def test_flops_of_a_known_size():
    """One layer without positions: six times parameters times tokens for the matrices that see every token."""
    r = recipe("symmetry/addition-relative", "smoke").replace(
        pe="none", model={"width": 64, "heads": 2, "layers": 2}, train={"batch": 8}
    )
    tokens, read, width = 9, 5, 64
    first = 2 * tokens * (12 * width**2)  # query, key, value, out, feed-forward
    first += 2 * 2 * tokens * tokens * width
    last = 2 * tokens * 2 * width**2 + 2 * read * (10 * width**2) + 2 * 2 * read * tokens * width
    head = 2 * read * width * len(build(r).batcher.task.vocabulary)
    forward = 8 * (first + last + head)
    assert cost(build(r)).flops_per_step == pytest.approx(3 * forward, rel=0.02)
