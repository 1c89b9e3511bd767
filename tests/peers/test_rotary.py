"""Rotary positions and their stretched forms, in Llama, GPT-NeoX and Phi of transformers and in x-transformers.

The peers compute angles in single precision, we in double: far from 0, theirs are the less exact. So the
comparison stays near 0, where 1e-5 can be kept.
"""

import pytest
import torch
from torch.testing import assert_close
from transformers import GPTNeoXConfig, LlamaConfig, PhiConfig
from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXRotaryEmbedding
from transformers.models.gpt_neox.modeling_gpt_neox import apply_rotary_pos_emb as partly_turned
from transformers.models.llama.modeling_llama import (
    LlamaAttention,
    LlamaRotaryEmbedding,
    apply_rotary_pos_emb,
)
from transformers.models.phi.modeling_phi import PhiRotaryEmbedding
from x_transformers.x_transformers import RotaryEmbedding
from x_transformers.x_transformers import apply_rotary_pos_emb as turned_in_pairs

from tenfold.data.schemes import stretched
from tenfold.encodings import Rotary, RotaryLinear, RotaryNTK, RotaryYaRN, XPos

TOKENS, SIZE = 32, 32
CLOSE = {"rtol": 0, "atol": 1e-5}
CPU = torch.device("cpu")


def llama(size=SIZE, base=10_000.0, **scaling):
    config = LlamaConfig(
        hidden_size=4 * size, num_attention_heads=4, rope_theta=base,
        max_position_embeddings=scaling.pop("trained", 2048), rope_scaling=scaling or None,
        attn_implementation="eager",
    )  # fmt: skip
    return config, LlamaRotaryEmbedding(config)


@pytest.fixture
def qk(normal):
    return lambda size: (normal(2, 4, TOKENS, size), normal(2, 4, TOKENS, size))


STRETCHED = {
    "rotary": (Rotary(SIZE), {}),
    "rotary, base": (Rotary(SIZE, base=500.0), {"base": 500.0}),
    "linear": (RotaryLinear(SIZE, factor=3.0), {"rope_type": "linear", "factor": 3.0}),
    "ntk": (RotaryNTK(SIZE, factor=4.0), {"base": 10_000 * 4 ** (SIZE / (SIZE - 2))}),
}


@pytest.mark.parametrize("name", STRETCHED)
def test_llama(name, qk, line):
    """NTK-aware scaling by a fixed factor is a larger base."""
    ours, options = STRETCHED[name]
    _, angles = llama(**options)
    q, k = qk(SIZE)
    at = line(TOKENS)
    wanted = apply_rotary_pos_emb(q, k, *angles(q, at["index"]))
    assert_close(ours.rotate(q, k, at, at), wanted, **CLOSE)


@pytest.mark.parametrize("tokens", [8, 16, 20, 32])  # 16 are trained
@pytest.mark.parametrize("size", [8, 32])
def test_dynamic_ntk(tokens, size, normal, line):
    """Llama's "dynamic" type, of factor 1: the base grows with the input, here by the scheme `stretched`."""
    _, angles = llama(size, trained=16, rope_type="dynamic", factor=1.0)
    at = stretched(torch.zeros(1, tokens), line(tokens), limit=16)
    q, k = normal(2, 2, 4, tokens, size)
    wanted = apply_rotary_pos_emb(q, k, *angles(q, at["index"]))
    ours = RotaryNTK(size, factor_axis="stretched")
    assert_close(ours.rotate(q, k, at, at), wanted, **CLOSE)


@pytest.mark.parametrize("size", [8, 32, 64])
@pytest.mark.parametrize("base", [10_000.0, 500.0])
@pytest.mark.parametrize("trained", [64, 512, 4096])
@pytest.mark.parametrize(("fast", "slow"), [(32.0, 1.0), (8.0, 2.0)])
@pytest.mark.parametrize("factor", [1.0, 4.0, 40.0])
def test_yarn(size, base, trained, fast, slow, factor, qk, line):
    _, angles = llama(
        size, base, trained=trained, rope_type="yarn", factor=factor, beta_fast=fast, beta_slow=slow,
        original_max_position_embeddings=trained,
    )  # fmt: skip
    ours = RotaryYaRN(size, factor, trained, fast, slow, base)
    assert_close(ours.rates(CPU), angles.inv_freq.double(), rtol=1e-6, atol=0)
    assert float(ours.size(torch.tensor([ours.factor]))) == pytest.approx(angles.attention_scaling)
    q, k = qk(size)
    at = line(TOKENS)
    wanted = apply_rotary_pos_emb(q, k, *angles(q, at["index"]))
    assert_close(ours.rotate(q, k, at, at), wanted, **CLOSE)


