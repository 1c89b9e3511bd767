import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
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


def test_options(build):
    with pytest.raises(TenfoldError, match="2 turned components; at least 4"):
        build("rotary-ntk", share=0.25)
    with pytest.raises(TenfoldError, match='encoding "rotary-ntk": factor is -1'):
        build("rotary-ntk", factor=-1)
