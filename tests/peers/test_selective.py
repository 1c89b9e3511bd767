"""Selective attention, in x-transformers.

It takes the logits of the first head for the selection, ours a product with weights of its own. Given the same
selection, both mask the same.
"""

import math

import pytest
import torch
from torch.testing import assert_close
from x_transformers.attend import selective_attn

from tenfold.encodings import Selective

WIDTH, HEADS, SIZE = 12, 3, 5


@pytest.mark.parametrize("tokens", [1, 2, 7, 64, 200])
def test_x_transformers(tokens, normal, line, lively, causal_mask):
    pe, at = lively(Selective(WIDTH, size=SIZE).double()), line(tokens)
    x = normal(2, tokens, WIDTH).double()
    logits = normal(2, HEADS, tokens, tokens, dtype=torch.float64)
    ahead = causal_mask(tokens, torch.float64)
    q = torch.zeros(2, HEADS, tokens, 4, dtype=torch.float64)
    ours = logits + pe.state_bias(pe.state(x, at), q, q, at, at) + ahead

    select, selected = (x @ pe.select.weight.T).split(SIZE, -1)
    gate = select @ selected.mT / math.sqrt(SIZE) + ahead[0]  # (B, T, T)
    wanted = selective_attn(logits + ahead, gate)
    assert_close(ours.softmax(-1), wanted.softmax(-1), rtol=0, atol=1e-12)
