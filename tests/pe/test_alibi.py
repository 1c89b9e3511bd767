import pytest
import torch
from torch.testing import assert_close

from tenfold.pe import ALiBi
from tenfold.places import Places


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
    assert_close(slopes, torch.tensor(slopes_of_the_paper(heads)), rtol=1e-6, atol=0)


@pytest.mark.parametrize("heads", [4, 6])
def test_by_loops(heads):
    pe = ALiBi(heads=heads)
    q, k = torch.tensor([[0, 3, 8], [-1, 5, 2]]), torch.tensor([[2, 1, 0, 9], [7, -1, 5, 100]])
    bias = pe.bias(Places(index=q), Places(index=k))
    assert bias.shape == (2, heads, 3, 4)
    for b in range(2):
        for h in range(heads):
            for t in range(3):
                for s in range(4):
                    related = q[b, t] >= 0 and k[b, s] >= 0
                    far = abs(q[b, t] - k[b, s]) if related else 0
                    assert bias[b, h, t, s] == -pe.slopes[h] * far


def test_slopes_are_not_saved():
    assert ALiBi(heads=4).state_dict() == {}
