"""Every sampler keeps its promise."""

import itertools

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.tasks import SAMPLERS, TASKS, samplers
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.carries import consecutive_carries, longest_cascade
from tenfold.features.complexity import complexity as distributions

N = 2000


def carries(operands, base):
    """Which columns carry, by plain loops: (N, M, W) -> a list of lists."""
    rows = []
    for example in operands.tolist():
        carry, row = 0, []
        for column in zip(*example, strict=True):
            carry = (sum(column) + carry) // base
            row.append(carry)
        rows.append(row)
    return rows


def slow_cascade(example, base):
    """The longest cascade of one pair, column by column."""
    longest = run = 0
    for a, b in zip(*example, strict=True):
        if a + b >= base:
            run = 1
        elif a + b == base - 1 and run:
            run += 1
        else:
            run = 0
        longest = max(longest, run)
    return longest


@pytest.mark.parametrize("terms", [2, 3])
@pytest.mark.parametrize("base", [2, 10, 16])
class TestPromises:
    def test_exact(self, rng, terms, base):
        _, lengths = samplers.exact(rng, N, 5, terms, base)
        assert (lengths == 5).all()

    def test_longest(self, rng, terms, base):
        digits, lengths = samplers.longest(rng, N, 5, terms, base)
        assert (lengths.max(1) == 5).all()
        assert lengths.min() < 5
        assert (digits[..., -1].max(1) > 0).all()

    def test_unequal(self, rng, terms, base):
        _, lengths = samplers.unequal(rng, N, 5, terms, base)
        assert ((lengths == 5).sum(1) == 1).all()
        assert set(lengths.ravel().tolist()) == {1, 2, 3, 4, 5}
        assert len(set(lengths.argmax(1).tolist())) == terms  # in any place

    def test_lengths(self, rng, terms, base):
        _, lengths = samplers.lengths(rng, N, 5, terms, base)
        counts = np.bincount(lengths.ravel(), minlength=6)[1:]
        expected = N * terms / 5
        assert (abs(counts - expected) < 5 * expected**0.5).all()

    def test_numbers(self, rng, terms, base):
        digits, _ = samplers.numbers(rng, N, 2, terms, base)
        values = digits[..., 0].astype(int) + base * digits[..., 1]
        counts = np.bincount(values.ravel(), minlength=base**2)
        expected = N * terms / base**2
        assert (abs(counts - expected) < 5 * expected**0.5).all()

    def test_nines(self, rng, terms, base):
        digits, lengths = samplers.nines(rng, N, 5, terms, base)
        assert ((digits == base - 1).all(-1) & (lengths == 5)).any(1).all()
        where = (digits == base - 1).all(-1).argmax(1)
        assert set(where.tolist()) == set(range(terms))

    def test_no_carry(self, rng, terms, base):
        if terms >= base:
            with pytest.raises(TenfoldError, match=f"{terms} leading digits cannot sum below base"):
                samplers.no_carry(rng, N, 5, terms, base)
            return
        digits, lengths = samplers.no_carry(rng, N, 5, terms, base)
        assert (lengths == 5).all()
        assert not np.any(carries(digits, base))
        assert digits.max() == base - terms if base == 2 else digits[..., :-1].max() == base - 1


OF_PAIRS = {"cascade": {"cascade": 1}, "carries": {"carries": 1}, "complexity": {}, "mixed": {}}
OTHERS = ("appended", "by-part", "levels", "patterns")  # need options, or draw a multiplier too


@pytest.mark.parametrize("sampler", sorted({*SAMPLERS.names()} - {*OF_PAIRS, *OTHERS}))
def test_one_operand(sampler, rng):
    for length in (1, 5):
        digits, lengths = SAMPLERS[sampler](rng, 100, length, 1, 10)
        assert digits.shape == (100, 1, length)
        assert (lengths >= 1).all()
        assert (lengths <= length).all()
        leading = np.take_along_axis(digits, lengths[..., None] - 1, -1)[..., 0]
        assert ((leading > 0) | (lengths == 1)).all()


