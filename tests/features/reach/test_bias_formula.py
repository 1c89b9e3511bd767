"""Formulas that people write: read, never run."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenfold.core.errors import TenfoldError
from tenfold.features.reach.bias_formula import Formula


@pytest.mark.parametrize(
    ("text", "at_three"),
    [
        ("-n", -3),
        ("-(1 + n)**2 / 4", -4),
        ("-log(1 + n)*sqrt(4)", -2 * math.log(4)),
        ("-max(n, 5, 2) + min(n, 1)", -4),
        ("abs(-n) - exp(0)*2 - 1e1", -9),
        ("+n - pi", 3 - math.pi),
        ("2**-n", 0.125),
    ],
)
def test_arithmetic(text, at_three):
    assert Formula.read(text)(np.array([3.0])) == pytest.approx(at_three)


@given(st.integers(0, 10**6), st.floats(0.01, 10), st.floats(0.1, 3))
def test_against_python(n, k, p):
    found = Formula.read("-p*log(1+(k*n)**2) - k*n/(1+n)", {"k": k, "p": p})(np.array([float(n)]))
    assert found[0] == pytest.approx(-p * math.log(1 + (k * n) ** 2) - k * n / (1 + n))


@pytest.mark.parametrize("text", ["-1e-400*n", "-n*0.00001e-320", "-1E-999999999*n"])
def test_a_number_too_small_for_a_float_is_refused(text):
    """It is not zero: the series would converge."""
    with pytest.raises(TenfoldError, match="is too small to compute with"):
        Formula.read(text)
    assert Formula.read("0.0e-400 - n")(np.array([3.0])) == -3


ATTACKS = [
    "__import__('os').system('true')",
    "().__class__.__bases__[0].__subclasses__()",
    "n.__class__",
    "open('x')",
    "eval('1')",
    "exec('1')",
    "getattr(n, 'a')",
    "(lambda: n)()",
    "log.__globals__",
    "[n for n in (1, 2)]",
    "{n: 1}",
    "n[0]",
    "f'{n}'",
    "'a'*9",
    "n if n else 1",
    "n := 3",
    "n and 1",
    "not n",
    "n < 3",
    "n // 2",
    "n % 2",
    "n @ n",
    "1 << n",
    "n ^ 2",
    "~n",
    "True",
    "None",
    "...",
    "1j",
    "log(*n)",
    "log(**n)",
    "log(n, base=2)",
    "log(n)(n)",
    "log",
    "yield n",
    "await n",
    "n; n",
    "n\n",
    "",
    "# n",
    "(" * 400,
    "n\x00",
    "k",
    "-" * 400 + "n",
    "+".join(["n"] * 240),
    "9" * 400,
    "n" * 501,
    "0x10 * n",
    "1e999 * n",
]


@pytest.mark.parametrize("text", ATTACKS, ids=lambda text: text[:20])
def test_all_else_is_one_line(text):
    if text.strip() == "n":
        return  # a line's end is no part of it
    with pytest.raises(TenfoldError) as told:
        Formula.read(text)
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 300


@pytest.mark.parametrize(
    "text", ["9**9**9", "((2**99)**99)**99*n", "9**9**9**9**9 - n", "exp(exp(exp(9)))*n"]
)
def test_large_numbers_end_at_once(text):
    with pytest.raises(TenfoldError, match=r"is infinite|is not a number"):
        Formula.read(text)(np.arange(3.0))


@pytest.mark.parametrize("value", ["1e999999999", "1e-999999999", "nan", "inf", "x", "1/0", ""])
def test_parameters_are_numbers(value):
    right = "1e-300" if value == "1e-999999999" else "0.25"
    with pytest.raises(
        TenfoldError, match=rf"k = .*; (a finite number|one) such as {right} is right"
    ):
        Formula.read("k*n", {"k": value})


def test_names():
    with pytest.raises(TenfoldError, match=r'unknown name in the formula "slope".*--param slope='):
        Formula.read("-slope*n")
    with pytest.raises(TenfoldError, match='"n"; that name is taken'):
        Formula.read("-n", {"n": 1})
    with pytest.raises(TenfoldError, match='"k" does not occur in "-n"'):
        Formula.read("-n", {"k": 1})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("-log(n)", "infinite at the distance 0"),
        ("-log(5-n)", "infinite at the distance 5"),
        ("sqrt(3-n)", "not a number at the distance 4"),
    ],
)
def test_not_a_number(text, told):
    with pytest.raises(TenfoldError, match=told):
        Formula.read(text)(np.arange(100.0))
