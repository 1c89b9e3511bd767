import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places, distance


def test_unknown_axis():
    with pytest.raises(TenfoldError, match='unknown axis "colum"; did you mean "column"'):
        Places(index=torch.zeros(1, 1), column=torch.zeros(1, 1))["colum"]


def test_add_keeps_what_was_there_and_changes_no_original():
    before = Places(index=torch.arange(3)[None])
    after = before.add(other=torch.ones(1, 3))
    assert list(before) == ["index"]
    assert list(after) == ["index", "other"]
    assert len(after) == 3


def test_slice_and_last():
    at = Places(a=torch.arange(5)[None], b=torch.arange(10).view(2, 5))
    assert at.slice(1, 3)["b"].tolist() == [[1, 2], [6, 7]]
    assert at.last(2)["a"].tolist() == [[3, 4]]
    assert at.last(0)["a"].tolist() == [[]]


def test_distance_by_two_loops():
    q = torch.tensor([[3, -1, 5], [0, 1, 2]])
    k = torch.tensor([[4, -1], [2, 0]])
    behind, related = distance(q, k)
    for b in range(2):
        for t in range(3):
            for s in range(2):
                assert related[b, t, s] == (q[b, t] >= 0 and k[b, s] >= 0)
                assert behind[b, t, s] == q[b, t] - k[b, s]