def test_no_carry_of_one_digit(rng):
    digits, _ = samplers.no_carry(rng, N, 1, 4, 3)
    assert digits.sum(1).max() == 2


@pytest.mark.parametrize("base", [3, 10, 16])
@pytest.mark.parametrize("length", [1, 2, 5, 9])
def test_cascade_is_exactly_as_long(rng, base, length):
    for wanted in range(length + 1):
        digits, lengths = samplers.cascade(rng, 100, length, 2, base, cascade=wanted)
        assert (lengths == length).all()
        assert {slow_cascade(example, base) for example in digits.tolist()} == {wanted}
        assert (longest_cascade(digits, base) == wanted).all()


def test_longest_cascade_by_a_plain_loop(rng):
    digits, _ = samplers.lengths(rng, 500, 8, 2, 4)
    assert longest_cascade(digits, 4).tolist() == [slow_cascade(e, 4) for e in digits.tolist()]


@pytest.mark.parametrize(("length", "wanted"), [(400, 400), (1000, 512), (700, 350)])
def test_cascades_of_hundreds_of_digits(rng, length, wanted):
    """Their share of all sums is below the smallest double."""
    digits, _ = samplers.cascade(rng, 20, length, 2, 10, cascade=wanted)
    assert [slow_cascade(example, 10) for example in digits.tolist()] == [wanted] * 20


@pytest.mark.parametrize("wanted", [0, 1, 2])
def test_cascades_are_uniform_over_the_pairs(wanted):
    """Every pair of two-digit numbers with this cascade is drawn as often as any other."""
    base = 4
    low, high = range(base), range(1, base)
    pairs = [
        pair
        for pair in itertools.product(low, high, low, high)
        if slow_cascade([pair[:2], pair[2:]], base) == wanted
    ]
    draws = 400 * len(pairs)
    digits, _ = samplers.cascade(np.random.default_rng(3), draws, 2, 2, base, cascade=wanted)
    drawn, counts = np.unique(digits.reshape(draws, 4), axis=0, return_counts=True)
    assert sorted(map(tuple, drawn.tolist())) == sorted(pairs)
    freedom = len(pairs) - 1
    chi_square = ((counts - 400) ** 2 / 400).sum()
    assert abs(chi_square - freedom) < 4 * (2 * freedom) ** 0.5


@pytest.mark.parametrize("wanted", [-1, 6])
def test_impossible_cascade(rng, wanted):
    with pytest.raises(TenfoldError, match=f"cascade of {wanted} in sums of 5 digits; 0 to 5"):
        samplers.cascade(rng, 1, 5, 2, 10, cascade=wanted)


def test_cascade_that_a_base_cannot_have(rng):
    """Without leading zeros the top column of a binary sum always carries."""
    with pytest.raises(TenfoldError, match="no sum of 3 digits in base 2 has a cascade of 0"):
        samplers.cascade(rng, 1, 3, 2, 2, cascade=0)


@pytest.mark.parametrize("terms", [1, 3])
@pytest.mark.parametrize("sampler", OF_PAIRS)
def test_carries_of_other_than_two_terms(rng, sampler, terms):
    with pytest.raises(TenfoldError, match=f"2 operands, not {terms}"):
        SAMPLERS[sampler](rng, 1, 5, terms, 10, **OF_PAIRS[sampler])


@pytest.mark.parametrize("base", [2, 10, 16])
@pytest.mark.parametrize("length", [1, 2, 7])
def test_carries_are_exactly_so_many(rng, base, length):
    for wanted in range(1, length + 1):
        digits, lengths = samplers.carries(rng, 100, length, 2, base, carries=wanted)
        assert (lengths == length).all()
        assert (consecutive_carries(digits, base) == wanted).all()
        assert (longest_cascade(digits, base) == 1).all()
    with pytest.raises(TenfoldError, match=f"-1 carries in sums of {length} digits; 0 to"):
        samplers.carries(rng, 1, length, 2, base, carries=-1)


