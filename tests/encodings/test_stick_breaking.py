import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.encodings import Attends, Compose, StickBreaking
from tenfold.encodings.attend import attend


def sigmoid(z):
    return 1 / (1 + math.exp(-z))


def by_loops(logits, visible, remainder=False, itself=False):
    """Break a stick from the last visible key, the query itself, backwards."""
    weights, stick = [0.0] * len(logits), 1.0
    own = max(key for key in range(len(logits)) if visible[key])
    for key in reversed(range(own + 1 if itself else own)):
        if visible[key]:
            weights[key] = stick * sigmoid(logits[key])
            stick *= 1 - sigmoid(logits[key])
    if remainder:
        weights[own] = stick
    return weights


OPTIONS = [{}, {"remainder": True}, {"itself": True}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_by_loops(options, normal):
    pe, logits = StickBreaking(**options), 3 * normal(3, 2, 4, 7)
    visible = torch.rand(3, 1, 4, 7, generator=torch.Generator().manual_seed(1)) < 0.6
    visible[..., 0] = True
    visible[1, 0, 2] = torch.arange(7) == 0  # a single key: the query itself
    weights = pe.normalise(logits.masked_fill(~visible, -math.inf), visible)
    for b, h, t in torch.cartesian_prod(*map(torch.arange, (3, 2, 4))).tolist():
        expected = by_loops(logits[b, h, t].tolist(), visible[b, 0, t].tolist(), **options)
        assert_close(weights[b, h, t], torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_attention_by_the_paper_s_formula(options, normal, line):
    """A product over the keys between, written out; the drop-in hides what is ahead."""
    pe, at = StickBreaking(**options), line(*range(6))
    q, k, v = normal(3, 1, 2, 6, 4)
    out, weights = attend(pe, q, k, v, at, at)
    for h in range(2):
        for i in range(6):
            share = [sigmoid(float(q[0, h, i] @ k[0, h, j]) / 2) for j in range(6)]
            last = i if options.get("itself") else i - 1
            expected = [
                share[j] * math.prod(1 - share[other] for other in range(j + 1, last + 1))
                if j <= last
                else 0.0
                for j in range(6)
            ]
            if options.get("remainder"):
                expected[i] = 1 - sum(expected)
            row = torch.tensor(expected, dtype=torch.float64)
            assert_close(weights[0, h, i], row)
            assert_close(out[0, h, i], row @ v[0, h])


def test_the_last_queries_alone(normal, line):
    """As in decoding with a cache."""
    pe, at = StickBreaking(), line(*range(6))
    q, k, v = normal(3, 1, 2, 6, 4)
    whole, _ = attend(pe, q, k, v, at, at)
    for count in (1, 2):
        part, _ = attend(pe, q[:, :, -count:], k, v, at.last(count), at)
        assert_close(part, whole[:, :, -count:])


def test_what_is_left(normal):
    """The weights of a row add up to 1 less what the stick has left, with the remainder to 1."""
    logits = normal(1, 1, 3, 9)
    left = (1 - torch.sigmoid(logits[..., :-1])).prod(-1)
    assert_close(StickBreaking().normalise(logits, None).sum(-1), 1 - left)
    assert_close(StickBreaking(remainder=True).normalise(logits, None).sum(-1), torch.ones(1, 1, 3).double())  # fmt: skip


def test_large_logits_are_stable():
    """Products are sums of logarithms: nothing overflows, and a sure key takes all that is left."""
    logits = torch.tensor([[[[300.0, -400.0, 900.0, -900.0, 0.0]]]], requires_grad=True)
    weights = StickBreaking().normalise(logits, None)
    assert weights[0, 0, 0].tolist() == [0.0, 0.0, 1.0, 0.0, 0.0]
    weights.sum().backward()
    assert logits.grad.isfinite().all()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_gradients(options, normal):
    pe, logits = StickBreaking(**options), normal(1, 2, 2, 5).requires_grad_()
    assert torch.autograd.gradcheck(lambda z: pe.normalise(z, None), logits)


def test_in_a_window_only_visible_keys_take_a_share(normal, line):
    pe, at = Compose([{"name": "window", "behind": 2}, "stick-breaking"]), line(*range(7))
    q, k, v = normal(3, 1, 2, 7, 4)
    _, weights = attend(pe, q, k, v, at, at)
    logits = [float(q[0, 1, 6] @ k[0, 1, j]) / 2 for j in range(7)]
    expected = by_loops(logits, [j >= 4 for j in range(7)])
    assert_close(weights[0, 1, 6], torch.tensor(expected, dtype=torch.float64))


def test_bad_input(build):
    with pytest.raises(TenfoldError, match="remainder and itself: the query would take two shares"):
        StickBreaking(remainder=True, itself=True)
    with pytest.raises(TenfoldError, match='"stick-breaking" is not made for two-way attention, only for causal'):  # fmt: skip
        build("stick-breaking").serve(Attends.TWO_WAY)
