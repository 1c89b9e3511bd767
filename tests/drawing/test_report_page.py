"""Reports: numbers from runs to curves, tables and a page."""

import csv
import json
import re
import shutil
from html.parser import HTMLParser

import pytest
from PIL import Image

from tenfold.core.errors import TenfoldError
from tenfold.drawing import curves as collect
from tenfold.drawing.figures import accuracy_by_length, heatmap
from tenfold.drawing.report_page import write_report, write_story
from tenfold.drawing.report_sections import marked, slugs
from tenfold.drawing.run_groups import Story, gather, grouped
from tenfold.results.collect import Collected
from tenfold.results.collect import collect as collect_rows
from tenfold.results.collect import write as write_results
from tenfold.results.method_names import names
from tenfold.runs.recipe_files import recipe
from tenfold.runs.run import Answer
from tenfold.runs.train import train

SLICES = ["uniform", "unequal", "nines", "pairs"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    names = ("symmetry/addition-absolute", "symmetry/addition-relative")
    return [
        train(
            recipe(name, "smoke", seed=seed, eval={"slices": SLICES}),
            folder / f"{name[-8:]}-{seed}",
        )
        for name in names
        for seed in range(3)
    ]


@pytest.fixture(scope="module")
def written(runs, tmp_path_factory):
    return write_report(runs, tmp_path_factory.mktemp("page"), title="A <title>")


@pytest.fixture
def results(runs, tmp_path):
    """A folder as `tenfold results --out` leaves it: no weights."""
    write_results(collect_rows([run.folder for run in runs]), tmp_path / "results")
    return tmp_path / "results"


def measured(recipe, values, slice="uniform", metric="exact"):
    """What one run came to: a share by length."""
    known = {"run": f"run-{recipe.seed}", "fingerprint": recipe.fingerprint}
    rows = [
        {**known, "length": length, "slice": slice, "metric": metric, "checkpoint": "best",
         "value": value, "n": 100, "low": value - 0.1, "high": value + 0.1}
        for length, value in values.items()
    ]  # fmt: skip
    made = {"tenfold": "0.1.0", "commit": "c", "date": "d", "python": "3.11"}
    run = {
        **known, "recipe": json.dumps(recipe.as_json()), "environment": json.dumps(made), "parameters": 9,
        "steps": 1, "train_seconds": 1.0, "reason": None, "best_step": 1, "seed": recipe.seed,
    }  # fmt: skip
    return Collected(rows, [run])


def joined(*parts):
    return Collected([r for part in parts for r in part.rows], [r for p in parts for r in p.runs])


def groups_of(*parts):
    groups, problems = grouped(joined(*parts))
    assert problems == []
    return groups


def seeds_of(group):
    return [run["seed"] for run in group.runs]


@pytest.fixture
def plain():
    return recipe("symmetry/addition-relative", "smoke")


def test_curve_is_median_worst_and_best_over_seeds(plain):
    values = (0.9, 0.2, 1.0, 0.6, 0.99)
    groups = groups_of(*(measured(plain.replace(seed=s), {5: v}) for s, v in enumerate(values)))
    ((point,),) = (curve.points for curve in collect.curves(groups))
    assert (point.median, point.spread, point.solved) == (0.9, (0.2, 1.0), 2)
    assert (point.low, point.high, point.n) == (0.8, 1.0, 100)
    interval = point.interval
    assert (interval.low, interval.high, interval.coverage) == (0.2, 1.0, 0.9375)
    assert collect.cell(point) == "90.0 (20.0-100.0)"


def test_one_seed_shows_the_interval_over_samples(plain):
    ((point,),) = (curve.points for curve in collect.curves(groups_of(measured(plain, {5: 0.5}))))
    assert collect.cell(point) == "50.0 (40.0-60.0)"
    assert point.interval is None


def test_only_the_seed_may_differ_within_a_curve(plain):
    made = [
        plain,
        plain.replace(seed=1),
        plain.replace(pe="alibi"),
        plain.replace(name="other", pe="rotary"),
    ]
    groups = groups_of(*(measured(one, {5: 0.5}) for one in made))
    assert [(group.name, seeds_of(group)) for group in groups] == [
        ("symmetry/addition-relative: pairwise", [0, 1]),
        ("symmetry/addition-relative: alibi", [0]),
        ("other", [0]),
    ]


def along(plain, seed, offset, name="calibrated", over=None):
    """A recipe that sees along one line, which its own seed's first training showed."""
    line = {"attention": "causal", "head": 1, "keys": "answer", "axis": "column", "offset": offset, "value": 0.0}  # fmt: skip
    lines = {"name": "calibrated", "lines": [line]}
    pe = lines if over is None else {"name": "compose", "parts": [over, lines]}
    return plain.replace(name=name, seed=seed, pe=pe)


def test_lines_that_each_seed_measured_do_not_part_seeds(plain):
    made = [
        *(along(plain, seed, seed) for seed in (0, 1, 2)),
        *(along(plain, seed, seed, "last") for seed in (0, 1)),
        *(along(plain, seed, seed, "over", "sinusoidal") for seed in (0, 1)),
        along(plain, 1, 1, "other", "rotary"),
    ]
    groups = groups_of(*(measured(one, {5: 0.5}) for one in made))
    assert [(group.name, seeds_of(group)) for group in groups] == [
        ("calibrated", [0, 1, 2]),
        ("last", [0, 1]),
        ("over", [0, 1]),
        ("other", [1]),
    ]


def test_one_seed_along_two_sets_of_lines_is_two_groups(plain):
    groups = groups_of(*(measured(along(plain, 0, offset), {5: 0.5}) for offset in (0, 1)))
    assert [seeds_of(group) for group in groups] == [[0], [0]]
    assert len({group.name for group in groups}) == 2


def test_curves_of_one_label_stand_beside_each_other(plain):
    made = {"a": "generic", "b": "window", "c": "generic"}
    parts = [
        measured(plain.replace(name=name, label=label, train={"steps": 20 + number}), {5: 1.0})
        for number, (name, label) in enumerate(made.items())
    ]
    assert [g.name for g in groups_of(*parts)] == ["a", "c", "b"]


def test_what_cannot_be_told_is_named(plain):
    damaged = measured(plain.replace(seed=1), {5: 0.5})
    damaged.runs[0]["recipe"] = '{"colour": "red"}'
    alone = measured(plain.replace(seed=2), {5: 0.5})
    alone.runs.clear()
    groups, problems = grouped(joined(measured(plain, {5: 0.5}), damaged, alone))
    assert [seeds_of(group) for group in groups] == [[0]]
    assert problems[0].startswith('run-1: its recipe cannot be read: unknown recipe key "colour"')
    assert problems[1:] == ["run-2: its recipe and environment are unknown"]


def test_pairs_are_for_the_map_alone(plain):
    parts = [measured(plain.replace(seed=s), {5: v}, "5x2") for s, v in enumerate((0.1, 0.4, 0.2))]
    parts.append(measured(plain, {5: 0.9}))
    parts[-1].runs.clear()
    (group,) = groups_of(*parts)
    assert collect.slices([group]) == ["uniform"]
    assert collect.pairs(group) == {(5, 2): 0.2}


def test_a_map_has_the_first_operand_across_and_the_second_upward(tmp_path):
    drawn = heatmap({(1, 1): 0.11, (5, 1): 0.51, (1, 5): 0.15}, tmp_path / "map", "A map", 1)
    texts = re.findall(r'<text [^>]*?x="([\d.]+)" y="([\d.]+)"[^>]*>(\d\d)</text>', drawn.svg)
    at = {text: (float(x), float(y)) for x, y, text in texts}
    assert set(at) == {"11", "51", "15"}
    assert at["51"][0] > at["11"][0] == at["15"][0]
    assert at["15"][1] < at["11"][1] == at["51"][1]  # y counts downward


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.opened, self.outside, self.ids = [], [], []

    def handle_starttag(self, tag, attrs):
        self.opened.append(tag)
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        named = [given[key] for key in ("src", "href", "xlink:href", "data") if key in given]
        self.outside += [value for value in named if value[0] != "#"]


def read(page):
    tags = Tags()
    tags.feed(page)
    return tags


def test_page_is_whole_and_needs_nothing_from_outside(runs, written):
    page = written["page"].read_text()
    tags = read(page)
    assert tags.outside == []
    assert not {"script", "link", "iframe", "object", "img"} & set(tags.opened)
    assert not re.search(r"https?:|@import|url\((?!#)", page)
    assert len(set(tags.ids)) == len(tags.ids)
    assert "A &lt;title&gt;" in page
    assert page.count('<td class="digits">') == 2 * 10 * 3  # ten worked examples a recipe
    assert {"svg", "table", "details"} <= set(tags.opened)
    for run in runs:
        assert run.recipe.fingerprint in page
        assert f"command: {run.result()['environment']['command']}" in page
    assert "a range of seeds covers the median over all possible seeds in 75% (3 seeds)" in page


def test_every_figure_is_beside_the_page(written):
    page, folder = written["page"].read_text(), written["page"].parent
    drawn = re.findall(r'id="([^"]+)" role="img"', page)
    assert drawn == [
        "accuracy", "slice-unequal", "slice-nines",
        "pairs-symmetry-addition-absolute", "pairs-symmetry-addition-relative",
    ]  # fmt: skip
    for name in drawn:
        assert (folder / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
        assert "<svg" in (folder / f"{name}.svg").read_text()
    assert re.findall(r'aria-label="([^"]+)"', page) == [
        "A &lt;title&gt;", "A &lt;title&gt;: unequal", "A &lt;title&gt;: nines",
        "symmetry/addition-absolute, %", "symmetry/addition-relative, %",
    ]  # fmt: skip
    assert written["figure"] == folder / "accuracy.png"
    assert {path.stem for path in folder.glob("*.svg")} == set(drawn)


def test_pairs_are_not_among_the_hard_slices(written):
    page = written["page"].read_text()
    assert "<th>nines</th>" in page
    assert "4x2" not in page
    assert "## Slice nines" in written["table"].read_text()
    assert "4x2" not in written["table"].read_text()


def test_drawings_follow_the_page(written):
    drawn = re.findall(r"<svg.*?</svg>", written["page"].read_text(), re.DOTALL)
    curves = next(one for one in drawn if 'id="accuracy"' in one)
    assert "currentColor" in curves
    assert "#000000" not in curves
    assert "<text" in curves
    assert "#ffffff" not in curves.lower()


def test_csv_has_every_row_with_its_provenance(runs, written):
    with written["rows"].open() as file:
        rows = list(csv.DictReader(file))
    expected = [
        row for run in runs for row in json.loads((run.folder / "result.json").read_text())["rows"]
    ]
    assert len(rows) == len(expected)
    assert {row["seed"] for row in rows} == {"0", "1", "2"}
    assert all(row["fingerprint"] and row["date"] and row["n"] for row in rows)


def test_from_results_all_but_the_weights(runs, results, tmp_path, written):
    story = gather([results])
    assert story.problems == []
    page = write_story(story, tmp_path / "out", "A <title>", examples=10)["page"].read_text()
    assert "Worked examples" not in page
    before, after = written["page"].read_text().split("<h2>Worked examples</h2>")
    assert page.startswith(before)
    assert page.endswith(after[after.index("<h2>Where the numbers") :])


def test_labels_head_the_legend_and_the_table(plain, tmp_path):
    parts = [
        measured(plain.replace(name=label, label=label), {5: 1.0, 9: 0.5})
        for label in ("generic", "window")
    ]
    groups, _ = grouped(joined(*parts))
    page = write_story(Story(groups), tmp_path)["page"].read_text()
    assert '<li class="label">generic</li>' in page
    assert '<tr class="label"><th>window</th>' in page
    assert "generic [generic]" not in page  # in the file's legend alone


def test_many_curves_are_also_drawn_alone(plain, tmp_path):
    parts = [
        measured(plain.replace(name=f"recipe {i}", train={"steps": 20 + i}), {2: 1.0, 4: i / 9})
        for i in range(9)
    ]
    groups, _ = grouped(joined(*parts))
    page = write_story(Story(groups), tmp_path)["page"].read_text()
    assert len(re.findall('id="alone-recipe-\\d" role="img"', page)) == 9
    assert len(list(tmp_path.glob("alone-*.png"))) == 9


def test_every_task_and_metric_has_its_own_part(plain, tmp_path):
    """Perplexities of two texts cannot be compared, and no axis is shared with a share of right answers."""
    texts = [recipe(f"extrapolation/{kind}-alibi", "smoke") for kind in ("code", "prose")]
    parts = [measured(text, {16: 9.0, 32: 8.0}, metric="perplexity") for text in texts]
    groups, _ = grouped(joined(measured(plain, {2: 1.0, 4: 0.5}), *parts))
    written = write_story(Story(groups), tmp_path)
    page = written["page"].read_text()
    assert re.findall(r"<h[12]>([^<]+)", page) == [
        "Accuracy and perplexity against length", "Addition", "Python code: perplexity",
        "Python prose: perplexity", "Where the numbers come from",
    ]  # fmt: skip
    assert re.findall(r'id="([^"]+)" role="img"', page) == [
        "accuracy", "perplexity-python-code", "perplexity-python-prose",
    ]  # fmt: skip
    assert written["perplexity of python-prose"].exists()


def test_whatever_a_name_holds_is_text_on_the_page(plain, tmp_path):
    bad = '<b onclick="x">&|$_'
    parts = [
        measured(plain.replace(name=f"{bad} {i}", label=f"{i} {bad}"), {5: 1.0, 9: 0.5}, slice)
        for i, slice in enumerate(("uniform", "<i>", "5x2"))
    ]
    for part in parts:
        part.runs[0]["reason"] = bad
    groups, _ = grouped(joined(*parts))
    written = write_story(Story(groups, problems=[bad]), tmp_path, bad)
    page = written["page"].read_text()
    tags = read(page)
    assert not {"b", "i"} & set(tags.opened[: tags.opened.index("body")])
    assert "<b onclick" not in page
    assert "<i>" not in page
    assert tags.opened.count("b") == 1  # our own: Left out
    assert page.count("&lt;b onclick") > 10
    for line in written["table"].read_text().splitlines():
        if line.startswith("|"):
            cells = re.split(r"(?<!\\)\|", line)
            assert len(cells) in (2 + 2, 7 + 2)  # digits and a curve, or a run
            assert bad not in line


def test_names_of_files_are_told_apart():
    assert slugs(["a 2", "a", "A", "a!", "", "?"]) == [
        "a-2",
        "a",
        "a-3",
        "a-4",
        "unnamed",
        "unnamed-2",
    ]


def test_a_long_name_keeps_its_end(plain):
    made = [plain.replace(name="a" * 70, train={"lr": lr}) for lr in (0.1, 0.2)]
    made += [plain.replace(name="b", train={"lr": 0.3})]
    first, second, _ = names(made)
    assert (len(first), len(second)) == (60, 60)
    assert first.startswith("aaaaaaaaaaaaaaaaaaaa...")
    assert first.endswith("a: train.lr 0.1")
    assert second.endswith("a: train.lr 0.2")


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("addition", "digits of the longer operand"),
        ({"name": "addition", "terms": 3}, "digits of the longest operand"),
        ("parity", "digits of the operand"),
        ("multiplication", "digits of the number that is multiplied"),
    ],
)
def test_the_task_says_what_a_length_counts(plain, tmp_path, task, words):
    (curve,) = collect.curves(groups_of(measured(plain.replace(task=task), {5: 0.5})))
    assert f">{words}<" in accuracy_by_length([curve], tmp_path / "a", "title").svg
    (other,) = collect.curves(groups_of(measured(plain.replace(task="comparison"), {5: 0.5})))
    both = accuracy_by_length([curve, other], tmp_path / "b", "title").svg
    assert (">digits<" in both) == (words != other.counted)


