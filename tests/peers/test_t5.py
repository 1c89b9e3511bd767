"""T5's relative bias, in transformers and in x-transformers."""

import math

import pytest
import torch
from torch.testing import assert_close
from transformers import T5Config
from transformers.models.t5.modeling_t5 import T5Attention
from x_transformers.x_transformers import RelativePositionBias

from tenfold.encodings import T5

TABLES = [(32, 128), (8, 20), (32, 20), (20, 1000), (7, 50)]  # buckets, furthest
TOKENS = 2100  # far beyond any of these


def peer_of(buckets, furthest, ahead, heads=4):
    config = T5Config(
        d_model=32, d_kv=32 // heads, num_heads=heads, is_decoder=not ahead, dropout_rate=0.0,
        relative_attention_num_buckets=buckets, relative_attention_max_distance=furthest,
    )  # fmt: skip
    return T5Attention(config, has_relative_attention_bias=True, layer_idx=0)


def ours_of(table, **options):
    pe = T5(heads=table.shape[1], **options).to(table.dtype)
    pe.table.data.copy_(table.detach())
    return pe


@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize(("buckets", "furthest"), TABLES)
def test_bias(buckets, furthest, ahead, lively, line):
    """Bit for bit: buckets are chosen by the same logarithms, in single precision even where tables are double."""
    peer = lively(peer_of(buckets, furthest, ahead).double())
    table = peer.relative_attention_bias.weight
    ours = ours_of(table, buckets=buckets, furthest=furthest, ahead=ahead)
    wanted = peer.compute_bias(TOKENS, TOKENS)
    assert torch.equal(ours.bias(line(TOKENS), line(TOKENS)), wanted)


@pytest.mark.parametrize("ahead", [True, False])
def test_attention(ahead, lively, normal, attend, causal_mask):
    """T5 does not divide by sqrt(K): our queries are as much larger."""
    heads, tokens = 4, 150
    peer, x = lively(peer_of(32, 128, ahead, heads)), normal(3, tokens, 32)
    wanted = peer(x, mask=None if ahead else causal_mask(tokens), query_length=tokens)[0]
    pe = ours_of(peer.relative_attention_bias.weight, ahead=ahead)
    q, k, v, out = ((part.weight, None) for part in (peer.q, peer.k, peer.v, peer.o))
    larger = q[0] * math.sqrt(32 / heads), None
    assert_close(attend(x, pe, heads, larger, k, v, out, not ahead), wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize(("buckets", "furthest"), TABLES)
def test_x_transformers(buckets, furthest, ahead, lively, line):
    """x-transformers multiplies its table by a scale, sqrt(K) in its models: there the same table has a larger effect."""
    scale = 2.0
    peer = lively(
        RelativePositionBias(
            scale, causal=not ahead, num_buckets=buckets, max_distance=furthest, heads=3
        )
    )
    table = peer.relative_attention_bias.weight * scale
    ours = ours_of(table, buckets=buckets, furthest=furthest, ahead=ahead)
    assert torch.equal(ours.bias(line(700), line(700))[0], peer(700, 700))
