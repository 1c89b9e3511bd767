"""What was saved comes back: the encoding, every weight, the dtype and the settings of generation."""

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

pytest.importorskip("transformers")

from transformers import BertModel, GPT2LMHeadModel, GPT2Model

from tenfold.core.errors import TenfoldError
from tenfold.hf import load, loading


def test_the_same_model_comes_back(make, encoding, lively, tokens, tmp_path):
    model = lively(make(), encoding)
    model.save_pretrained(tmp_path)
    again = load(type(model), tmp_path)
    assert again.config.tenfold == model.config.tenfold
    assert not again.training
    assert again.dtype == torch.float64
    assert again.state_dict().keys() == model.state_dict().keys()
    assert torch.equal(again(tokens(2, 20)).logits, model(tokens(2, 20)).logits)


def test_in_many_files_and_saved_again(make, lively, tokens, tmp_path):
    model = lively(make(), "pairwise")
    model.save_pretrained(tmp_path / "one", max_shard_size="4KB")
    assert len(list((tmp_path / "one").glob("*.safetensors"))) > 1
    load(type(model), tmp_path / "one").save_pretrained(tmp_path / "two")
    again = load(type(model), tmp_path / "two")
    assert torch.equal(again(tokens(2, 9)).logits, model(tokens(2, 9)).logits)


def test_tied_weights_stay_tied(lively, gpt2, tmp_path):
    model = lively(gpt2())
    model.save_pretrained(tmp_path)
    again = load(type(model), tmp_path)
    assert again.get_output_embeddings().weight is again.get_input_embeddings().weight


def test_nothing_but_tensors_is_read(lively, gpt2, tmp_path, monkeypatch):
    """Not by a default of the library, which was another in earlier versions: no pickle, no code, no network."""
    model = lively(gpt2())
    model.save_pretrained(tmp_path)
    asked, config = {}, loading.AutoConfig.from_pretrained

    def watch(*args, **options):
        asked.update(options)
        return config(*args, **options)

    def refuse(*args, **options):
        raise AssertionError("a pickle is read")

    monkeypatch.setattr(loading.AutoConfig, "from_pretrained", watch)
    monkeypatch.setattr(torch, "load", refuse)
    monkeypatch.setattr("pickle.load", refuse)
    load(type(model), tmp_path)
    assert asked == {"trust_remote_code": False, "local_files_only": True}


def test_pickled_weights_are_refused(lively, gpt2, tmp_path):
    model = lively(gpt2())
    model.save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(TenfoldError, match=r"pytorch_model\.bin is a pickle, which can run code"):
        load(type(model), tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("model.safetensors", "no tensors", "cannot be read as safetensors"),
        ("model.safetensors.index.json", "{}", "is damaged: 'weight_map'"),
        ("model.safetensors.index.json", '{"weight_map": {"a": "gone.safetensors"}}', "gone.safetensors"),
    ],
)  # fmt: skip
def test_damaged_weights(lively, gpt2, tmp_path, name, text, why):
    model = lively(gpt2())
    model.save_pretrained(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(TenfoldError, match=why):
        load(type(model), tmp_path)


def test_weights_of_another_size(lively, gpt2, tmp_path):
    lively(gpt2(n_embd=32)).save_pretrained(tmp_path / "large")
    lively(gpt2()).save_pretrained(tmp_path / "small")
    (tmp_path / "large/model.safetensors").replace(tmp_path / "small/model.safetensors")
    with pytest.raises(TenfoldError, match=r"does not fit its config: size mismatch for .*"):
        load(GPT2LMHeadModel, tmp_path / "small")


def test_generation_settings(lively, gpt2, tokens, tmp_path):
    model = lively(gpt2())
    model.generation_config.max_new_tokens = 5
    model.save_pretrained(tmp_path)
    again = load(type(model), tmp_path)
    assert again.generate(tokens(1, 4), do_sample=False).shape == (1, 9)


@pytest.mark.parametrize("lost", ["encodings.each.0.table", "ln_f.weight"])
def test_a_lost_weight(lively, gpt2, tmp_path, lost):
    lively(gpt2(), "t5").save_pretrained(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    weights["transformer.new"] = weights.pop(f"transformer.{lost}")
    save_file(weights, tmp_path / "model.safetensors")
    with pytest.raises(TenfoldError, match=rf"lacks the weights transformer\.{lost}$"):
        load(GPT2LMHeadModel, tmp_path)


def test_a_weight_too_many(lively, gpt2, tmp_path):
    lively(gpt2(), "t5").save_pretrained(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    save_file({**weights, "new": torch.zeros(1)}, tmp_path / "model.safetensors")
    with pytest.raises(TenfoldError, match=r"also has the weights new$"):
        load(GPT2LMHeadModel, tmp_path)


def test_what_is_no_swapped_model(gpt2, lively, tmp_path):
    with pytest.raises(TenfoldError, match="is no saved model"):
        load(GPT2LMHeadModel, tmp_path / "nowhere")
    gpt2().save_pretrained(tmp_path / "plain")
    with pytest.raises(TenfoldError, match="has its own positions; load it with GPT2LMHeadModel"):
        load(GPT2LMHeadModel, tmp_path / "plain")
    lively(gpt2()).save_pretrained(tmp_path / "swapped")
    for kind in (GPT2Model, BertModel):
        with pytest.raises(
            TenfoldError, match=f"contains a GPT2LMHeadModel, not a {kind.__name__}"
        ):
            load(kind, tmp_path / "swapped")


def test_moved_and_trained_weights_are_saved(lively, make, tokens, tmp_path):
    model, rows = lively(make(), "t5").train(), tokens(2, 9)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(rows, labels=rows).loss.backward()
    optimizer.step()
    model.float().eval().save_pretrained(tmp_path)
    again = load(type(model), tmp_path)
    assert again.dtype == torch.float32
    assert_close(again(rows).logits, model(rows).logits, rtol=0, atol=0)
