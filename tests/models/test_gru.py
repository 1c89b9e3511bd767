"""The recurrent network and the linear mixer through a whole run; what needs attention refuses them in one line."""

import json
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.models import attention_in
from tenfold.runs.build import build
from tenfold.runs.recipe import Recipe
from tenfold.runs.recipe_files import recipe as find
from tenfold.runs.train import train
from tenfold.sweeps.sweep import sweep

EXAMPLES = Path(__file__).parents[2] / "examples" / "recipes"
SMOKE = {
    "gru": EXAMPLES / "gru-addition.yaml",
    "gated-linear": EXAMPLES / "gated-linear-addition.yaml",
}


def test_a_row_by_torch(make_model, make_batcher, ragged):
    """Each row without its padding, layer after layer, by torch's own loop over a single sequence."""
    model, batch = make_model("gru"), make_batcher("causal")(ragged)
    logits = model(batch)
    for row in range(len(batch)):
        valid = batch.sequence.valid[row]
        x = model.embedding(batch.sequence.tokens[row, valid])
        for layer in model.layers:
            x, _ = layer(x)
        read = valid[-batch.read :]
        assert_close(logits[row, read], model.head(x)[-int(read.sum()) :])


def test_an_encoding_may_add_to_the_input(make_model, make_batcher, ragged):
    batch = make_batcher("causal")(ragged)
    plain, placed = make_model("gru"), make_model("gru", "sinusoidal")
    placed.load_state_dict(plain.state_dict(), strict=False)
    assert not torch.allclose(plain(batch), placed(batch))


def test_an_encoding_that_ends_is_refused_before_training():
    learned = {"name": "learned", "limit": 8}
    with pytest.raises(TenfoldError, match="the input reaches"):
        build(Recipe(model="gru", format="reversed", pe=learned))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"pe": "alibi"},
            r'encoding "alibi" acts in attention, which .*"gru" does not have; "none"',
        ),
        ({"model": {"mixer": "gated-linear"}}, 'kind "gru" has no mixer; leave it out'),
        (
            {"model": {"widht": 8}},
            r'option of the gru model "model\.widht"; did you mean "model\.width"',
        ),
        ({"model": {"loops": 8}}, 'kind "gru" has no loops; leave it out'),
        ({"cross_pe": "alibi"}, 'kind "gru" has no cross_pe; leave it out'),
    ],
)
def test_what_is_refused(changes, message):
    model = {"name": "gru", **changes.pop("model", {})}
    with pytest.raises(TenfoldError, match=message) as caught:
        build(Recipe.of({"format": "reversed", "pe": "none", **changes, "model": model}))
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module", params=SMOKE)
def run(request, tmp_path_factory):
    """A finished run of each, at smoke scale."""
    folder = tmp_path_factory.mktemp("runs") / request.param
    return train(find(SMOKE[request.param], "smoke"), out=folder).folder


def test_a_run_is_like_any_other(tenfold, run):
    assert tenfold("ask", run, "1+2")[0] in (0, 1)
    code, out, _ = tenfold("eval", run, "--lengths", "2,7", "--n", 4, "--json")
    assert code == 0
    assert {row["length"] for row in json.loads(out)} == {2, 7}
    code, _, err = tenfold("report", run, "--out", "report")
    assert code == 0, err
    assert "examples/" in Path("report/report.html").read_text()
    code, out, _ = tenfold("results", run)
    assert code == 0
    assert "examples/" in out


@pytest.mark.parametrize("words", [("certify",), ("extract",), ("maps",), ("calibrate",), ("erf",)])
def test_what_needs_attention_says_so(tenfold, run, words):
    code, _, err = tenfold(*words, run)
    assert code == 2
    assert err.startswith("error: ")
    assert "needs attention" in err
    assert len(err.strip().splitlines()) == 1


def test_the_line_names_the_purpose_and_the_model(make_model):
    with pytest.raises(TenfoldError, match=r"^a proof needs attention, which .* kind \"gru\""):
        attention_in(make_model("gru"), "a proof")
    decoder = make_model("decoder")
    assert attention_in(decoder, "a proof") is decoder


@pytest.mark.full
def test_both_in_one_sweep(tmp_path):
    recipes = [find(path, "smoke") for path in SMOKE.values()]
    done = sweep(recipes, tmp_path / "runs", workers=1)
    assert [run.recipe.model.kind for run in done] == ["gru", "decoder"]
    assert all(run.finished for run in done)
