import itertools
import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.encodings import Attends, Compose, Entmax
from tenfold.encodings.attend import attend
from tenfold.encodings.entmax import entmax

ALPHAS = [1.05, 1.25, 1.5, 1.9, 2.0]


def by_bisection(logits, alpha):
    """The threshold between which the weights add up to more and to less than 1, halved until it is exact."""
    z = [(alpha - 1) * logit for logit in logits]

    def weights(threshold):
        return [max(0.0, each - threshold) ** (1 / (alpha - 1)) for each in z]

    low, high = max(z) - 1, max(z)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(weights(middle)) > 1 else (low, middle)
    return weights((low + high) / 2)


def closed_form(logits):
    """Alpha 1.5 without iterating: over the k best, sum (z/2 - t)^2 = 1 is a quadratic equation in t."""
    z = sorted((logit / 2 for logit in logits), reverse=True)
    for k in range(1, len(z) + 1):
        mean, square = sum(z[:k]) / k, sum(each**2 for each in z[:k]) / k
        root = mean**2 - square + 1 / k
        if root < 0:
            continue
        threshold = mean - math.sqrt(root)
        if z[k - 1] >= threshold and (k == len(z) or z[k] <= threshold):
            return [max(0.0, logit / 2 - threshold) ** 2 for logit in logits]
    raise AssertionError("no support fits")


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("spread", [0.01, 1.0, 30.0])
def test_by_bisection(alpha, spread, normal):
    logits = spread * normal(5, 13)
    for row, weights in zip(logits.tolist(), entmax(logits, alpha), strict=True):
        assert_close(weights, torch.tensor(by_bisection(row, alpha), dtype=torch.float64))


def test_closed_form_of_alpha_one_and_a_half(normal):
    for row in (2 * normal(20, 9)).tolist():
        weights = entmax(torch.tensor(row, dtype=torch.float64), 1.5)
        assert_close(weights, torch.tensor(closed_form(row), dtype=torch.float64))


def test_sparsemax_is_the_nearest_point_of_the_simplex(normal):
    """No pair of keys can exchange weight and come nearer to the logits."""
    for logits in normal(10, 5):
        weights = entmax(logits, 2.0)
        for i, j in itertools.permutations(range(5), 2):
            moved = weights.clone()
            moved[i], moved[j] = moved[i] + 1e-4, moved[j] - 1e-4
            if moved[j] >= 0:
                assert (moved - logits).norm() > (weights - logits).norm()


def test_near_one_it_is_softmax(normal):
    logits = normal(4, 8)
    assert_close(entmax(logits, 1.0005), logits.softmax(-1), rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_gradients(alpha, normal):
    logits = normal(3, 7).requires_grad_()
    assert torch.autograd.gradcheck(lambda z: entmax(z, alpha), logits, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_hundred_thousand_keys_alike(alpha):
    """The most steps of Newton's method, in single precision."""
    weights = entmax(torch.zeros(100_000), alpha)
    assert_close(weights, torch.full((100_000,), 1e-5), rtol=1e-2, atol=0)


def test_with_a_temperature_of_each_head_by_loops(normal):
    pe = Entmax(heads=2, delta=0.7).double()
    with torch.no_grad():
        pe.b.copy_(torch.tensor([0.4, 1.3]))
        pe.c.copy_(torch.tensor([0.8, -0.5]))
    logits = normal(3, 2, 4, 6)
    visible = torch.rand(3, 1, 4, 6, generator=torch.Generator().manual_seed(1)) < 0.6
    visible[..., 0] = True
    visible[1, 0, 2] = torch.arange(6) == 0  # a single key: n = 1
    weights = pe.normalise(logits.masked_fill(~visible, -math.inf), visible)
    for b, h, t in torch.cartesian_prod(*map(torch.arange, (3, 2, 4))).tolist():
        keys = visible[b, 0, t].nonzero()[:, 0].tolist()
        factor = 0.7 + pe.b[h].item() * math.log(1 + len(keys)) ** pe.c[h].item()
        expected = torch.zeros(6, dtype=torch.float64)
        rows = by_bisection([factor * float(logits[b, h, t, key]) for key in keys], 1.5)
        expected[keys] = torch.tensor(rows, dtype=torch.float64)
        assert_close(weights[b, h, t], expected)


def test_it_starts_the_same_for_every_number_of_keys(normal):
    logits = normal(1, 2, 3, 9)
    assert_close(Entmax(heads=2).double().normalise(logits, None), entmax(1.5 * logits, 1.5))
    assert_close(Entmax(heads=2, learned=False, delta=2.0).normalise(logits, None), entmax(2 * logits, 1.5))  # fmt: skip
    assert not Entmax(heads=2, learned=False).state_dict()


def test_keys_far_below_do_not_flatten_it():
    """Softmax loses the best key among 100,000 others, entmax does not see them."""
    logits = torch.full((1, 1, 1, 100_000), -2.0)
    logits[..., 7] = 3.0
    weights = Entmax(heads=1).normalise(logits, None)[0, 0, 0]
    assert weights[7] == 1
    assert weights.count_nonzero() == 1
    assert logits.softmax(-1)[0, 0, 0, 7] < 0.01


def test_composed_with_rotary_under_causality(normal, line):
    pe = Compose(["rotary", {"name": "entmax", "learned": False}], heads=2, head_size=4)
    q, k, v = normal(3, 1, 2, 5, 4)
    at = line(*range(5))
    turned, keys = pe.rotate(q, k, at, at)
    _, weights = attend(pe, q, k, v, at, at, Attends.CAUSAL)
    for i in range(5):
        logits = [float(turned[0, 1, i] @ keys[0, 1, j] / 2) for j in range(i + 1)]
        expected = [*by_bisection(logits, 1.5), *[0.0] * (4 - i)]
        assert_close(weights[0, 1, i], torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("alpha", [1.0, 0.5, 2.5])
def test_bad_alpha(alpha):
    with pytest.raises(
        TenfoldError, match=f"entmax has alpha {alpha}; above 1, at most 2 is right"
    ):
        Entmax(heads=2, alpha=alpha)
