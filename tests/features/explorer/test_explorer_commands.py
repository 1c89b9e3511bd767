"""`tenfold explore` and `tenfold.explore`: what is written, and what is refused in one line."""

import json
import re
import shutil

import pytest

from tenfold import explore
from tenfold.core.errors import TenfoldError
from tenfold.features.explorer.model_export import as_text, exported
from tenfold.features.explorer.page_bundle import bundled, digest, joined_modules
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import SHELF, Run, open_run

SMALL = {"layers": 1, "width": 8, "heads": 1}
BASE = {
    "task": "addition", "format": "reversed", "model": {"kind": "decoder", **SMALL}, "data": {"length": 2},
    "eval": {"lengths": [2], "validation": [2]},
}  # fmt: skip


def made(folder, **parts):
    run = Run(folder, Recipe.of({**BASE, **parts}))
    run._models["best"] = run.built.model().eval()
    return run


def test_a_page_of_a_shipped_model_answers(browser, tmp_path):
    """The essential path, once: written from Python, opened from a file, asked in the browser."""
    path = explore("addition-base-2", out=tmp_path / "page.html")
    assert path == tmp_path / "page.html"
    page = browser.new_page()
    page.goto(path.as_uri() + "#problem=1111%2B1")
    page.wait_for_selector("#view-ask .good")
    assert "right: all 5 digits" in page.inner_text("#view-ask .results")
    page.close()


def test_a_proof_without_a_window_is_shown(browser, tmp_path):
    """The page runs the model on whole sequences, and quotes the certificate that it cannot check."""
    path = explore("addition-alibi", out=tmp_path / "page.html")
    page = browser.new_page()
    page.goto(path.as_uri() + "#problem=99999999999999999999%2B1&view=prove")
    page.wait_for_selector("#view-prove .verdict .headline.good")
    headline = page.inner_text("#view-prove .verdict .headline")
    assert headline == "Proved right at every length, without a window."
    said = page.inner_text("#view-prove .verdict p.soft")
    assert "proved in exact arithmetic, 36,399 near contexts, least margin 5.86" in said
    assert "far digits is at most 0.0017, and they take at most 0.011 of a lead" in said
    page.click("#tab-ask")
    page.wait_for_selector("#view-ask .results .good")
    assert "right: all 21 digits" in page.inner_text("#view-ask .results")
    page.close()


def test_a_certificate_that_says_nothing_of_far_tokens_is_no_proof(tmp_path):
    """Of other weights, or with words in the place of numbers."""
    shutil.copytree(open_run("addition-alibi").folder, tmp_path, dirs_exist_ok=True)
    file = tmp_path / "certificate.json"
    stored = json.loads(file.read_text())
    far = exported(Run.open(tmp_path))["certificate"]["far"]
    assert far == {name: stored["far"][name] for name in ("attention", "first", "remainder")}
    file.write_text(json.dumps({**stored, "far": {**stored["far"], "first": "little"}}))
    assert exported(Run.open(tmp_path))["certificate"]["far"] is None
    file.write_text(json.dumps({**stored, "weights": "0"}))
    assert exported(Run.open(tmp_path))["certificate"] is None


@pytest.mark.full
def test_the_command(tenfold, tmp_path):
    code, out, _ = tenfold("explore", "successor", "--out", "page.html", "--json")
    assert code == 0
    assert json.loads(out) == {"page": "page.html"}
    assert "Content-Security-Policy" in (tmp_path / "page.html").read_text()
    code, out, _ = tenfold("explore", "successor")
    assert (code, out) == (0, "page: explorer.html\n")
    code, out, err = tenfold("explore", "multiplication")
    assert (code, out) == (2, "")
    assert err.startswith('error: the explorer cannot pose the task "multiplication"')
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"pe": "kerple-log"}, 'cannot run the encoding "kerple-log"; it can run alibi, calibrated'),
        ({"pe": {"name": "compose", "parts": ["alibi", "t5"]}}, 'the encoding "t5"'),
        ({"pe": "rotary-ntk"}, 'the encoding "rotary-ntk"'),
        ({"pe": {"name": "learned", "axis": "cyclic", "limit": 3}, "schemes": ["cyclic"]}, 'uses the scheme "cyclic"'),
        ({"task": "multiplication"}, 'cannot pose the task "multiplication", which has an operand that every column reads'),
        ({"task": "sorting", "format": "in-order"}, 'cannot pose the task "sorting", which is not one of digits'),
        ({"task": {"name": "addition", "terms": 3}}, "with 3 numbers; one or two are right"),
        ({"task": "comparison", "format": {"name": "reversed", "width": 4}}, "padded to a width; a format without width is right"),
        ({"format": "sentences"}, 'cannot write the format "sentences"; it can write in-place, interleaved, reversed'),
        ({"model": {"kind": "gru", "width": 8}}, 'a model of the kind "gru"'),
        ({"pe": "none", "model": {"kind": "decoder", **SMALL, "mixer": "gated-linear"}}, 'cannot run the mixer "gated-linear"'),
    ],
)  # fmt: skip
def test_what_the_page_cannot_run_is_refused_by_name(parts, said, tmp_path):
    with pytest.raises(TenfoldError, match=re.escape(said)):
        exported(made(tmp_path, **parts))


def test_weights_that_are_not_numbers_are_refused(tmp_path):
    run = made(tmp_path)
    run.model().head.bias.data[0] = float("nan")
    with pytest.raises(TenfoldError, match=r"head\.bias are not finite"):
        exported(run)


def test_a_damaged_run_is_refused(tmp_path):
    shutil.copytree(SHELF / "addition-base-2", tmp_path / "run")
    weights = tmp_path / "run" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8])
    with pytest.raises(TenfoldError):
        explore(tmp_path / "run", out=tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_a_certificate_of_other_weights_is_not_shown(tmp_path):
    shutil.copytree(SHELF / "addition-base-2", tmp_path / "run")
    assert exported(Run.open(tmp_path / "run"))["certificate"]["verdict"] == "proved"
    path = tmp_path / "run" / "certificate.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "weights": "0" * 64}))
    assert exported(Run.open(tmp_path / "run"))["certificate"] is None


def test_runs_and_places_that_do_not_fit(tmp_path):
    with pytest.raises(TenfoldError, match="runs in one page have the same task"):
        explore("addition-base-2", "successor", out=tmp_path / "page.html")
    with pytest.raises(TenfoldError, match="at most 6"):
        explore(*["addition-base-2"] * 7, out=tmp_path / "page.html")
    with pytest.raises(TenfoldError, match="is a folder; name a file"):
        explore("addition-base-2", out=tmp_path)
    with pytest.raises(TenfoldError, match="there is no folder"):
        explore("addition-base-2", out=tmp_path / "none" / "page.html")
    with pytest.raises(TenfoldError, match='unknown run "additon"; did you mean "addition"'):
        explore("additon", out=tmp_path / "page.html")


def test_nothing_in_a_name_becomes_markup(tmp_path):
    run = made(tmp_path / "<script>alert(1)</script>")
    spec = exported(run)
    page = bundled(as_text([spec]), "<b>&")
    assert "<script>alert" not in page
    assert "<title>&lt;b&gt;&amp;</title>" in page


def test_modules_are_joined_whole():
    script = joined_modules()
    assert not re.search(r"^(import|export) ", script, re.MULTILINE)
    assert (
        script.index("function linear(")
        < script.index("class Stack ")
        < script.index("class Jobs ")
    )
    assert "innerHTML" not in script
    assert re.fullmatch(r"sha256-[\w+/]{43}=", digest(script))
