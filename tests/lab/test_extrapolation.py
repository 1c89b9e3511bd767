"""The experiment on perplexity: which encodings count as convergent, what is measured of them, and the figures."""

import pytest

from tenfold.lab import experiments
from tenfold.lab.recipes import recipe
from tenfold.lab.train import train

CONVERGES = {
    "alibi": True,
    "inverse": False,
    "learned": False,  # it adds nothing to the logits: every distance has the same weight
    "rotary": False,
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    song = tmp_path_factory.mktemp("text") / "song.txt"
    song.write_text("one two three four, and again\n" * 400)
    task = {"name": "files", "path": str(song)}
    folder = tmp_path_factory.mktemp("runs")
    return [
        train(recipe(f"extrapolation/code-{kind}", "smoke", task=task), folder / kind)
        for kind in CONVERGES
    ]


@pytest.mark.slow
def test_encodings_are_sorted_by_their_series_and_compared(runs, tmp_path):
    (found,) = experiments.find("extrapolation/perplexity")
    rows = list(found.holds["measure"](experiments.Lab("smoke", None, lambda _: [], runs)))
    held = {(row["recipe"], row["metric"]): row["value"] for row in rows}
    for kind, converges in CONVERGES.items():
        assert held[f"extrapolation/code-{kind}", "converges"] == converges
    rises = {
        converges: [held[f"extrapolation/code-{k}", "rise"] for k, c in CONVERGES.items() if c is converges]
        for converges in (True, False)
    }  # fmt: skip
    assert held["extrapolation/code-convergent", "largest-rise"] == max(rises[True])
    assert held["extrapolation/code-divergent", "smallest-rise"] == min(rises[False])
    assert held["extrapolation/code-convergent", "encodings"] == 1
    assert held["extrapolation/code-divergent", "encodings"] == 3
    collected = experiments.collect([run.folder for run in runs])
    found.holds["draw"]("smoke", collected.rows, tmp_path)
    assert {path.stem for path in tmp_path.glob("*.png")} == {"perplexity-code"}
