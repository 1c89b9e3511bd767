"""A soft window: no bias inside of it, a decay outside, and answers with a window of their own."""

import pytest
import torch
from torch.testing import assert_close

from tenfold.data.places import Places
from tenfold.data.roles import Role
from tenfold.encodings import ALiBi, SoftWindow


def places(roles):
    return Places(column=torch.arange(6).flip(0)[None], role=torch.tensor([roles]))


@pytest.mark.parametrize(("behind", "ahead"), [(0, 0), (2, 0), (1, 3), (9, 9)])
def test_by_loops(behind, ahead):
    at = places([3] * 6)
    bias = SoftWindow(heads=2, behind=behind, ahead=ahead, slope=1.5).bias(at, at)
    columns = at["column"][0].tolist()
    for i in range(6):
        for j in range(6):
            far = columns[i] - columns[j]  # behind the query
            outside = far - behind if far > behind else max(0, -far - ahead)
            assert_close(bias[0, :, i, j], torch.full((2,), -1.5 * outside, dtype=bias.dtype))


def test_with_no_window_it_is_alibi():
    at = places([3] * 6)
    ours = SoftWindow(heads=4, behind=0, slope=1.5).bias(at, at)
    assert torch.equal(ours, ALiBi(heads=4, axis="column", slope=1.5).bias(at, at))


def test_answers_have_their_own_window():
    at = places([Role.OPERAND] * 3 + [Role.ANSWER] * 3)
    bias = SoftWindow(heads=1, behind=1, answers=0, slope=2.0).bias(at, at)[0, 0]
    assert bias[1].tolist() == [-2.0, 0.0, 0.0, -4.0, -6.0, -8.0]


def test_type_1_begins_at_nothing():
    at = places([3] * 6)
    bias = SoftWindow(heads=1, behind=2, slope=1.0, decay="type-1").bias(at, at)[0, 0, 0]
    assert torch.allclose(bias.exp(), torch.tensor([1, 1, 1, 1 / 2, 1 / 5, 1 / 10]))
    type_2 = SoftWindow(heads=1, slope=1.0, decay="type-2").bias(at, at)
    assert float(type_2.max()) == 0.0


def test_what_it_states_for_far_pairs():
    pe = SoftWindow(heads=2, behind=1, slope=8.0)
    fading = pe.fading("column")
    n = torch.tensor([5.0], dtype=torch.float64)
    assert fading.beyond == 1
    assert fading.series[0].log_b(n).tolist() == [[-32.0], [-32.0]]
    assert pe.fading("index").series == ()
