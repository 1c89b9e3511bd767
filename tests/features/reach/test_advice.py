"""What is said of a longer length."""

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.encodings import ENCODINGS
from tenfold.features.reach.advice import advise
from tenfold.features.reach.measured_rise import measured_rises
from tenfold.features.reach.receptive_field import reach
from tenfold.features.reach.series_by_name import given, several


@pytest.fixture(scope="module")
def all_of_them():
    return {each.name: each for each in advise(2048, 16384)}


def test_every_encoding_is_there(all_of_them):
    assert all_of_them.keys() == set(ENCODINGS.names())


def test_of_those_that_need_options_the_reason_is_said(all_of_them):
    assert all_of_them["log-length"].verdict == "no series"
    assert "temperature" in all_of_them["log-length"].why
    assert "several encodings" in all_of_them["per-layer"].why


def test_what_is_expected(all_of_them):
    assert all_of_them["alibi"].expect.startswith("should hold: a longer text adds 0.0%")
    assert all_of_them["type-1"].expect.startswith("should hold in the end, but not yet settled")
    assert all_of_them["inverse"].expect.startswith("should get worse")
    assert all_of_them["none"].adds == (7, 7)
    assert all_of_them["fire"].verdict == "no series"
    assert "not on distance alone" in all_of_them["fire"].why
    assert all_of_them["kerple-log"].learned
    assert all_of_them["hard-alibi"].verdict == "converges in 4 of 8 heads"
    assert all_of_them["hard-alibi"].converges is None


@pytest.mark.parametrize("name", ["sandwich", "kerple-log"])
def test_divergent_in_the_limit_alone(all_of_them, name):
    """They kept their perplexity at 18 times the training length: some heads are settled."""
    told = all_of_them[name]
    assert told.adds[0] <= 0.05 < told.adds[1]
    assert told.expect.startswith("diverges in the limit alone, some heads are settled: ")
    assert "such encodings held in our runs" in told.expect


def test_divergent_in_practice(all_of_them):
    """A longer text adds weight to every head."""
    for name in ("inverse", "inverse-log", "none"):
        assert all_of_them[name].adds[0] > 0.05
        assert all_of_them[name].expect.startswith("should get worse")


@pytest.mark.parametrize("name", ["rotary", "rotary-yarn", "sinusoidal", "learned", "xpos"])
def test_of_rotations_theory_says_nothing(all_of_them, name):
    advice = all_of_them[name]
    assert (advice.expect, advice.verdict) == ("theory says nothing", "no bias")
    assert (advice.converges, advice.adds, advice.unseen) == (None, None, None)


@pytest.mark.parametrize(("train", "serve"), [(512, 2304), (2048, 16384)])
def test_the_most_useful_first(train, serve):
    """A window of 17 tokens holds, and is of little use; what theory says nothing of comes last."""
    names = [each.name for each in advise(train, serve)]
    assert names.index("window") > names.index("alibi")
    assert names.index("window") > names.index("type-1")
    assert names.index("window") < names.index("inverse") < names.index("rotary")


def test_what_is_lost(all_of_them):
    assert all_of_them["window"].unseen == pytest.approx(1 - 17 / 16384)
    assert all_of_them["alibi"].unseen == pytest.approx(1 - 767 / 16384)
    assert all_of_them["inverse"].unseen == 0


def test_measured_results_stand_beside_theory(all_of_them, tmp_path):
    alibi, rotary = all_of_them["alibi"].measured, all_of_them["rotary"].measured
    assert (alibi.train, alibi.serve, alibi.runs) == (128, 2304, 4)
    assert alibi.most < 1 < 5 < rotary.least
    assert all_of_them["power"].measured is None  # committed with several exponents
    assert all_of_them["window"].measured is None  # not committed
    assert measured_rises([tmp_path]) == {}


def test_divergent_in_the_limit_yet_settled():
    """p = 1 with a steep slope adds little over a short range, whatever happens in the end."""
    (told,) = advise(2048, 2100, [given("kerple-log", 4, {"p": [1.0], "a": [1.0]})])
    assert told.converges is False
    assert told.expect.endswith("though in the limit it has no bound")


