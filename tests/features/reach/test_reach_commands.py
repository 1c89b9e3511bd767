"""Reach from the command line."""

import json

import pytest

RECIPE = """
name: small
format: reversed
pe: PE
data: {length: 2, sampler: lengths}
model: {kind: decoder, layers: 2, width: 16, heads: 2}
train: {steps: 2, batch: 8}
eval: {lengths: [2], slices: [uniform], n: 8, every: 2}
"""


def test_trf_as_json(tenfold):
    code, out, _ = tenfold("theory", "trf", "alibi", "--heads", 8, "--eps", "0.05", "--json")
    assert code == 0
    told = json.loads(out)
    assert [head["trf"] for head in told["heads"]] == [6, 12, 24, 48, 96, 192, 384, 767]
    assert {head["converges"] for head in told["heads"]} == {True}
    assert told["heads"][0]["why"] == "converges: a geometric series"
    assert told["heads"][0]["bounds"] == [6, 6]
    numbers = {"min": 6, "median": 48, "max": 767}
    bounds = {name: [number, number] for name, number in numbers.items()}
    assert told["model"] == {**numbers, "bounds": bounds}
    assert (told["eps"], told["within"], told["layers"]) == (0.05, None, None)


def test_trf_of_a_formula(tenfold):
    words = ("theory", "trf", "-log(1+(k*n)**2)", "--param", "k=0.25,0.5", "--eps", "0.05,0.01")
    code, out, _ = tenfold(*words)
    assert code == 0
    assert out.splitlines()[1].split() == ["head", "series", "eps", "0.05", "eps", "0.01"]
    assert out.splitlines()[2].split()[:3] == ["1", "converges", "48"]
    told = json.loads(tenfold(*words, "--layers", 3, "--json")[1])
    assert [each["eps"] for each in told["shares"]] == [0.05, 0.01]
    first = told["heads"][0]["layers"]
    assert first["at_least"] <= first["trf"] <= first["at_most"]


def test_an_estimate_is_told_as_one(tenfold):
    """No more digits than are known, and what is too far to say is not what is not there."""
    _, out, _ = tenfold("theory", "trf", "-log(3+n)-2*log(log(3+n))", "--eps", "0.05,0.01")
    assert "eps 0.05: min 1.22e+08-1.47e+08, median 1.22e+08-1.47e+08" in out
    assert "eps 0.01: min > 4.6e+18, median > 4.6e+18, max > 4.6e+18 over heads" in out
    _, out, _ = tenfold("theory", "compare", "-log(3+n)-2*log(log(3+n))", "--eps", "0.01")
    assert "> 4.6e+18 / > 4.6e+18 / > 4.6e+18" in out
    words = ("-log(3+n)-2*log(log(3+n))", "--train", 9, "--serve", 99, "--eps", "0.05,0.01")
    _, out, _ = tenfold("theory", "advise", *words)
    assert "1.22e+08-1.47e+08  > 4.6e+18" in out


def test_trf_of_what_diverges(tenfold):
    told = json.loads(tenfold("theory", "trf", "sandwich", "--heads", 2, "--json")[1])
    assert [(head["converges"], head["trf"]) for head in told["heads"]] == [(False, None)] * 2
    assert "though it falls over practical ranges" in told["heads"][0]["why"]
    told = json.loads(
        tenfold("theory", "trf", "sandwich", "--heads", 2, "--within", 512, "--json")[1]
    )
    assert all(1 <= head["trf"] <= 512 for head in told["heads"])


def test_trf_of_a_table(tenfold, tmp_path):
    (tmp_path / "bias.csv").write_text("\n".join(f"{-i / 2},{-i / 4}" for i in range(100)))
    code, out, _ = tenfold("theory", "trf", "bias.csv", "--json")
    assert code == 0
    told = json.loads(out)
    assert [(head["converges"], head["trf"]) for head in told["heads"]] == [(None, 6), (None, 12)]
    assert told["within"] == 100
    assert "within 100 tokens" in tenfold("theory", "trf", "bias.csv")[1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("trf", "-k*n"), 'unknown name in the formula "k"'),
        (("trf", "__import__('os')"), 'the formula calls "__import__"'),
        (("trf", "alibi", "--eps", "0"), "a share eps of 0.0; above 0 and below 1"),
        (("trf", "alibi", "--eps", "1.5"), "a share eps of 1.5; above 0 and below 1"),
        (("trf", "alibi", "--eps", "x"), 'eps is "x"'),
        (("trf", "alibi", "--heads", "0"), "0 heads; at least 1"),
        (("trf", "alibi", "--within", "0"), "within 0 tokens"),
        (("trf", "sandwich", "--within", "99999999999"), "at most 4,194,304"),
        (("trf", "alibi", "--param", "k"), "a name and its value are right"),
        (("trf", "-k*n", "--param", "k=1", "--param", "k=2"), "the parameter k is given twice"),
        (("trf", "alibi", "--layers", "0"), "0 layers; 1 to 1000"),
        (("trf", "fire"), '"fire" has no reach before training: its bias depends on the place'),
        (("trf", "nothing.txt"), "nothing.txt cannot be read: No such file"),
        (("compare",), "nothing to compare"),
        (("compare", "alibi", "--eps", "1"), "above 0 and below 1"),
        (("advise", "--train", "9", "--serve", "8"), "serving no shorter than training"),
        (("erf", "run", "--length", "3"), "is now called: tenfold erf run --length 3"),
        (("erf",), "is now called: tenfold erf RUN"),
    ],
)
def test_bad_input_is_one_line(tenfold, words, told):
    code, out, err = tenfold("theory", *words)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert told in err


