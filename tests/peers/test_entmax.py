"""Alpha-entmax, in the package entmax: by bisection for any alpha, and its exact forms for 1.5 and 2 (sparsemax)."""

import math

import entmax as peer
import pytest
import torch
from torch.testing import assert_close

from tenfold.encodings import Entmax
from tenfold.encodings.entmax import entmax

ALPHAS = [1.1, 1.5, 1.75, 2.0]
LENGTHS = [1, 2, 17, 400]
CLOSE = {"rtol": 0, "atol": 1e-10}


def bisected(logits, alpha):
    return peer.entmax_bisect(logits, alpha, n_iter=100)


def weights_and_gradients(function, logits, pull):
    weights = function(logits)
    return weights, *torch.autograd.grad((weights * pull).sum(), logits)


@pytest.fixture(params=LENGTHS)
def logits(request, normal):
    return (3 * normal(2, 4, 3, request.param, dtype=torch.float64)).requires_grad_()


@pytest.mark.parametrize("alpha", ALPHAS)
def test_bisection(alpha, logits, normal):
    pull = normal(*logits.shape, dtype=torch.float64)
    ours = weights_and_gradients(lambda z: entmax(z, alpha), logits, pull)
    assert_close(ours, weights_and_gradients(lambda z: bisected(z, alpha), logits, pull), **CLOSE)


@pytest.mark.parametrize(("alpha", "exact"), [(1.5, peer.entmax15), (2.0, peer.sparsemax)])
def test_exact_forms(alpha, exact, logits, normal):
    pull = normal(*logits.shape, dtype=torch.float64)
    ours = weights_and_gradients(lambda z: entmax(z, alpha), logits, pull)
    assert_close(ours, weights_and_gradients(exact, logits, pull), **CLOSE)


@pytest.mark.parametrize("tokens", LENGTHS)
def test_learned_temperature(tokens, normal):
    """The package knows no temperature: a causal row is given to it with its own number of keys, scaled by hand."""
    pe = Entmax(heads=2, alpha=1.5, delta=0.7).double()
    pe.b.data.copy_(torch.tensor([0.5, 0.25]))
    pe.c.data.copy_(torch.tensor([0.0, 1.25]))
    logits = normal(1, 2, tokens, tokens, dtype=torch.float64)
    seen = torch.ones(tokens, tokens).tril().bool()[None, None]
    ours = pe.normalise(logits.masked_fill(~seen, -math.inf), seen)[0]
    for head, (b, c) in enumerate(((0.5, 0.0), (0.25, 1.25))):
        for row in range(0, tokens, 7):
            factor = 0.7 + b * math.log1p(row + 1) ** c
            wanted = bisected(factor * logits[0, head, row, : row + 1], 1.5)
            assert_close(ours[head, row, : row + 1], wanted, **CLOSE)
