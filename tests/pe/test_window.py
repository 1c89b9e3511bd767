import pytest
import torch

from tenfold.errors import TenfoldError
from tenfold.pe import Window


@pytest.mark.parametrize(("behind", "ahead"), [(2, 0), (0, 0), (1, 3), (5, None), (10**6, None)])
def test_by_loops(places, by_loops, axis, behind, ahead):
    def sees(h, i, j):
        return j in range(i - behind, i + (behind if ahead is None else ahead) + 1)

    expected = by_loops(sees, heads=1, unrelated=False, dtype=torch.bool)
    assert torch.equal(Window(behind, ahead, axis=axis).visible(*places), expected)


@pytest.mark.parametrize("option", ["behind", "ahead"])
def test_options(build, option):
    with pytest.raises(TenfoldError, match=f'encoding "window": {option} is -1'):
        build("window", **{option: -1})
