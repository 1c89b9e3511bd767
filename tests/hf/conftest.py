"""Tiny models of Hugging Face, made in code, in float64, with weights for which positions matter."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing here may touch the network

import pytest
import torch

from tenfold.core.registry import Spec
from tenfold.encodings import ENCODINGS, SIZES, Attends

EVERY = {
    f"{name}-{number}": {"name": name, **options}
    for name in ENCODINGS.names()
    for number, options in enumerate(ENCODINGS[name].examples(64))
}


def make_gpt2(**options):
    from transformers import GPT2Config, GPT2LMHeadModel  # here: a machine may be without it

    small = {"vocab_size": 20, "n_positions": 12, "n_embd": 16, "n_layer": 2, "n_head": 2}
    ends = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": 0}
    return GPT2LMHeadModel(GPT2Config(**{**small, **ends, **options}))


def make_bert(kind="BertForMaskedLM", **options):
    import transformers

    small = {
        "vocab_size": 20, "max_position_embeddings": 12, "hidden_size": 16, "intermediate_size": 32,
        "num_hidden_layers": 2, "num_attention_heads": 2, "pad_token_id": 0,
    }  # fmt: skip
    return getattr(transformers, kind)(transformers.BertConfig(**{**small, **options}))


def make_bert_decoder(**options):
    return make_bert("BertLMHeadModel", is_decoder=True, **options)


def maker(model_type, kind="AutoModelForCausalLM", **own):
    """`maker("llama")(num_hidden_layers=1)`: a tiny model of a family."""

    def make(kind=kind, **options):
        import transformers

        small = {
            "vocab_size": 20, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
            "pad_token_id": 0, "bos_token_id": None, "eos_token_id": None,
        }  # fmt: skip
        config = transformers.AutoConfig.for_model(model_type, **{**small, **own, **options})
        return getattr(transformers, kind).from_config(config)

    return make


GROUPED = {"num_key_value_heads": 2, "max_position_embeddings": 12, "intermediate_size": 24}
FAMILIES = {  # the decoders beside GPT-2 and BERT
    "llama": maker("llama", **GROUPED),
    "mistral": maker("mistral", **GROUPED),
    "mistral, sliding window": maker("mistral", **GROUPED, sliding_window=5),
    "qwen2": maker("qwen2", **GROUPED),
    "qwen2, one layer of two with a sliding window": maker(
        "qwen2", **GROUPED, use_sliding_window=True, sliding_window=5, max_window_layers=1
    ),
    "qwen3": maker("qwen3", **GROUPED, head_dim=6),  # not 16 / 4
    "gpt_neox": maker(
        "gpt_neox", intermediate_size=24, max_position_embeddings=12, rotary_pct=0.5, rotary_emb_base=100,
    ),
    "opt": maker("opt", ffn_dim=24, max_position_embeddings=12, word_embed_proj_dim=16),
    "bloom": maker("bloom"),
}  # fmt: skip
EVERY_FAMILY = {
    "gpt2": make_gpt2,
    "bert": make_bert,
    "bert, is_decoder": make_bert_decoder,
    **FAMILIES,
}

MODELS = {
    "gpt2": (make_gpt2, Attends.CAUSAL),
    "bert": (make_bert, Attends.TWO_WAY),
    "bert-decoder": (make_bert_decoder, Attends.CAUSAL),
}


def fits(encoding, kind):
    pe = ENCODINGS.factory(Spec.model_validate(encoding), SIZES)(width=16, heads=4, head_size=8)
    return kind in pe.kinds and pe.axes <= {"index"} and not pe.embeds


def pytest_generate_tests(metafunc):
    """Each model (of `models`) with each encoding that it can have; where `refused`, that it cannot have."""
    if "family" in metafunc.fixturenames:
        others = {"mistral", "qwen2"}  # as Llama; with sliding windows they are not
        metafunc.parametrize("family", [name for name in FAMILIES if name not in others])
        if "encoding" in metafunc.fixturenames:
            fitting = {name: e for name, e in EVERY.items() if fits(e, Attends.CAUSAL)}
            metafunc.parametrize("encoding", fitting.values(), ids=fitting)
        return
    refused = getattr(metafunc.function, "refused", False)
    names = getattr(metafunc.function, "models", MODELS)
    if {"make", "encoding"} <= set(metafunc.fixturenames):
        pairs = {
            f"{name}-{identity}": (MODELS[name][0], encoding)
            for name in names
            for identity, encoding in EVERY.items()
            if fits(encoding, MODELS[name][1]) is not refused
        }
        metafunc.parametrize(("make", "encoding"), pairs.values(), ids=pairs)
    elif "make" in metafunc.fixturenames:
        metafunc.parametrize("make", [MODELS[name][0] for name in names], ids=names)


@pytest.fixture(autouse=True)
def quiet():
    from transformers.utils import logging

    logging.disable_progress_bar()


@pytest.fixture
def gpt2():
    return make_gpt2


QUICK = ("llama", "gpt_neox", "opt", "bloom")  # one of each way in which positions enter


@pytest.fixture(
    params=[
        name if name in QUICK else pytest.param(name, marks=pytest.mark.full)
        for name in EVERY_FAMILY
    ]
)
def every_family(request):
    return request.param, EVERY_FAMILY[request.param]


@pytest.fixture
def family_names():
    return list(EVERY_FAMILY)


@pytest.fixture
def make_family():
    """`make_family("llama", num_hidden_layers=1)`"""
    return lambda family, **options: FAMILIES[family](**options)


@pytest.fixture
def lively():
    """`lively(gpt2(), "alibi")`: swapped, and every parameter large enough to be felt."""
    from tenfold.hf import swap

    def make(model, encoding="alibi"):
        model = swap(model, encoding)
        torch.manual_seed(0)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(torch.randn_like(parameter) * 0.3)
        return model.double().eval()

    return make


@pytest.fixture
def tokens():
    """`tokens(2, 9)`: two rows of nine, none of them padding."""

    def make(rows, length):
        return torch.randint(1, 20, (rows, length), generator=torch.Generator().manual_seed(3))

    return make
