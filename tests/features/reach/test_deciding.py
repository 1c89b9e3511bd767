"""Which sums converge: by hand, by another way to the same formula, and by numbers."""

import math
import os

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.encodings import ENCODINGS, FIRE, SIZES, FoX, Rotary, ScalableSoftmax
from tenfold.features.reach.asymptotics import Expansions
from tenfold.features.reach.bias_formula import Formula
from tenfold.features.reach.bias_tables import table, tabled
from tenfold.features.reach.convergence_test import beyond, decide
from tenfold.features.reach.known_decays import recognised
from tenfold.features.reach.receptive_field import reach, reaches
from tenfold.features.reach.series_by_name import given as series_by_name
from tenfold.features.reach.series_by_name import series_of
from tenfold.features.reach.series_from_formula import written
from tenfold.features.reach.stated_series import stated_series, why_no_series

CONVERGE = [
    "-n/9", "-log(1+n)**2", "-sqrt(n)", "-n**0.01", "-1.01*log(1+n)", "-log(1+n**2)", "-log(1+sqrt(n))*3",
    "-log(3+n)-2*log(log(3+n))", "-log(3+n)-1.0001*log(log(3+n))", "-log(1+n)-sqrt(log(1+n))",
    "-log(3+n)*log(log(9+n))", "-max(n/9, 3)", "-abs(n-50)", "-((n+1)**2-n**2)", "-(n+1)**3/(n+2)**2",
    "-exp(1.5*log(1+n))", "log(2)-n", "-log(1+n)**1.0001", "-log(exp(-n)+(1+n)**2)",
    "-1.00000000000000001*log(1+n)",
]  # fmt: skip
DIVERGE = [
    "3", "0*n", "-log(1+n)", "-log(1+n)*0.999", "-log(3+n)-log(log(3+n))", "-log(3+n)-0.5*log(log(3+n))",
    "-log(1+n)+sqrt(log(1+n))", "-sqrt(log(1+n))", "-log(log(3+n))", "-n/(1+n)", "-min(n, 40)", "-exp(-n)", "n",
    "log(1+n)", "1/(1+n)", "-sqrt(n**2+n)+n", "-log(1+n)*(1+1/(1+n))", "-log(1+n)-1/(1+n)", "n-n",
    "-log(1+n)-sqrt(log(log(3+n)))",
]  # fmt: skip
FALL_FASTEST = [  # log b(n) leaves every power of n behind
    "-exp(n)", "-exp(n/9)-n", "n-exp(n)", "-n*exp(n)", "-exp(log(2+n)**2)", "-exp(n)**2", "-sqrt(exp(n))/9", "-exp(n)/(1+n)",
    "-abs(exp(n)-5)", "min(n, -exp(n))", "-max(n, exp(n))", "-exp(exp(n))", "-(1.5)**n", "-(1+n)**n", "(-exp(n))**3",
]  # fmt: skip
RISE_FASTEST = ["exp(n)", "exp(n)-n**9", "max(-n, exp(n/9))", "exp(n)*exp(n)", "(-exp(n))**2"]
BESIDE_GIANTS = {  # what is divided by a giant is nothing
    "-2*log(1+n)-1/exp(n)": True, "-log(1+n)+n/exp(n)": False, "-exp(-exp(n))": False, "max(-exp(n), -log(1+n))": False,
    "-exp(n)*0-2*n": True, "-exp(n)**(-2)-n": True,
}  # fmt: skip
UNDECIDED = [
    "-exp(n)+exp(2*n)", "-exp(n)/exp(2*n)", "-log(exp(n))", "-2**exp(n)", "-log(3+n)-log(log(3+n))-2*log(log(log(30+n)))", "-pi/3.141592653589793*log(1+n)",
    "-(sqrt(2)*sqrt(2)/2)*log(1+n)", "-log(1+n)**(sqrt(2)*sqrt(2)/2)", "-(sqrt(2)*sqrt(2)-2)*n",
    "-exp(sqrt(log(1+n)))", "-1/(n-n)",
]  # fmt: skip


