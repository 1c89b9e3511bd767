import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings import RotaryYaRN

CPU = torch.device("cpu")


def rate_of_the_paper(c, turned, factor, trained, fast, slow, base):
    """h(theta) = (1 - g) theta/s + g theta, the ramp g over numbers of pairs as in the paper's code."""

    def pair_that_turns(times):  # trained * base^(-2 pair / R) = 2 pi times
        return turned * math.log(trained / (2 * math.pi * times)) / (2 * math.log(base))

    low = max(math.floor(pair_that_turns(fast)), 0)
    high = min(math.ceil(pair_that_turns(slow)), turned - 1)
    kept = 1 - min(max((c - low) / max(high - low, 0.001), 0), 1)
    theta = base ** (-2 * c / turned)
    return (1 - kept) * theta / factor + kept * theta


@pytest.mark.parametrize("trained", [40, 512, 100_000])
@pytest.mark.parametrize(("share", "turned"), [(1.0, 10), (0.65, 6)])
def test_by_loops(normal, places, rows, axis, turned_by_loops, share, turned, trained):
    options = {"factor": 3.0, "trained": trained, "fast": 6.0, "slow": 0.5, "base": 50.0}
    pe = RotaryYaRN(head_size=10, share=share, axis=axis, **options)
    xs = [normal(2, 2, len(row[0]), 10) for row in rows]
    for actual, x, row in zip(pe.rotate(*xs, *places), xs, rows, strict=True):
        expected = turned_by_loops(
            x, torch.tensor(row), turned,
            lambda c: rate_of_the_paper(c, turned, **options),
            lambda c, place: 0.1 * math.log(3.0) + 1,
        )  # fmt: skip
        assert_close(actual, expected)


def test_fast_pairs_stay_slow_ones_are_squeezed_the_others_lie_between():
    head_size, trained, fast, slow = 64, 2048, 32.0, 1.0
    rates = RotaryYaRN(head_size, 8.0, trained, fast, slow).rates(CPU).tolist()
    squeezed = [10_000.0 ** (-2 * c / head_size) / rate for c, rate in enumerate(rates)]
    seen = set()
    for c, by in enumerate(squeezed):
        turns = trained / (2 * math.pi * 10_000.0 ** (2 * c / head_size))
        kind = "fast" if turns > fast else "slow" if turns < slow else "between"
        seen.add(kind)
        assert {"fast": by == 1, "slow": abs(by - 8) < 1e-9, "between": 1 <= by <= 8}[kind]
    assert seen == {"fast", "slow", "between"}
    assert squeezed == sorted(squeezed)


def test_no_stretch_is_rotary(build, normal, line):
    q, at = normal(1, 4, 3, 8), line(0, 7, 1000)
    assert_close(build("rotary-yarn", factor=1).rotate(q, q, at, at), build("rotary").rotate(q, q, at, at))  # fmt: skip


def test_the_factor_of_each_row_is_on_an_axis(normal):
    index = torch.tensor([[0, 1, 40], [0, 7, 9]])
    at = Places(index=index, stretched=torch.tensor([[100], [375]]).expand(2, 3))
    x = normal(2, 2, 3, 8)
    turned, _ = RotaryYaRN(8, trained=40, factor_axis="stretched").rotate(x, x, at, at)
    for row, factor in enumerate((1.0, 3.75)):
        here, own = slice(row, row + 1), Places(index=index[row : row + 1])
        alone = RotaryYaRN(8, factor=factor, trained=40).rotate(x[here], x[here], own, own)[0]
        assert_close(turned[here], alone)


def test_options(build):
    with pytest.raises(TenfoldError, match=r"fast turns of 1\.0 and slow ones of 1\.0"):
        build("rotary-yarn", fast=1, slow=1)
    with pytest.raises(TenfoldError, match='encoding "rotary-yarn": trained is 0'):
        build("rotary-yarn", trained=0)
