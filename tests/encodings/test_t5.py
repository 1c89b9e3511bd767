import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.encodings import T5


def bucket(behind, buckets, furthest, ahead):
    """T5's bucket, the logarithms as powers of integers.

    Of n buckets one way, e = n // 2 hold one distance each; bucket e + m begins at the distance d with
    (n - e) ln(d/e) / ln(furthest/e) = m, that is (d/e)^(n-e) = (furthest/e)^m.
    """
    n, first = (buckets // 2, buckets // 2 if behind < 0 else 0) if ahead else (buckets, 0)
    d, e, m = abs(behind) if ahead else max(behind, 0), n // 2, 0
    if d < e:
        return first + d
    while m < n - e - 1 and d ** (n - e) * e ** (m + 1) >= furthest ** (m + 1) * e ** (n - e):
        m += 1
    return first + e + m


SIZES = [(32, 128), (8, 16), (12, 100), (4, 5), (64, 1000)]


@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize(("buckets", "furthest"), SIZES)
def test_buckets(buckets, furthest, ahead):
    pe = T5(heads=1, buckets=buckets, furthest=furthest, ahead=ahead)
    behind = [*range(-2 * furthest, 2 * furthest + 1), 10**6, -(10**6)]
    result = pe.bucket(torch.tensor(behind)).tolist()
    assert result == [bucket(d, buckets, furthest, ahead) for d in behind]
    assert set(result) == set(range(buckets)) - ({buckets // 2} if ahead else set())


@pytest.mark.parametrize("ahead", [True, False])
def test_by_loops(places, by_loops, axis, ahead):
    pe = T5(heads=4, buckets=8, furthest=16, ahead=ahead, axis=axis).double()
    table = pe.table.tolist()
    expected = by_loops(lambda h, i, j: table[bucket(i - j, 8, 16, ahead)][h - 1])
    assert_close(pe.bias(*places), expected)


def test_unrelated_pairs_teach_nothing(line):
    pe = T5(heads=2)
    pe.bias(line(3, -1), line(-1, 3)).sum().backward()
    expected = torch.zeros_like(pe.table)
    expected[0] = 1  # the one related pair, at no distance
    assert torch.equal(pe.table.grad, expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"buckets": 3}, "3 buckets .* at least 4 buckets"),
        ({"buckets": 1, "ahead": False}, "1 buckets .* at least 2 buckets"),
        ({"furthest": 8, "ahead": True}, "distance of 8; .* above 8"),
        ({"furthest": 16}, "distance of 16; .* above 16"),
        ({"furthest": 16, "ahead": False}, "distance of 16; .* above 16"),
        ({"buckets": 0}, "buckets is 0"),
    ],
)
def test_options(build, options, message):
    with pytest.raises(TenfoldError, match=message):
        build("t5", **options)
