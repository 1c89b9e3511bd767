import math

from torch.testing import assert_close

from tenfold.encodings import Type2


def test_by_loops(places, by_loops, axis):
    """Unrelated pairs count as being at no distance, where this decay is not 0."""

    def log_b(h, i, j):
        k = 2 ** (-8 * h / 4)
        return -(math.log(3 + k * abs(i - j)) ** 2)

    expected = by_loops(log_b, unrelated=log_b(1, 0, 0))
    assert_close(Type2(heads=4, axis=axis).double().bias(*places), expected)
