import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.encodings import Attends, Compose, ScalableSoftmax
from tenfold.encodings.attend import additive_mask, attend


@pytest.fixture
def pe():
    pe = ScalableSoftmax(heads=2).double()
    with torch.no_grad():
        pe.scale.copy_(torch.tensor([0.3, 1.7]))
    return pe


def by_loops(scale, logits, visible):
    """n^(s z_i) / sum_j n^(s z_j) over the n visible keys, as the paper writes it."""
    count = sum(visible)
    powers = [
        count ** (scale * z) if seen else 0.0 for z, seen in zip(logits, visible, strict=True)
    ]
    return [power / sum(powers) for power in powers]


def test_by_loops(pe, normal):
    logits = normal(3, 2, 4, 6)
    visible = torch.rand(3, 1, 4, 6, generator=torch.Generator().manual_seed(1)) < 0.5
    visible[..., 0] = True
    visible[1, 0, 2] = torch.arange(6) == 0  # a single key: n = 1
    weights = pe.normalise(logits.masked_fill(~visible, -math.inf), visible)
    for b, h, t in torch.cartesian_prod(*map(torch.arange, (3, 2, 4))).tolist():
        expected = by_loops(pe.scale[h].item(), logits[b, h, t].tolist(), visible[b, 0, t].tolist())
        assert_close(weights[b, h, t], torch.tensor(expected, dtype=torch.float64))


def test_all_keys_visible(pe, normal):
    logits = normal(1, 2, 3, 20)
    weights = pe.normalise(logits, None)
    expected = by_loops(1.7, logits[0, 1, 2].tolist(), [True] * 20)
    assert_close(weights[0, 1, 2], torch.tensor(expected, dtype=torch.float64))


def test_what_stands_out_is_seen_at_any_length(pe):
    """The paper's Figure 1: one element of 3 among others of -2, and s = 0.43."""
    with torch.no_grad():
        pe.scale.fill_(0.43)
    for count in (10, 1000, 100_000):
        logits = torch.full((1, 2, 1, count), -2.0, dtype=torch.float64)
        logits[..., -1] = 3.0
        assert pe.normalise(logits, None)[0, 0, 0, -1] > 0.9
        if count > 1000:
            assert logits.softmax(-1)[0, 0, 0, -1] < 0.01


@pytest.mark.parametrize(("tokens", "start"), [(25, 0.43), (1024, 0.17)])
def test_start_is_like_softmax_on_average(tokens, start):
    """The docstring's note: start times the mean of log n is 1."""
    mean = sum(math.log(n) for n in range(1, tokens + 1)) / tokens
    assert_close(start * mean, 1.0, rtol=0.02, atol=0)


def test_counts_visible_keys_under_a_window(normal, line):
    """In a composition n is what window, padding and causality leave."""
    pe = Compose([{"name": "window", "behind": 2}, "alibi", "scalable-softmax"], heads=2).double()
    q, k, v = normal(3, 1, 2, 6, 4)
    at = line(*range(6))
    allowed = torch.tensor([False, True, True, True, True, True])[None, None, None]
    _, weights = attend(pe, q, k, v, at, at, Attends.CAUSAL, allowed)
    for i in range(6):
        seen = [j == i or (1 <= j <= i and i - j <= 2) for j in range(6)]
        logits = [float(q[0, 0, i] @ k[0, 0, j] / 2 - 2**-4 * (i - j)) for j in range(6)]
        expected = torch.tensor(by_loops(0.43, logits, seen), dtype=torch.float64)
        assert_close(weights[0, 0, i], expected, atol=1e-6, rtol=1e-6)


def test_a_mask_is_not_enough(pe, normal, line):
    q, at = normal(1, 2, 3, 8), line(0, 1, 2)
    with pytest.raises(TenfoldError, match='"scalable-softmax" also replaces the softmax, for which a mask'):  # fmt: skip
        additive_mask(pe, q, q, at, at)


def test_only_one_part_replaces_the_softmax():
    parts = ["scalable-softmax", {"name": "compose", "parts": ["alibi", "scalable-softmax"]}]
    with pytest.raises(TenfoldError, match='"scalable-softmax" and "compose" both replace the softmax; one'):  # fmt: skip
        Compose(parts, heads=2)
