"""Entries of several trainings that share one budget, and the entries that came with them."""

import json

import numpy as np
import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import IGNORED
from tenfold.data.tasks import samplers
from tenfold.league.entries import ENTRIES, LeagueEntry, entries_of
from tenfold.league.entry_papers import PAPERS
from tenfold.league.law_checks import check_laws
from tenfold.league.run_league import LeaguePlace, Start, folder_of, missing, run_league, starts_of
from tenfold.league.stages import LeagueStage, declared
from tenfold.league.standing import read_league, standings
from tenfold.league.tracks import TRACKS, track_at
from tenfold.runs.build import build
from tenfold.runs.changed_recipe import given
from tenfold.runs.recipe import Recipe
from tenfold.runs.recipe_files import stored_recipe

PARITY = track_at("parity", "smoke")
SCALED = ("rotary-linear", "rotary-ntk", "rotary-yarn")


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    """A folder with rows of DroPE and ABC, and what is known of them: (place, recipe and details by entry)."""
    folder = tmp_path_factory.mktemp("staged")
    place = LeaguePlace(folder / "runs", folder / "results", workers=1)
    outcome = run_league("parity", scale="smoke", only="drope,abc", place=place, say=lambda _: None)
    assert (sorted(outcome.done), outcome.failed) == (["abc, seed 0", "drope, seed 0"], {})
    rows = folder_of(PARITY, "smoke", place)
    details = json.loads((rows / "details.json").read_text())
    made = {}
    for run in json.loads((rows / "runs.json").read_text())["runs"]:
        made[run["recipe"]["name"].rpartition("/")[2]] = run["recipe"], details[run["fingerprint"]]
    return place, made


def test_stages_share_one_budget_and_hand_on_what_they_say(staged):
    place, made = staged
    for recipe, about in made.values():
        spent = [stage["steps"] * stage["flops_per_step"] for stage in about["stages"]]
        assert len(spent) == 2
        assert 0.9 * PARITY.budget < sum(spent) <= PARITY.budget
        assert recipe["label"] == ENTRIES[recipe["name"].rpartition("/")[2]].label
        assert recipe["label"] == given(Recipe.of(recipe))
    dropped, about = made["drope"]
    assert dropped["pe"] == "none"
    first, second = (stage["steps"] for stage in about["stages"])
    assert first > 7 * second
    source = place.out / dropped["train"]["from"]["name"].rpartition("/")[2]
    assert stored_recipe(source).pe.name == "rotary"
    lines, _ = made["abc"]
    assert lines["pe"]["name"] == "calibrated"
    assert lines["pe"]["lines"]
    assert lines["train"]["from"] is None


def test_rows_of_stages_are_not_trained_again_until_a_stage_changes(staged):
    place, _ = staged
    folder = folder_of(PARITY, "smoke", place)
    starts = starts_of(PARITY, entries_of(PARITY, "drope,abc"), [0])
    assert missing(PARITY, starts, folder) == []
    shorter = (LeagueStage(0.8), LeagueStage(0.2, {"pe": "none"}, warm=True))
    changed = [Start(LeagueEntry("drope", "", "rotary", stages=shorter), starts[0].recipe)]
    assert missing(PARITY, changed, folder) == changed


def test_the_steps_of_all_stages_are_shown(staged):
    place, made = staged
    details = json.loads((folder_of(PARITY, "smoke", place) / "details.json").read_text())
    collected = read_league(PARITY, "smoke", [place.results])
    for one in standings(PARITY, collected, details):
        stages = made[one.entry][1]["stages"]
        assert one.steps == sum(stage["steps"] for stage in stages)
        assert one.seconds == pytest.approx(sum(stage["seconds"] for stage in stages))


def test_a_stage_that_fails_is_named_and_leaves_no_row(tmp_path, monkeypatch):
    stages = (LeagueStage(0.5), LeagueStage(0.5, takes="calibrated-line"))
    broken = LeagueEntry("abc", "", "rotary", "columns", stages=stages)
    monkeypatch.setattr("tenfold.league.run_league.entries_of", lambda track, only: [broken])
    place, said = LeaguePlace(tmp_path / "runs", tmp_path / "results", workers=1), []
    outcome = run_league("parity", scale="smoke", place=place, say=said.append)
    reason = 'unknown way to a next stage "calibrated-line"; did you mean "calibrated-lines"?'
    assert outcome.failed == {"abc, seed 0": reason}
    assert said[-1] == f"failed: abc, seed 0: {reason}"
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("stages", "reason"),
    [
        ((LeagueStage(0.5), LeagueStage(0.4)), "have 0.9 of the budget; 1 is right"),
        ((LeagueStage(1.0, warm=True),), "has no stage before it"),
        ((LeagueStage(1.0, takes="calibrated-lines"),), "has no stage before it"),
    ],
)
def test_stages_that_cannot_be(stages, reason):
    with pytest.raises(TenfoldError, match=reason):
        LeagueEntry("mine", "", stages=stages)


@pytest.mark.parametrize("name", TRACKS)
def test_no_two_entries_of_a_track_are_the_same_method(name):
    track = TRACKS[name]
    known = {}
    for start in starts_of(track, entries_of(track), [0]):
        known.setdefault(start.declared, []).append(start.entry.name)
    assert [names for names in known.values() if len(names) > 1] == []
    one = starts_of(track, entries_of(track, "none"), [0])[0]
    assert one.declared == declared(one.recipe.replace(seed=3, train={"lr": 0.1}), one.entry.stages)


def test_every_entry_says_where_it_is_from():
    assert set(PAPERS) == set(ENTRIES)


@pytest.mark.parametrize("name", SCALED)
def test_scaled_rotary_obeys_the_laws(name):
    track = TRACKS["addition"]
    (start,) = starts_of(track, entries_of(track, name), [0])
    assert len(check_laws(start.recipe)) == 6


@pytest.mark.parametrize("name", ["hinted-fire", "random-spaces", "reversed-padded", *SCALED])
def test_further_entries_have_room_for_the_whole_ladder(name):
    track = TRACKS["addition"]
    (start,) = starts_of(track, entries_of(track, name), [0])
    built = build(start.recipe.replace(model={"layers": 1}))
    longest = built.batcher.task.sample(
        2, track.ladder[-1], np.random.default_rng(0), samplers.exact
    )
    with torch.no_grad():
        assert built.model()(built.batcher(longest)).isfinite().all()


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize(("track", "trained"), [("addition", 10), ("parity", 10), ("copying", 10)])
def test_scaled_rotary_is_rotary_up_to_the_trained_length_and_not_beyond(name, track, trained):
    """One model with the encoding and with plain rotary positions: the longest trained input, and one a digit longer."""
    rules = TRACKS[track]
    scaled, plain = (
        build(rules.recipe(each, ENTRIES[each].values(rules)).replace(model={"layers": 1}))
        for each in (name, "rotary")
    )
    models = [built.model().double().eval() for built in (scaled, plain)]
    models[0].load_state_dict(models[1].state_dict())
    for length, alike in ((trained, True), (trained + 1, False)):
        drawn = plain.batcher.task.sample(3, length, np.random.default_rng(1), samplers.exact)
        with torch.no_grad():
            ours, theirs = (
                model(built.batcher(drawn))
                for model, built in zip(models, (scaled, plain), strict=True)
            )
        graded = plain.batcher(drawn).target != IGNORED
        assert torch.allclose(ours[graded], theirs[graded], rtol=0, atol=1e-9) is alike
