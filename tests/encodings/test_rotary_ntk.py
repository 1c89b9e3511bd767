import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings import RotaryNTK


@pytest.mark.parametrize(("share", "turned"), [(1.0, 6), (0.7, 4)])
def test_by_loops(normal, places, rows, axis, turned_by_loops, share, turned):
    pe = RotaryNTK(head_size=6, factor=2.5, base=50.0, share=share, axis=axis)
    base = 50.0 * 2.5 ** (turned / (turned - 2))
    xs = [normal(2, 3, len(row[0]), 6) for row in rows]
    for actual, x, row in zip(pe.rotate(*xs, *places), xs, rows, strict=True):
        rate = lambda c: base ** (-2 * c / turned)  # noqa: E731
        assert_close(actual, turned_by_loops(x, torch.tensor(row), turned, rate))


def test_the_fastest_pair_stays_and_the_slowest_is_interpolated():
    rates = RotaryNTK(head_size=8, factor=4.0, base=100.0).rates(torch.device("cpu"))
    plain = torch.tensor([100.0 ** (-c / 4) for c in range(4)], dtype=torch.float64)
    squeezed = plain / rates
    assert_close(squeezed[[0, -1]], torch.tensor([1.0, 4.0], dtype=torch.float64))
    assert (squeezed.diff() > 0).all()


def test_the_factor_of_each_row_is_on_an_axis(normal):
    """Rows of factors 1, 2.5 and 4 are turned as three encodings with these factors turn them."""
    index = torch.tensor([[0, 1, 40], [0, 7, 9], [3, 4, 500]])
    hundredths = torch.tensor([[100], [250], [400]]).expand(3, 3)
    at = Places(index=index, stretched=hundredths)
    x = normal(3, 2, 3, 6)
    pe = RotaryNTK(head_size=6, factor_axis="stretched")
    assert (pe.axes, pe.invariant) == ({"index", "stretched"}, {"index"})
    turned, _ = pe.rotate(x, x, at, at)
    for row, factor in enumerate((1.0, 2.5, 4.0)):
        own = Places(index=index[row : row + 1])
        alone = RotaryNTK(head_size=6, factor=factor)
        assert_close(
            turned[row : row + 1], alone.rotate(x[row : row + 1], x[row : row + 1], own, own)[0]
        )


def test_options(build):
    with pytest.raises(TenfoldError, match='factor_axis is "index", the axis of the positions'):
        build("rotary-ntk", factor_axis="index")
    with pytest.raises(TenfoldError, match="2 turned components; at least 4"):
        build("rotary-ntk", share=0.25)
    with pytest.raises(TenfoldError, match='encoding "rotary-ntk": factor is -1'):
        build("rotary-ntk", factor=-1)