def test_a_long_legend_leaves_room_for_the_curves(tmp_path):
    point = collect.Point(5, (1.0,), 0.9, 1.0, 100)
    names = [f"paper/some-recipe-of-a-long-name-{number}" for number in range(12)]
    drawn_curves = [collect.Curve(name, "window", (point,), 5, "digits") for name in names]
    accuracy_by_length(
        drawn_curves, tmp_path / "a", "A title of several lines, " * 6
    )  # warnings fail


def test_a_long_name_fits_its_file(plain, tmp_path):
    """Beside the legend there is paper, not a word that is cut."""
    made = [plain.replace(name=60 * "w", label=label) for label in ("long", "longer")]
    drawn_curves = collect.curves(groups_of(*(measured(one, {5: 0.5}) for one in made)))
    picture = Image.open(
        accuracy_by_length(drawn_curves, tmp_path / "a", "title").files[0]
    ).convert("L")
    edge = picture.crop((picture.width - 6, 0, picture.width, picture.height))
    assert edge.getextrema()[0] > 250


def test_the_lengths_of_training_are_seen_on_every_colour(tmp_path):
    """A light line within a dark one: one of them stands out, and neither follows the page's ink."""
    drawn = heatmap({(1, 1): 0.0, (5, 5): 1.0, (1, 5): 1.0}, tmp_path / "map", "A map", 1).svg
    wide, narrow = re.findall(r'stroke: (#\w+); stroke-width: ([\d.]+)[^"]*"/>', drawn)[-2:]
    assert (wide[0], narrow[0]) == ("#101010", "#fafafa")
    assert float(wide[1]) > 2 * float(narrow[1])


