"""Bad input of every kind is one line on standard error, without escape sequences of a terminal."""

import json
import os

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.results.tables import Collected, query


def one_line(outcome):
    code, _, err = outcome
    assert code == 2
    assert err.startswith("error: ")
    assert len(err.splitlines()) == 1
    assert err.rstrip("\n").isprintable()
    return err


@pytest.mark.parametrize("name", ["**", "a**", "[", "*", "\udcff", "\x1b[31mred", "a\nb", "../*"])
def test_names_of_runs_are_no_patterns(tenfold, make, name):
    make()
    one_line(tenfold("show", name))


def test_components_with_components_as_options_in_json(tenfold):
    code, out, _ = tenfold("ls", "tasks", "truncated", "--json")
    assert code == 0
    assert json.loads(out)["name"] == "truncated"


@pytest.mark.parametrize("sql", ["select now()", "select current_timestamp as x", "select [now()]"])
def test_a_time_with_a_zone(sql):
    with pytest.raises(TenfoldError, match="is a time with a zone; write it as cast"):
        query(Collected(), sql)
    assert query(Collected(), "select cast(now() as timestamp) as x")[0] == ["x"]


@pytest.mark.parametrize("text", ["\x1b]0;title\x07", "\x1b[2J", "\r\x1b[1A", "\x9b31m", "\u202e"])
def test_errors_echo_no_escapes(tenfold, text):
    one_line(tenfold("train", f"{text}.yaml"))
    one_line(tenfold("ask", "addition", f"{text}1+2"))
    one_line(tenfold("theory", "trf", f"{text}n"))


def test_listings_and_warnings_echo_no_escapes(tenfold, make, tmp_path):
    make().rename(tmp_path / "runs" / "evil\x1b[31m")
    (tmp_path / "runs" / "damaged\x1b[31m").mkdir()
    (tmp_path / "runs" / "damaged\x1b[31m" / "recipe.yaml").write_text("{")
    for words in (("ls", "runs"), ("results", "runs")):
        _, out, err = tenfold(*words)
        assert "evil" in out + err
        assert "\x1b" not in out + err


@pytest.mark.parametrize("signs", [100, 498, 2000])
def test_many_minus_signs(tenfold, signs):
    one_line(tenfold("theory", "trf", "-" * signs + "n" if signs > 190 else "-" * signs + "m"))
    one_line(tenfold("ask", "subtraction", "-" * signs + "1-2"))


@pytest.mark.parametrize("name", ["result.json", "environment.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b"\xff", b"[" * 10**5, None])
def test_damaged_files_of_a_run(tenfold, make, tmp_path, name, content):
    folder = make()
    (folder / name).unlink(missing_ok=True)
    if content is None:
        os.mkfifo(folder / name)
    else:
        (folder / name).write_bytes(content)
    for words in (
        ("show", folder),
        ("results", "runs"),
        ("report", "runs"),
        ("ask", folder, "1+2"),
    ):
        _, _, err = tenfold(*words)
        assert "Traceback" not in err
        assert len(err.splitlines()) <= 3


def test_a_pipe_that_is_named_is_not_waited_for(tenfold, tmp_path):
    for name in ("a.yaml", "a.py"):
        os.mkfifo(tmp_path / name)
        one_line(tenfold("train", name))


def test_a_billion_layers(tenfold):
    err = one_line(
        tenfold("train", "symmetry/addition-relative", "--model.layers", 10**9, "--dry-run")
    )
    assert "model.layers" in err


def test_a_title_that_is_no_text(tenfold, make):
    make()
    one_line(tenfold("report", "runs", "--title", "\udcff"))


def test_problems_that_no_memory_holds(tenfold):
    said = one_line(tenfold("eval", "successor", "--lengths", 10**13, "--n", 1))
    assert "a length of 10,000,000,000,000 needs about" in said
    words = ("calibrate", "successor", "--out", "lines.json", "--samples", 10**13)
    assert "10,000,000,000,000 problems of length" in one_line(tenfold(*words))


@pytest.mark.parametrize("alpha", ["0", "1e400", "-inf", "nan"])
def test_a_weight_that_is_none(tenfold, alpha):
    said = one_line(tenfold("theory", "ring", f"--alpha={alpha}", "--steps", 1))
    assert "a weight between 1e-6 and 1e6" in said


def test_an_interrupt_has_a_word(tenfold, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tenfold.runs.run.open_run", interrupted)
    code, _, err = tenfold("ask", "successor", "7")
    assert (code, err) == (130, "stopped\n")
