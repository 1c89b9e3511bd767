import pytest
import torch
from torch.testing import assert_close

from tenfold.encodings import ALiBi


def slopes_of_the_paper(heads):
    """The reference implementation's recursion (Press et al. 2022)."""
    if heads & (heads - 1) == 0:
        ratio = 2 ** (-8 / heads)
        return [ratio ** (h + 1) for h in range(heads)]
    below = 2 ** (heads.bit_length() - 1)
    return slopes_of_the_paper(below) + slopes_of_the_paper(2 * below)[0::2][: heads - below]


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 6, 8, 12, 16, 20])
def test_slopes(heads):
    slopes = ALiBi(heads=heads).slopes
    assert slopes.shape == (heads,)
    assert_close(slopes, torch.tensor(slopes_of_the_paper(heads), dtype=torch.float64))


@pytest.mark.parametrize("heads", [4, 6])
def test_by_loops(places, by_loops, axis, heads):
    pe, slopes = ALiBi(heads=heads, axis=axis).double(), slopes_of_the_paper(heads)
    expected = by_loops(lambda h, i, j: -slopes[h - 1] * abs(i - j), heads=heads)
    assert_close(pe.bias(*places), expected)


def test_under_a_causal_mask_it_is_the_paper_s(line, normal):
    """The paper's code adds slope * (index of the key): each row of logits differs by a constant."""
    at, logits = line(*range(6)), normal(2, 4, 6, 6)
    ahead = torch.ones(6, 6).triu(1).bool()
    slopes = torch.tensor(slopes_of_the_paper(4), dtype=torch.float64)
    original = logits + slopes[:, None, None] * torch.arange(6)
    ours = logits + ALiBi(heads=4).double().bias(at, at)
    masked = [x.masked_fill(ahead, -torch.inf).softmax(-1) for x in (ours, original)]
    assert_close(*masked)
    assert not torch.allclose(ours.softmax(-1), original.softmax(-1))


def test_without_a_mask_it_is_symmetric(line):
    at = line(5, 0, 9, 2)
    bias = ALiBi(heads=4).bias(at, at)
    assert torch.equal(bias, bias.mT)
    assert (bias.diagonal(dim1=-2, dim2=-1) == 0).all()


def test_slopes_are_not_saved():
    assert ALiBi(heads=4).state_dict() == {}