def test_yarn_without_a_ramp():
    """Trained on 2 places no pair turns even once: all want squeezing, which Llama, its ramp reversed, leaves out."""
    _, angles = llama(rope_type="yarn", factor=4.0, original_max_position_embeddings=2)
    plain = Rotary(SIZE).rates(CPU)
    assert_close(angles.inv_freq.double(), plain, rtol=1e-6, atol=0)
    assert_close(RotaryYaRN(SIZE, 4.0, 2).rates(CPU)[1:], plain[1:] / 4)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
@pytest.mark.parametrize(
    ("config", "rotary"),
    [(GPTNeoXConfig, GPTNeoXRotaryEmbedding), (PhiConfig, PhiRotaryEmbedding)],
)
def test_partial(config, rotary, share, qk, line):
    """GPT-NeoX calls the share `rotary_pct`."""
    option = "rotary_pct" if config is GPTNeoXConfig else "partial_rotary_factor"
    angles = rotary(config(hidden_size=4 * SIZE, num_attention_heads=4, **{option: share}))
    q, k = qk(SIZE)
    at = line(TOKENS)
    wanted = partly_turned(q, k, *angles(q, at["index"]))
    assert_close(Rotary(SIZE, share=share).rotate(q, k, at, at), wanted, **CLOSE)


def test_llama_attention(lively, normal, attend, causal_mask):
    config, angles = llama()
    peer, x = lively(LlamaAttention(config, 0)), normal(3, TOKENS, 4 * SIZE)
    wanted, _ = peer(x, angles(x, torch.arange(TOKENS)[None]), causal_mask(TOKENS))
    parts = (peer.q_proj, peer.k_proj, peer.v_proj, peer.o_proj)
    got = attend(x, Rotary(SIZE), 4, *((part.weight, None) for part in parts), True)
    assert_close(got, wanted, **CLOSE)


def in_pairs(x, size):
    """Our pairs (c, c + R/2) as x-transformers' neighbours (2c, 2c + 1)."""
    order = torch.arange(size).view(2, size // 2).T.flatten()
    return torch.cat([x[..., order], x[..., size:]], -1)


PAIRED = {
    "rotary": (Rotary(SIZE), {}),
    "half": (Rotary(SIZE, share=0.5), {"dim": SIZE // 2}),
    "linear": (RotaryLinear(SIZE, factor=3.0), {"interpolation_factor": 3.0}),
    "ntk": (RotaryNTK(SIZE, factor=4.0), {"base_rescale_factor": 4.0}),
    "ntk, half": (
        RotaryNTK(SIZE, factor=4.0, share=0.5),
        {"dim": SIZE // 2, "base_rescale_factor": 4.0},
    ),
}


@pytest.mark.parametrize("name", PAIRED)
def test_x_transformers(name, qk, line):
    ours, options = PAIRED[name]
    peer = RotaryEmbedding(**{"dim": SIZE, **options})
    angles, _ = peer.forward_from_seq_len(TOKENS)
    at, both = line(TOKENS), qk(SIZE)
    for x, turned in zip(both, ours.rotate(*both, at, at), strict=True):
        wanted = turned_in_pairs(in_pairs(x, ours.turned), angles)
        assert_close(in_pairs(turned, ours.turned), wanted, **CLOSE)


@pytest.mark.parametrize("scale", [512.0, 40.0])
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_xpos(scale, share, qk, line):
    """x-transformers counts growth from the middle of the input; only the logits, where it cancels, are alike."""
    ours, at = XPos(SIZE, scale=scale, share=share), line(TOKENS)
    peer = RotaryEmbedding(dim=ours.turned, use_xpos=True, scale_base=scale)
    angles, grown = peer.forward_from_seq_len(TOKENS)
    q, k = qk(SIZE)
    peer_q = turned_in_pairs(in_pairs(q, ours.turned), angles, grown)
    peer_k = turned_in_pairs(in_pairs(k, ours.turned), angles, grown**-1)
    our_q, our_k = ours.rotate(q, k, at, at)
    seen = torch.ones(TOKENS, TOKENS).tril().bool()
    root = SIZE**0.5
    assert_close(
        (our_q @ our_k.mT / root)[..., seen], (peer_q @ peer_k.mT / root)[..., seen], **CLOSE
    )
