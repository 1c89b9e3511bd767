"""CoPE, in x-transformers: its default form, the code of the paper's appendix B."""

import math

import pytest
import torch
from torch.testing import assert_close
from x_transformers.x_transformers import CoPE as PeerCoPE

from tenfold.encodings import CoPE

TOKENS, SIZE = 40, 16


@pytest.mark.parametrize("positions", [5, 16, 64])  # reached by most, by some, by none
def test_logits_and_gradients(positions, normal, line, causal_mask):
    """x-transformers' options `soft_onehot` and `talking_heads`, off by default, are not in the paper's formula."""
    q, k = (normal(2, 3, TOKENS, SIZE, dtype=torch.float64).requires_grad_() for _ in range(2))
    table = normal(positions, SIZE, dtype=torch.float64)
    ours = CoPE(SIZE, positions).double()
    peer = PeerCoPE(SIZE, heads=3, max_pos=positions).double()
    ours.table.data.copy_(table)
    peer.pos_emb.data.copy_(table)

    at, root = line(TOKENS), math.sqrt(SIZE)
    masked = q @ k.mT / root + causal_mask(TOKENS, torch.float64)
    wanted = (masked + peer(q, masked)).softmax(-1)
    logits = (q @ k.mT + ours.scores(q, k, at, at)) / root
    got = (logits + causal_mask(TOKENS, torch.float64)).softmax(-1)
    assert_close(got, wanted, rtol=0, atol=1e-12)

    pull = normal(*got.shape, dtype=torch.float64)
    expected = torch.autograd.grad((wanted * pull).sum(), (q, k, peer.pos_emb))
    gradients = torch.autograd.grad((got * pull).sum(), (q, k, ours.table))
    assert_close(gradients, expected, rtol=0, atol=1e-12)