NO_BIAS = ["-1/(n-n)", "-exp(n)+exp(2*n)", "-exp(n)/exp(2*n)"]  # not a number somewhere, in floats


@pytest.mark.parametrize(
    ("text", "expected"),
    [(t, True) for t in CONVERGE] + [(t, False) for t in DIVERGE] + [(t, None) for t in UNDECIDED],
)
def test_by_hand(text, expected):
    verdict = decide(Formula.read(text))
    assert verdict.converges is expected
    word = {True: "converges: ", False: "diverges: ", None: "undecided: "}[expected]
    assert verdict.why.startswith(word)
    if text not in NO_BIAS:
        (told,) = written(text).verdicts
        assert told.converges is expected
        assert told.why.startswith(word)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((text, True) for text in FALL_FASTEST),
        *((text, False) for text in RISE_FASTEST),
        *BESIDE_GIANTS.items(),
    ],
)
def test_what_outgrows_every_power(text, expected):
    verdict = decide(Formula.read(text))
    assert verdict.converges is expected
    n = 300.0 if expected else 40.0  # and numbers say the same
    value = float(Formula.read(text)(np.array([n]))[0])
    assert (value < -2 * math.log(n)) is expected


def test_the_fastest_fall_has_a_reach():
    (found,) = reach(written("-exp(n)"), 0.05)
    weights = [math.exp(-math.exp(n)) for n in range(9)]
    assert (found.low, found.high) == (2, 2)
    assert weights[0] <= 0.95 * sum(weights) < weights[0] + weights[1]


def test_p_is_told_as_it_is():
    assert decide(Formula.read("-1.00000000000000001*log(1+n)")).why.endswith("p = 1 + 1e-17")
    assert written("-1.00000001*log(1+n)").verdicts[0].why.endswith("p = 1 + 1e-08")


@given(st.fractions(0, 3, max_denominator=20), st.fractions(-2, 3, max_denominator=20))
def test_powers_of_n_and_its_logarithm(p, q):
    """1 / (n^p (ln n)^q) sums for p > 1, and for p = 1 if q > 1."""
    given = {"p": float(p), "q": float(q)}
    if any(abs(float(x) - 1) < 1e-6 and x != 1 for x in (p, q)):
        return
    verdict = decide(Formula.read("-p*log(3+n)-q*log(log(3+n))", given))
    assert verdict.converges == (p > 1 or (p == 1 and q > 1))


@pytest.mark.parametrize("text", [*CONVERGE, *DIVERGE])
def test_expansions_are_what_they_expand(text):
    """The leading terms, worked out at a large n, against the formula there."""
    formula = Formula.read(text)
    found = formula.within(Expansions())
    for n in (1e6, 1e9):
        scale = (math.log(n), math.log(math.log(n)))
        total = sum(
            float(c) * n ** float(a) * scale[0] ** float(b) * scale[1] ** float(e)
            for (a, b, e), c in found.terms
        )
        value = float(formula(np.array([n]))[0])
        rest = 0.0
        if found.rest is not None:
            a, b, e = map(float, found.rest)
            rest = 50 * n**a * scale[0] ** b * scale[1] ** e
        assert abs(total - value) <= rest + 1e-6 * max(1, abs(value)) + 4e-16 * n


@pytest.mark.parametrize(
    "text", ["((((2**99)**99)**99)**99)*n", "*".join(f"(1+log({i}+n))" for i in range(1, 25))]
)
def test_what_would_explode_ends(text):
    formula = Formula.read(text)
    decide(formula)
    assert recognised(formula) is None


