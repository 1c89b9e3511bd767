"""GPT-2 and BERT of Hugging Face with our encodings: parity, padding, caches, training."""

import copy
import functools
import math

import pytest
import torch
from torch.testing import assert_close

pytest.importorskip("transformers")

from transformers import BertModel, GPT2LMHeadModel, GPT2Model

from tenfold.core.errors import TenfoldError
from tenfold.hf import swap
from tenfold.hf.families import NoPositions


def test_none_is_the_model_without_positions(make, tokens):
    torch.manual_seed(0)
    plain = make().double().eval()
    swapped = swap(copy.deepcopy(plain), "none")
    positions = getattr(plain.base_model, "wpe", None)
    if positions is None:
        positions = plain.base_model.embeddings.position_embeddings
    with_positions = plain(tokens(2, 9)).logits
    torch.nn.init.zeros_(positions.weight)
    assert_close(swapped(tokens(2, 9)).logits, plain(tokens(2, 9)).logits)
    assert (with_positions - plain(tokens(2, 9)).logits).abs().max() > 1e-3


def test_alibi_by_loops(gpt2, lively, tokens):
    """The second layer's attention of one row, from its own queries, keys and values."""
    model, seen = lively(gpt2()), {}
    attention = model.transformer.h[1].attn
    attention.c_attn.register_forward_hook(lambda _, args, out: seen.update(qkv=out[0]))
    attention.c_proj.register_forward_hook(lambda _, args, out: seen.update(mixed=args[0][0]))
    model(tokens(1, 7))
    q, k, v = seen["qkv"].split(16, -1)
    for h, slope in enumerate([2**-4, 2**-8]):
        own = slice(8 * h, 8 * h + 8)
        for i in range(7):
            logits = [q[i, own] @ k[j, own] / math.sqrt(8) - slope * (i - j) for j in range(i + 1)]
            weights = torch.stack(logits).softmax(0)
            assert_close(seen["mixed"][i, own], weights @ v[: i + 1, own])


def test_padding_on_either_side_changes_nothing(make, encoding, lively, tokens):
    model, rows = lively(make(), encoding), tokens(3, 9)
    for side in ("left", "right"):
        mask = torch.ones_like(rows)
        for row, length in enumerate([9, 6, 1]):
            padding = slice(0, 9 - length) if side == "left" else slice(length, 9)
            mask[row, padding] = 0
        result = model(rows, attention_mask=mask).logits
        assert result.isfinite().all()
        for row, kept, logits in zip(rows, mask.bool(), result, strict=True):
            assert_close(logits[kept], model(row[kept][None]).logits[0])


def test_longer_than_its_own_positions(make, encoding, lively, tokens):
    """Twelve places were in the model; what comes first is not changed by what follows in a decoder."""
    model, rows = lively(make(), encoding), tokens(2, 40)
    result = model(rows).logits
    assert result.shape == (2, 40, 20)
    assert result.isfinite().all()
    if model.config.model_type == "gpt2" or model.config.is_decoder:
        assert_close(result[:, :9], model(rows[:, :9]).logits)


def test_cached_as_uncached(make, encoding, lively, tokens):
    """In three steps of 5, 3 and 1 tokens, one row padded on the left."""
    model, rows = lively(make(), encoding), tokens(2, 9)
    mask = torch.ones_like(rows)
    mask[1, :3] = 0
    whole, past, result = model(rows, attention_mask=mask).logits, None, []
    for start, stop in ((0, 5), (5, 8), (8, 9)):
        step = model(
            rows[:, start:stop],
            attention_mask=mask[:, :stop],
            past_key_values=past,
            use_cache=True,
        )
        past = step.past_key_values
        result.append(step.logits)
    assert_close(torch.cat(result, 1)[mask.bool()], whole[mask.bool()])


test_cached_as_uncached.models = ("gpt2", "bert-decoder")


def test_order_is_felt(make, lively, tokens):
    """Two tokens exchanged: the same to a two-way model without positions, not with them."""
    rows = tokens(1, 9)
    other = rows[:, [7, *range(1, 7), 0, 8]]
    assert not torch.equal(rows, other)
    for encoding in ("alibi", "rotary", "pairwise"):
        model = lively(make(), encoding)
        assert (model(rows).logits[0, -1] - model(other).logits[0, -1]).abs().max() > 1e-4


def test_order_is_not_felt_without_positions(make, lively, tokens):
    model, rows = lively(make(), "none"), tokens(1, 9)
    exchanged = [1, 0, *range(2, 9)]
    assert_close(model(rows).logits[:, exchanged], model(rows[:, exchanged]).logits)


test_order_is_not_felt_without_positions.models = ("bert",)


@pytest.mark.parametrize("beams", [1, 2])
def test_generation(make, lively, tokens, beams):
    """Past the own positions, with and without a cache, each row as if it were alone."""
    rows, mask = tokens(2, 6), torch.ones(2, 6, dtype=torch.long)
    rows[1, :2] = mask[1, :2] = 0
    both = {"name": "compose", "parts": ["fox", "scalable-softmax"]}
    turns = {"name": "per-layer", "parts": ["stick-breaking", both]}
    for encoding in (
        "alibi", "rotary", {"name": "window", "behind": 4}, "pairwise", "cope", both,
        "pope", "dape", "selective", "gated-decay", "grape-ap", "path", turns,
    ):  # fmt: skip
        model = lively(make(), encoding)
        write = functools.partial(
            model.generate, max_new_tokens=12, do_sample=False, num_beams=beams, pad_token_id=0,
            output_logits=True, return_dict_in_generate=True,
        )  # fmt: skip
        cached = write(rows, attention_mask=mask)
        plain = write(rows, attention_mask=mask, use_cache=False)
        assert torch.equal(cached.sequences, plain.sequences)
        if beams == 1:
            assert_close(torch.stack(cached.logits), torch.stack(plain.logits))
        alone = write(rows[1:, 2:], attention_mask=mask[1:, 2:])
        assert torch.equal(alone.sequences[0], cached.sequences[1, 2:])


