"""Own runs on a paper's page: before the committed curves of the same task, and without a word in its claims."""

import re

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.ledger.paper_report import write_paper
from tenfold.results.committed import SHELVES

FORMAT = {"name": "in-place", "frame": 22}


@pytest.fixture
def changed(make):
    """A run that was changed from the committed recipe `symmetry/addition-relative`."""

    def made(pe="alibi", seed=0, **more):
        name = f"symmetry/addition-relative-{pe}"
        return make(pe, seed, {5: 10, 10: 7}, name=name, format=FORMAT, **more)

    return made


@pytest.fixture(autouse=True)
def committed_results():
    if not any((shelf / "symmetry/addition").is_dir() for shelf in SHELVES):
        pytest.skip("committed results are not here")


def test_own_curves_before_the_committed_ones(changed, tmp_path):
    for seed in (0, 1):
        changed(seed=seed)
    changed("rotary")
    plain = write_paper("symmetry", tmp_path / "plain")["symmetry"].read_text()
    page = write_paper("symmetry", tmp_path / "out", runs=[tmp_path / "runs"])["symmetry"]
    text = page.read_text()
    own = text[text.index('<h2 id="your-runs">') : text.index("<fieldset")]
    assert '<a href="#your-runs">' in text
    assert re.findall(r"<li><svg.*?</svg>([^<]+)</li>", own) == [
        "symmetry/addition-relative-alibi", "symmetry/addition-relative-rotary",
        "symmetry/addition-relative, as committed",
    ]  # fmt: skip
    assert "70.0%<small>70.0%-70.0%</small>" in own
    assert re.search(r"In grey: \d+ other committed recipes of symmetry", own)
    for kind in ("png", "svg"):
        assert (page.parent / f"symmetry-with-addition-exact.{kind}").exists()
    claims = plain[plain.index("<fieldset") :]
    assert text.endswith(claims)  # nothing in it is decided by these runs
    assert "your-runs" not in plain


def test_another_task_is_shown_alone_and_says_so(changed, tmp_path):
    changed(task="subtraction")
    page = write_paper("symmetry", tmp_path / "out", runs=[tmp_path / "runs"])["symmetry"]
    assert "No committed run of symmetry has this task and format." in page.read_text()


def test_perplexity_has_its_own_figure(make, measured, tmp_path):
    rows = [measured(tokens, tokens, metric="perplexity") for tokens in (16, 32, 288)]
    make("rotary", rows=rows, name="extrapolation/code-alibi-rotary", task="python-code",
         format="bytes", model={"kind": "decoder"})  # fmt: skip
    runs = [tmp_path / "runs"]
    text = write_paper("extrapolation", tmp_path, runs=runs)["extrapolation"].read_text()
    assert "Python code: perplexity" in text


def test_bad_input(changed, tenfold, tmp_path):
    assert "name the paper: --paper" in tenfold("report", "--with", str(changed()))[2]
    (tmp_path / "empty").mkdir()
    with pytest.raises(TenfoldError, match='no measured runs to lay over the page of "symmetry"'):
        write_paper("symmetry", tmp_path / "out", runs=[tmp_path / "empty"])
    where = ("--paper", "symmetry", "--with", str(tmp_path / "runs"), "--out", str(tmp_path / "o"))
    assert tenfold("report", str(tmp_path / "runs"), *where)[2].startswith("error: a paper's page")
    code, out, _ = tenfold("report", *where)
    assert code in (0, None)
    assert "symmetry.html" in out
