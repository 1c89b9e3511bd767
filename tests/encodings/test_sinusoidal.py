import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.data.places import Places
from tenfold.encodings import FineSinusoidal, Sinusoidal


@pytest.mark.parametrize("width", [8, 7])
def test_by_two_loops(normal, width):
    pe = Sinusoidal(width=width, base=100.0)
    x, places = normal(2, 4, width), torch.tensor([[0, 3, 8, 1], [-1, -1, 5, 70_000]])
    expected = x.clone()
    for b in range(2):
        for t in range(4):
            place = int(places[b, t])
            for c in range(width):
                angle = place / 100.0 ** ((c - c % 2) / width)
                if place >= 0:
                    expected[b, t, c] += math.cos(angle) if c % 2 else math.sin(angle)
    assert_close(pe.embed(x, Places(index=places)), expected)


def test_between_positions_by_two_loops(normal):
    pe, x = FineSinusoidal(width=6, base=100.0, parts=64), normal(1, 4, 6)
    places = torch.tensor([[0, 1, 200, -1]])  # in 64ths of a position
    expected = x.clone()
    for t in range(3):
        for c in range(6):
            angle = int(places[0, t]) / 64 / 100.0 ** ((c - c % 2) / 6)
            expected[0, t, c] += math.cos(angle) if c % 2 else math.sin(angle)
    assert_close(pe.embed(x, Places(index=places)), expected)


def test_the_scale_is_that_of_the_waves_alone(normal, line):
    x, at = normal(1, 3, 8), line(0, 1, 2)
    added = Sinusoidal(width=8).embed(x, at) - x
    assert_close(Sinusoidal(width=8, scale=0.25).embed(x, at), x + added / 4)


def test_any_axis(normal, line):
    pe, x = Sinusoidal(width=8, axis="column"), normal(1, 3, 8)
    at = line(0, 1, 2).add(column=torch.tensor([[5, 5, -1]]))
    added = pe.embed(x, at) - x
    assert_close(added[0, 0], added[0, 1])
    assert added[0, 0].abs().sum() > 0
    assert (added[0, 2] == 0).all()


def test_nothing_to_learn():
    assert not list(Sinusoidal(width=8).parameters())
