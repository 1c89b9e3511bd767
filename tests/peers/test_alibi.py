"""ALiBi, in BLOOM and MPT of transformers and in x-transformers.

BLOOM and MPT add -m_h (last - j) instead of -m_h (i - j): the same for all keys of a query, so that attention is
the same, but only under a causal mask.
"""

import pytest
import torch
from torch.testing import assert_close
from transformers import BloomConfig, MptConfig
from transformers.models.bloom.modeling_bloom import BloomAttention, build_alibi_tensor
from transformers.models.mpt.modeling_mpt import MptAttention, build_mpt_alibi_tensor
from x_transformers.x_transformers import AlibiPositionalBias

from tenfold.encodings import ALiBi

HEADS = [1, 2, 3, 4, 6, 8, 12, 16, 20, 33]
TOKENS = 60


@pytest.fixture
def weights(causal_mask, normal):
    """Attention weights of a bias over random logits, under a causal mask, in float64."""
    logits = normal(1, max(HEADS), TOKENS, TOKENS, dtype=torch.float64)

    def of(bias):
        ahead = causal_mask(TOKENS, torch.float64)
        return (logits[:, : bias.shape[1]] + bias.double() + ahead).softmax(-1)

    return of


@pytest.mark.parametrize("heads", HEADS)
def test_bloom(heads, weights, line):
    given = build_alibi_tensor(torch.ones(1, TOKENS), heads, torch.float64)
    ours = ALiBi(heads=heads).bias(line(TOKENS), line(TOKENS))
    assert_close(weights(ours), weights(given[None].view(1, heads, 1, TOKENS)), rtol=0, atol=1e-6)


@pytest.mark.parametrize("heads", HEADS)
def test_mpt(heads, weights, line):
    """For heads not a power of two MPT's formula reads otherwise (odd ones of the next power first), but is the same."""
    given = build_mpt_alibi_tensor(heads, TOKENS)
    ours = ALiBi(heads=heads).bias(line(TOKENS), line(TOKENS))
    assert_close(weights(ours), weights(given[None]), rtol=0, atol=1e-6)


@pytest.mark.parametrize("heads", HEADS)
def test_x_transformers(heads, line):
    """The bias itself, symmetric, without a mask."""
    ours = ALiBi(heads=heads).bias(line(TOKENS), line(TOKENS))
    assert_close(ours, AlibiPositionalBias(heads)(TOKENS, TOKENS)[None], rtol=1e-6, atol=0)


@pytest.mark.parametrize("heads", [4, 6])
def test_bloom_attention(heads, lively, normal, attend, causal_mask):
    """BLOOM's fused weights hold q, k and v of the first head, then of the next."""
    width = 8 * heads
    peer = lively(BloomAttention(BloomConfig(hidden_size=width, n_head=heads), layer_idx=0))
    x = normal(3, TOKENS, width)
    bias = build_alibi_tensor(torch.ones(3, TOKENS), heads, torch.float32)
    wanted, _ = peer(x, torch.zeros_like(x), bias, causal_mask(TOKENS))
    fused = peer.query_key_value
    weight = fused.weight.view(heads, 3, 8, width).transpose(0, 1).reshape(3, width, width)
    qkv = zip(weight, fused.bias.view(heads, 3, 8).transpose(0, 1).reshape(3, width), strict=True)
    out = peer.dense.weight, peer.dense.bias
    assert_close(attend(x, ALiBi(heads=heads), heads, *qkv, out, True), wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("heads", [4, 6])
def test_mpt_attention(heads, lively, normal, attend):
    width = 8 * heads
    peer = lively(MptAttention(MptConfig(d_model=width, n_heads=heads, max_seq_len=100), 0))
    x = normal(3, TOKENS, width)
    ahead = torch.ones(TOKENS, TOKENS).triu(1).bool()
    wanted, _ = peer(x, build_mpt_alibi_tensor(heads, 100), attention_mask=ahead)
    qkv = ((weight, None) for weight in peer.Wqkv.weight.chunk(3))
    out = peer.out_proj.weight, None
    assert_close(attend(x, ALiBi(heads=heads), heads, *qkv, out, True), wanted, rtol=0, atol=1e-5)
