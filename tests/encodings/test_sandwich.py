import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.encodings import Sandwich


@pytest.mark.parametrize(("waves", "base"), [(64, 10_000.0), (3, 50.0)])
def test_by_loops(places, by_loops, axis, waves, base):
    """The inner product of sinusoidal positions of width 2D, less its greatest value, over 8h/H."""
    pe = Sandwich(heads=4, waves=waves, base=base, axis=axis).double()

    def bias(h, i, j):
        product = 0.0
        for c in range(1, waves + 1):
            angles = [place / base ** (2 * c / (2 * waves)) for place in (i, j)]
            product += math.prod(map(math.sin, angles)) + math.prod(map(math.cos, angles))
        return (product - waves) / (8 * h / 4)

    assert_close(pe.bias(*places), by_loops(bias))


def test_bounded_below(line):
    bias = Sandwich(heads=4, waves=8).bias(line(0), line(*range(20_000)))
    bound = -2 * 8 * 4 / (8 * torch.arange(1, 5))
    assert (bias.amin((0, 2, 3)) > bound).all()
    assert (bias <= 1e-6).all()


def test_float32_is_exact_at_long_range(line):
    narrow, wide = Sandwich(heads=4), Sandwich(heads=4).double()
    q_at, k_at = line(1_000_000), line(3, 999_990)
    assert narrow.bias(q_at, k_at).dtype == torch.float32
    assert_close(narrow.bias(q_at, k_at).double(), wide.bias(q_at, k_at), rtol=1e-6, atol=0)


def test_options(build):
    with pytest.raises(TenfoldError, match='encoding "sandwich": waves is 0'):
        build("sandwich", waves=0)