def test_compare(tenfold, tmp_path):
    words = ("theory", "compare", "alibi", "inverse", "fire", "-k*n", "--param", "k=0.5")
    code, out, _ = tenfold(*words, "--plot", "drawn/reach.png")
    assert code == 0
    assert (tmp_path / "drawn" / "reach.png").read_bytes().startswith(b"\x89PNG")
    assert "fire: its bias depends on the place of the query too" in out
    told = json.loads(tenfold(*words, "--json")[1])
    assert [each["converges"] for each in told["encodings"]] == [True, False, None, True]
    numbers = {"min": 6, "median": 48, "max": 767}
    bounds = {name: [number, number] for name, number in numbers.items()}
    assert told["encodings"][0]["trf"] == {**numbers, "bounds": bounds}
    nothing = dict.fromkeys(numbers)
    assert told["encodings"][1]["trf"] == {**nothing, "bounds": nothing}
    assert told["encodings"][1]["within"]["max"] <= 2048
    assert told["encodings"][2]["trf"] is None


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (("alibi", "type-1", "--plot"), "reach.png"),
        (("alibi", "--plot", "-n/9"), "reach.png"),
        (("--plot", "drawn/a.png", "alibi", "type-1"), "drawn/a.png"),
        (("alibi", "--plot", "a.png", "type-1"), "a.png"),
        (("alibi", "type-1", "--plot=b.svg"), "b.png"),
    ],
)
def test_a_figure_needs_no_name(tenfold, tmp_path, words, file):
    code, out, err = tenfold("theory", "compare", *words)
    assert (code, err) == (0, "")
    assert (tmp_path / file).read_bytes().startswith(b"\x89PNG")
    assert f"\n{file}\n" in out
    assert out.splitlines()[2].startswith("alibi")
    assert out.splitlines()[3].startswith(("type-1", "-n/9"))


def test_compare_and_advise_say_the_same(tenfold):
    compared = json.loads(tenfold("theory", "compare", "kerple-log", "--json")[1])
    advised = json.loads(
        tenfold("theory", "advise", "kerple-log", "--train", 9, "--serve", 99, "--json")[1]
    )
    for told in (compared, advised):
        assert told["encodings"][0]["verdict"] == "converges in 3 of 8 heads"
    assert "converges in 3 of 8 heads" in tenfold("theory", "compare", "kerple-log")[1]


def test_advise(tenfold):
    words = ("theory", "advise", "alibi", "sandwich", "fire", "--train", 2048, "--serve", 16384)
    code, out, _ = tenfold(*words)
    assert code == 0
    assert "should hold" in out
    assert "Keeping perplexity is not using a longer text" in out
    told = json.loads(tenfold(*words, "--json")[1])
    alibi, sandwich, fire = told["encodings"]
    assert alibi["trf"]["0.05"]["max"] == 767
    assert sandwich["converges"] is False
    assert fire["adds"] is None
    assert len(told["limits"]) >= 3


@pytest.mark.parametrize(("pe", "has_theory"), [("alibi", True), ("fire", False)])
def test_erf(tenfold, tmp_path, pe, has_theory):
    (tmp_path / "small.yaml").write_text(RECIPE.replace("PE", pe))
    assert tenfold("train", "small.yaml", "--out", "run")[0] == 0
    code, out, _ = tenfold("erf", "run", "--length", 3, "--n", 4, "--json")
    assert code == 0
    told = json.loads(out)
    assert [layer["layer"] for layer in told["layers"]] == [1, 2]
    for layer in told["layers"]:
        assert 1 <= layer["gradient"] <= told["tokens"]
        for head in layer["heads"]:
            assert 1 <= head["attention"] <= told["tokens"]
            assert 1 <= head["gradient"] <= told["tokens"]
            assert (head["theory"] is not None) == has_theory
    code, out, err = tenfold("erf", "run")
    assert "measuring attention, 16/16" in err
    assert "the whole model, by gradient: " in out
    for words in (("--length", 0), ("--n", 0), ("--eps", 2), ("--seed", -1)):
        code, _, err = tenfold("erf", "run", *words)
        assert (code, err.count("\n")) == (2, 1)
