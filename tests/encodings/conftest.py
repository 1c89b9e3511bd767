"""Slow truths for encodings: a formula for one pair of places, taken through all pairs by plain loops."""

import math

import pytest
import torch

from tenfold.core.registry import Spec
from tenfold.data.places import Places
from tenfold.encodings import ENCODINGS

ROWS = {  # the places of queries and of keys: in no order, with gaps, before and after, -1 for none
    "alike": ([[0, 3, 8]], [[2, 1, 0, 9, 3]]),
    "different": ([[0, 3, 8], [-1, 5, 2]], [[2, 1, 0, 9], [7, -1, 5, 100]]),
    "queries alike": ([[4, -1]], [[0, 4, 40], [6, 2, -1]]),
    "far": ([[1_000_000, 3, -1]], [[0, 1_000_000, 999_000, -1]]),
}


@pytest.fixture(params=ROWS)
def rows(request):
    return ROWS[request.param]


@pytest.fixture(params=["index", "column"])
def axis(request):
    return request.param


@pytest.fixture
def places(rows, axis):
    """Places of queries and keys on the axis; on the other one they are all alike, and not to be read."""
    other = {"index": "column", "column": "index"}[axis]
    at = [torch.tensor(row) for row in rows]
    return [Places(**{axis: one, other: torch.full_like(one, 7)}) for one in at]


@pytest.fixture
def by_loops(rows):
    """`by_loops(formula)`: formula(h, i, j) for heads h = 1..heads and all pairs of places, (B, H, T, S)."""

    def loop(formula, *, heads=4, unrelated=0.0, dtype=torch.float64):
        q, k = rows
        count = max(len(q), len(k))
        table = [
            [
                [[formula(h, i, j) if min(i, j) >= 0 else unrelated for j in keys] for i in queries]
                for h in range(1, heads + 1)
            ]
            for queries, keys in zip(q * (count // len(q)), k * (count // len(k)), strict=True)
        ]
        return torch.tensor(table, dtype=dtype)

    return loop


@pytest.fixture
def turned_by_loops():
    """`turned_by_loops(x, places, R, rate)`: component pairs (c, c + R/2) as complex numbers, turned by place * rate(c).

    They also grow by size(c, place), -1 included. Tokens without a place are not turned.
    """

    def turn(x, places, turned, rate, size=lambda c, place: 1.0):
        out, half = x.clone(), turned // 2
        for b, h, t in torch.cartesian_prod(*map(torch.arange, x.shape[:3])).tolist():
            place = int(places[b % len(places), t])
            for c in range(half):
                number = complex(x[b, h, t, c], x[b, h, t, c + half])
                angle = max(place, 0) * rate(c)
                number *= complex(math.cos(angle), math.sin(angle)) * size(c, place)
                out[b, h, t, c], out[b, h, t, c + half] = number.real, number.imag
        return out

    return turn


@pytest.fixture
def build():
    """`build("window", behind=3)`: as a recipe would make it, for a model of 4 heads of size 8."""

    def make(name, **options):
        spec = Spec(name=name, options=options)
        return ENCODINGS.build(spec, width=32, heads=4, head_size=8)

    return make
