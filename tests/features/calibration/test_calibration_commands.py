"""Calibration from the command line: train, refuse, calibrate all the same, train again, ask."""

import json
import shlex

import pytest

from tenfold.features.calibration.calibration import Calibration

RECIPE = """
name: small
format: reversed
pe: sinusoidal
data: {length: 2, sampler: lengths}
model: {kind: KIND, layers: 1, width: 16, heads: 2}
train: {steps: 2, batch: 8}
eval: {lengths: [2], slices: [uniform], n: 8, every: 2}
"""


@pytest.mark.parametrize("kind", ["seq2seq", "decoder"])
def test_from_a_model_to_a_calibrated_one(tenfold, tmp_path, kind):
    (tmp_path / "small.yaml").write_text(RECIPE.replace("KIND", kind))
    assert tenfold("train", "small.yaml", "--out", "first")[0] == 0
    code, out, err = tenfold("calibrate", "first")
    assert (code, out) == (2, "")
    assert err.startswith("error: first is right on ")
    assert err.count("\n") == 1
    assert not (tmp_path / "first" / "calibration.json").exists()

    options = ("--allow-imperfect", "--samples", 20, "--kappa-self", 0, "--kappa-cross", 0)
    code, out, _ = tenfold("calibrate", "first", *options, "--from", "each", "--figures", "drawn")
    assert code == 0
    assert "self-attention, layer 1, head 2: keeps" in out
    assert "keeps nothing" not in out
    assert "lines: first/calibration.json" in out
    assert {path.suffix for path in (tmp_path / "drawn").iterdir()} == {".png", ".svg"}
    assert "page: first/calibration.html" in out
    page = (tmp_path / "first/calibration.html").read_text()
    assert "Along which lines do the heads of this model attend" in page
    assert "<pre>tenfold train first/recipe.yaml --calibrated first/calibration.json</pre>" in page
    assert page.count("<figure>") == (2 if kind == "seq2seq" else 1)
    assert "<td>self-attention, layer 1, head 2</td>" in page

    words = ("train", "small.yaml", "--calibrated", "first/calibration.json", "--out", "second")
    assert tenfold(*words)[0] == 0
    code, out, _ = tenfold("ask", "second", "12+34", "--json")
    assert code == 0
    assert json.loads(out)["truth"] == "46"
    assert "name: calibrated" in (tmp_path / "second" / "recipe.yaml").read_text()
    assert tenfold(*words, "--positions", "keep")[0] == 2  # another recipe than the folder's


