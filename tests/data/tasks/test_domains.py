"""Domains: exact sizes, and every problem as likely as any other."""

import itertools

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.tasks import SAMPLERS
from tenfold.data.tasks.domains import Domain, exactly
from tenfold.data.tasks.task import DIGITS

DOMAINS = {
    "D2": (Domain([2]), lambda *sizes: max(sizes) == 2),
    "D12": (Domain([1, 2]), lambda *sizes: max(sizes) in (1, 2)),
    "D13": (Domain([1, 3]), lambda *sizes: max(sizes) in (1, 3)),
    "D<3": (Domain.below(3), lambda *sizes: max(sizes) < 3),
    "D>1": (Domain.above(1, 3), lambda *sizes: 1 < max(sizes) <= 3),
    "D_ab,2": (Domain([2], every=True), lambda *sizes: {*sizes} == {2}),
    "D_ab,12": (Domain([1, 2], every=True), lambda *sizes: {*sizes} in ({1}, {2})),
    "holes": (Domain([2], digits="13"), lambda *sizes: max(sizes) == 2),
    "holes with 0": (Domain([1, 2], digits="20"), lambda *sizes: max(sizes) in (1, 2)),
    "one digit": (Domain([3], digits="1"), lambda *sizes: max(sizes) == 3),
}


def members(domain, wanted, terms, base, longest=3):
    """All problems of a domain, by going through every tuple of numbers."""
    allowed = {DIGITS.index(digit) for digit in domain.digits or DIGITS[:base]}
    numbers = []
    for value in range(base**longest):
        digits = [value]
        while digits[-1] >= base:
            digits[-1:] = [digits[-1] % base, digits[-1] // base]
        if {*digits} <= allowed:
            numbers.append((value, len(digits)))
    return {
        tuple(value for value, _ in each)
        for each in itertools.product(numbers, repeat=terms)
        if wanted(*(size for _, size in each))
    }


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("terms", [1, 2, 3])
def test_sizes_are_exact(name, terms):
    domain, wanted = DOMAINS[name]
    assert domain.size(terms, 4) == len(members(domain, wanted, terms, 4))


@pytest.mark.parametrize("name", DOMAINS)
def test_every_problem_is_as_likely_as_any_other(name):
    base, each = 4, 60
    domain, wanted = DOMAINS[name]
    known = members(domain, wanted, 2, base)
    draws = each * len(known)
    digits, lengths = domain.draw(np.random.default_rng(5), draws, 2, base)
    values = (digits * base ** np.arange(digits.shape[2])).sum(-1)
    drawn, counts = np.unique(values, axis=0, return_counts=True)
    assert {*map(tuple, drawn.tolist())} == known
    freedom = len(known) - 1
    assert abs(((counts - each) ** 2 / each).sum() - freedom) < 5 * (2 * freedom) ** 0.5
    assert (lengths == np.where(values >= 16, 3, np.where(values >= 4, 2, 1))).all()


def test_sizes_of_the_papers_domains():
    assert Domain([4]).size() == 10**8 - 10**6
    assert Domain([4, 5]).size() == 10**10 - 10**6
    assert Domain([4], every=True).size() == 9000**2
    assert Domain([500]).size() == 10**1000 - 10**998


@pytest.mark.parametrize("bits", [1, 2, 3, 62])
def test_exact_weights(bits):
    """With a bit or two, nearly every draw is decided among the parts of a cell."""
    weights = [5, 0, 1, 11]
    counts = np.bincount(exactly(np.random.default_rng(0), weights, 3400, bits), minlength=4)
    assert counts[1] == 0
    assert all(abs(counts[k] - 200 * weights[k]) < 5 * (200 * weights[k]) ** 0.5 for k in (0, 2, 3))  # fmt: skip


def test_weights_beyond_any_float():
    huge = 10**400
    drawn = exactly(np.random.default_rng(0), [huge, 1, 3 * huge], 4000)
    assert {*drawn.tolist()} == {0, 2}
    assert abs((drawn == 2).sum() - 3000) < 150


def drawn(rng, length=3, terms=2, **options):
    sampler = SAMPLERS.bind(Spec.of({"name": "domain", **options}))
    return sampler(rng, 500, length, terms, 10)


def test_as_a_sampler(rng):
    _, lengths = drawn(rng)
    assert (lengths.max(1) == 3).all()
    _, lengths = drawn(rng, lengths=[1, 3], equal=True)
    counts = np.bincount(lengths.max(1), minlength=4)
    assert counts[[0, 2]].sum() == 0
    assert abs(counts[1] - 250) < 60
    _, lengths = drawn(rng, every=True)
    assert (lengths == 3).all()
    digits, lengths = drawn(rng, digits="6789")
    there = np.arange(3) < lengths[..., None]
    assert {*digits[there].tolist()} == {6, 7, 8, 9}
    assert not digits[~there].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lengths": [4]}, r"lengths \[4\] where 3 digits are requested; none may be longer"),
        ({"lengths": [0, 1]}, r"lengths \[0, 1\]; one or more, each at least 1"),
        ({"lengths": [2, 2]}, r"lengths \[2, 2\]; one or more, each at least 1 and there once"),
        ({"digits": "67x"}, 'the digits "67x"; such as "6789", each once'),
        ({"digits": "66"}, 'the digits "66"; such as "6789", each once'),
        ({"digits": "6a"}, 'the digits "6a" in base 10; 0 to 9'),
        ({"digits": "0"}, r'no number of \[3\] digits has only "0"'),
    ],
)
def test_what_is_no_domain(rng, options, message):
    with pytest.raises(TenfoldError, match=message):
        drawn(rng, **options)
