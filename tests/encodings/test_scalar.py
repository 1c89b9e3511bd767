import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings import Joint, Scalar


def test_by_loops(places, by_loops, axis):
    """r_h[i - j], differences beyond 3 sharing a number; unrelated pairs have one of their own."""
    pe = Scalar(heads=4, relation={"reach": 3, "clip": True, "axis": axis}).double()
    table = pe.table.tolist()
    expected = by_loops(lambda h, i, j: table[4 + max(-3, min(3, i - j))][h - 1])
    unrelated = by_loops(lambda h, i, j: 0, unrelated=1)
    expected += unrelated * pe.table[0].detach()[:, None, None]
    assert_close(pe.bias(*places), expected)


def test_any_relation():
    """For every pair the number of its class, of each head."""
    at = Places(column=torch.tensor([[1, 0, -1]]), role=torch.tensor([[3, 4, 1]]))
    relation = Joint(reach=1)
    pe, classes = Scalar(heads=2, relation=relation), relation(at, at)
    bias = pe.bias(at, at)
    for i in range(3):
        for j in range(3):
            assert torch.equal(bias[0, :, i, j], pe.table[classes[0, i, j]])
    assert (pe.axes, pe.invariant) == ({"column", "role"}, {"column"})


def test_reach(build, line):
    pe = build("scalar", relation={"reach": 3})
    pe.check(line(0, 3), line(0, 3))
    with pytest.raises(TenfoldError, match=r'reach 3, the input spans 4 on the axis "index"'):
        pe.check(line(0, 4), line(0, 4))


def test_options(build):
    with pytest.raises(TenfoldError, match='unknown relation "joined"; did you mean "joint"'):
        build("scalar", relation="joined")
