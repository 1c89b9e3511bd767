"""PoPE, in x-transformers, which computes angles in single precision: so the comparison stays near 0."""

import math

import pytest
import torch
from torch.testing import assert_close
from x_transformers.x_transformers import PolarEmbedding, apply_polar_pos_emb

from tenfold.encodings import PoPE

HEADS, SIZE = 3, 16


@pytest.mark.parametrize("base", [10_000.0, 100.0])
@pytest.mark.parametrize("tokens", [1, 8, 32])
def test_x_transformers(base, tokens, normal, line):
    ours = PoPE(HEADS, SIZE, base=base)
    peer = PolarEmbedding(SIZE, HEADS, base=base)
    delta = normal(HEADS, SIZE) * math.pi - math.pi  # some beyond the bounds, which both clamp
    ours.delta.data.copy_(delta)
    peer.learned_bias.data.copy_(delta.unsqueeze(1))

    q, k = normal(2, 2, HEADS, tokens, SIZE)
    angles, shift = peer(torch.arange(tokens))
    wanted = apply_polar_pos_emb(q, angles), apply_polar_pos_emb(k, angles + shift)
    assert_close(ours.rotate(q, k, line(tokens), line(tokens)), wanted, rtol=0, atol=1e-5)
