"""Cascades of sums of every length, and mixtures of any two samplers."""

import numpy as np

from tenfold.core.registry import Spec
from tenfold.data.tasks import samplers
from tenfold.data.tasks.carries import longest_cascade
from tenfold.data.tasks.task import significant

N = 12_000


def test_shorter_sums_have_cascades_of_every_length_and_end_everywhere(rng):
    digits, lengths = samplers.complexity(rng, N, 5, 2, 10, shorter=True)
    assert (lengths == significant(digits)).all()
    cascade = longest_cascade(digits)
    shares = np.bincount(cascade, minlength=6) / N
    assert np.abs(shares - 1 / 6).max() < 0.02
    longest = lengths.max(1)
    assert (longest >= cascade - 1).all()
    none = np.bincount(longest[cascade == 0], minlength=6)[1:] / (cascade == 0).sum()
    assert none.min() > 0.1  # of those that are free to, a fifth or so have each length
    usual = samplers.complexity(rng, N, 5, 2, 10)[1].max(1)
    assert (usual == 5).mean() > 0.95
    assert (longest == 5).mean() < 0.7


def test_a_mixture_of_any_two(rng):
    easy, hard = Spec.of("lengths"), Spec.of({"name": "appended", "to": 9, "inner": "exact"})
    digits, lengths = samplers.mixed(rng, N, 4, 2, 10, share=0.25, easy=easy, hard=hard)
    assert digits.shape == (N, 2, 9)
    assert (lengths == significant(digits)).all()
    moved = lengths.max(1) > 4
    assert 0.25 * 5 / 6 - 0.02 < moved.mean() < 0.25 * 5 / 6 + 0.02
    assert (lengths[~moved] < 4).mean() > 0.5  # uniform lengths, not nearly all of 4 digits


def test_shares_of_nothing_and_all(rng):
    hard = Spec.of({"name": "complexity", "shorter": True})
    everything = samplers.mixed(rng, 500, 5, 2, 10, share=1, hard=hard)[0]
    assert (longest_cascade(everything) == 5).mean() > 0.1
    nothing = samplers.mixed(rng, 500, 5, 2, 10, share=0, hard=hard)[0]
    assert (longest_cascade(nothing) == 5).mean() < 0.01
