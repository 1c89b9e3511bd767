"""`model` in a recipe: a component with options, whose stored form and fingerprints stay as they were."""

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.runs.build import build
from tenfold.runs.recipe import Recipe, merge


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("decoder", {"kind": "decoder"}),
        ({"name": "decoder", "width": 32}, {"kind": "decoder", "width": 32}),
        (
            {"name": "looped", "size": "nano"},
            {"kind": "looped", "layers": 3, "heads": 3, "width": 48},
        ),
        ({"kind": "looped", "loops": 6}, {"kind": "looped", "loops": 6}),
    ],
)
def test_ways_to_write_it(written, stored):
    assert Recipe(model=written) == Recipe.of({"model": stored})
    assert Recipe(model=written).fingerprint == Recipe(model=stored).fingerprint


def test_the_default_mixer_leaves_fingerprints_alone():
    assert Recipe(model={"mixer": "attention"}).fingerprint == Recipe().fingerprint
    assert Recipe(model={"mixer": "gated-linear"}).fingerprint != Recipe().fingerprint


def test_fingerprints_of_version_0_1():
    """Stored recipes of that version hold null for options that were not given."""
    unused = dict.fromkeys(("encoder_layers", "loops", "feedback", "through"))
    assert Recipe.of({"model": unused}).fingerprint == Recipe().fingerprint
    seq2seq = {**unused, "kind": "seq2seq", "encoder_layers": 0}
    recipe = Recipe.of({"model": seq2seq, "pe": "alibi", "format": "reversed"})
    assert recipe.model.options == {"encoder_layers": 0}
    assert recipe.fingerprint == "a8a3864094fc"
    assert len(build(recipe).model().encoder.blocks) == 0


def test_another_kind_keeps_the_sizes_and_drops_the_options():
    recipe = Recipe(model={"name": "looped", "loops": 8, "width": 32})
    assert recipe.replace(model={"width": 16}).model.options == {"loops": 8}
    other = recipe.replace(model="encoder").model
    assert (other.kind, other.width, other.options) == ("encoder", 32, {})
    base = {"model": {"width": 8, "loops": 3}}
    assert merge(base, {"model": {"kind": "looped"}})["model"] == {
        **base["model"],
        "kind": "looped",
    }


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            {"name": "looped", "loops": 0},
            'model "looped": loops is 0; input should be greater than 0',
        ),
        ({"name": "seq2seq", "encoder_layers": -1}, "encoder_layers is -1"),
        (
            {"name": "looped", "lops": 3},
            r'the looped model "model\.lops"; did you mean "model\.loops"',
        ),
        ({"name": "decoder", "loops": 3}, '"decoder" has no loops; leave it out'),
        ({"name": "decoder", "vocabulary": 3}, '"decoder" has no vocabulary; leave it out'),
        ({"name": "decodr"}, 'unknown model "decodr"; did you mean "decoder"'),
        ({"mixer": "atention"}, 'unknown mixer "atention"; did you mean "attention"'),
        ({"mixer": {"name": "attention", "crossing": True}}, 'mixer "attention" "crossing"'),
        (5, "model"),
    ],
)
def test_what_is_refused(model, message):
    with pytest.raises(TenfoldError, match=message) as caught:
        build(Recipe.of({"model": model}))
    assert "\n" not in str(caught.value)