def test_a_table_that_ends_before(tmp_path):
    (tmp_path / "bias.txt").write_text("\n".join(str(-i) for i in range(100)))
    (told,) = advise(50, 200, [given(str(tmp_path / "bias.txt"))])
    assert told.expect == "theory says nothing: the table ends before"
    assert told.verdict == "undecided"


def test_what_is_undecided_is_not_divergent(tmp_path):
    (tmp_path / "bias.txt").write_text("0\n0\n0\n")
    (told,) = advise(2, 3, [given(str(tmp_path / "bias.txt"))])
    assert told.expect.startswith("undecided: a longer text adds 50.0% to the weight")
    assert [str(fields[0]) for fields in told.reaches] == ["2", "3", "3"]  # within the table
    (told,) = advise(64, 128, [given("-exp(sqrt(log(1+n)))")])
    assert told.expect.endswith("adds 1.9% to the weight, the limit is undecided")


def test_what_falls_faster_than_any_power_holds():
    (told,) = advise(64, 128, [given("-exp(n)")])
    assert (told.converges, told.verdict) == (True, "converges")
    assert told.expect == "should hold: a longer text adds 0.0% to the weight"


@pytest.mark.parametrize(("train", "serve"), [(0, 9), (9, 8), (-1, -1)])
def test_no_lengths(train, serve):
    with pytest.raises(TenfoldError, match="serving no shorter than training"):
        advise(train, serve)


def test_too_long():
    with pytest.raises(TenfoldError, match="at most 4,194,304"):
        advise(9, 10**9)


def test_parameters_go_where_they_belong():
    log, power, own = several(["kerple-log", "power", "-p*n"], 2, {"p": [3], "power": [2]})
    assert log.series.verdicts[0].why.endswith("p = 3")
    assert not log.series.decay.assumes
    assert power.series.parameters[1].tolist() == [[2], [2]]
    assert own.series.parameters[0].tolist() == [[3]]
    with pytest.raises(TenfoldError, match='a parameter "q"; none of alibi, -n has it'):
        several(["alibi", "-n"], 2, {"q": [1]})


def test_learned_numbers_are_taken_in_double_precision():
    about = given("kerple-log", 2, {"p": ["1.1", "1.00000001"], "a": ["1"]})
    assert [verdict.converges for verdict in about.series.verdicts] == [True, True]
    first = reach(about.series, 0.1)[0]
    assert first.low <= 5_666_536_271 <= first.high  # by mpmath, a zeta function


@pytest.mark.parametrize(
    ("text", "parameters", "told"),
    [
        ("alibbi", {}, 'unknown encoding "alibbi"; did you mean "alibi"'),
        ("alibi", {"k": [1]}, 'unknown parameter of "alibi" "k"'),
        (
            "kerple-log",
            {"p": [1, 2, 3]},
            '3 values of p of "kerple-log"; one, or one for each of 8',
        ),
        ("kerple-log", {"p": ["x"]}, "p = x; a finite number such as 0.25 is right"),
        ("kerple-log", {"p": ["nan"]}, "p = nan; a finite number"),
        ("kerple-log", {"p": ["inf"]}, "p = inf; a finite number"),
        ("kerple-log", {"p": [1, -1, 1, 1, 1, 1, 1, 1]}, "p = -1; .* at least 0.01 is right"),
        ("kerple-power", {"p": [3]}, 'p = 3; in "kerple-power" 0.01 to 2 is right'),
        ("kerple-log", {"p": ["1.00000000000000001"]}, "too near to 1"),
        ("fire", {"c": [1]}, 'unknown parameter of "fire" "c"'),
        ("power", {"power": [1, 2]}, "2 values of power"),
        ("power", {"power": [-1]}, "power is -1"),
        ("none.txt", {}, "cannot be read"),
        ("compose", {}, "parts is missing"),
    ],
)
def test_one_line(text, parameters, told):
    with pytest.raises(TenfoldError, match=told):
        given(text, 8, parameters)
