"""PaTH and PaTH-FoX, in flash-linear-attention, whose plain reference goes by chunks of 64 tokens.

A short convolution over the directions of reflections, which its layer has as an option, has no counterpart here.
"""

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from tenfold.encodings import Compose, PaTH
from tenfold.encodings.attend import attend

WIDTH, HEADS, SIZE = 12, 3, 8
LENGTHS = [1, 7, 64, 150]


@pytest.fixture
def reference(naive):
    """Attention of the peer, from directions, strengths and gates that are made from our weights by hand."""

    def run(pe, x, q, k, v, gates):
        along = F.linear(F.linear(x, pe.narrow.weight), pe.along.weight)
        w = F.normalize(along.unflatten(-1, (HEADS, SIZE)), dim=-1)  # (B, T, H, K)
        strength = 2 * F.linear(x, pe.strength.weight, pe.strength.bias).sigmoid()  # (B, T, H)
        rows = (each.transpose(1, 2) for each in (q, k, v))
        out = naive("path_attn").naive_path_attn(*rows, w, strength, gates, scale=SIZE**-0.5)
        return out.transpose(1, 2)

    return run


@pytest.mark.parametrize("tokens", LENGTHS)
def test_path(tokens, normal, line, lively, reference):
    pe, at = lively(PaTH(WIDTH, HEADS, SIZE)), line(tokens)
    x = normal(2, tokens, WIDTH)
    q, k, v = normal(3, 2, HEADS, tokens, SIZE)
    got, _ = attend(pe, q, k, v, at, at, state=pe.state(x, at))
    wanted = reference(pe, x, q, k, v, torch.zeros(2, tokens, HEADS))
    assert_close(got, wanted, rtol=0, atol=5e-5)


@pytest.mark.parametrize("tokens", LENGTHS)
def test_path_with_a_forgetting_gate(tokens, normal, line, lively, reference):
    """The reference divides the sum of the gates by sqrt(K), too; ours, like FoX, adds it after the division."""
    pe = lively(Compose(["path", "fox"], width=WIDTH, heads=HEADS, head_size=SIZE))
    (path, fox), at = pe.parts, line(tokens)
    x = normal(2, tokens, WIDTH)
    q, k, v = normal(3, 2, HEADS, tokens, SIZE)
    got, _ = attend(pe, q, k, v, at, at, state=pe.state(x, at))
    gates = F.logsigmoid(F.linear(x, fox.gate.weight, fox.gate.bias))
    wanted = reference(path, x, q, k, v, gates * SIZE**0.5)
    assert_close(got, wanted, rtol=0, atol=5e-5)
