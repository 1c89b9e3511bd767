"""Reports: numbers from runs to curves, tables and a page."""

import csv
import json
from html.parser import HTMLParser

import pytest

from tenfold.errors import TenfoldError
from tenfold.lab.recipes import recipe
from tenfold.lab.run import Answer, Run
from tenfold.lab.train import train
from tenfold.report import collect, write_report
from tenfold.report.page import marked


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    names = ("symmetry/addition-absolute", "symmetry/addition-relative")
    return [
        train(recipe(name, "smoke", seed=seed), folder / f"{name[-8:]}-{seed}")
        for name in names
        for seed in range(3)
    ]


class Pretend(Run):
    """A run whose results are given."""

    def __init__(self, seed, values):
        super().__init__(None, recipe("symmetry/addition-relative", "smoke", seed=seed))
        self.values = values

    def result(self):
        rows = [
            {"length": length, "slice": "uniform", "metric": "exact", "checkpoint": "best",
             "value": value, "n": 100, "low": value - 0.1, "high": value + 0.1}
            for length, value in self.values.items()
        ]  # fmt: skip
        return {
            "rows": rows, "steps": 1, "fingerprint": "f", "environment": {"commit": "c", "date": "d"},
        }  # fmt: skip


def test_curve_is_median_worst_and_best_over_seeds():
    runs = [Pretend(seed, {5: value}) for seed, value in enumerate((0.9, 0.2, 0.6))]
    (curve,) = collect.curves(runs)
    (point,) = curve.points
    assert (point.median, point.worst, point.best, point.seeds) == (0.6, 0.2, 0.9, 3)
    assert (point.low, point.high) == (0.5, 0.7)
    assert collect.cell(point) == "60.0 (20.0-90.0)"


def test_one_seed_shows_the_interval_over_samples():
    ((point,),) = (curve.points for curve in collect.curves([Pretend(0, {5: 0.5})]))
    assert collect.cell(point) == "50.0 (40.0-60.0)"


def test_only_the_seed_may_differ_within_a_curve():
    plain, other, twice = (Pretend(seed, {5: 0.5}) for seed in (0, 1, 0))
    other.recipe = other.recipe.replace(pe="alibi")
    names = [curve.name for curve in collect.curves([plain, other])]
    assert names[0] == plain.recipe.name
    assert names[1].startswith(f"{plain.recipe.name} (pe is alibi, not ")
    with pytest.raises(TenfoldError, match="seed 0 is there twice"):
        collect.curves([plain, twice])


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.opened, self.outside = [], []

    def handle_starttag(self, tag, attrs):
        self.opened.append(tag)
        self.outside += [
            value for name, value in attrs if name in {"src", "href"} and value[0] != "#"
        ]


def test_page_is_whole_and_needs_nothing_from_outside(runs, tmp_path):
    written = write_report(runs, tmp_path / "out", title="A <title>")
    page = written["page"].read_text()
    tags = Tags()
    tags.feed(page)
    assert tags.outside == []
    assert "A &lt;title&gt;" in page
    assert page.count('<td class="digits">') == 2 * 10 * 3  # ten worked examples a recipe
    assert {"svg", "table", "details"} <= set(tags.opened)
    assert written["figure"].read_bytes()[:4] == b"\x89PNG"
    for run in runs:
        assert run.recipe.fingerprint in page


def test_csv_has_every_row_with_its_provenance(runs, tmp_path):
    written = write_report(runs, tmp_path)
    with written["rows"].open() as file:
        rows = list(csv.DictReader(file))
    told = [
        row for run in runs for row in json.loads((run.folder / "result.json").read_text())["rows"]
    ]
    assert len(rows) == len(told)
    assert {row["seed"] for row in rows} == {"0", "1", "2"}
    assert all(row["fingerprint"] and row["date"] and row["n"] for row in rows)


def test_wrong_digits_are_marked():
    assert Answer("12+34", "46", "46").wrong_digits() == [False, False]
    assert Answer("12+34", "45", "46").wrong_digits() == [False, True]
    assert Answer("5+5", "1", "10").wrong_digits() == [True]
    assert Answer("1+1", "12", "2").wrong_digits() == [True, False]
    assert marked(Answer("12+34", "4_", "46")) == '4<span class="wrong">_</span>'
    assert "nothing" in marked(Answer("1+1", "", "2"))
