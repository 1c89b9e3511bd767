"""What long problems take in memory is known, and refused, before anything is drawn or written."""

from dataclasses import replace

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.evals import exact_match as exact
from tenfold.evals.exact_match import RowMemory
from tenfold.evals.peak_memory import peak_bytes
from tenfold.runs.build import build
from tenfold.runs.recipe import Recipe
from tenfold.runs.recipe_files import recipe
from tenfold.runs.size_check import check_size


def model_of(kind, pe="none", **sizes):
    size = {"kind": kind, "layers": 1, "width": 16, "heads": 2, **sizes}
    parts = build(Recipe.of({"name": "x", "format": "reversed", "pe": pe, "model": size}))
    return parts.source, parts.source.answerer(parts.model())


@pytest.mark.parametrize("sizes", [{"kind": "gru"}, {"kind": "decoder", "mixer": {"name": "gated-linear"}}])  # fmt: skip
def test_what_does_not_attend_takes_memory_linear_in_the_length(sizes):
    source, model = model_of(**sizes)
    _, attending = model_of("decoder")
    twice = source.row_memory(20_000, model) / source.row_memory(10_000, model)
    assert twice == pytest.approx(2, rel=0.01)
    assert source.row_memory(20_000, attending) > exact.MOST > source.row_memory(20_000, model)


def test_the_memory_of_long_rows_is_that_of_the_encoding():
    """`dape` keeps several numbers for each pair of tokens where rotary keeps one."""
    (source, rotary), (_, dape) = (model_of("decoder", pe) for pe in ("rotary", "dape"))
    assert source.row_memory(10_000, dape) > 2 * source.row_memory(10_000, rotary)


@pytest.mark.parametrize("pe", ["rotary", "alibi", "dape", "entmax", "fire"])
def test_estimated_memory_is_near_what_tensors_take(pe):
    source, model = model_of("decoder", pe)
    batch = source.one(300)
    estimated = source.examiner().memory
    examiner = replace(source.examiner(), memory=replace(estimated, most=1.0))
    near = examiner.measured_memory(batch.row_tokens, 300, model).row(batch.row_tokens, model)
    assert near / 2 < peak_bytes(model.model, batch) < 2 * near


def test_training_is_refused_whose_evaluation_would_not_fit():
    attending = recipe("extrapolation/far-alibi", "smoke", eval={"lengths": [10**9]})
    with pytest.raises(TenfoldError, match=r"eval\.lengths is 1000000000: one problem"):
        check_size(attending)
    long = Recipe.of(
        {
            "name": "x",
            "format": "reversed",
            "pe": "alibi",
            "model": {"kind": "decoder"},
            "eval": {"lengths": [20_000]},
        }
    )
    with pytest.raises(TenfoldError, match=r"eval\.lengths is 20000: .* (\d+) would fit") as caught:
        check_size(long)
    fits = int(str(caught.value).rpartition("eval.lengths ")[2].split()[0])
    check_size(long.replace(eval={"lengths": [fits]}))
    check_size(recipe("certified/addition", eval={"lengths": [20_000]}))  # sees two columns
    check_size(long.replace(pe="none", model={"kind": "gru"}))


def test_a_length_is_refused_unless_forced(tenfold, tmp_path, monkeypatch):
    small = (*RowMemory.__init__.__defaults__[:2], 2.0**20, "", 1.0)
    monkeypatch.setattr(RowMemory.__init__, "__defaults__", small)
    words = ("eval", "addition", "--lengths", 5000, "--n", 1, "--slices", "uniform")
    code, out, err = tenfold(*words, "--log-samples", "samples.jsonl")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("error: a length of 5,000 needs about 0.0 GiB of memory")
    assert err.endswith("(--force goes on)\n")
    assert list(tmp_path.iterdir()) == []
    code, out, _ = tenfold(*words, "--force")
    assert code == 0
    assert "100.0" in out


def test_a_text_block_is_refused_unless_forced():
    from tenfold.evals.perplexity import TextMemory

    with pytest.raises(TenfoldError, match=r"a length of 3,000,000 tokens needs about"):
        TextMemory().plan(3_000_000)
    assert TextMemory(most=float("inf")).plan(3_000_000) == (1, 1)