@pytest.mark.parametrize(
    ("texts", "name", "options"),
    [
        (("-n/4", "3-n*0.25", "-0.5**2*n", "-(n+n)/8"), "alibi", {}),
        (("-log(1+(n/4)**2)", "-log(16+n**2)", "-log(1+n*n/16)"), "type-1", {}),
        (("-log(3+n/4)**2", "-log(3+0.25*n)*log(n/4+3)"), "type-2", {}),
        (("-sqrt(n/4)", "-(n/4)**0.5", "-n**0.5/2"), "power", {}),
        (("-(n/4)**2", "-n*n/16"), "power", {"power": 2.0}),
    ],
)
def test_the_same_whatever_way_it_is_written(texts, name, options):
    pe = ENCODINGS.factory(Spec(name=name, options=options), SIZES)(heads=4)  # head 1: slope 1/4
    expected = [fields[0] for fields in reaches(pe.series(), [0.1, 0.001])]
    for text in texts:
        series = written(text)
        assert series.decay is pe.series().decay
        assert [fields[0] for fields in reaches(series, [0.1, 0.001])] == expected


@pytest.mark.parametrize("eps", [0.3, 0.01, 1e-5])
@pytest.mark.parametrize(
    ("known", "hidden"),
    [
        ("-n/1000", "-max(n/1000, 0)"),
        ("-log(1+(n/1000)**2)", "-max(log(1+(n/1000)**2), 0)"),
        ("-1.5*log(1+n)", "-max(1.5*log(1+n), 0)"),
        ("-(n/3000)**0.5", "-max((n/3000)**0.5, 0)"),
    ],
)
def test_bounds_by_numbers_hold_what_is_known(known, hidden, eps):
    """The same formula twice, once written so that nobody recognises it."""
    (proved,), (numeric,) = reach(written(known), eps), reach(written(hidden), eps)
    assert written(hidden).decay.assumes.startswith("numeric")
    assert not written(known).decay.assumes
    assert numeric.low <= proved.high
    assert proved.low <= numeric.high
    assert numeric.high - numeric.low <= 0.001 * numeric.high + 1


@pytest.mark.parametrize(
    ("q", "eps", "truth"),
    [(1.1, 0.8, 5769), (2, 0.05, 133_292_087), (1.01, 0.95, 10**68)],  # by Euler and Maclaurin
)
def test_much_lies_beyond_what_floats_can_hold(q, eps, truth):
    """Of 1/(n (ln n)^q) a good part lies beyond 10^300."""
    (found,) = reach(written("-log(3+n)-q*log(log(3+n))", {"q": [q]}), eps)
    assert found.low <= truth
    assert found.high is None or found.high >= truth
    assert truth > 2**62 or found.high < 4 * truth


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-1.5*log(1+n)", 2),  # x b(x) / (p - 1)
        ("-log(3+n)-3*log(log(3+n))", math.log(1e300) / 2),  # x b(x) ln x / (q - 1)
        ("-1.01*log(3+n)+3*log(log(3+n))", 157.8),  # by quadrature
    ],
)
def test_what_lies_beyond(text, expected):
    low, high = beyond(Formula.read(text), 1e300)
    assert low <= expected <= high < math.inf


@pytest.mark.parametrize("text", ["-max(1e-305*n, 0)", "-exp(sqrt(log(1+n)))"])
def test_what_lies_beyond_is_not_known(text):
    assert beyond(Formula.read(text), 1e300)[1] == math.inf


def test_weights_that_still_grow_have_no_bounds():
    series = written("-(n/1e6 - 3)**2")
    assert series.verdicts[0].converges
    with pytest.raises(TenfoldError, match="still grow at a distance of 3e\\+06"):
        reach(series)


def test_heads_by_parameter():
    two = written("-p*log(1+n)", {"p": ["1", "2"]})
    assert [verdict.converges for verdict in two.verdicts] == [False, True]
    first, second = reach(two, 0.05)
    assert first is None
    assert second.low == second.high
    mixed = written("-max(p*log(1+n), 0)", {"p": [1, 2]})
    assert [verdict.converges for verdict in mixed.verdicts] == [False, True]
    assert reach(mixed, 0.05) == [None, second]
    with pytest.raises(TenfoldError, match="2 values of q for 3 heads"):
        written("-p*log(1+n)-q*n", {"p": [1, 2, 3], "q": [1, 2]})


