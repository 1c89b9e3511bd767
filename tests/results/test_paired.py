"""Two encodings compared seed by seed."""

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.results.collect import Collected, collect
from tenfold.results.paired import compare


def test_compared_seed_by_seed(make, tmp_path):
    for seed, right in enumerate([10, 8, 9]):
        make("alibi", seed, {5: right})
    for seed, right in enumerate([5, 8, 2, 1]):  # seed 3 has no partner
        make("rotary", seed, {5: right}, name="another/name", label="other", schemes=["shifted"])
    make("rotary", 0, {5: 0}, train={"lr": 0.01})  # another setting is nobody's partner
    collected = collect([tmp_path / "runs"])
    (line,), (note,) = compare(collected, collected.rows, "alibi", "rotary", ["length"])
    assert (line["seeds"], line["wins"], line["ties"], line["losses"]) == (3, 2, 1, 0)
    assert line["mean"] == pytest.approx((0.5 + 0 + 0.7) / 3)
    assert line["median"] == pytest.approx(0.5)
    assert (line["median_first"], line["median_second"]) == (0.9, 0.5)
    assert line["p"] == 0.5  # +-0.5 +-0 +-0.7: half of the signs are as far
    assert note == "2 runs of alibi or rotary have no partner"


def test_a_comparison_that_mixes_is_told(make, tmp_path, measured):
    make("alibi", 0, {5: 10, 7: 2})
    make("rotary", 0, {5: 10, 7: 2})
    make("t5", 0, {9: 1})  # compared with nobody
    collected = collect([tmp_path / "runs"])
    assert compare(collected, collected.rows, "alibi", "rotary", ["length"])[1] == []
    assert compare(collected, collected.rows, "alibi", "rotary", ["task"])[1] == [
        "a cell mixes different values of length: 5, 7"
    ]
    for pe in ("alibi", "rotary"):
        make(pe, 1, rows=[measured(3, 5), measured(3, 5, "final")])
    collected = collect([tmp_path / "runs"])
    (note,) = compare(collected, collected.rows, "alibi", "rotary", ["length"])[1]
    assert note == "a cell mixes different values of checkpoint: best, final"


def test_several_settings_are_compared_each(make, tmp_path):
    for pe, right in (("alibi", 9), ("rotary", 4)):
        make(pe, 0, {5: right})
        make(pe, 0, {5: right - 1}, train={"lr": 0.01})
    collected = collect([tmp_path / "runs"])
    lines, notes = compare(collected, collected.rows, "alibi", "rotary", ["length"])
    assert [line["mean"] for line in lines] == [pytest.approx(0.5)] * 2
    assert len({line["first"] for line in lines}) == 2
    assert notes == []


def test_nothing_to_compare(make, tmp_path):
    make("alibi", 0)
    make("rotary", 1)
    collected = collect([tmp_path / "runs"])
    with pytest.raises(TenfoldError, match="no run of alibi has a partner of rotary"):
        compare(collected, collected.rows, "alibi", "rotary", ["length"])
    with pytest.raises(TenfoldError, match='did you mean "alibi"'):
        compare(collected, collected.rows, "alibbi", "rotary", ["length"])
    with pytest.raises(TenfoldError, match="with itself"):
        compare(collected, collected.rows, "alibi", "alibi", ["length"])
    with pytest.raises(TenfoldError, match="recipes are not at hand"):
        compare(Collected(collected.rows), collected.rows, "alibi", "rotary", ["length"])
