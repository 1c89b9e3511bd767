import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.encodings import HardALiBi


@pytest.mark.parametrize("windowed", [1, 3, 4])
def test_by_loops(places, by_loops, axis, windowed):
    """Of the m windowed heads the h-th sees the h last tokens, itself among them; the others see all."""
    expected = by_loops(
        lambda h, i, j: h > windowed or abs(i - j) in range(h), unrelated=False, dtype=torch.bool
    )
    expected[:, windowed:] = True  # also what has no place
    visible = HardALiBi(heads=4, windowed=windowed, axis=axis).visible(*places)
    assert torch.equal(visible, expected)


@pytest.mark.parametrize(("heads", "windowed"), [(1, 1), (2, 1), (5, 2), (16, 8)])
def test_half_of_the_heads_unless_told(heads, windowed, line):
    seen = HardALiBi(heads=heads).visible(line(100), line(0))
    assert seen.flatten().tolist() == [False] * windowed + [True] * (heads - windowed)


def test_nothing_to_save():
    assert HardALiBi(heads=4).state_dict() == {}


def test_options(build):
    with pytest.raises(TenfoldError, match="5 windowed heads of 4; at most 4"):
        build("hard-alibi", windowed=5)
    with pytest.raises(TenfoldError, match='encoding "hard-alibi": windowed is 0'):
        build("hard-alibi", windowed=0)
