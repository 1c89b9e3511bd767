"""The gated linear recurrence, our mixer `gated-linear`, in flash-linear-attention.

Gated linear attention has a decay for each channel of the keys, its simple form one for each head, as ours.
"""

import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.models.gated_linear import by_chunks

HEADS, SIZE = 3, 8


@pytest.mark.parametrize("tokens", [1, 7, 64, 200])
@pytest.mark.parametrize("chunk", [16, 64])
def test_flash_linear_attention(tokens, chunk, normal, naive):
    q, k, v = normal(3, 2, HEADS, tokens, SIZE)
    decay = -normal(2, HEADS, tokens).abs()
    zeros = torch.zeros(2, HEADS, SIZE, SIZE)
    got, state = by_chunks(q / math.sqrt(SIZE), k, v, decay, zeros, chunk)

    rows = [each.transpose(1, 2) for each in (q, k, v)]
    by_head = decay.transpose(1, 2)  # (B, T, H)
    by_channel = by_head.unsqueeze(-1).expand(-1, -1, -1, SIZE)
    simple = naive("simple_gla").naive_recurrent_simple_gla(*rows, by_head)
    full = naive("gla").naive_recurrent_gla(*rows, by_channel, output_final_state=True)
    for wanted, final in (simple, full):
        assert_close(got, wanted.transpose(1, 2), rtol=0, atol=2e-5)
        assert_close(state, final, rtol=0, atol=2e-5)
