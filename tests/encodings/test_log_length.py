import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.encodings import Attends, Compose, LogLength
from tenfold.encodings.attend import attend


def by_loops(trained, logits, visible):
    """softmax of max(1, log n / log trained) times each logit, over the n visible keys."""
    factor = max(1.0, math.log(sum(visible)) / math.log(trained))
    powers = [
        math.exp(factor * z) if seen else 0.0 for z, seen in zip(logits, visible, strict=True)
    ]
    return [power / sum(powers) for power in powers]


def test_by_loops(normal):
    pe, logits = LogLength(trained=3), normal(3, 2, 4, 6)
    visible = torch.rand(3, 1, 4, 6, generator=torch.Generator().manual_seed(1)) < 0.6
    visible[..., 0] = True
    visible[1, 0, 2] = torch.arange(6) == 0  # a single key: n = 1
    weights = pe.normalise(logits.masked_fill(~visible, -math.inf), visible)
    for b, h, t in torch.cartesian_prod(*map(torch.arange, (3, 2, 4))).tolist():
        expected = by_loops(3, logits[b, h, t].tolist(), visible[b, 0, t].tolist())
        assert_close(weights[b, h, t], torch.tensor(expected, dtype=torch.float64), atol=1e-6, rtol=1e-6)  # fmt: skip


def test_up_to_the_trained_number_of_keys_nothing_changes(normal):
    pe, logits = LogLength(trained=20), normal(1, 2, 3, 20)
    assert torch.equal(pe.normalise(logits, None), logits.softmax(-1))
    longer = normal(1, 2, 3, 21)
    expected = by_loops(20, longer[0, 1, 2].tolist(), [True] * 21)
    assert_close(pe.normalise(longer, None)[0, 1, 2], torch.tensor(expected, dtype=torch.float64), atol=1e-6, rtol=1e-6)  # fmt: skip


def test_composed_with_rotary_under_causality(normal, line):
    """It multiplies what the rotated queries and keys give; n counts the keys behind each query."""
    pe = Compose(["rotary", {"name": "log-length", "trained": 2}], heads=2, head_size=4)
    q, k, v = normal(3, 1, 2, 5, 4)
    at = line(*range(5))
    turned, keys = pe.rotate(q, k, at, at)
    _, weights = attend(pe, q, k, v, at, at, Attends.CAUSAL)
    for i in range(5):
        logits = [float(turned[0, 1, i] @ keys[0, 1, j] / 2) for j in range(5)]
        expected = by_loops(2, logits, [j <= i for j in range(5)])
        assert_close(weights[0, 1, i], torch.tensor(expected, dtype=torch.float64), atol=1e-6, rtol=1e-6)  # fmt: skip


def test_it_has_no_weights():
    assert not LogLength(trained=10).state_dict()


def test_one_key_has_no_logarithm_to_divide_by():
    with pytest.raises(TenfoldError, match="log-length has trained 1, whose logarithm divides"):
        LogLength(trained=1)
