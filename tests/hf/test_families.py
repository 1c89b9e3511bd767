"""Every family of decoders: its own positions out and back, cache, generation, padding, saving.

Each family gives one row of the table in docs/drop-in.md, and the committed table must be that. To write it:
`TENFOLD_WRITE_TABLE=1 pytest tests/hf/test_families.py`.
"""

import copy
import functools
import os
import re
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

pytest.importorskip("transformers")

import transformers

from tenfold.core.errors import TenfoldError
from tenfold.hf import load, own_rotary, swap
from tenfold.hf.families import FAMILIES as SUPPORTED

PAGE = Path(__file__).parents[2] / "docs/drop-in.md"
WRITES = "TENFOLD_WRITE_TABLE" in os.environ
BOTH = {"name": "compose", "parts": ["fox", "scalable-softmax"]}
SOME = ("alibi", "rotary", "pairwise", "t5", "pope", BOTH)
close = functools.partial(assert_close, rtol=1e-5, atol=1e-5)  # some norms are in float32 always


def lively(model):
    """Every parameter large enough to be felt."""
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    return model.double().eval()


def swapped(make, encoding, **options):
    return lively(swap(make(**options), encoding))


def padded(rows):
    """The second row without its first three tokens."""
    mask = torch.ones_like(rows)
    mask[1, :3] = 0
    return mask


def no_positions(make, rows):
    """In one causal layer, the order of earlier tokens is not felt by the last one; in a two-way model, by none."""
    other = [*range(6), 7, 6, 8]
    plain = lively(make(num_hidden_layers=1))
    bare = swap(copy.deepcopy(plain), "none")
    shown = slice(None) if two_way(plain) else slice(-1, None)

    def moved(model):
        own, exchanged = model(rows).logits, model(rows[:, other]).logits
        return own[:, other][:, shown] - exchanged[:, shown]

    close(moved(bare), torch.zeros_like(moved(bare)))
    assert moved(plain).abs().max() > 1e-4  # its own positions are felt
    return "yes"


def put_back(make, rows):
    """What the model had, as an encoding of tenfold: the same logits, padded or not.

    In float32: Bloom itself gives nan for padding in float64. Rotary models count places from the padding on,
    which changes nothing, because only differences matter.
    """
    plain = lively(make()).float()
    own = "alibi" if plain.config.model_type == "bloom" else None
    if getattr(plain.config, "rope_parameters", None):
        own = own_rotary(plain)
    if own is None:
        return "-"
    again, mask = swap(copy.deepcopy(plain), own), padded(rows)
    close(again(rows).logits, plain(rows).logits)
    with_padding, wanted = (model(rows, attention_mask=mask).logits for model in (again, plain))
    close(with_padding[mask.bool()], wanted[mask.bool()])
    return own if isinstance(own, str) else own["name"]


def cache(make, rows):
    """In three steps of 5, 3 and 1 tokens, one row padded on the left."""
    if two_way(make()):
        return "-"
    for encoding in SOME:
        cached_as_uncached(swapped(make, encoding), rows)
    return "yes"


def cached_as_uncached(model, rows):
    mask, past, result = padded(rows), None, []
    whole = model(rows, attention_mask=mask).logits
    for start, stop in ((0, 5), (5, 8), (8, 9)):
        step = model(
            rows[:, start:stop],
            attention_mask=mask[:, :stop],
            past_key_values=past,
            use_cache=True,
        )
        past = step.past_key_values
        result.append(step.logits)
    close(torch.cat(result, 1)[mask.bool()], whole[mask.bool()])


def generation(make, rows):
    """Past the model's own length, with and without the cache, each row as if it were alone; also by beams."""
    if two_way(make()):
        return "-"
    mask = padded(rows)
    for encoding, beams in (("rotary", 1), (BOTH, 2)):
        write = functools.partial(
            swapped(make, encoding).generate, max_new_tokens=6, do_sample=False, num_beams=beams,
            pad_token_id=0, output_logits=True, return_dict_in_generate=True,
        )  # fmt: skip
        cached, plain = (write(rows, attention_mask=mask, use_cache=kept) for kept in (True, False))
        assert torch.equal(cached.sequences, plain.sequences)
        if beams == 1:
            close(torch.stack(cached.logits), torch.stack(plain.logits))
        alone = write(rows[1:, 3:], attention_mask=mask[1:, 3:])
        assert torch.equal(alone.sequences[0], cached.sequences[1, 3:])
    return "yes"


