"""Layers without positions and rotary layers with a window, in SmolLM3 of transformers: our `per-layer`, as SWAN.

SmolLM3's own choice is the reverse, a window where there are no positions, and both are options. Its window counts the
query's own token, ours the tokens behind it.
"""

import pytest
import torch
from torch.testing import assert_close
from transformers import SmolLM3Config
from transformers.masking_utils import create_causal_mask, create_sliding_window_causal_mask
from transformers.models.smollm3.modeling_smollm3 import SmolLM3Attention, SmolLM3RotaryEmbedding

from tenfold.encodings import PerLayer

HEADS, SIZE = 4, 8
WIDTH = HEADS * SIZE
LOCAL, GLOBAL = "sliding_attention", "full_attention"
MASKS = {LOCAL: create_sliding_window_causal_mask, GLOBAL: create_causal_mask}


@pytest.mark.parametrize("layer", range(4))
@pytest.mark.parametrize(("tokens", "behind"), [(1, 3), (9, 3), (33, 8), (33, 100)])
def test_smollm3(layer, tokens, behind, lively, normal, attend):
    config = SmolLM3Config(
        hidden_size=WIDTH, num_attention_heads=HEADS, num_key_value_heads=HEADS, num_hidden_layers=4,
        no_rope_layers=[0, 1, 0, 1], layer_types=[GLOBAL, LOCAL, GLOBAL, LOCAL], rope_theta=10_000.0,
        use_sliding_window=True, sliding_window=behind + 1, attn_implementation="eager",
    )  # fmt: skip
    peer, x = lively(SmolLM3Attention(config, layer)), normal(2, tokens, WIDTH)
    at = torch.arange(tokens)
    mask = MASKS[config.layer_types[layer]](config, x, None, at, None)
    wanted, _ = peer(x, SmolLM3RotaryEmbedding(config)(x, at[None]), mask)

    local = {"name": "compose", "parts": ["rotary", {"name": "window", "behind": behind}]}
    pe = PerLayer(["none", local], width=WIDTH, heads=HEADS, head_size=SIZE)
    pe.in_layer(layer)
    parts = (peer.q_proj, peer.k_proj, peer.v_proj, peer.o_proj)
    got = attend(x, pe, HEADS, *((part.weight, None) for part in parts), True)
    assert_close(got, wanted, rtol=0, atol=1e-5)
