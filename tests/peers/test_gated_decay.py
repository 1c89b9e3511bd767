"""Wall attention, in flash-linear-attention: our `gated-decay`."""

import pytest
from torch.nn import functional as F
from torch.testing import assert_close

from tenfold.encodings import GatedDecay
from tenfold.encodings.attend import attend

WIDTH, HEADS, SIZE = 12, 3, 8


@pytest.mark.parametrize("tokens", [1, 7, 64, 200])
def test_flash_linear_attention(tokens, normal, line, lively, naive):
    """Its sinks and the second, scalar decay are options, and off by default. Its constant for 1/ln 2 has eight digits."""
    pe, at = lively(GatedDecay(WIDTH, HEADS, SIZE)), line(tokens)
    x = normal(2, tokens, WIDTH)
    q, k, v = normal(3, 2, HEADS, tokens, SIZE)
    got, _ = attend(pe, q, k, v, at, at, state=pe.state(x, at))
    gates = F.logsigmoid(F.linear(x, pe.gate.weight, pe.gate.bias)).unflatten(-1, (HEADS, SIZE))
    rows = (each.transpose(1, 2) for each in (q, k, v))
    wanted = naive("wall_attn").naive_wall_attn(*rows, gates, scale=SIZE**-0.5)
    assert_close(got, wanted.transpose(1, 2), rtol=0, atol=2e-5)