def padding(make, rows):
    """A padded row has the logits of the row alone."""
    for encoding in SOME:
        padding_is_not_felt(swapped(make, one_for(make, encoding)), rows)
    return "left, right"


def padding_is_not_felt(model, rows):
    for mask in (padded(rows), padded(rows).flip(-1)):
        kept = mask[1].bool()
        result = model(rows, attention_mask=mask).logits
        assert result.isfinite().all()
        close(result[1][kept], model(rows[1:, kept]).logits[0])


def saving(make, rows, folder):
    """What was saved comes back to the bit, the encoding with it."""
    for number, encoding in enumerate(("alibi", "pairwise")):
        model = swapped(make, encoding)
        model.save_pretrained(folder / str(number))
        again = load(type(model), folder / str(number))
        assert again.config.tenfold == model.config.tenfold
        assert torch.equal(again(rows).logits, model(rows).logits)
        tied = model.get_output_embeddings().weight is model.get_input_embeddings().weight
        assert tied == (again.get_output_embeddings().weight is again.get_input_embeddings().weight)
    return "yes"


def classes(make, rows):
    """The model with its head, and the base model alone."""
    whole = swapped(make, "alibi")
    inner = lively(swap(type(whole.base_model)(make().config), "alibi"))
    missing, _ = inner.load_state_dict(whole.base_model.state_dict(), strict=False)
    assert not [name for name in missing if "pooler" not in name]
    states = whole(rows, output_hidden_states=True).hidden_states[-1]
    close(inner(rows).last_hidden_state, states)
    return f"`{type(whole).__name__}`, `{type(inner).__name__}`"


def two_way(model):
    return model.config.model_type == "bert" and not model.config.is_decoder


def one_for(make, encoding):
    """Encodings for causal attention alone have no place in a two-way model."""
    return "t5" if encoding is BOTH and two_way(make()) else encoding


def row(family, make, rows, folder):
    """What was tested, as a line of the table."""
    assert make().config.model_type in SUPPORTED
    cells = [
        family,
        classes(make, rows),
        no_positions(make, rows),
        put_back(make, rows),
        cache(make, rows),
        generation(make, rows),
        padding(make, rows),
        saving(make, rows, folder),
    ]
    return f"| {' | '.join(cells)} |"


def test_family(every_family, tokens, tmp_path):
    family, make = every_family
    line, page = row(family, make, tokens(2, 9), tmp_path), PAGE.read_text()
    if WRITES:
        old = re.search(rf"^\| {re.escape(family)} \|.*\n", page, re.MULTILINE)
        end = page.index("\n<!-- end of the tested families -->")
        page = page.replace(old[0], f"{line}\n") if old else f"{page[:end]}{line}\n{page[end:]}"
        PAGE.write_text(page)
    assert f"\n{line}\n" in PAGE.read_text(), (
        f"docs/drop-in.md lacks the row that was tested: {line}"
    )


def test_the_table_has_no_other_rows(family_names):
    table = re.search(
        r"^\| family.*?\n<!-- end of the tested families -->", PAGE.read_text(), re.M | re.S
    )
    rows = [line.split("|")[1].strip() for line in table[0].splitlines()[2:] if "|" in line]
    assert sorted(rows) == sorted(family_names)
    assert {name.split(",")[0] for name in rows} == set(SUPPORTED)


def test_the_version_in_the_docs():
    listed = re.search(r"Tested with transformers ([\d., ]+\d)\.", PAGE.read_text())[1].split(", ")
    now = transformers.__version__
    if now not in listed and tuple(map(int, now.split("."))) > tuple(
        map(int, listed[-1].split("."))
    ):
        pytest.skip(f"transformers {now} is newer than those in docs/drop-in.md; add it there")
    assert now in listed, f"transformers {now} was tested; docs/drop-in.md lists {listed}"


@pytest.mark.full
def test_every_encoding(family, encoding, make_family, tokens):
    model, rows = make_family(family), tokens(2, 9)
    if getattr(model.config, "sliding_window", None) and "selective" in str(encoding):
        with pytest.raises(TenfoldError, match="needs the first token, which the sliding window"):
            swap(model, encoding)
        return
    model = lively(swap(model, encoding))
    padding_is_not_felt(model, rows)
    cached_as_uncached(model, rows)
    assert_close(model(tokens(2, 20)).logits[:, :9], model(tokens(2, 20)[:, :9]).logits)
    model.train()(rows, labels=rows).loss.backward()
    for name, parameter in model.base_model.encodings.named_parameters():
        assert parameter.grad is not None, name