def test_the_page_is_whole_and_last(plain, tmp_path, monkeypatch):
    groups, _ = grouped(measured(plain, {5: 1.0}))
    order = []

    def fails(path, data):
        order.append(path.name)
        if path.name == "report.html":
            raise OSError(28, "No space left on device")

    (tmp_path / "report.html").write_text("old")
    monkeypatch.setattr("tenfold.drawing.report_page.write_atomically", fails)
    with pytest.raises(TenfoldError, match="No space left"):
        write_story(Story(groups), tmp_path)
    assert order == ["results.csv", "results.md", "report.html"]
    assert (tmp_path / "report.html").read_text() == "old"


def test_wrong_digits_are_marked():
    assert Answer("12+34", "46", "46").wrong_digits() == [False, False]
    assert Answer("12+34", "45", "46").wrong_digits() == [False, True]
    assert Answer("5+5", "1", "10").wrong_digits() == [True]
    assert Answer("1+1", "12", "2").wrong_digits() == [True, False]
    assert marked(Answer("12+34", "4_", "46")) == '4<span class="wrong">_</span>'
    assert "nothing" in marked(Answer("1+1", "", "2"))


def test_damaged_and_unfinished_runs_are_named_and_left_out(runs, tenfold, tmp_path):
    for run in runs[:3]:
        shutil.copytree(run.folder, tmp_path / "runs" / run.folder.name)
    first, second, third = sorted((tmp_path / "runs").iterdir())
    (first / "result.json").write_text("{")
    (second / "result.json").unlink()
    shutil.rmtree(third / "checkpoints")
    code, out, err = tenfold("report", "--json")
    assert code == 0
    page = (tmp_path / json.loads(out)["page"]).read_text()
    lines = err.splitlines()
    assert len(lines) == 2
    for folder, line in zip((first, second), lines, strict=True):
        assert line.startswith(f"left out: runs/{folder.name}: ")
        assert f"runs/{folder.name}: " in page
    assert "1 run: 1 recipe, 1 seed each" in page
    assert f"None: runs/{third.name} has no checkpoint" in page


def test_what_a_person_may_name(runs, results, tenfold, tmp_path):
    shutil.copytree(runs[0].folder, tmp_path / "runs" / "mine-1")
    for place in ("mine", "runs", runs[0].folder, results):
        assert tenfold("report", place, "--out", "page")[0] == 0
    assert (
        tenfold("report", results, runs[0].folder, "--out", "page")[2] == ""
    )  # there twice, counts once


def test_nothing_to_report(tenfold, tmp_path):
    assert tenfold("report")[2].startswith("error: there are no runs yet")
    (tmp_path / "runs").mkdir()
    code, out, err = tenfold("report")
    assert (code, out) == (2, "")
    assert err == "error: there are no runs to report on; left out: runs: there are no runs in it\n"
    assert "unknown run" in tenfold("report", "nowhere")[2]


def test_a_place_that_cannot_be_written(plain, tmp_path):
    groups, _ = grouped(measured(plain, {5: 1.0}))
    (tmp_path / "file").write_text("")
    with pytest.raises(TenfoldError, match="cannot write to"):
        write_story(Story(groups), tmp_path / "file")
