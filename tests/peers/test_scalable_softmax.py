"""Scalable-Softmax, in the package scalable-softmax.

It counts all keys of a row, and has one factor for all heads. Ours counts those that the query sees: a causal row is
given to it without the keys ahead.
"""

import math

import pytest
import torch
from scalable_softmax import ScalableSoftmax as Peer
from torch.testing import assert_close

from tenfold.encodings import ScalableSoftmax


@pytest.mark.parametrize("tokens", [1, 2, 17, 400])
def test_rows(tokens, normal):
    factors = [0.43, 0.1]
    ours = ScalableSoftmax(heads=2).double()
    ours.scale.data.copy_(torch.tensor(factors))
    logits = normal(1, 2, tokens, tokens, dtype=torch.float64)
    seen = torch.ones(tokens, tokens).tril().bool()[None, None]
    causal = ours.normalise(logits.masked_fill(~seen, -math.inf), seen)[0]
    whole = ours.normalise(logits, None)[0]
    for head, factor in enumerate(factors):
        peer = Peer(s=factor).double()
        assert_close(whole[head], peer(logits[0, head]), rtol=0, atol=1e-6)
        for row in range(0, tokens, 7):
            wanted = peer(logits[0, head, row, : row + 1])
            assert_close(causal[head, row, : row + 1], wanted, rtol=0, atol=1e-6)
