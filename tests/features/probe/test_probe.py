"""`tenfold probe` and `tenfold.probe`: the numbers, the page, resuming, and one line for bad input."""

import json
import math
import re

import numpy as np
import pytest
import torch

pytest.importorskip("transformers")

import tenfold as package
from tenfold.core.errors import TenfoldError
from tenfold.features.probe import probe_job
from tenfold.features.probe.chunked_model import ChunkedModel
from tenfold.features.probe.probe_memory import ProbeMemory
from tenfold.features.probe.window_losses import row_losses

QUICK = {"n": 64, "samples": 1}


WORDS = [
    "--text",
    "text.txt",
    "--lengths",
    "8,16,32",
    "--n",
    "64",
    "--samples",
    "1",
    "--rope",
    "linear=2",
    "--out",
    "page",
]


def test_command(tenfold, folder, text, tmp_path):
    """The whole path once: numbers, page, data, figures."""
    (tmp_path / "text.txt").write_text(text)
    code, out, err = tenfold("probe", folder, *WORDS, "--figures", "drawn", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["trained"] == 16
    assert [each["name"] for each in found["variants"]] == ["as it is", "linear=2"]
    for variant in found["variants"]:
        assert [each["length"] for each in variant["lengths"]] == [8, 16, 32]
        assert variant["rise"] == variant["lengths"][2]["plain"]["perplexity"] / variant["lengths"][1]["plain"]["perplexity"]  # fmt: skip
        for each in variant["lengths"]:
            assert each["plain"]["perplexity"] == pytest.approx(
                40, rel=0.5
            )  # an untrained model guesses
            attention = each["attention"]
            assert np.shape(attention["fields"]) == (2, 4)
            assert np.max(attention["fields"]) <= each["length"]
            assert np.shape(attention["gradient_fields"]) == (2, 4)
            assert np.sum(attention["mass_by_distance"], -1) == pytest.approx(1, abs=1e-4)
    page = (tmp_path / "page/probe.html").read_text()
    assert "linear=2" in page
    assert page.count("<svg") > 5
    assert not re.search(r"(src|href)=\"https?:", page)
    assert json.loads((tmp_path / "page/probe.json").read_text())["variants"] == found["variants"]
    names = {path.name for path in (tmp_path / "drawn").iterdir()}
    assert names == {f"{name}.{kind}" for name in ("perplexity", "positions", "fields", "heads", "distance") for kind in ("png", "svg")}  # fmt: skip


@pytest.mark.full
def test_command_in_words(tenfold, folder, text, tmp_path):
    (tmp_path / "text.txt").write_text(text)
    code, out, _ = tenfold("probe", folder, *WORDS)
    assert code == 0
    assert "linear=2: perplexity is" in out
    assert "2 layers of 4 heads" in out


@pytest.mark.full
def test_python_and_its_numbers(lively, words, text):
    model = lively("llama")
    result = package.probe(model, words, text, [8, 32], n=64, samples=1, gradient=False)
    first = result.variants[0].lengths[0]
    tokens = words(text)["input_ids"]
    blocks = torch.tensor([tokens[start : start + 9] for start in range(0, 64, 8)])
    expected = row_losses(ChunkedModel(model), blocks)
    assert first.plain.loss == pytest.approx(expected.mean())
    assert first.plain.tokens == 64
    assert [loss for *_, loss in first.positions] == pytest.approx(expected.mean(0))
    assert first.attention.gradient_fields is None
    assert math.isclose(first.plain.perplexity, math.exp(first.plain.loss))


class Stop(Exception):
    pass


def stopping(after):
    calls = []

    def progress(done, total):
        calls.append(done)
        if len(calls) > after:
            raise Stop

    return progress


@pytest.mark.full
def test_resumed_equals_never_stopped(lively, words, text, tmp_path, monkeypatch):
    model = lively("gpt_neox")
    whole = package.probe(model, words, text, [8, 16], rope="linear=2", out=tmp_path / "a", **QUICK)
    with pytest.raises(Stop):
        package.probe(model, words, text, [8, 16], rope="linear=2", out=tmp_path / "b", progress=stopping(4), **QUICK)  # fmt: skip
    finished = len(list(tmp_path.glob("b/parts/*/*")))
    assert finished == 4
    computed = []
    for name in ("_losses", "_attention", "_gradient"):
        own = getattr(probe_job.ProbeJob, name)
        monkeypatch.setattr(
            probe_job.ProbeJob, name, lambda self, x, own=own: computed.append(1) or own(self, x)
        )
    again = package.probe(model, words, text, [8, 16], rope="linear=2", out=tmp_path / "b", **QUICK)
    assert again.as_json() == whole.as_json()  # to the last bit
    assert len(computed) == len(list(tmp_path.glob("b/parts/*/*"))) - finished

    computed.clear()
    other = lively("gpt_neox")
    with torch.no_grad():
        next(other.parameters()).add_(0.5)
    package.probe(other, words, text, [8, 16], out=tmp_path / "b", **QUICK)
    assert computed  # of other weights, nothing is finished
    computed.clear()
    package.probe(model, words, text, [8, 16], out=tmp_path / "b", fresh=True, **QUICK)
    assert computed


@pytest.mark.full
def test_a_batch_gives_the_same(lively, words, text):
    one, three = (
        package.probe(lively("gpt2"), words, text, [8, 16], n=96, samples=0, batch=batch).as_json()
        for batch in (1, 3)
    )
    for a, b in zip(one["variants"][0]["lengths"], three["variants"][0]["lengths"], strict=True):
        assert a["plain"]["loss"] == pytest.approx(b["plain"]["loss"])
        assert a["sliding"]["loss"] == pytest.approx(b["sliding"]["loss"])
        assert a["attention"] is None


def test_a_length_beyond_memory_is_refused_with_one_that_fits(lively, words, text):
    model = lively("llama")
    with pytest.raises(TenfoldError, match=r"needs about .* GiB beyond the model, and 0.0015 GiB can be used; up to about \d+ tokens would fit") as caught:  # fmt: skip
        package.probe(model, words, text, [8, 256], n=256, memory=0.0015)
    fits = int(re.findall(r"about ([\d,]+) tokens would fit", str(caught.value))[0])
    assert 8 <= fits < 256
    memory = ProbeMemory(ChunkedModel(model), 1, True)
    memory.check(fits, 0.0015)
    assert memory.need(256) > memory.need(128)


def test_bad_input_of_python(lively, words, text):
    model = lively("gpt2")
    for options, message in (
        ({"texts": "w1 w2", "lengths": [8]}, "the text has 2 tokens, and a length of 8 needs 9"),
        ({"lengths": [128]}, "a length of 128 tokens; this model has 64 learned positions"),
        ({"lengths": [1]}, "a length of 1 tokens; at least 2"),
        ({"lengths": [8], "eps": 1.5}, "a share eps of 1.5"),
        ({"lengths": [8], "samples": -1}, "samples of -1; at least 0"),
        ({"lengths": [32], "n": 8}, "n is 8, fewer tokens than the longest length of 32"),
        ({"lengths": [8], "rope": ["yarn=4"]}, "has no rotary positions that yarn=4 could scale"),
        ({"lengths": [8], "tokenizer": None}, "needs its tokenizer"),
    ):
        with pytest.raises(TenfoldError, match=message):
            package.probe(model, **{"tokenizer": words, "texts": text, **options})


def test_a_model_that_sees_ahead_is_no_causal_one(words, text):
    from transformers import BertConfig, BertLMHeadModel

    config = BertConfig(vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)  # fmt: skip
    torch.manual_seed(0)
    model = BertLMHeadModel(config)
    with pytest.raises(TenfoldError, match="BertLMHeadModel is no causal language model: what it predicts depends on later"):  # fmt: skip
        package.probe(model, words, text, [8])


def test_bad_folders(tenfold, folder, tmp_path, text):
    """Each is one line that names the thing and what would be right."""
    (tmp_path / "text.txt").write_text(text)

    def copy(name, *, without=(), config=None):
        place = tmp_path / name
        place.mkdir()
        for path in folder.iterdir():
            if path.name not in without:
                (place / path.name).write_bytes(path.read_bytes())
        if config is not None:
            stated = json.loads((place / "config.json").read_text())
            (place / "config.json").write_text(json.dumps({**stated, **config}))
        return place

    pickled = copy("pickled", without=["model.safetensors"])
    (pickled / "pytorch_model.bin").write_bytes(b"")
    silent = copy("silent", without=["tokenizer.json", "tokenizer_config.json"])
    cases = {
        pickled: "the weights of pickled are pickles (pytorch_model.bin), which can execute code and are refused",
        silent: "silent has no tokenizer; save it there with tokenizer.save_pretrained, or name another with --tokenizer",
        copy("masked", config={"architectures": ["BertForMaskedLM"]}): "masked is BertForMaskedLM, no causal language model",
        copy("empty", without=["model.safetensors"]): "empty has no weights; model.safetensors is wanted",
        copy("foreign", config={"model_type": "own", "auto_map": {"AutoConfig": "own.Own"}}): "foreign needs code of its own, which is not executed",
        tmp_path / "nothing": "is no folder of a model",
    }  # fmt: skip
    for place, message in cases.items():
        shown = str(place) if place.name == "nothing" else place.name
        code, _, err = tenfold("probe", shown, "--text", "text.txt", "--lengths", "8")
        assert code == 2, place
        assert message in err.replace(str(tmp_path) + "/", "")
        assert len(err.strip().splitlines()) == 1, err
    code, _, err = tenfold("probe", "somebody/model", "--text", "text.txt", "--lengths", "8")
    assert code == 2
    assert 'no folder "somebody/model", and the hub cannot be reached' in err
    for words, message in (
        (["--dtype", "float31"], 'unknown dtype "float31"; did you mean "float32"?'),
        (["--device", "tpu9"], 'device "tpu9" cannot be used here'),
        (["--device", "meta"], 'device "meta" cannot be used here: it holds no numbers'),
        (["--lengths", "8,x"], '"x" is not a length'),
        (["--text", "nothing.txt"], 'no file or folder "nothing.txt"'),
    ):
        code, _, err = tenfold("probe", folder, *words)
        assert code == 2
        assert message in err
        assert len(err.strip().splitlines()) == 1, err
