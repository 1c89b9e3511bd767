"""Scores of the league from rows that are written by hand, and the pages that show them."""

import csv
import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from matplotlib import pyplot

import tenfold as library
from tenfold.core.errors import TenfoldError
from tenfold.encodings import ALiBi
from tenfold.features.proofs.soft_prover import check_provable
from tenfold.league import ladder, league_figure
from tenfold.league.budget import chosen_rate, signature, trials, within_budget
from tenfold.league.entries import ENTRIES, LABELS, entries_of
from tenfold.league.ladder import climb
from tenfold.league.league_chart import chart
from tenfold.league.league_figure import _draw, _styles, caption, chosen, draw_league
from tenfold.league.league_page import as_csv, as_json, page
from tenfold.league.league_text import entries_table, table_lines
from tenfold.league.run_details import DETAILS, read_details
from tenfold.league.standing import standings, values_at
from tenfold.league.tracks import TRACKS, track_at
from tenfold.models.locality import encodings_of
from tenfold.results.tables import Collected
from tenfold.runs.build import build
from tenfold.runs.recipe import Recipe

ADDITION, TEXT = TRACKS["addition"], TRACKS["text"]
RIGHT = dict.fromkeys(range(1, 11), 1.0)


@pytest.fixture(scope="module")
def ranked(add):
    collected = Collected()
    for seed, far in enumerate((0.995, 0.4, 0.3)):
        add(collected, ADDITION, "rotary", {**RIGHT, 11: far, 12: 0.95 if far > 0.9 else 0.0}, seed)
    add(collected, ADDITION, "alibi", {**RIGHT, 9: 0.5, 10: 0.4, 11: 1.0, 200: 1.0})
    add(collected, ADDITION, "window", {**RIGHT, 200: 1.0}, reason="certified-exactly")
    add(collected, ADDITION, "columns", {**RIGHT, 200: 1.0})
    return standings(ADDITION, collected)


def test_entries_that_do_not_fit_are_no_rivals(ranked):
    by = {one.entry: one for one in ranked}
    assert [one.entry for one in ranked] == ["window", "columns", "rotary", "alibi"]
    assert not by["alibi"].fits
    assert by["alibi"].median_fit == pytest.approx(0.89)
    assert by["rotary"].multiple() == 1.0
    assert by["rotary"].held[0.99] == {0: 11, 1: 10, 2: 10}
    assert by["rotary"].held[0.90] == {0: 12, 1: 10, 2: 10}
    assert by["rotary"].interval().high == 1.1
    assert by["window"].proved
    assert not by["columns"].proved
    lines = table_lines(ADDITION, ranked)
    assert "does not fit" in lines[-1]
    assert "89.0% (" in lines[-1]
    assert "proved at every length" in lines[1]


def test_the_page_shows_trained_accuracy_beside_every_score(ranked):
    html = page({"addition": (ADDITION, ranked)}, "laptop")
    for one in ranked:
        row = html.split(f'data-entry="{one.entry}" data-label')[1].split("</tr>")[0]
        assert f">{one.median_fit:.1%}<small>" in row
        assert ("does not fit</td>" in row) == (not one.fits)
    fitting, _, apart = html.partition('<tbody class="unfit">')
    assert all((f'data-entry="{one.entry}" data-label' in fitting) is one.fits for one in ranked)
    assert all((f'data-entry="{one.entry}" data-label' in apart) is not one.fits for one in ranked)
    assert "Does not fit its trained lengths: no rival" in apart
    rotary = fitting.split('data-entry="rotary" data-label')[1].split("</tr>")[0]
    assert "1 x<small>1 to 1.1 (75%)</small>" in rotary  # three seeds
    assert "1 x<small>one seed</small>" not in rotary
    assert "20 x<small>one seed</small>" in fitting
    assert html.count("proved at every length<small>") == 1
    assert "http" not in html
    (unfit,) = [row for row in csv.DictReader(io.StringIO(as_csv({"addition": (ADDITION, ranked)}))) if row["fits"] == "False"]  # fmt: skip
    assert float(unfit["at_trained_lengths"]) == pytest.approx(0.89)
    assert float(unfit["at_trained_low"]) < 0.89 < float(unfit["at_trained_high"])
    assert unfit["holds_0.99_low"] == ""  # one seed
    (three,) = [row for row in csv.DictReader(io.StringIO(as_csv({"addition": (ADDITION, ranked)}))) if row["entry"] == "rotary"]  # fmt: skip
    assert [float(three[f"holds_0.99_{end}"]) for end in ("low", "high", "coverage")] == [
        1,
        1.1,
        0.75,
    ]
    entries = as_json({"addition": (ADDITION, ranked)})["addition"]["entries"]
    assert all("fit_median" in each and "multiple" in each for each in entries)


