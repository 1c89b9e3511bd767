"""p-RoPE beside that of transformers 5, which calls it "proportional". `make peers` has an older release without it."""

import pytest
import torch
from torch.testing import assert_close

pytest.importorskip("transformers")

from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from tenfold.encodings import Rotary

TYPE = "proportional"


@pytest.mark.skipif(TYPE not in ROPE_INIT_FUNCTIONS, reason="a release before p-RoPE")
@pytest.mark.parametrize("p", [0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize(("size", "base"), [(8, 10_000.0), (32, 100.0), (64, 500_000.0)])
def test_transformers(p, size, base):
    asked = {"rope_type": TYPE, "rope_theta": base, "partial_rotary_factor": p}
    config = LlamaConfig(hidden_size=4 * size, num_attention_heads=4, rope_parameters=asked)
    rates, scaling = ROPE_INIT_FUNCTIONS[TYPE](config, torch.device("cpu"))
    ours = Rotary(size, base, p=p).rates(torch.device("cpu"))
    assert scaling == 1.0
    assert_close(ours.float(), rates, rtol=1e-5, atol=0)
