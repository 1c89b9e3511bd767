"""The demo's whole path, at smoke scale: nothing is learned there, so the proof is a refutation."""

import json

import pytest

from tenfold.demo import RECIPES, demo


@pytest.mark.full
def test_demo(tmp_path, capsys):
    written = demo(tmp_path / "demo", scale="smoke")
    assert written["figure"] == tmp_path / "demo" / "accuracy.png"
    page = written["page"].read_text()
    for name in RECIPES:
        assert name in page
        assert (tmp_path / "demo" / name / "result.json").exists()
    certificate = json.loads((tmp_path / "demo" / "certified" / "certificate.json").read_text())
    assert certificate["verdict"] == "refuted"
    assert "<h2>Proof: certified</h2>" in page
    assert "<b>refuted</b>" in page
    assert certificate["counterexamples"][0]["question"] in page
    assert (
        page.count('id="accuracy"') == page.count('role="img" aria-label="The finite machine') == 1
    )
    assert "99...9+1 with 500 nines" in page
    feats = json.loads((tmp_path / "demo" / "certified" / "feats.json").read_text())["problems"]
    assert [each["digits"] for each in feats] == [2000, 500]
    assert all(each["agrees"] and not each["right"] for each in feats)
    assert written["explorer"] == tmp_path / "demo" / "explorer.html"
    assert list(written)[-1] == "explorer"
    explorer = written["explorer"].read_text()
    assert all(f'"name":"{name}"' in explorer for name in RECIPES)
    output = capsys.readouterr().out
    assert "refuted: wrong on" in output
    assert "the task's own machine: no" in output
    assert "WRONG" in output