@pytest.mark.parametrize("base", [2, 10])
@pytest.mark.parametrize("length", [1, 5])
def test_complexity_is_uniform_over_cascades(rng, base, length):
    digits, lengths = samplers.complexity(rng, N, length, 2, base)
    counts = np.bincount(longest_cascade(digits, base), minlength=length + 1)
    expected = N / (length + 1)
    assert (abs(counts - expected) < 5 * expected**0.5).all()
    assert lengths.min() == 1  # numbers of up to so many digits
    assert lengths.max() == length


def test_rows_of_complexity_come_in_any_order(rng):
    cascades = longest_cascade(samplers.complexity(rng, N, 4, 2, 10)[0])
    assert abs(np.corrcoef(cascades, np.arange(N))[0, 1]) < 0.1


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0])
def test_mixed_is_a_mixture(rng, share):
    """P(cascade = c) is that of its two parts, in their shares."""
    digits, _ = samplers.mixed(rng, 20_000, 5, 2, 10, share=share)
    counts = np.bincount(longest_cascade(digits), minlength=6)
    for cascade, alone in enumerate(distributions.cascades(5)):
        expected = 20_000 * (share / 6 + (1 - share) * float(alone))
        assert abs(counts[cascade] - expected) < 5 * max(expected, 1) ** 0.5


def test_mixed_by_half_unless_told(rng):
    digits, _ = samplers.mixed(rng, 20_000, 5, 2, 10)
    assert abs((longest_cascade(digits) == 5).mean() - 1 / 12) < 0.01


def test_mixed_with_no_share(rng):
    with pytest.raises(TenfoldError, match=r'sampler "mixed": share is 1.5; input should be less'):
        SAMPLERS.bind(Spec.of({"name": "mixed", "share": 1.5}))


def appended(rng, n, length, terms, base=10, **options):
    return SAMPLERS.bind(Spec.of({"name": "appended", **options}))(rng, n, length, terms, base)


@pytest.mark.parametrize("terms", [1, 2, 3])
def test_appended_zeros(terms):
    """The inner sampler's own numbers, times one power of the base for a whole row."""
    own, own_lengths = samplers.numbers(np.random.default_rng(4), N, 3, terms, 10)
    digits, lengths = appended(np.random.default_rng(4), N, 3, terms, to=8)
    assert digits.shape == (N, terms, 8)
    assert digits.dtype == np.uint8
    inside, outside = value_of(own), value_of(digits)
    some = np.flatnonzero(inside.any(1))
    by = outside[some].sum(1) // inside[some].sum(1)
    assert (outside[some] == inside[some] * by[:, None]).all()
    assert (lengths == np.array([[len(str(v)) for v in row] for row in outside])).all()
    whole = own_lengths[some].max(1) == 3
    counts = np.unique(by[whole], return_counts=True)
    assert counts[0].tolist() == [10**shift for shift in range(6)]
    expected = whole.sum() / 6
    assert (abs(counts[1] - expected) < 5 * expected**0.5).all()


def test_appended_zeros_reach_every_place(rng):
    digits, lengths = appended(rng, N, 2, 2, to=7)
    assert (digits > 0).any((0, 1)).all()
    assert lengths.max() == 7


def test_what_is_appended_to(rng):
    digits, _ = appended(rng, N, 4, 2, to=6, inner={"name": "cascade", "cascade": 3})
    assert (longest_cascade(digits) == 3).all()
    digits, lengths = appended(rng, N, 4, 2, to=4, inner="exact")
    assert (lengths == 4).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"to": 4}, "zeros appended to numbers of 5 digits, up to 4; at least 5"),
        ({"to": 6, "inner": {"name": "appended", "to": 9}}, "to numbers of [6-9] digits, up to 6"),
        ({"to": 6, "inner": "numers"}, 'unknown sampler "numers"; did you mean "numbers"'),
        ({}, "to is missing"),
    ],
)
def test_appended_refuses(rng, options, message):
    with pytest.raises(TenfoldError, match=message):
        appended(rng, 500, 5, 2, **options)