def test_the_figure_has_the_best_of_each_label_and_suspects_that_fit(ranked, tmp_path):
    assert [one.entry for one in chosen(ranked)] == ["window", "columns", "rotary"]
    for path in draw_league(ADDITION, ranked, tmp_path / "figure"):
        assert path.stat().st_size > 1000
    words = caption(ADDITION, ranked)
    assert "rotary (generic; 3 seeds; 100.0% at trained lengths): holds 99% to 10 digits" in words
    assert "areas reach from there to the worst seed" in words
    assert "Not drawn, since they do not fit: alibi (89.0% at trained lengths)." in words
    drawn = (tmp_path / "figure.svg").read_text()
    for legend in ("window (window, 1 seed)", "rotary (generic, 3 seeds)"):
        assert legend in drawn
    assert "alibi" not in drawn
    with pytest.raises(TenfoldError, match="no entry of the track"):
        draw_league(ADDITION, ranked[-1:], tmp_path / "none")


def test_of_lines_that_coincide_the_lower_one_is_wider(add, tmp_path, monkeypatch):
    collected = Collected()
    for entry, last in (("window", 1.0), ("columns", 0.995), ("learned", 0.5)):
        add(collected, ADDITION, entry, {**RIGHT, 200: last})
    ranked = standings(ADDITION, collected)
    monkeypatch.setattr(league_figure, "save_files", lambda figure, path: figure.gca().lines)
    widths = [line.get_linewidth() for line in draw_league(ADDITION, ranked, tmp_path)]
    assert widths[0] > widths[1] == widths[2]


def test_a_seed_whose_ladder_ended_counts_as_0_in_curves(add, tmp_path):
    """The median of the seeds that are left would rise where the weak ones end."""
    collected = Collected()
    add(collected, ADDITION, "rotary", {**RIGHT, 11: 1.0, 12: 1.0, 13: 0.8, 200: 0.8}, 0)
    for seed in (1, 2):
        add(collected, ADDITION, "rotary", {**RIGHT, 11: 0.0, 12: 0.0}, seed)
    (rotary,) = standings(ADDITION, collected)
    assert values_at(ADDITION, rotary, 12) == {0: 1.0, 1: 0.0, 2: 0.0}
    assert values_at(ADDITION, rotary, 200) == {0: 0.8, 1: 0.0, 2: 0.0}
    assert "0.0% at 200" in caption(ADDITION, [rotary])
    axes = pyplot.figure().gca()
    _draw(ADDITION, axes, rotary, _styles([rotary])[0], 100)
    (line,) = axes.lines
    assert line.get_ydata().tolist()[-4:] == [0, 0, 0, 0]
    drawn = chart(ADDITION, [rotary]).split('class="line" d="')[1].split('"')[0]
    assert drawn.split("L")[-1].split()[1] == drawn.split("L")[-4].split()[1]  # 0 from 11 on


def test_text_has_no_value_where_a_seed_was_not_measured(add):
    collected = Collected()
    add(collected, TEXT, "alibi", {128: 5.0, 256: 5.1}, 0)
    add(collected, TEXT, "alibi", {128: 5.0}, 1)
    (alibi,) = standings(TEXT, collected)
    assert values_at(TEXT, alibi, 256) == {0: 5.1}


def test_the_page_says_what_its_columns_mean(ranked):
    html = page({"addition": (ADDITION, ranked)}, "laptop")
    assert "4 entries on 1 track, " in html
    for words in (
        "<b>holds 99%</b>",
        "<b>does not fit</b>",
        "so 2 x is twice as long",
        "generic (nothing)",
    ):
        assert words in html
    assert "loops (" not in html  # no entry has this label


