"""What a swap refuses, each with one line that gives the reason."""

import importlib

import pytest
import torch

pytest.importorskip("transformers")

from transformers import AutoConfig, GPTJForCausalLM

import tenfold.hf
from tenfold.core.errors import TenfoldError
from tenfold.encodings import Relative
from tenfold.hf import swap


def test_an_encoding_that_does_not_fit(make, encoding):
    with pytest.raises(TenfoldError, match=r"enters at the input|reads the axis|is not made for"):
        swap(make(), encoding)


test_an_encoding_that_does_not_fit.refused = True


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("learned", '"learned" enters at the input'),
        ("sinusoidal", '"sinusoidal" enters at the input'),
        ({"name": "compose", "parts": ["alibi", "learned"]}, '"compose" enters at the input'),
        ({"name": "alibi", "axis": "column"}, 'reads the axis "column"; .* has only "index"'),
        ("alibbi", 'unknown encoding "alibbi"; did you mean "alibi"'),
        ({"name": "alibi", "axs": "index"}, 'did you mean "axis"'),
        ({"name": "pairwise", "relation": Relative(reach=4)}, "cannot be written to a config"),
    ],
)  # fmt: skip
def test_an_encoding(gpt2, given, why):
    model = gpt2()
    with pytest.raises(TenfoldError, match=why):
        swap(model, given)
    assert model.config._attn_implementation == "sdpa"  # nothing was done by halves
    assert hasattr(model.transformer.wpe, "weight")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("add_cross_attention", True),
        ("scale_attn_weights", False),
        ("scale_attn_by_inverse_layer_idx", True),
        ("reorder_and_upcast_attn", True),
        ("is_causal", False),
    ],
)
def test_an_option_of_the_config(gpt2, option, value):
    with pytest.raises(TenfoldError, match=f"{option} is {value} .* only with {not value}"):
        swap(gpt2(**{option: value}), "alibi")


def test_another_kind_of_model():
    config = AutoConfig.for_model(
        "gptj", n_embd=16, n_layer=1, n_head=2, rotary_dim=4, vocab_size=20
    )
    with pytest.raises(TenfoldError, match=r'of the type "gptj"; .* in gpt2, bert, llama, mistral'):
        swap(GPTJForCausalLM(config), "alibi")


def test_twice(make):
    with pytest.raises(TenfoldError, match="are swapped already, for alibi"):
        swap(swap(make(), "alibi"), "rotary")


def test_another_attention_after_the_swap(make, tokens):
    model = swap(make(), "alibi")
    model.set_attn_implementation("sdpa")
    with pytest.raises(
        TenfoldError, match='set to "sdpa", which knows nothing of encoding "alibi"'
    ):
        model(tokens(1, 4))
    model.set_attn_implementation("tenfold")
    assert model(tokens(1, 4)).logits.isfinite().all()


def test_our_attention_without_a_swap(make, tokens):
    model = make()
    model.set_attn_implementation("tenfold")
    with pytest.raises(
        TenfoldError, match=r"its positions are still its own; call tenfold\.hf\.swap"
    ):
        model(tokens(1, 4))


def test_a_mask_that_does_not_tell_padding(make, tokens):
    model = swap(make(), "alibi")
    with pytest.raises(TenfoldError, match="a four-dimensional attention_mask"):
        model(tokens(1, 4), attention_mask=torch.ones(1, 1, 4, 4, dtype=torch.bool))


def test_a_mask_of_the_new_tokens_only(gpt2, tokens):
    model = swap(gpt2(), "alibi")
    past = model(tokens(1, 4), use_cache=True).past_key_values
    with pytest.raises(TenfoldError, match=r"shape \(1, 2\); .* of all 6 tokens, \(1, 6\)"):
        model(tokens(1, 2), attention_mask=torch.ones(1, 2), past_key_values=past)


def test_a_static_cache(gpt2, tokens):
    model = swap(gpt2(), "alibi").eval()
    with pytest.raises(TenfoldError, match="needs one that grows"):
        model.generate(
            tokens(1, 4), max_new_tokens=3, cache_implementation="static", do_sample=False
        )


def test_input_beyond_what_the_encoding_can_represent(gpt2, tokens):
    model = swap(gpt2(), {"name": "pairwise", "relation": {"reach": 8}})
    assert model(tokens(1, 9)).logits.isfinite().all()
    with pytest.raises(TenfoldError, match="reach 8, the input spans 9"):
        model(tokens(1, 10))


def test_a_config_that_was_swapped_makes_no_swapped_model(make, tokens):
    swapped = swap(make(), "alibi")
    with pytest.raises(TenfoldError, match="its positions are still its own"):
        type(swapped)(swapped.config)(tokens(1, 4))


def test_transformers_too_old_or_missing(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "4.57.6")
    with pytest.raises(TenfoldError, match=r"transformers 4\.57\.6 is too old .* needs 5\.4"):
        importlib.reload(tenfold.hf)

    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    with pytest.raises(TenfoldError, match=r"pip install 'tenfold\[hf\]'"):
        importlib.reload(tenfold.hf)
