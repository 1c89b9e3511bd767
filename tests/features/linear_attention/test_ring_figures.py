"""The pictures of the ring, and the command that draws them."""

import json
import sys

import pytest

from tenfold.cli.app import main

SMALL = ("--length", "13", "--window", "5", "--width", "30", "--steps", "300")


@pytest.fixture
def tenfold(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["tenfold", "theory", "ring", *words])
        with pytest.raises(SystemExit) as done:
            main()
        out, err = capsys.readouterr()
        return done.value.code, out, err

    return call


def test_a_table(tenfold):
    code, out, _ = tenfold(*SMALL)
    assert code == 0
    heading, *models, zero = out.splitlines()
    assert heading.split() == ["train", "loss", "test", "loss", "inside", "beyond"]
    assert [line.split("  ")[0] for line in models] == [
        "absolute",
        "absolute, shifted windows",
        "relative",
    ]
    assert zero == "a model that says 0 has loss 4.5"


def test_figures_and_numbers(tenfold, tmp_path):
    code, out, _ = tenfold(*SMALL, "--neighbours", "2", "--simulate", "--out", "drawn", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["zero_loss"] == pytest.approx(4 + 2 * ((2 / 3) ** 2 + (1 / 3) ** 2))
    losses = told["models"]
    assert losses["absolute"]["beyond"] == pytest.approx(told["zero_loss"], rel=0.02)
    assert losses["relative"]["test_loss"] < 0.1 * losses["augmented"]["test_loss"]
    for each in losses.values():
        assert each["simulated_test_loss"] == pytest.approx(each["test_loss"], rel=0.2, abs=0.02)
    assert set(told["figures"]) == {"train", "test", "learned"}
    for name in told["figures"]:
        assert (tmp_path / "drawn" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / "drawn" / f"{name}.svg").read_text()


def test_a_window_may_be_the_whole_ring(tenfold):
    code, out, _ = tenfold("--length", "7", "--window", "7", "--width", "20", "--steps", "50")
    assert code == 0
    assert "beyond" not in out


def test_what_cannot_be_is_one_line(tenfold):
    code, out, err = tenfold("--window", "60")
    assert (code, out) == (2, "")
    assert err == "error: a window of 60 positions on a ring of 51\n"


@pytest.mark.parametrize("flag", ["length", "width", "neighbours"])
def test_what_no_memory_holds_is_refused(tenfold, flag):
    code, out, err = tenfold(f"--{flag}", str(10**9))
    assert (code, out) == (2, "")
    assert err.startswith(f"error: --{flag} is 1000000000; 5000 is the most")
