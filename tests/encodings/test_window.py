import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.data.roles import Role
from tenfold.encodings import Compose, PerHead, Window
from tenfold.encodings.encoding import Span


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


@pytest.mark.parametrize("answers", [0, 1, 9])
def test_older_answers_are_hidden(answers):
    """Keys of the answer are seen `answers` behind at the most, others as far as the window goes."""
    column, role = [2, 1, 0, 0, 1, 2, 3], [3, 3, 3, 1, Role.ANSWER, Role.ANSWER, Role.ANSWER]
    at = Places(column=torch.tensor([column]), role=torch.tensor([role]))
    pe = Window(2, 0, axis="column", answers=answers)
    visible = pe.visible(at, at)[0, 0].tolist()
    for i, row in enumerate(visible):
        for j, seen in enumerate(row):
            furthest = min(2, answers) if role[j] == Role.ANSWER else 2
            assert seen == (0 <= column[i] - column[j] <= furthest)
    assert (pe.axes, pe.invariant) == ({"column", "role"}, {"column"})


def test_what_it_declares_to_see():
    near, far = Window(1, 0, axis="column", answers=5), Window(4, 2, axis="column", answers=0)
    assert near.window("column") == Span(1, 0, 1)
    assert near.window("index") is None
    assert Compose([near, far, "none"]).window("column") == Span(1, 0, 0)
    assert Compose(["none"]).window("column") is None
    assert PerHead([near, far], heads=2).window("column") == Span(4, 2, 1)
    assert PerHead([near, "none"], heads=2).window("column") is None
