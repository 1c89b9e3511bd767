"""The demo's whole path, at smoke scale."""

import pytest

from tenfold.demo import demo


@pytest.mark.slow
def test_demo(tmp_path):
    written = demo(tmp_path / "demo", scale="smoke")
    assert written["figure"] == tmp_path / "demo" / "accuracy.png"
    page = written["page"].read_text()
    assert "absolute" in page
    assert "relative" in page
    assert (tmp_path / "demo" / "relative" / "result.json").exists()