@pytest.mark.parametrize(
    "scaling",
    [
        {"rope_type": "linear", "factor": 4.0},
        {
            "rope_type": "yarn",
            "factor": 4.0,
            "original_max_position_embeddings": 8,
            "beta_fast": 2.0,
        },
    ],
)
def test_scaled_rotary_put_back(make_family, tokens, scaling):
    model = lively(make_family("llama", rope_parameters={"rope_theta": 50.0, **scaling}))
    again = swap(copy.deepcopy(model), own_rotary(model))
    close(again(tokens(2, 12)).logits, model(tokens(2, 12)).logits)
    bare = swap(copy.deepcopy(model), {"name": "rotary", "base": 50.0})
    assert (bare(tokens(2, 12)).logits - model(tokens(2, 12)).logits).abs().max() > 1e-3


@pytest.mark.parametrize(
    ("scaling", "why"),
    [
        ({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 8}, 'scaled by "llama3", which tenfold does not have'),
        ({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8, "attention_factor": 1.0},
         'have the option "attention_factor"'),
    ],
)  # fmt: skip
def test_rotary_that_tenfold_does_not_have(make_family, scaling, why):
    model = make_family("llama", rope_parameters={"rope_theta": 50.0, **scaling})
    with pytest.raises(TenfoldError, match=why):
        own_rotary(model)


def test_no_rotary_to_be_put_back(make_family):
    with pytest.raises(TenfoldError, match='type "opt" has no rotary positions'):
        own_rotary(make_family("opt"))


def test_grouped_queries_by_loops(make_family, tokens):
    """Four query heads read two key heads: heads 0 and 1 the first, 2 and 3 the second."""
    model, seen = swapped(functools.partial(make_family, "llama"), "alibi"), {}
    attention = model.model.layers[1].self_attn
    for name in ("q_proj", "k_proj", "v_proj"):
        module = getattr(attention, name)
        module.register_forward_hook(lambda _, args, out, name=name: seen.update({name: out[0]}))
    attention.o_proj.register_forward_hook(lambda _, args, out: seen.update(mixed=args[0][0]))
    model(tokens(1, 7))
    q, k, v = (seen[f"{name}_proj"].unflatten(-1, (-1, 4)) for name in "qkv")  # (T, H or 2, K)
    for h in range(4):
        slope = 2 ** (-2 * (h + 1))
        for i in range(7):
            logits = [q[i, h] @ k[j, h // 2] / 2 - slope * (i - j) for j in range(i + 1)]
            weights = torch.stack(logits).softmax(0)
            close(seen["mixed"][i, 4 * h : 4 * h + 4], weights @ v[: i + 1, h // 2])


def test_the_mode_stays(family, make_family, tokens):
    """No dropout in a model that was in evaluation mode."""
    dropout = {"attention_dropout": 0.5, "hidden_dropout": 0.5, "dropout": 0.5}
    model = swap(make_family(family, **dropout).eval(), "alibi")
    assert_close(model(tokens(1, 9)).logits, model(tokens(1, 9)).logits, rtol=0, atol=0)
    model.train()
    assert (model(tokens(1, 9)).logits - model(tokens(1, 9)).logits).abs().max() > 0


@pytest.mark.full
def test_gradient_checkpointing(family, make_family, tokens):
    gradients, rows = [], tokens(2, 9)
    for checkpointing in (False, True):
        model = lively(swap(make_family(family), "t5")).train()
        for module in model.modules():
            for name in ("dropout", "hidden_dropout", "attention_dropout"):
                if isinstance(getattr(module, name, None), float):
                    setattr(module, name, 0.0)
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        if checkpointing:
            older = model.gradient_checkpointing_enable
            getattr(model, "activation_checkpointing_enable", older)({"use_reentrant": False})
        model(rows, labels=rows, use_cache=False).loss.backward()
        gradients.append(model.base_model.encodings[0].table.grad)
    close(*gradients)


def test_another_attention_after_the_swap(family, make_family, tokens):
    """No model of any family runs without positions unnoticed."""
    model = swap(make_family(family), "alibi")
    model.config._attn_implementation = "eager"
    with pytest.raises(TenfoldError, match='was set to "eager", which knows nothing of encoding'):
        model(tokens(1, 4))