def test_the_edge_of_training_is_named_within_the_drawing(add):
    for track, values, place in (
        (ADDITION, RIGHT | {200: 0.5}, "end"),
        (TEXT, {128: 5.0, 4608: 9.0}, "start"),
    ):
        collected = Collected()
        add(collected, track, "alibi", values)
        drawn = chart(track, standings(track, collected))
        assert f'text-anchor="{place}">trained to here' in drawn


def test_text_holds_while_perplexity_stays(add):
    collected = Collected()
    add(collected, TEXT, "alibi", {128: 5.0, 256: 5.02, 512: 5.4, 1152: 9.0})
    add(collected, TEXT, "none", {128: 5.1, 256: 9.0})
    add(collected, TEXT, "learned", {128: 8.0, 256: 8.0})
    first, second, third = standings(TEXT, collected)
    assert (first.entry, first.held[0.99][0], first.held[0.90][0]) == ("alibi", 256, 512)
    assert (second.entry, second.fits, second.multiple()) == ("none", True, 1.0)
    assert (third.entry, third.fits) == ("learned", False)


def test_entries_that_stop_with_a_proof_can_be_proved():
    """With a window, and without one: nothing is masked but the future."""
    stopping = {entry.name: entry for entry in ENTRIES.values() if "stop" in entry.changes}
    assert {"window", "alibi-steep"} <= set(stopping)
    for name, entry in stopping.items():
        recipe = ADDITION.recipe(name, entry.values(ADDITION))
        built = build(recipe)
        model = built.model()
        check_provable(model, built.batcher)
        hides = any("visible" in pe.ways for pe in encodings_of(model))
        assert (name, recipe.label, hides) == (
            name, "significance" if name == "alibi-steep" else "window", name != "alibi-steep"
        )  # fmt: skip


def test_the_documentation_lists_all_entries():
    text = (Path(library.__file__).parents[2] / "docs/league.md").read_text()
    shown = text.partition("<!-- entries: begin -->\n")[2].partition("\n<!-- entries: end -->")[0]
    assert shown.splitlines() == entries_table()


def test_the_table_is_long_enough_and_labels_are_stated():
    assert len(entries_of(ADDITION)) >= 30
    assert len(entries_of(TEXT)) >= 20
    assert {entry.label for entry in ENTRIES.values()} <= set(LABELS)
    with pytest.raises(TenfoldError, match='did you mean "rotary"'):
        entries_of(ADDITION, "rotari")
    with pytest.raises(TenfoldError, match='"window" does not suit the track "text"'):
        entries_of(TEXT, "window")


def test_a_costlier_encoding_has_fewer_steps():
    steps = {}
    for name in ("none", "dape"):
        recipe = ADDITION.recipe(name, ENTRIES[name].values(ADDITION))
        steps[name] = within_budget(ADDITION, recipe).train.steps
        assert signature(within_budget(ADDITION, recipe.replace(seed=5))) == signature(recipe)
    assert steps["dape"] < steps["none"]
    short = trials(ADDITION, ADDITION.recipe("none", ENTRIES["none"].values(ADDITION)))
    assert [each.train.lr for each in short] == [0.001, 0.003]
    assert short[0].train.steps == pytest.approx(0.1 * steps["none"], abs=10)
    assert max(short[0].validated) == ADDITION.trained


def test_rates_are_chosen_by_the_metric_of_the_track():
    assert chosen_rate(ADDITION, {0.001: 0.2, 0.003: 0.4}) == 0.003
    assert chosen_rate(ADDITION, {0.003: 0.4, 0.001: 0.4}) == 0.001
    assert chosen_rate(TEXT, {0.001: 1.2, 0.003: 1.4}) == 0.001


class Fading:
    """A run that is right up to a length."""

    def __init__(self, folder, until):
        self.folder, self.until, self.asked = folder, until, []

    def evaluate(self, lengths, slices, n):
        from tenfold.evals.statistics import Measurement

        (length,) = lengths
        self.asked.append((length, tuple(slices)))
        value = 1.0 if length <= self.until else 0.0
        return [Measurement(length, name, "exact", value, n) for name in slices]


