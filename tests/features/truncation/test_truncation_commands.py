"""`tenfold theory predict`: what is printed, and what is refused."""

import json

import pytest

PREDICT = ("theory", "predict", "--task", "modular-addition", "--modulus", 51, "--digits", 4)


def test_json_is_a_list_of_lengths_and_accuracies(tenfold):
    code, out, err = tenfold(*PREDICT, "--lengths", "1-9", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert [each["length"] for each in found] == list(range(1, 10))
    assert all(0 <= each["accuracy"] <= 1 for each in found)
    assert [each["accuracy"] for each in found[:5]] == [1.0, 1.0, 1.0, 1.0, 0.0]
    assert found[8]["accuracy"] == pytest.approx(1 / 51, rel=1e-6)
    assert found[5]["exact"] == "161/8100"


def test_a_table_with_reasons(tenfold):
    code, out, _ = tenfold(*PREDICT, "--lengths", "4,5,6")
    assert code == 0
    head, *lines = out.splitlines()
    assert head.split() == ["digits", "accuracy", "exact", "why"]
    assert lines[0].split()[:3] == ["4", "100.00%", "1"]
    assert "A + B is 18 at the most" in lines[1]
    assert "right where 51 divides A + B" in lines[2]


@pytest.mark.parametrize("task", ["modular-addition", "modular-multiplication"])
def test_a_million_digits_at_once(tenfold, task):
    words = ("theory", "predict", "--task", task, "--modulus", 101, "--digits", 3)
    _, out, _ = tenfold(*words, "--lengths", 1_000_000, "--json")
    assert json.loads(out)[0]["accuracy"] == pytest.approx(0.01, abs=2e-4)
    assert json.loads(out)[0]["exact"] is None


def test_a_modulus_of_1(tenfold):
    words = ("theory", "predict", "--task", "modular-multiplication", "--modulus", 1, "--digits", 3)
    _, out, _ = tenfold(*words, "--lengths", "4,100", "--json")
    assert [each["accuracy"] for each in json.loads(out)] == [1.0, 1.0]


def test_columns_stand_below_each_other(tenfold):
    _, out, _ = tenfold(*PREDICT, "--lengths", "4,1000000,100000000000000")
    head, *lines = out.splitlines()
    for line in lines:
        assert line.index("%") + 1 == head.index("accuracy") + len("accuracy")
        assert len(line.split()[0]) + line.index(line.split()[0]) == head.index("digits") + 6


def test_as_runs_are_asked_and_in_another_base(tenfold):
    words = (
        "theory",
        "predict",
        "--task",
        "full-multiplication",
        "--digits",
        1,
        "--lengths",
        2,
        "--json",
    )
    _, out, _ = tenfold(*words, "--slice", "uniform", "--base", 2)
    assert json.loads(out)[0]["exact"] == "1/3"  # 0*2 0*3 2*0 3*0 of 12 pairs


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--task", "modular-addition", "--digits", 4, "--lengths", 5), '"modular-addition" needs a modulus'),
        (("--task", "mod-add", "--modulus", 7, "--digits", 4, "--lengths", 5), '"mod-add" is now called "modular-addition"'),
        (("--task", "mul", "--digits", 4, "--lengths", 5), '"mul" is now called "full-multiplication"'),
        (("--task", "plus", "--digits", 4, "--lengths", 5), 'unknown task of a prediction "plus"'),
        (("--task", "addition", "--digits", 0, "--lengths", 5), "numbers of 0 digits; at least 1"),
        (("--task", "addition", "--digits", 1, "--lengths", "x"), '"x" is not a length'),
        (("--task", "addition", "--digits", 1, "--lengths", "9-1"), "9 is above 1"),
        (("--task", "addition", "--digits", 1, "--lengths", "1-100000000000"), "too many lengths; 100,000"),
        (("--task", "addition", "--digits", 1, "--lengths", 5, "--base", 99), "base 99; 2 to 16"),
        (("--task", "addition", "--digits", 1, "--lengths", 5, "--slice", "x"), 'unknown slice of a'),
    ],
)  # fmt: skip
def test_what_is_refused(tenfold, words, told):
    code, out, err = tenfold("theory", "predict", *words)
    assert code not in (0, None)
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert told in err
