"""Rotary scalings of a model, and what its config states: checked against tenfold's own encodings."""

import pytest
import torch

pytest.importorskip("transformers")

from tenfold.core.errors import TenfoldError
from tenfold.encodings import RotaryLinear, RotaryNTK, RotaryYaRN
from tenfold.encodings.decay_series import slopes
from tenfold.features.probe.rope_scalings import RopeScaling, parse_scalings, rates, scaled
from tenfold.features.probe.stated_encoding import stated_encoding, trained_length

OURS = {
    "linear": RotaryLinear(head_size=8, factor=4),
    "ntk": RotaryNTK(head_size=8, factor=4),
    "yarn": RotaryYaRN(head_size=8, factor=4, trained=16),
}


@pytest.mark.parametrize("way", OURS)
def test_a_scaling_turns_as_ours_does(lively, tokens, way):
    model, rows = lively("llama"), tokens(1, 24)
    before = model(rows).logits
    with scaled(model, RopeScaling(way, 4.0), trained=16):
        torch.testing.assert_close(rates(model), OURS[way].rates(torch.device("cpu")), rtol=1e-5, atol=1e-9)  # fmt: skip
        inside = model(rows).logits
    assert not torch.allclose(inside, before)
    assert torch.equal(model(rows).logits, before)  # as it was


def test_a_share_of_the_components_turns(lively):
    """GPT-NeoX turns a fourth of 8 components: one pair, too few for ntk."""
    model = lively("gpt_neox")
    with scaled(model, RopeScaling("linear", 4.0), trained=16):
        assert rates(model).tolist() == [0.25]
    with pytest.raises(TenfoldError, match="ntk of 2 turned components; at least 4"):
        scaled(model, RopeScaling("ntk", 4.0), trained=16).__enter__()
    assert rates(model).tolist() == [1.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("liner=4", 'unknown rotary scaling "liner"; did you mean "linear"'),
        ("yarn", 'the rotary scaling "yarn" has no factor above 1; yarn=4 is right'),
        ("ntk=1", "no factor above 1"),
        ("linear=x", "no factor above 1"),
    ],
)
def test_scalings_that_are_none(text, message):
    with pytest.raises(TenfoldError, match=message):
        parse_scalings(text)


def test_rotary(lively):
    model = lively("llama")
    assert trained_length(model) == 16
    stated = stated_encoding(model, 16)
    assert (stated.name, stated.facts["base"], stated.facts["turned_components"]) == ("rotary", 10_000.0, 8)  # fmt: skip
    assert (
        stated.facts["pairs_without_full_turn"] == 3
    )  # only the first pair turns within 2 pi tokens
    assert stated.facts["new_angles_from"] == 16
    scaled_one = stated_encoding(model, 16, scaling=RopeScaling("linear", 4.0))
    assert scaled_one.facts["new_angles_from"] == 64
    assert (scaled_one.facts["scaling"], scaled_one.facts["factor"]) == ("linear", 4.0)


def test_alibi_of_bloom_and_of_a_swapped_model(lively):
    bloom = stated_encoding(lively("bloom"), None, eps=0.05)
    assert bloom.name == "alibi"
    assert bloom.facts["slopes"] == slopes(4).tolist()
    assert bloom.facts["theoretical_fields"] == [12, 48, 192, 767]  # -ln(0.05) / slope, rounded up
    own = stated_encoding(lively("swapped"), 64)
    assert own.name == "alibi"
    assert own.facts["theoretical_fields"] == bloom.facts["theoretical_fields"]
    assert any("converges: a geometric series" in line for line in own.theory)


def test_learned_positions_end(lively):
    stated = stated_encoding(lively("gpt2"), 64)
    assert (stated.name, stated.limit) == ("learned", 64)


def test_buckets_and_nothing(lively):
    model = lively("gpt2")
    model.config.relative_attention_num_buckets = 32
    stated = stated_encoding(model, 64)
    assert (stated.name, stated.facts) == ("t5", {"buckets": 32, "furthest": 128})
    from transformers import MambaConfig, MambaForCausalLM

    config = MambaConfig(vocab_size=40, hidden_size=16, num_hidden_layers=1, state_size=4)
    assert stated_encoding(MambaForCausalLM(config), None).name == "not stated"
