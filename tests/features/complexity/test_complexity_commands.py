"""The command `tenfold theory complexity`."""

import json

import pytest

from tenfold.features.complexity.complexity import cascades, levels


def test_distribution_as_json(tenfold):
    code, out, _ = tenfold("theory", "complexity", "levels", "--length", 5, "--most", 3, "--json")
    assert code == 0
    assert json.loads(out) == [float(share) for share in levels(5, most=3)]


def test_distribution_as_a_table(tenfold):
    code, out, _ = tenfold("theory", "complexity", "--length", 3, "--full")
    assert code == 0
    assert len(out.splitlines()) == 1 + len(cascades(3))
    assert out.splitlines()[-1].endswith("1.000000")


@pytest.mark.parametrize("wrong", [["sums"], ["--length", 0], ["--length", 3, "--base", 1]])
def test_bad_input_is_one_line(tenfold, wrong):
    code, out, err = tenfold("theory", "complexity", "--length", 3, *wrong)
    assert (code, out, err.count("\n")) == (2, "", 1)
