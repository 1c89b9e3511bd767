"""What a table shows of runs with different metrics: each apart, and a note on all that is left out."""

import json

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.results.collect import collect
from tenfold.results.selection import select
from tenfold.results.summarise import summarise


@pytest.fixture
def reader(make, measured):
    """`reader("alibi", 1, 50)`: a run that reads text, with perplexity 5 at length 5; its loss is 1."""

    def made(pe, seed, tenths, **changes):
        rows = [
            measured(tenths, 5, metric="perplexity"),
            measured(10, 5, metric="loss"),
            measured(tenths, 5, slice="sliding", metric="perplexity"),
        ]
        return make(pe, seed, rows=rows, name="paper/texts", **changes)

    return made


def test_each_metric_is_shown_apart(make, reader, tmp_path):
    make("alibi", 0, {5: 9})
    reader("alibi", 1, 50)
    reader("rotary", 1, 60)
    summary = summarise(collect([tmp_path / "runs"]), ["pe", "length"])
    assert [(line["metric"], line["encoding"], line["median"]) for line in summary.lines] == [
        ("exact", "alibi", 0.9),
        ("perplexity", "alibi", 5.0),
        ("perplexity", "rotary", 6.0),
    ]
    assert summary.notes == ["metrics are shown apart: exact, perplexity"]
    exact, alibi, _ = summary.text("table").splitlines()[2:]
    assert "90.0" in exact  # in per cent, unlike the perplexity
    assert " 5 " in alibi


def test_the_metric_is_one_that_the_runs_have(reader, tmp_path):
    for seed, tenths in enumerate([50, 60, 40]):
        reader("alibi", seed, tenths)
    summary = summarise(collect([tmp_path / "runs"]), ["pe", "length"])
    (line,) = summary.lines
    assert (line["median"], line["worst"], line["best"], line["success"]) == (5.0, 6.0, 4.0, None)
    assert summary.notes == ["the metric is perplexity: no run has exact"]


def test_a_requested_metric_names_the_runs_without_it(make, reader, tmp_path):
    make("alibi", 0, {5: 9})
    reader("alibi", 1, 50)
    reader("rotary", 1, 60)
    rows = collect([tmp_path / "runs"]).rows
    chosen = select(rows, ["length"], metric="exact")
    assert chosen.notes == ["2 runs are left out: metric loss, perplexity, not exact"]
    chosen = select(rows, ["length"], metric="loss")
    assert chosen.notes == ["1 run is left out: metric exact, not loss"]
    assert (chosen.by, len(chosen.rows)) == (["length"], 2)
    with pytest.raises(TenfoldError, match="unknown metric of these runs"):
        select(rows, ["length"], metric="digit")


def test_a_run_without_the_slice_or_checkpoint_is_named(make, measured, tmp_path):
    make("alibi", 0, {5: 9})
    make("alibi", 1, rows=[measured(4, 5, slice="nines")])
    make("alibi", 2, rows=[measured(4, 5, "final")])
    chosen = select(collect([tmp_path / "runs"]).rows, ["length"])
    assert len(chosen.rows) == 1
    assert chosen.notes == [
        "1 run is left out: slice nines, not uniform",
        "1 run is left out: checkpoint final, not best",
    ]


def test_no_run_is_lost_without_a_note(make, reader, measured, tmp_path):
    make("alibi", 0, {5: 9})
    make("alibi", 1, rows=[measured(4, 5, metric="digit")])
    reader("alibi", 2, 50)
    rows = collect([tmp_path / "runs"]).rows
    chosen = select(rows, ["length"])
    assert {row["fingerprint"] for row in chosen.rows} == {row["fingerprint"] for row in rows}
    assert chosen.by == ["metric", "length"]


def test_a_metric_without_a_direction_is_named(make, measured):
    rows = collect([make(rows=[measured(4, 5, metric="contexts")])]).rows
    notes = select(rows, ["length"]).notes
    assert notes[1] == "neither direction is better, the greatest counts as best: contexts"


def test_a_lower_perplexity_wins(tenfold, reader, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed, (ours, theirs) in enumerate([(40, 60), (45, 50), (70, 60)]):
        reader("alibi", seed, ours)
        reader("rotary", seed, theirs)
    words = ("results", "--compare", "alibi", "rotary", "--metric", "perplexity")
    code, out, _ = tenfold(*words, "--format", "json")
    (line,) = json.loads(out)
    assert (code, line["wins"], line["ties"], line["losses"]) == (0, 2, 0, 1)
    assert line["mean"] == pytest.approx((-2.0 - 0.5 + 1.0) / 3)
    assert (line["median_low"], line["median_high"], line["median_coverage"]) == (-2, 1, 0.75)
    code, out, _ = tenfold(*words)
    assert "2-0-1" in out
    assert "-2 to +1 (75%)" in out


def test_a_cell_that_no_pair_has_is_named(make, tmp_path):
    make("alibi", 0, {5: 9, 7: 3})
    make("rotary", 0, {5: 4, 9: 1})
    summary = summarise(collect([tmp_path / "runs"]), compare=("alibi", "rotary"))
    assert [line["length"] for line in summary.lines] == [5]
    assert summary.notes == [
        "length 7 is left out: no pair of runs has both measurements",
        "length 9 is left out: no pair of runs has both measurements",
    ]
