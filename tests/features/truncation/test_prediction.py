"""Predicted accuracy against every pair of numbers there is."""

from fractions import Fraction

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import TASKS
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.digitwise_addition import DigitwiseAddition
from tenfold.data.tasks.arithmetic.full_multiplication import FullMultiplication
from tenfold.data.tasks.arithmetic.modular_addition import ModularAddition
from tenfold.data.tasks.arithmetic.modular_multiplication import ModularMultiplication
from tenfold.data.tasks.arithmetic.multiplication import Multiplication
from tenfold.data.tasks.arithmetic.subtraction import Subtraction
from tenfold.features.truncation.prediction import OPERATIONS, operation, predict
from tenfold.features.truncation.residue_counting import Dropped, of_products, of_sums, of_whole

SEVERAL = {"name": "several", "of": {"sum": "addition", "product": "full-multiplication"}}
MODULI = range(1, 201)


def pairs(length, slice="full", base=10):
    """All pairs of numbers of a length."""
    least = base ** (length - 1) if length > 1 else 0
    numbers = np.arange(least if slice == "full" else 0, base**length, dtype=np.int32)
    a, b = (axis.ravel() for axis in np.meshgrid(numbers, numbers))
    long = np.maximum(a, b) >= least
    return a[long], b[long]


def changes(product, digits, length, slice="full", base=10):
    """f(a, b) less f of their last digits, of every pair; modulo p the two agree where p divides it."""
    a, b = pairs(length, slice, base)
    limit = base**digits
    if product:
        return a * b - (a % limit) * (b % limit)
    return a + b - a % limit - b % limit


@pytest.mark.parametrize("slice", ["full", "uniform"])
@pytest.mark.parametrize("name", ["modular-addition", "modular-multiplication"])
@pytest.mark.parametrize(("digits", "length"), [(1, 1), (1, 2), (1, 3), (2, 3), (3, 3)])
def test_every_modulus_by_brute_force(name, digits, length, slice):
    change, counts = np.unique(
        changes(name == "modular-multiplication", digits, length, slice), return_counts=True
    )
    for modulus in MODULI:
        (found,) = predict(operation(name, modulus), digits, [length], slice=slice)
        right, of = int(counts[change % modulus == 0].sum()), int(counts.sum())
        assert found.exact == Fraction(right, of), modulus
        assert found.accuracy == right / of


@pytest.mark.parametrize("slice", ["full", "uniform"])
@pytest.mark.parametrize("name", ["modular-addition", "modular-multiplication"])
@pytest.mark.parametrize(
    ("base", "digits", "length"), [(2, 1, 7), (2, 4, 7), (3, 2, 5), (16, 1, 2), (7, 2, 3)]
)
def test_other_bases(name, base, digits, length, slice):
    change = changes(name == "modular-multiplication", digits, length, slice, base)
    for modulus in (2, 3, 8, 12, 35, 49, 97):
        (found,) = predict(operation(name, modulus), digits, [length], slice=slice, base=base)
        assert found.exact == Fraction(int((change % modulus == 0).sum()), len(change))


@pytest.mark.parametrize("slice", ["full", "uniform"])
@pytest.mark.parametrize("name", ["addition", "full-multiplication"])
@pytest.mark.parametrize(("digits", "length"), [(1, 1), (1, 2), (2, 3), (1, 3)])
def test_without_a_modulus(name, digits, length, slice):
    change = changes(name == "full-multiplication", digits, length, slice)
    (found,) = predict(operation(name), digits, [length], slice=slice)
    assert found.exact == Fraction(int((change == 0).sum()), len(change))


@pytest.mark.parametrize("slice", ["full", "uniform"])
@pytest.mark.parametrize(
    ("name", "modulus"),
    [
        ("modular-addition", 7),
        ("modular-multiplication", 30),
        ("addition", None),
        ("full-multiplication", None),
    ],
)
def test_a_function_and_a_task_agree_with_the_count(name, modulus, slice):
    """The same by trying all pairs of a function, and by what a task answers."""
    counted = predict(operation(name, modulus), 1, [1, 2], slice=slice)
    by_function = predict(lambda a, b: operation(name, modulus)(a, b), 1, [1, 2], slice=slice)
    assert [each.exact for each in by_function] == [each.exact for each in counted]
    product, modular = OPERATIONS[name]
    whole = FullMultiplication() if product else Addition()
    residues = (ModularMultiplication if product else ModularAddition)(modulus or 2)
    task = residues if modular else whole
    assert predict(task, 1, [1, 2], slice=slice) == counted
    task.operation = lambda: None  # then all its problems are tried
    tried = predict(task, 1, [1, 2], slice=slice)
    assert [each.exact for each in tried] == [each.exact for each in counted]
    assert "pairs are the same without" in tried[1].why


