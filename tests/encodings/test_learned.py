import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings import Learned


def test_by_two_loops(normal):
    pe = Learned(width=6, limit=9).double()
    x, places = normal(2, 4, 6), torch.tensor([[0, 3, 8, 1], [-1, -1, 5, 5]])
    expected = x.clone()
    for b in range(2):
        for t in range(4):
            if places[b, t] >= 0:
                expected[b, t] += pe.table[places[b, t]].detach()
    assert torch.equal(pe.embed(x, Places(index=places)), expected)


def test_rows_that_share_their_places(normal, line):
    pe, x = Learned(width=6, limit=9).double(), normal(3, 2, 6)
    assert torch.equal(pe.embed(x, line(4, 2)), x + pe.table[[4, 2]])


def test_any_axis(normal, line):
    pe, x = Learned(width=6, limit=9, axis="column").double(), normal(1, 2, 6)
    assert pe.axes == {"column"}
    at = line(0, 0).add(column=torch.tensor([[7, -1]]))
    assert torch.equal(pe.embed(x, at)[0], torch.stack([x[0, 0] + pe.table[7], x[0, 1]]))


def test_limit(line):
    pe = Learned(width=6, limit=9)
    pe.check(line(0, 8), line(0, 8))
    with pytest.raises(TenfoldError, match=r'end at 8, the input reaches 9 on the axis "index"'):
        pe.check(line(0, 9), line(0, 9))


def test_gives_nothing_to_attention():
    assert not Learned(width=6).attends
