"""A trained language model with attention cut at the receptive field of each head."""

import json

import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import running_text
from tenfold.features.reach.cut_attention import cut_at_reach, reach_by_head
from tenfold.models import trace
from tenfold.runs.other_encoding import with_encoding
from tenfold.runs.recipe_files import recipe
from tenfold.runs.train import train


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Language models by the name of their encoding, after two steps on one small file."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "text.txt").write_text("one two three four, and again\n" * 200)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENFOLD_CACHE", str(folder / "cache"))

        def make(pe):
            changes = {"train": {"steps": 2}, "pe": pe}
            task = {"name": "files", "path": str(folder / "text.txt")}
            return train(
                recipe("extrapolation/code-alibi", "smoke", task=task, **changes),
                folder / str(pe),
            )

        yield make


def cut_model(run, **how):
    return with_encoding(run.recipe, run.weights(), cut_at_reach(run, **how), run.folder).model


def test_every_head_sees_the_tokens_of_its_own_field(runs):
    run = runs("alibi")  # two heads, of slopes 1/16 and 1/256
    assert reach_by_head(run, 0.5) == [12, 178]
    text = running_text(torch.randint(0, 200, (1, 201), generator=torch.Generator().manual_seed(0)))
    model = cut_model(run, eps=0.5)
    with trace(model, "stack.blocks.0.attention.weights") as seen, torch.no_grad():
        model(text)
    (weights,) = seen["stack.blocks.0.attention.weights"]
    behind = torch.arange(200)[:, None] - torch.arange(200)
    for head, field in enumerate((12, 178)):
        inside = (behind >= 0) & (behind < field)
        assert (weights[0, head][inside] > 0).all()
        assert (weights[0, head][~inside] == 0).all()


def test_a_field_that_holds_the_whole_text_changes_nothing(runs):
    run = runs("alibi")
    own = run.evaluate([16], ["uniform"], 288)
    cut = run.evaluate([16], ["uniform"], 288, **cut_at_reach(run, 1e-6))
    assert [row.value for row in own] == pytest.approx([row.value for row in cut], abs=1e-9)
    assert "window (behind 221, axis index)" in cut[0].evaluated_pe
    less = run.evaluate([16], ["uniform"], 288, **cut_at_reach(run, 0.9))
    assert less[0].value != pytest.approx(own[0].value, abs=1e-6)


def test_learned_numbers_count_as_they_were_trained(runs):
    run = runs("kerple-power")
    model = run.model()
    with torch.no_grad():
        model.stack.encodings[0].a.fill_(1.0)
        model.stack.encodings[0].p.fill_(1.0)
    assert reach_by_head(run, 0.05) == [3, 3]  # e^-3 < 0.05


def test_what_diverges_has_a_field_within_a_length_alone(runs):
    run = runs("inverse")
    with pytest.raises(TenfoldError, match=r'"inverse" diverges in head 1.*--trf-within'):
        cut_at_reach(run)
    near, far = (reach_by_head(run, 0.05, within) for within in (16, 288))
    assert all(a <= 16 < b <= 288 for a, b in zip(near, far, strict=True))
    assert reach_by_head(runs("none"), 0.05, 20) == [20, 20]  # 19 of 20 are not more than 95%


@pytest.mark.parametrize("pe", ["fire", {"name": "compose", "parts": ["alibi", "none"]}])
def test_what_has_no_field(runs, pe):
    with pytest.raises(TenfoldError, match="has no receptive field to cut at"):
        cut_at_reach(runs(pe))


def test_command_line(runs, tenfold):
    folder = runs("inverse").folder
    base = ("eval", folder, "--lengths", 16, "--n", 288, "--slices", "uniform")
    code, out, _ = tenfold(*base, "--cut-at-trf", 0.05, "--trf-within", 16, "--json")
    assert code == 0
    assert all("per-head" in row["evaluated_pe"] for row in json.loads(out))
    for flags, says in (
        (("--cut-at-trf", 0.05), "--trf-within 128"),
        (("--trf-within", 16), "goes with --cut-at-trf"),
        (("--cut-at-trf", 0.05, "--pe", "alibi"), "leave --pe out"),
        (("--cut-at-trf", 2), "a share eps of 2"),
    ):
        code, out, err = tenfold(*base, *flags)
        assert (code != 0, out, err.count("\n")) == (True, "", 1)
        assert says in err