def test_a_task_that_theory_cannot_count():
    found = predict(DigitwiseAddition(), 1, [1, 2, 3])
    assert [each.exact for each in found] == [1, Fraction(1, 9), Fraction(1, 90)]


@pytest.mark.parametrize("slice", ["full", "uniform"])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_difference_whose_last_digits_have_no_answer_is_wrong(length, slice):
    """Two plain loops; the larger number is first, as it is drawn."""
    a, b = (each.tolist() for each in pairs(length, slice))
    problems = [(max(pair), min(pair)) for pair in zip(a, b, strict=True)]
    right = [x - y == x % 10 - y % 10 for x, y in problems]  # a difference is never below 0
    (found,) = predict(Subtraction(), 1, [length], slice=slice)
    assert found.exact == Fraction(sum(right), len(right))
    assert (found.exact == 1) == (length == 1)


def loops(function, length):
    """The share of pairs of this length that one digit alone answers, in Python's integers."""
    numbers = range(10 ** (length - 1), 10**length)
    right = [function(a, b) == function(a % 10, b % 10) for a in numbers for b in numbers]
    return Fraction(sum(right), len(right))


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: 7,
        lambda a, b: a**b % 5,  # overflows
        lambda a, b: a**9 * b**9 % 7,  # too
        lambda a, b: (99 - a) ** 30 % 5,  # and this where numbers are small
        lambda a, b: a if a % 3 else b,  # takes no arrays
        lambda a, b: (a % 2, b % 5),  # not a number
        np.gcd,
    ],
)
def test_any_function_of_two_numbers(function):
    assert predict(function, 1, [2])[0].exact == loops(function, 2)