@pytest.mark.parametrize("name", ENCODINGS.names())
def test_every_encoding_says_what_it_is(name):
    for options in ENCODINGS[name].examples(64):
        pe = ENCODINGS.factory(Spec(name=name, options=options), SIZES)(
            width=32, heads=4, head_size=8
        )
        series = series_of(pe)
        if series is None:
            assert pe.ways & {"scores", "bias", "state", "visible", "normalise"}
            assert len(why_no_series(pe)) > 20
            continue
        assert len(series.verdicts) == series.heads
        for verdict in series.verdicts:
            word = {True: "converges: ", False: "diverges: "}[verdict.converges]
            assert verdict.why.startswith(word)
        assert [v.converges for v in series.verdicts] == series.converges


@pytest.mark.parametrize("pe", [Rotary(8), FIRE(4), FoX(32, 4), ScalableSoftmax(4)], ids=repr)
def test_no_function_of_distance_alone(pe):
    assert stated_series(pe) is None


@pytest.mark.parametrize(("name", "why"), [("fox", "what the tokens contain"), ("scalable-softmax", "how many keys")])  # fmt: skip
def test_reach_that_depends_on_content_is_not_stated(name, why):
    stated = series_by_name(name, heads=4)
    assert stated.series is None
    assert why in stated.why_not


def test_tables(tmp_path):
    path = tmp_path / "bias.txt"
    path.write_text("# two heads\n0 0\n-1, -inf\n-2 -1\n\n")
    series = table(path)
    assert series.heads == 2
    assert series.decay.ends == 3
    assert series.verdicts[0].converges is None
    assert reach(series) == [None, None]
    assert [head.low for head in reach(series, 0.05, within=3)] == [3, 3]
    assert [head.low for head in reach(series, 0.3, within=3)] == [2, 1]
    path.write_text("4 2 1 1")
    assert torch.equal(
        table(path, weights=True).log_b(torch.arange(4)).exp().round(decimals=9),
        torch.tensor([[1, 0.5, 0.25, 0.25]], dtype=torch.float64),
    )
    with pytest.raises(TenfoldError, match="within 5 tokens; the table ends at 4"):
        reach(table(path), within=5)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no numbers"),
        ("# only notes", "holds no numbers"),
        ("1 2\n3", "1 numbers for distance 1, 2 for distance 0"),
        ("1\nx", 'line 2: "x"; a finite number'),
        ("1\nnan", 'line 2: "nan"'),
        ("inf", 'line 1: "inf"'),
        ("-inf\n-inf", "a head that sees nothing"),
    ],
)
def test_no_table(tmp_path, text, told):
    (tmp_path / "bias.txt").write_text(text)
    with pytest.raises(TenfoldError, match=told):
        table(tmp_path / "bias.txt")


def test_no_text(tmp_path):
    (tmp_path / "bias.txt").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(TenfoldError, match="is not text"):
        table(tmp_path / "bias.txt")
    with pytest.raises(TenfoldError, match="cannot be read: No such file"):
        table(tmp_path / "none.txt")


def test_a_pipe_is_no_table(tmp_path):
    """It would be waited for."""
    os.mkfifo(tmp_path / "bias.txt")
    with pytest.raises(TenfoldError, match="no regular file"):
        table(tmp_path / "bias.txt")


def test_evidence_of_a_table_is_no_verdict():
    n = torch.arange(1000, dtype=torch.float64)
    verdict = tabled(-2 * torch.log1p(n)[None]).verdicts[0]
    assert verdict.converges is None
    assert "from 99 to there it goes like n^-1.99" in verdict.why


@pytest.mark.parametrize("text", ["-1e-200*1e-200*n", "-(1e-200**2)*n", "-n/1e200/1e200"])
def test_a_product_smaller_than_any_float_is_not_zero(text):
    verdict = decide(Formula.read(text))
    assert verdict.converges is None
    assert "a number leaves what floats can hold" in verdict.why
