import pytest

from tenfold.evals import wilson


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [  # by hand: (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n), z = 1.959964
        (0, 10, 0.0, 0.277533),  # z^2 / (n + z^2)
        (10, 10, 0.722467, 1.0),
        (5, 10, 0.236593, 0.763407),
        (1, 1, 0.206549, 1.0),
    ],
)
def test_by_hand(right, n, low, high):
    assert wilson(right, n) == pytest.approx((low, high), abs=1e-6)


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_as_published(right, n, low, high):
    """Newcombe 1998, table I, method 3."""
    assert wilson(right, n) == pytest.approx((low, high), abs=5e-5)


def test_another_level():
    assert wilson(5, 10, z=1.0) == pytest.approx((0.349244, 0.650756), abs=1e-6)


def test_mirrored():
    for right in range(21):
        low, high = wilson(right, 20)
        assert wilson(20 - right, 20) == pytest.approx((1 - high, 1 - low))
        assert 0 <= low <= right / 20 <= high <= 1


def test_nothing_counted():
    assert wilson(0, 0) == (0.0, 1.0)