def test_a_function_that_fails_says_where():
    with pytest.raises(TenfoldError, match="the function fails for 10 and 10: ZeroDivisionError"):
        predict(lambda a, b: a // (b % 10), 1, [2])
    with pytest.raises(TenfoldError, match="the function fails for 10 and 0: ZeroDivisionError"):
        predict(lambda a, b: a // b, 1, [2], slice="uniform")


@pytest.mark.parametrize("slice", ["full", "uniform"])
@pytest.mark.parametrize(
    ("name", "modulus", "limit"),
    [
        ("modular-addition", 51, 1 / 51),
        ("modular-addition", 30, 1 / 3),
        ("modular-addition", 50, 1.0),
        ("full-multiplication", None, 0.0),
    ],
)
def test_a_million_digits(name, modulus, limit, slice):
    (found,) = predict(operation(name, modulus), 4, [10**6], slice=slice)
    assert found.accuracy == pytest.approx(limit, abs=1e-15)
    assert found.exact_text is None or limit in (0.0, 1.0)


@pytest.mark.parametrize("slice", ["full", "uniform"])
def test_long_numbers_go_on_where_short_ones_end(slice):
    """The limit of 1,200 digits is what 900 digits, computed as a fraction, come to."""
    for name in ("modular-addition", "modular-multiplication"):
        near, far = predict(operation(name, 84), 1, [900, 1200], slice=slice)
        assert near.accuracy == far.accuracy
        assert near.exact != far.exact


@pytest.mark.parametrize("modulus", [101, 151])
def test_below_the_threshold_a_sum_is_never_right(modulus):
    """The first length at which two dropped parts can add up to p'."""
    found = predict(operation("modular-addition", modulus), 2, [2, 3, 4, 9])
    assert [each.accuracy > 0 for each in found] == [True, False, True, True]
    assert found[1].why == f"A + B is 18 at the most, not a multiple of {modulus}, A and B what is dropped"  # fmt: skip
    assert found[3].accuracy == pytest.approx(1 / modulus, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "modulus", "length", "why"),
    [
        ("modular-addition", 50, 9, "50 divides 10^4: what is dropped is a multiple of it"),
        ("modular-addition", 51, 4, "no number has more than 4 digits, so nothing is dropped"),
        ("modular-addition", 150, 9, "right where 3 = 150/gcd(150, 10^4) divides A + B"),
        ("modular-multiplication", 51, 9, "right where 51 divides A*b + B*a0"),
        ("addition", None, 5, "a dropped digit is missing from the sum"),
        ("full-multiplication", None, 5, "a dropped digit is missing from the product"),
    ],
)
def test_reasons(name, modulus, length, why):
    (found,) = predict(operation(name, modulus), 4, [length])
    assert found.why.startswith(why)


def test_a_product_that_is_never_right():
    (found,) = predict(operation("modular-multiplication", 997), 1, [2])
    assert (found.accuracy, found.why.split(",")[0]) == (0.0, "A*b + B*a0 is never a multiple of 997")  # fmt: skip


@pytest.mark.parametrize("slice", ["full", "uniform"])
@pytest.mark.parametrize("modulus", [1009, 10**30 + 57])
def test_products_that_are_too_many_to_count_are_tried(modulus, slice):
    change = changes(True, 1, 2, slice).tolist()
    (found,) = predict(operation("modular-multiplication", modulus), 1, [2], slice=slice)
    assert found.exact == Fraction(sum(each % modulus == 0 for each in change), len(change))
    assert "pairs are the same without" in found.why


@pytest.mark.parametrize("slice", ["full", "uniform"])
@pytest.mark.parametrize("length", [401, 900, 10**6])
def test_what_is_too_small_for_a_float_is_not_called_never(length, slice):
    """One in 10^400 is right; a float holds 0."""
    (found,) = predict(operation("modular-addition", 10**400 + 1), 1, [length], slice=slice)
    assert found.accuracy == 0.0
    assert found.why == "right where ~10^400 divides A + B, A and B what is dropped; 1/~10^400 for long numbers"  # fmt: skip


@pytest.mark.parametrize("slice", ["full", "uniform"])
def test_what_is_never_right_is_called_so(slice):
    """Up to the least length at which two dropped parts come to the modulus."""
    modulus = 10**400 + 1
    near, far = predict(operation("modular-addition", modulus), 1, [400, 401], slice=slice)
    assert near.why == "A + B is ~10^399 at the most, not a multiple of ~10^400, A and B what is dropped"  # fmt: skip
    assert near.exact == 0 < far.exact
    for length in range(2, 12):
        (found,) = predict(operation("modular-addition", 101010107), 1, [length], slice=slice)
        assert ("at the most, not" in found.why) == (found.exact == 0), length


def test_parts_are_shares():
    """Counts that are right cannot fall below 0 or rise above all."""
    for dropped in (Dropped(1), Dropped(2, zeros=True), Dropped(3, base=2)):
        for modulus in (3, 7, 77):
            for share in (of_sums(modulus, 1, dropped), of_products(modulus, 1, dropped)):
                assert 0 <= share.exact <= 1
        assert 0 <= of_whole(True, 1, dropped).exact <= 1


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_names_are_those_of_the_tasks(name):
    modulus = {"modulus": 51} if name.startswith("modular") else {}
    assert TASKS.build({"name": name, **modulus}).operation() == operation(name, **modulus)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: operation("plus"),
            'unknown task of a prediction "plus"; known: addition, full-multiplication, modular-addition, modular-multiplication',
        ),
        (lambda: operation("modular-addition"), '"modular-addition" needs a modulus, such as 51'),
        (
            lambda: operation("addition", 7),
            '"addition" has no modulus, and 7 was given; "modular-addition" has',
        ),
        (lambda: operation("modular-multiplication", 0), "a modulus of 0; at least 1"),
        (lambda: predict(np.gcd, 0, [1]), "trained on numbers of 0 digits; at least 1"),
        (lambda: predict(np.gcd, 1, [0]), "a length of 0 is too short"),
        (lambda: predict(np.gcd, 1, [1], slice="nines"), 'unknown slice of a prediction "nines"'),
        (lambda: predict(np.gcd, 1, [5]), "pairs of 5 digits are too many to try, 100,000,000 at"),
        (lambda: predict(np.gcd, 1, [10**12]), "pairs of 1,000,000,000,000 digits are too many"),
        (
            lambda: predict(operation("modular-multiplication", 1009), 1, [5]),
            "products modulo 1009: 1009 residues",
        ),
        (
            lambda: predict(operation("modular-multiplication", 10**400 + 1), 1, [5]),
            "products modulo ~10^400: ~10^400 residues",
        ),
        (lambda: predict(Multiplication(), 1, [2]), "has a multiplier of its own length"),
        (
            lambda: predict(TASKS.build(SEVERAL), 1, [2]),
            'the task "several" has several operations, + and *; predictions are of one',
        ),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(TenfoldError) as caught:
        call()
    assert message in str(caught.value)
