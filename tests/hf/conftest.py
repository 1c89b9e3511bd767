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


MODELS = {
    "gpt2": (make_gpt2, Attends.CAUSAL),
    "bert": (make_bert, Attends.TWO_WAY),
    "bert-decoder": (make_bert_decoder, Attends.CAUSAL),
}


def fits(encoding, kind):
    pe = ENCODINGS.factory(Spec.model_validate(encoding), SIZES)(width=16, heads=2, head_size=8)
    return kind in pe.kinds and pe.axes <= {"index"} and not pe.embeds


def pytest_generate_tests(metafunc):
    """Each model (of `models`) with each encoding that it can have; where `refused`, that it cannot have."""
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
