import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.encodings import Attends, XPos


def zeta(c, turned):
    """(c / (R/2) + gamma) / (1 + gamma), gamma = 0.4"""
    return (c / (turned / 2) + 0.4) / (1 + 0.4)


@pytest.mark.parametrize(("share", "turned"), [(1.0, 6), (0.7, 4)])
def test_by_loops(normal, places, rows, axis, turned_by_loops, share, turned):
    pe = XPos(head_size=6, scale=50_000.0, base=50.0, share=share, axis=axis)
    xs = [normal(2, 3, len(row[0]), 6) for row in rows]
    for actual, x, row, sign in zip(pe.rotate(*xs, *places), xs, rows, (1, -1), strict=True):
        expected = turned_by_loops(
            x, torch.tensor(row), turned,
            lambda c: 50.0 ** (-2 * c / turned),
            lambda c, place, sign=sign: place >= 0 and zeta(c, turned) ** (sign * place / 50_000.0),
        )  # fmt: skip
        assert_close(actual, expected)


def test_the_product_shrinks_with_distance_alone(normal, line):
    """Pair c of a query and a key alike: |q|^2 cos(n theta_c) zeta_c^(n / 512)."""
    pe = XPos(head_size=8)
    x = torch.zeros(1, 1, 1, 8, dtype=torch.float64)
    for c in range(4):
        only = x.clone()
        only[..., c] = 1
        for i, j in ((0, 0), (700, 0), (1000, 300), (9, 2)):
            q, k = pe.rotate(only, only, line(i), line(j))
            turn = torch.tensor((i - j) * 10_000.0 ** (-c / 4), dtype=torch.float64).cos()
            assert_close((q * k).sum(), turn * zeta(c, 8) ** ((i - j) / 512))


def test_limit(line):
    pe = XPos(head_size=8, scale=100.0)
    pe.check(line(0), line(pe.limit - 1))
    message = (
        rf'scale of 100 ends at {pe.limit - 1}, the input reaches {pe.limit} on the axis "index"'
    )
    with pytest.raises(TenfoldError, match=message):
        pe.check(line(0), line(0, pe.limit))


def test_single_precision_holds_up_to_the_limit(line):
    pe = XPos(head_size=8, scale=100.0)
    at, x = line(pe.limit - 1), torch.full((1, 1, 1, 8), 10.0)
    q, k = pe.rotate(x, x, at, at)
    assert_close((q * k).sum(), torch.tensor(800.0), rtol=1e-4, atol=0)


def test_causal_attention_only(build):
    pe = build("xpos")
    pe.serve(Attends.CAUSAL)
    for kind in (Attends.TWO_WAY, Attends.CROSS):
        with pytest.raises(TenfoldError, match=f'"xpos" is not made for {kind} attention'):
            pe.serve(kind)


def test_options(build):
    with pytest.raises(TenfoldError, match='encoding "xpos": scale is 0'):
        build("xpos", scale=0)
