"""Tiny causal language models of several families, made in code, and a tokenizer of words."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing here may touch the network

import pytest
import torch

WORDS = 40
ENDS = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": 0}
SIZE = {
    "vocab_size": WORDS, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 64,
}  # fmt: skip


def _named(name, config, **options):
    import transformers

    return getattr(transformers, name)(getattr(transformers, config)(**options, **ENDS))


def gpt2(**options):
    size = {"vocab_size": WORDS, "n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 4}
    return _named("GPT2LMHeadModel", "GPT2Config", **{**size, **options})


def gpt_neox(**options):
    return _named("GPTNeoXForCausalLM", "GPTNeoXConfig", max_position_embeddings=16, **SIZE, **options)  # fmt: skip


def llama(**options):
    return _named("LlamaForCausalLM", "LlamaConfig", num_key_value_heads=2, max_position_embeddings=16, **SIZE, **options)  # fmt: skip


def mistral(**options):
    return _named("MistralForCausalLM", "MistralConfig", num_key_value_heads=2, sliding_window=8, **SIZE, **options)  # fmt: skip


def bloom(**options):
    return _named("BloomForCausalLM", "BloomConfig", vocab_size=WORDS, hidden_size=32, n_layer=2, n_head=4, **options)  # fmt: skip


def swapped(**options):
    from tenfold import hf

    return hf.swap(gpt2(**options), "alibi")


FAMILIES = {each.__name__: each for each in (gpt2, gpt_neox, llama, mistral, bloom, swapped)}


@pytest.fixture(autouse=True)
def quiet():
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()


@pytest.fixture
def lively():
    """`lively("llama")`: a model in float64 whose every weight matters."""

    def make(name, **options):
        model = FAMILIES[name](**options)
        generator = torch.Generator().manual_seed(1)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.2)
        return model.double().eval()

    return make


@pytest.fixture
def tokens():
    """`tokens(2, 32)`: rows of random tokens."""

    def make(rows, length):
        return torch.randint(0, WORDS, (rows, length), generator=torch.Generator().manual_seed(3))

    return make


@pytest.fixture(scope="session")
def words():
    """A tokenizer of 40 words, w0 to w39."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel({f"w{n}": n for n in range(WORDS)}, unk_token="w0"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="w0")


@pytest.fixture(scope="session")
def text():
    """300 words."""
    numbers = torch.randint(0, WORDS, (300,), generator=torch.Generator().manual_seed(5))
    return " ".join(f"w{n}" for n in numbers.tolist())


@pytest.fixture(scope="session")
def folder(tmp_path_factory, words):
    """The folder of a saved model with its tokenizer."""
    place = tmp_path_factory.mktemp("model") / "neox"
    torch.manual_seed(0)
    gpt_neox().save_pretrained(place)
    words.save_pretrained(place)
    return place