test_generation.models = ("gpt2", "bert-decoder")


def test_every_parameter_of_an_encoding_learns(make, encoding, lively, tokens):
    model, rows = lively(make(), encoding).train(), tokens(2, 9)
    model(rows, labels=rows).loss.backward()
    for name, parameter in model.base_model.encodings.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name


@pytest.mark.parametrize("given", ["t5", "rotary", {"name": "pairwise", "values": True}])
def test_the_loss_falls(make, given, tokens):
    torch.manual_seed(0)
    model, rows = swap(make(), given).train(), tokens(8, 9)
    before = copy.deepcopy(model.base_model.encodings.state_dict())
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for _ in range(30):
        loss = model(rows, labels=rows).loss
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert losses[-1] < 0.8 * losses[0]
    for name, value in model.base_model.encodings.state_dict().items():
        assert not torch.equal(value, before[name]), name


test_the_loss_falls.models = ("gpt2", "bert")


def test_gradient_checkpointing(make, lively, tokens):
    gradients, rows = [], tokens(2, 9)
    for checkpointing in (False, True):
        model = lively(make(), "t5").train()
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        if (
            checkpointing
        ):  # called activations' since transformers 5.23, which warns of the old name
            older = model.gradient_checkpointing_enable
            enable = getattr(model, "activation_checkpointing_enable", older)
            enable({"use_reentrant": False})
        model(rows, labels=rows, use_cache=False).loss.backward()
        gradients.append(model.base_model.encodings[0].table.grad)
    assert_close(*gradients)


def test_shared_once_or_one_a_layer(make, lively):
    def tables(encoding):
        return [n for n, _ in swap(make(), encoding).named_parameters() if "encodings" in n]

    assert len(tables("t5")) == 1
    assert len(tables("pairwise")) == 2
    assert len(tables({"name": "compose", "parts": ["t5", "pairwise"]})) == 3
    assert tables("alibi") == []


def test_no_own_positions_are_left(make):
    names = [name for name, _ in swap(make(), "alibi").named_parameters()]
    assert not [name for name in names if "wpe" in name or "position_embeddings" in name]


def test_an_encoding_is_as_the_model_is(make, tokens):
    model = swap(make().double().eval(), "pairwise")
    assert {table.dtype for table in model.base_model.encodings.parameters()} == {torch.float64}
    assert not model.base_model.encodings.training
    assert model(tokens(1, 9)).logits.dtype == torch.float64


def test_no_positions_leave_the_dtype(make):
    model = swap(make(), "alibi")
    (nothing,) = (module for module in model.modules() if isinstance(module, NoPositions))
    x = torch.ones(2, 9, 16, dtype=torch.bfloat16)
    assert_close(x + nothing(torch.arange(9)[None]), x)


def test_weights_for_those_who_look(make, lively, tokens):
    weights = lively(make(), "t5")(tokens(2, 9), output_attentions=True).attentions
    assert len(weights) == 2
    assert_close(weights[1].sum(-1), torch.ones(2, 2, 9, dtype=torch.float64))


def test_a_copy_is_its_own(make, lively, tokens):
    model = lively(make(), "t5")
    before, twin = model(tokens(1, 9)).logits, copy.deepcopy(model)
    torch.nn.init.normal_(twin.base_model.encodings[0].table, std=3)
    assert_close(model(tokens(1, 9)).logits, before)
    assert (twin(tokens(1, 9)).logits - before).abs().max() > 1e-3


def test_another_model_of_the_same_config_keeps_its_positions(make, tokens):
    plain = make().eval()
    before = plain(tokens(1, 9)).logits
    other = swap(type(plain)(plain.config), "alibi")
    assert other.config is not plain.config
    assert_close(plain(tokens(1, 9)).logits, before)


@pytest.mark.parametrize(("kind", "make_config"), [(GPT2Model, "gpt2"), (BertModel, "bert")])
def test_a_model_without_a_head(kind, make_config, tokens):
    from transformers import AutoConfig

    small = {"num_hidden_layers": 1, "hidden_size": 16, "num_attention_heads": 2, "vocab_size": 20}
    model = swap(kind(AutoConfig.for_model(make_config, **small)), "alibi")
    assert model(tokens(1, 9)).last_hidden_state.shape == (1, 9, 16)


def test_embedded_input(gpt2, lively, tokens):
    model, rows = lively(gpt2()), tokens(2, 9)
    assert_close(model(inputs_embeds=model.transformer.wte(rows)).logits, model(rows).logits)


def test_position_ids_that_agree_are_welcome(make, lively, tokens):
    model, rows = lively(make()), tokens(2, 9)
    mask = torch.ones_like(rows)
    mask[1, :4] = 0
    ids = (mask.cumsum(-1) - 1).clamp(min=0)
    result = model(rows, attention_mask=mask, position_ids=ids).logits
    assert_close(result, model(rows, attention_mask=mask).logits)
    with pytest.raises(
        TenfoldError, match=r"position_ids \[0, 1, 2, 3, 0, 1, 2, 3, 4\] are not the"
    ):
        model(rows, position_ids=torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3, 4]]))


def test_generation_without_a_swap_is_untouched(gpt2, tokens):
    model = gpt2().eval()
    assert isinstance(model, GPT2LMHeadModel)
    assert model.config._attn_implementation == "sdpa"
    assert model.generate(tokens(1, 4), max_new_tokens=3, do_sample=False).shape == (1, 7)
