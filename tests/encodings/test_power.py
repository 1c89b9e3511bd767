import pytest
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.encodings import Power

PAPER = [(2, 1), (0.5, 1), (1.25, 1), (0.75, 0.5), (4, 1)]


@pytest.mark.parametrize(("power", "factor"), PAPER)
def test_by_loops(places, by_loops, axis, power, factor):
    pe = Power(heads=4, power=power, factor=factor, axis=axis).double()
    expected = by_loops(lambda h, i, j: -factor * (2 ** (-2 * h) * abs(i - j)) ** power)
    assert_close(pe.bias(*places), expected)


def test_power_of_one_is_alibi(build, line):
    at = line(0, 4, 9, -1)
    assert_close(build("power", power=1).bias(at, at), build("alibi").bias(at, at))


@pytest.mark.parametrize("option", ["power", "factor"])
def test_options(build, option):
    with pytest.raises(TenfoldError, match=f'encoding "power": {option} is 0; .*greater than 0'):
        build("power", **{option: 0})