def test_the_command_that_it_prints_works(tenfold, tmp_path):
    """Of a run that is not as its recipe's name says: a smaller scale, other heads."""
    changes = ("--scale", "smoke", "--model.heads", 1, "--train.steps", 2, "--eval.n", 5)
    assert tenfold("train", "bias/addition-vanilla", *changes, "--out", "my first")[0] == 0
    words = ("--allow-imperfect", "--samples", 8, "--out", "my lines.json")
    code, out, _ = tenfold("calibrate", "my first", *words)
    assert code == 0
    (then,) = [line for line in out.splitlines() if line.startswith("then: tenfold ")]
    _, _, *command = shlex.split(then)
    code, out, err = tenfold(*command, "--dry-run", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["recipe"]["name"] == "bias/addition-vanilla-calibrated"


def test_what_was_found_as_json(tenfold, tmp_path):
    (tmp_path / "small.yaml").write_text(RECIPE.replace("KIND", "seq2seq"))
    tenfold("train", "small.yaml", "--out", "first")
    words = ("calibrate", "first", "--allow-imperfect", "--samples", 8, "--out", "lines.json")
    code, out, _ = tenfold(*words, "--kappa-self", 9, "--soft", "--scores", "weights", "--json")
    assert code == 0
    told = json.loads(out)
    assert (told["file"], told["page"], told["figures"]) == ("lines.json", "lines.html", [])
    assert told["rules"]["soft"]
    assert told["rules"]["scores"] == "weights"
    assert any("a kappa of 9 keeps none" in note for note in told["notes"])
    assert [head["kept"] for head in told["heads"] if head["attention"] == "causal"] == [[], []]


def test_the_floors_of_a_soft_bias_are_no_lines(tenfold, tmp_path):
    (tmp_path / "small.yaml").write_text(RECIPE.replace("KIND", "seq2seq"))
    tenfold("train", "small.yaml", "--out", "first")
    words = (
        "calibrate",
        "first",
        "--allow-imperfect",
        "--samples",
        20,
        "--kappa-self",
        0,
        "--soft",
    )
    told = json.loads(tenfold(*words, "--json")[1])
    kept = sum(len(head["kept"]) for head in told["heads"])
    floors = [line for line in Calibration.read(tmp_path / "first/calibration.json").lines if line.keys == "all"]  # fmt: skip
    assert floors
    assert told["lines"] == kept
    assert f"\n{kept} lines; " in tenfold(*words)[1]


def test_positions_without_lines_are_refused(tenfold, tmp_path):
    (tmp_path / "small.yaml").write_text(RECIPE.replace("KIND", "seq2seq"))
    code, out, err = tenfold("train", "small.yaml", "--positions", "keep", "--dry-run")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--positions keep is for lines" in err
    assert "name a file of them with --calibrated" in err


def test_a_wrong_direction_or_file_is_one_line(tenfold, tmp_path):
    (tmp_path / "small.yaml").write_text(RECIPE.replace("KIND", "seq2seq"))
    tenfold("train", "small.yaml", "--out", "first")
    code, _, err = tenfold("calibrate", "first", "--directions", "diagonal,horizontal")
    assert (code, err.count("\n")) == (2, 1)
    assert 'unknown direction "horizontal"' in err
    code, _, err = tenfold("train", "small.yaml", "--calibrated", "small.yaml")
    assert (code, err) == (2, "error: small.yaml is not a calibration: it is not JSON\n")


def test_lines_are_not_overwritten_by_their_page(tenfold, tmp_path):
    code, out, err = tenfold("calibrate", "parity", "--out", "lines.html")
    assert (code, out) == (2, "")
    assert err == "error: --out lines.html is the file of lines; their page, .html, is beside it\n"


def test_nothing_is_written_into_the_package(tenfold, tmp_path):
    code, out, err = tenfold("calibrate", "parity")
    assert (code, out) == (2, "")
    assert err == 'error: "parity" comes with the package; name a file for its lines with --out\n'
    words = ("calibrate", "parity", "--samples", 8, "--out", "lines.json")
    assert tenfold(*words)[0] == 0
    assert (tmp_path / "lines.json").exists()


@pytest.mark.full
def test_the_published_form_from_the_command_line(tenfold, tmp_path):
    """All choices of the paper, one of them named again; then trained on from the first weights."""
    (tmp_path / "small.yaml").write_text(
        RECIPE.replace("KIND", "seq2seq").replace("format: reversed", "format: {name: reversed, width: 3, spare: 1}")
    )  # fmt: skip
    assert tenfold("train", "small.yaml", "--out", "first")[0] == 0
    options = ("--published", "--allow-imperfect", "--no-right-only", "--kappa-cross", 1)
    code, out, _ = tenfold("calibrate", "first", *options, "--figures", "drawn")
    assert code == 0
    assert out.rstrip().endswith("--calibrated first/calibration.json --positions keep")
    rules = json.loads((tmp_path / "first" / "calibration.json").read_text())["rules"]
    assert (rules["lines"], rules["best"], rules["source"]) == ("matrix", "direction", "last")
    assert (rules["kappa_self"], rules["kappa_cross"], rules["right_only"]) == (0.87, 1.0, False)
    assert (rules["rows"], rules["along"], rules["scores"]) == ("digits", "mean", "logits")
    again = ("--coded", "--allow-imperfect", "--no-right-only", "--kappa-share", 0.2)
    assert tenfold("calibrate", "first", *again, "--out", "coded.json")[0] == 0
    rules = json.loads((tmp_path / "coded.json").read_text())["rules"]
    assert (rules["rows"], rules["along"], rules["scores"]) == ("digits", "sum", "weights")
    assert (rules["directions"], rules["cross_directions"]) == (["diagonal"], ["anti-diagonal"])
    assert (rules["kappa_share"], rules["kappa_self"]) == (0.2, None)
    words = (
        "--calibrated",
        "first/calibration.json",
        "--positions",
        "keep",
        "--train.from",
        "first",
    )
    assert tenfold("train", "small.yaml", *words, "--out", "second")[0] == 0
    assert "step:" in (tmp_path / "second" / "recipe.yaml").read_text()


def test_two_keys_a_query_are_lines_of_the_matrix_alone(tenfold, tmp_path):
    (tmp_path / "small.yaml").write_text(RECIPE.replace("KIND", "seq2seq"))
    assert tenfold("train", "small.yaml", "--out", "first")[0] == 0
    words = ("calibrate", "first", "--allow-imperfect", "--directions", "anti-diagonal-2")
    code, _, err = tenfold(*words)
    assert (code, err.count("\n")) == (2, 1)
    assert "--lines matrix" in err
    assert tenfold(*words, "--lines", "matrix")[0] == 0
