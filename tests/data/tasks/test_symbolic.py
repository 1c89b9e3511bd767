"""Copying, reversing, sorting, majority and brackets against plain Python, and what they draw."""

from collections import Counter

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import TASKS, samplers
from tenfold.data.tasks.symbolic.dyck import Dyck
from tenfold.data.tasks.symbolic.majority import Majority
from tenfold.data.tasks.symbolic.sorting import Sorting


def verdicts(text):
    """Each prefix by itself: delete pairs until none is left."""
    symbols = ""
    for end in range(1, len(text) + 1):
        prefix = text[:end]
        while "()" in prefix:
            prefix = prefix.replace("()", "")
        symbols += "x" if ")" in prefix else "o" if prefix else "b"
    return symbols


def most_frequent(text):
    counts = Counter(text)
    return min(counts, key=lambda symbol: (-counts[symbol], symbol))


TRUTH = {
    "copying": lambda text: text,
    "reversing": lambda text: text[::-1],
    "sorting": lambda text: "".join(sorted(text)),
    "majority": most_frequent,
    "dyck": verdicts,
}


@pytest.mark.parametrize("length", [1, 2, 7, 60])
@pytest.mark.parametrize("name", TRUTH)
def test_against_plain_python(name, length, rng):
    task = TASKS.build(name)
    samplers_of = [samplers.lengths, samplers.exact, *task.hard(length).get("hard", {}).values()]
    for sampler in samplers_of:
        examples = task.sample(40, length, rng, sampler)
        for row in range(40):
            text = task.question(examples, row)
            assert 1 <= len(text) <= length
            assert task.truth(examples, row) == TRUTH[name](text)


def test_sorting_slices(rng):
    hard = Sorting().hard(20)["hard"]
    drawn = {k: Sorting().sample(50, 20, rng, sampler) for k, sampler in hard.items()}
    for row in range(50):
        assert len(set(Sorting().question(drawn["few"], row))) <= 2
        text = Sorting().question(drawn["descending"], row)
        assert text == "".join(sorted(text, reverse=True))


def test_counts_of_a_majority_are_uniform(rng):
    drawn = Majority().sample(4000, 4, rng, samplers.exact).operands[:, 0].sum(1)
    assert np.bincount(drawn.astype(int)) / 4000 == pytest.approx([0.2] * 5, abs=0.03)


@pytest.mark.parametrize("length", [5, 8])
def test_margins(length, rng):
    hard = Majority(3).hard(length)["hard"]
    assert list(hard) == ["margin-1", "margin-2", "margin-4"]
    for label, sampler in hard.items():
        by = int(label.removeprefix("margin-"))
        examples = Majority(3).sample(30, length, rng, sampler)
        for row in range(30):
            counts = sorted(Counter(Majority(3).question(examples, row)).values())
            most, fewer = counts[-1], counts[0] if len(counts) > 1 else 0
            assert most - fewer in (by, by + 1)


def test_a_majority_needs_two_symbols():
    with pytest.raises(TenfoldError, match="at least 2 are needed"):
        Majority(1)


def test_half_of_the_brackets_are_never_broken(rng):
    examples = Dyck().sample(2000, 30, rng, samplers.exact)
    truths = [Dyck().truth(examples, row) for row in range(2000)]
    broken = sum("x" in truth for truth in truths) / 2000
    assert broken == pytest.approx(0.5, abs=0.04)
    assert all(set(truth) <= set("box") for truth in truths)


def test_depths(rng):
    hard = Dyck().hard(16)["hard"]
    assert list(hard) == ["depth-1", "depth-2", "depth-4", "depth-8"]
    for label, sampler in hard.items():
        examples = Dyck().sample(30, 16, rng, sampler)
        for row in range(30):
            text = Dyck().question(examples, row)
            depth = np.cumsum([1 if symbol == "(" else -1 for symbol in text])
            assert depth.max() == int(label.removeprefix("depth-"))
            assert depth.min() >= 0
