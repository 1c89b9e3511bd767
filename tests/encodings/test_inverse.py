import math

from torch.testing import assert_close

from tenfold.encodings import Inverse


def test_by_loops(places, by_loops, axis):
    def log_b(h, i, j):
        k = 2 ** (-8 * h / 4)
        return math.log(1 / (1 + k * abs(i - j)))

    assert_close(Inverse(heads=4, axis=axis).double().bias(*places), by_loops(log_b))