def test_a_ladder_ends_where_answers_end_and_is_kept(tmp_path):
    run = Fading(tmp_path, 12)
    climbed = climb(ADDITION, run)
    assert climbed.ended == "no right answer at 2 lengths in a row, up to 15"
    assert run.asked[-1] == (15, ("uniform",))  # other slices are not asked where nothing is right
    assert (12, ("full", "unequal", "nines")) in run.asked
    count = len(run.asked)
    assert climb(ADDITION, run) == climbed
    assert len(run.asked) == count
    (tmp_path / "far").mkdir()
    assert climb(ADDITION, Fading(tmp_path / "far", 500)).ended == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace('"value": 1.0', '"value": 0.9', 1), "changed after it was"),
        (lambda text: text[:100], "is damaged: "),
        (lambda text: "[]", "does not hold a ladder"),
        (lambda text: json.dumps({**json.loads(text), "rows": [3], "seal": None}), "is damaged"),
    ],
)
def test_a_damaged_ladder_is_refused(tmp_path, change, said):
    climb(ADDITION, Fading(tmp_path, 12))
    path = tmp_path / ladder.LADDER_FILE
    path.write_text(change(path.read_text()))
    with pytest.raises(TenfoldError, match=said) as caught:
        climb(ADDITION, Fading(tmp_path, 12))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: [{**row, "value": 7.0} for row in rows], "is damaged: value is 7"),
        (lambda rows: [{**row, "n": "a"} for row in rows], "is damaged: "),
        (lambda rows: [3], "is damaged: rows.0"),
    ],
)  # fmt: skip
def test_rows_of_a_ladder_of_an_earlier_version_are_checked(tmp_path, change, said):
    """It had no seal."""
    climbed = climb(ADDITION, Fading(tmp_path, 12))
    path = tmp_path / ladder.LADDER_FILE
    stored = json.loads(path.read_text())
    del stored["seal"]
    path.write_text(json.dumps(stored))
    assert climb(ADDITION, Fading(tmp_path, 12)) == climbed
    path.write_text(json.dumps({**stored, "rows": change(stored["rows"])}))
    with pytest.raises(TenfoldError, match=said):
        climb(ADDITION, Fading(tmp_path, 12))


@pytest.mark.parametrize(
    "details", [[], {"a": 3}, {"a": {"stages": 3}}, {"a": {"stages": [3]}}, {"a": {"stages": [{"steps": "x", "seconds": 1.0}]}},
    {"a": {"ended": 3}}, {"a": {"stages": [{"steps": -1, "seconds": 1.0}]}}],
)  # fmt: skip
def test_damaged_details_are_one_line(tmp_path, details):
    (tmp_path / DETAILS).write_text(json.dumps(details))
    with pytest.raises(TenfoldError, match=f"{DETAILS} is damaged: ") as caught:
        read_details(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_ladder_ends_where_code_of_ones_own_fails(tmp_path, monkeypatch):
    class Short(Fading):
        """Its encoding has a table that ends."""

        recipe = SimpleNamespace(pe=SimpleNamespace(name="short"))

        def evaluate(self, lengths, slices, n):
            return super().evaluate([[*range(14)][lengths[0]]], slices, n)

    monkeypatch.setattr(ladder, "ENCODINGS", {"short": Short})
    climbed = climb(ADDITION, Short(tmp_path, 500))
    assert climbed.ended.startswith("length 15 cannot be answered: IndexError: list index out of")
    assert max(row["length"] for row in climbed.rows) == 13
    (tmp_path / "ours").mkdir()
    monkeypatch.setattr(ladder, "ENCODINGS", {"short": ALiBi})
    with pytest.raises(IndexError):
        climb(ADDITION, Short(tmp_path / "ours", 500))


@pytest.mark.parametrize(("name", "scale", "words"), [("sums", "laptop", "track"), ("text", "desk", "scale")])  # fmt: skip
def test_unknown_tracks_and_scales(name, scale, words):
    with pytest.raises(TenfoldError, match=f"unknown {words}"):
        track_at(name, scale)


@pytest.mark.full
@pytest.mark.parametrize("track", TRACKS)
def test_every_entry_builds_and_has_the_label_that_it_states(track):
    from tenfold.runs.build import build
    from tenfold.runs.changed_recipe import given

    rules = TRACKS[track]
    for entry in entries_of(rules):
        recipe = rules.recipe(entry.name, entry.values(rules))
        build(recipe)
        assert isinstance(recipe, Recipe)
        if entry.stages[-1].takes is not None:
            continue  # what it is given comes with its last stage: test_stages.py
        if track == "addition" and entry.name not in ("hard-alibi", "swan"):
            assert given(recipe) == entry.label, entry.name