def value_of(digits):
    return (digits * 10 ** np.arange(digits.shape[-1])).sum(-1)


@pytest.mark.parametrize(
    "sampler",
    [
        s
        for name, s in vars(samplers).items()
        if name in {"numbers", "lengths", "exact", "longest", "unequal", "no_carry", "nines"}
    ],
    ids=lambda s: s.__name__,
)
def test_a_million_digits(sampler, rng):
    examples = Addition().sample(1, 1_000_000, rng, sampler)
    assert examples.operands.shape == (1, 2, 1_000_000)
    a, b = examples.operands[0]
    assert (residue(a) + residue(b) - residue(examples.answer[0])) % MODULUS == 0


MODULUS = 999_999_999_989  # prime: a wrong digit changes the residue


def residue(digits):
    value = 0
    for digit in reversed(digits.tolist()):
        value = (value * 10 + digit) % MODULUS
    return value


@pytest.mark.parametrize("digits", ["6789", "012345678", "05"])
def test_unequal_numbers_of_some_digits_alone(rng, digits):
    """Lengths are drawn as without them; every number of these digits occurs."""
    operands, lengths = samplers.unequal(rng, 4000, 2, 2, 10, digits=digits)
    assert (np.sort(lengths, 1) == [1, 2]).all()
    longer = operands[lengths == 2] @ np.array([1, 10])
    shorter = operands[lengths == 1] @ np.array([1, 10])
    numbers = [n for n in range(100) if {*str(n)} <= {*digits}]
    assert set(shorter.tolist()) == {n for n in numbers if n < 10}
    assert set(longer.tolist()) == {n for n in numbers if n >= 10}


def test_patterns_of_multipliers(rng):
    task = TASKS.build(Spec.of({"name": "multiplication", "multiplier": 3}))
    of = {"a": 1, "a0": 1, "a0b": 2, "abc": 4}
    draw = SAMPLERS.bind(Spec.of({"name": "patterns", "of": of, "inner": "lengths"}))
    drawn = task.sample(8000, 5, rng, draw)
    pairs = [task.question(drawn, row).split("*") for row in range(8000)]
    sizes = [len(multiplier) for multiplier, _ in pairs]
    for size, share in ((1, 1 / 8), (2, 1 / 8), (3, 6 / 8)):
        assert sizes.count(size) / 8000 == pytest.approx(share, abs=0.02)
    few, tens, hundreds = ([m for m, _ in pairs if len(m) == size] for size in (1, 2, 3))
    assert set(few) == set("0123456789")
    assert set(tens) == {f"{n}0" for n in range(1, 10)}
    sparse = np.mean([m[1] == "0" for m in hundreds])
    assert sparse == pytest.approx((2 + 4 / 10) / 6, abs=0.02)
    assert np.mean([len(many) == 5 for _, many in pairs]) == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize("of", [{}, {"0a": 1}, {"a": 0}, {"a1": 1}, {"abcde": 1}])
def test_patterns_that_are_none(of):
    with pytest.raises(TenfoldError):
        SAMPLERS.bind(Spec.of({"name": "patterns", "of": of}))


def test_patterns_are_for_products(rng):
    draw = SAMPLERS.bind(Spec.of({"name": "patterns", "of": {"ab": 1}}))
    with pytest.raises(TenfoldError, match=r"patterns of a multiplier \(ab\) are for products"):
        TASKS.build("addition").sample(4, 5, rng, draw)
    with pytest.raises(TenfoldError, match="has 2 digits; at most 1"):
        TASKS.build("multiplication").sample(4, 5, rng, draw)
