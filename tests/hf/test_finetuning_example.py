"""The fine-tuning example runs from beginning to end."""

import runpy
from pathlib import Path

import pytest

pytest.importorskip("transformers")
pytest.importorskip("accelerate")

EXAMPLE = Path(__file__).parents[2] / "examples/finetune_swapped.py"


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
def test_the_example(capsys, monkeypatch):
    names = runpy.run_path(str(EXAMPLE))
    names["main"].__globals__["HELD_OUT"] = 512
    names["main"](steps=2, length=16)
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.split()[-4:] == ["at", "16", "at", "64"]
    assert [line[:22].strip() for line in lines] == [
        "rotary, trained", "alibi, before", "alibi, after", "rotary, as long",
    ]  # fmt: skip
    for line in lines:
        near, far = map(float, line[22:].split())
        assert 1 < near < 400
        assert 1 < far < 400
