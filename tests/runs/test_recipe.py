import pytest
import yaml

from tenfold.core.errors import TenfoldError
from tenfold.runs.recipe import Recipe, merge


def test_defaults_are_a_recipe():
    assert Recipe.of({}) == Recipe()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"tain": {}}, 'unknown recipe key "tain"; did you mean "train"'),
        (
            {"train": {"stesp": 5}},
            r'unknown recipe key "train\.stesp"; did you mean "train\.steps"',
        ),
        ({"model": {"with": 5}}, r'"model\.with"; did you mean "model\.width"'),
        ({"xyz": 5}, 'unknown recipe key "xyz"; known: about, claim, '),
        ({"train": {"steps": 0}}, r"recipe: train\.steps is 0; input should be greater than 0"),
        ({"train": {"steps": "many"}}, r"train\.steps is 'many'; input should be a valid integer"),
        ({"eval": {"lengths": [5, 0]}}, r"eval\.lengths\.1 is 0"),
        ({"eval": {"lengths": 5}}, r"eval\.lengths is 5; a list is wanted, such as \[5\]"),
        (
            {"eval": {"slices": "full"}},
            r"eval\.slices is 'full'; a list is wanted, such as \[full\]",
        ),
        ({"eval": {"lengths": [-1]}}, r"eval\.lengths\.0 is -1"),
        ({"data": {"length": 0}}, r"data\.length is 0"),
        ({"seed": -1}, "seed is -1"),
        (
            {"model": {"norm": "middle"}},
            r"model\.norm is 'middle'; input should be 'pre' or 'post'",
        ),
        ({"pe": {"reach": 5}}, r"pe\.name"),
    ],
)
def test_what_is_refused(values, message):
    with pytest.raises(TenfoldError, match=message) as caught:
        Recipe.of(values)
    assert "\n" not in str(caught.value)


def test_frozen(recipe):
    with pytest.raises(ValueError, match="frozen"):
        recipe.seed = 3


def test_replace_changes_what_it_names(recipe):
    other = recipe.replace(train={"lr": 0.5}, seed=3)
    assert (other.train.lr, other.seed) == (0.5, 3)
    assert other.replace(train={"lr": recipe.train.lr}, seed=0) == recipe


def test_a_component_with_another_name_is_replaced_whole(recipe):
    assert recipe.pe.options == {"axis": "shifted", "limit": 64}
    assert recipe.replace(pe="rotary").pe.options == {}
    assert recipe.replace(pe={"name": "alibi", "axis": "column"}).pe.options == {"axis": "column"}
    assert recipe.replace(pe={"limit": 99}).pe.options == {"axis": "shifted", "limit": 99}
    assert Recipe(pe="alibi").replace(pe={"axis": "column"}).pe.options == {"axis": "column"}


def test_a_model_with_another_name_keeps_its_size(recipe):
    assert recipe.replace(model={"kind": "seq2seq"}).model.width == recipe.model.width


def test_merge_leaves_the_base_as_it_was():
    base = {"train": {"lr": 1}}
    merge(base, {"train": {"lr": 2}})
    assert base == {"train": {"lr": 1}}


def test_yaml_round_trip(recipe):
    again = Recipe.of(yaml.safe_load(recipe.as_yaml()))
    assert again == recipe
    assert again.fingerprint == recipe.fingerprint


def test_fingerprint(recipe):
    prose = recipe.replace(
        name="a/b", about="x", claim={"paper": "p", "place": "1", "says": "s", "shown": "t"}
    )
    assert prose.fingerprint == recipe.fingerprint
    assert prose.run_name == f"a-b-{recipe.fingerprint}"
    changes = [{"seed": 1}, {"train": {"threads": 2}}, {"pe": "rotary"}, {"eval": {"n": 9}}]
    others = {recipe.replace(**change).fingerprint for change in changes}
    assert len(others | {recipe.fingerprint}) == 5


def test_one_scheme_needs_no_list():
    assert Recipe(schemes="cyclic") == Recipe(schemes=["cyclic"])
    assert Recipe(schemes={"name": "cyclic", "period": 5}).schemes[0].options == {"period": 5}


def test_the_fingerprint_is_of_what_differs_from_the_defaults():
    """A key that a later version adds with a default leaves the names of earlier runs as they were."""
    recipe = Recipe(pe="alibi")
    plain = recipe.fingerprint
    assert recipe.replace(train={"lr": 0.5}).fingerprint != plain
    assert recipe.replace(pe="rotary").fingerprint != plain
    assert recipe.replace(seed=1).fingerprint != plain
    assert recipe.replace(name="other", train={"log_every": 7}).fingerprint == plain
    dumped = recipe.model_dump(mode="json", exclude_defaults=True)
    assert set(dumped) == {"pe"}
