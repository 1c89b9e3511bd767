import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.encodings import Rotary, RotaryLinear


@pytest.mark.parametrize(("share", "turned"), [(1.0, 6), (0.7, 4)])
def test_by_loops(normal, places, rows, axis, turned_by_loops, share, turned):
    pe = RotaryLinear(head_size=6, factor=2.5, base=50.0, share=share, axis=axis)
    xs = [normal(2, 3, len(row[0]), 6) for row in rows]
    for actual, x, row in zip(pe.rotate(*xs, *places), xs, rows, strict=True):
        rate = lambda c: 50.0 ** (-2 * c / turned) / 2.5  # noqa: E731
        assert_close(actual, turned_by_loops(x, torch.tensor(row), turned, rate))


def test_reads_a_longer_text_as_the_shorter_one(normal, line):
    q, k = normal(1, 2, 3, 8), normal(1, 2, 2, 8)
    squeezed = RotaryLinear(head_size=8, factor=4).rotate(q, k, line(0, 8, 40), line(4, 20))
    trained = Rotary(head_size=8).rotate(q, k, line(0, 2, 10), line(1, 5))
    assert_close(squeezed, trained)


def test_options(build):
    with pytest.raises(TenfoldError, match='encoding "rotary-linear": factor is 0'):
        build("rotary-linear", factor=0)
    with pytest.raises(TenfoldError, match="share of 2"):
        build("rotary-linear", share=2)
