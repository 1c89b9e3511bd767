import math

from torch.testing import assert_close

from tenfold.encodings import InverseLog


def test_by_loops(places, by_loops, axis):
    """Unrelated pairs count as being at no distance, where this decay is not 0."""

    def log_b(h, i, j):
        x = 3 + 2 ** (-8 * h / 4) * abs(i - j)
        return math.log(1 / (x * math.log(x)))

    expected = by_loops(log_b, unrelated=log_b(1, 0, 0))
    assert_close(InverseLog(heads=4, axis=axis).double().bias(*places), expected)
