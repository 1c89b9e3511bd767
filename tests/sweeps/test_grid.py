"""Grids: the recipes that a file gives, and what is wrong with one that does not."""

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.runs.recipe_files import recipe
from tenfold.sweeps.grid import grid

HEAD = "recipe: symmetry/addition-relative\nscale: smoke\n"


@pytest.fixture
def write(tmp_path):
    def written(text, name="grid.yaml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


def test_cases_times_a_product_times_seeds(write):
    path = write(
        "name: encodings\n" + HEAD + "changes: {train.steps: 7, eval: {n: 3}}\n"
        "cases:\n  absolute: {recipe: symmetry/addition-absolute}\n  alibi: {pe: alibi, label: given}\n"
        "product:\n  data.length: [1, 2]\n  schemes: [[], [shifted]]\n"
        "seeds: [0, 2]\n"
    )
    result = grid(path)
    assert len(result) == 2 * 2 * 2 * 2
    assert len({each.fingerprint for each in result}) == 16
    first, last = result[0], result[-1]
    assert first.name == "encodings/absolute-length1-no-schemes"
    assert (first.pe.name, first.data.length, first.schemes, first.seed) == ("learned", 1, (), 0)
    assert last.name == "encodings/alibi-length2-shifted"
    assert (last.pe.name, last.data.length, last.seed, last.label) == ("alibi", 2, 2, "given")
    assert all(each.train.steps == 7 and each.eval.n == 3 for each in result)
    assert all(each.model.width == 16 for each in result)  # the smoke scale


def test_the_order_of_changes(write):
    """The recipe, its scale, the changes, the case, the product."""
    text = HEAD + "changes: {train.steps: 2, train.batch: 2, seed: 2}\n"
    text += "cases: {one: {train.steps: 3, train.batch: 3}}\nproduct: {train.steps: [4]}\n"
    (result,) = grid(write(text))
    assert (result.train.steps, result.train.batch, result.seed) == (4, 3, 2)


def test_names(write):
    """Without a name of its own a grid's runs keep their recipe's, and what was changed."""
    result = grid(write(HEAD + "seeds: [0, 1]\n"))
    assert [each.name for each in result] == ["symmetry/addition-relative"] * 2
    cases = "cases: {relative: {recipe: symmetry/addition-relative}, small: {model.width: 8}}\n"
    result = grid(write(HEAD + cases))
    assert [each.name for each in result] == [
        "symmetry/addition-relative",
        "symmetry/addition-relative-small",
    ]
    product = "product: {pe: {mine: {name: alibi}, other: rotary}, train.lr: [0.1]}\n"
    result = grid(write("name: g\n" + HEAD + product))
    assert [each.name for each in result] == ["g/mine-lr0.1", "g/other-lr0.1"]


def test_a_grid_is_the_recipes_one_would_write(write):
    path = write(HEAD + "product: {pe: [alibi, rotary]}\nseeds: [3]\n")
    base = recipe("symmetry/addition-relative", "smoke", seed=3)
    assert [each.fingerprint for each in grid(path)] == [
        base.replace(pe=name).fingerprint for name in ("alibi", "rotary")
    ]


def test_scale_and_seeds_of_the_command_come_first(write):
    path = write(HEAD + "seeds: [0, 1]\n")
    assert [each.seed for each in grid(path, seeds=[5, 6, 7])] == [5, 6, 7]
    assert grid(path, scale="laptop")[0].model.width == 96


PYTHON = "import tenfold\nbase = tenfold.recipe('symmetry/addition-relative', scale='smoke')\n"


def test_python(write):
    path = write(PYTHON + "grid = [base.replace(seed=s) for s in range(3)]", "grid.py")
    assert [each.seed for each in grid(path)] == [0, 1, 2]
    assert [each.seed for each in grid(path, seeds=[8, 9])] == [8, 9]
    path = write(
        "import tenfold\ndef grid(scale):\n    return [tenfold.recipe('symmetry/addition-relative', scale)]",
        "g.py",
    )
    assert grid(path, scale="smoke")[0].model.width == 16


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recipe: symmetry/addition-relative\nprodukt: {}", 'unknown grid key "produkt"; did you mean "product"'),
        ("recipe: a\nseeds: [0]\nseeds: [1]", r'line 3\): "seeds" stands there twice'),
        (HEAD + "product: {pe: [alibi]}\ncases: {a: {}, a: {}}", '"a" stands there twice'),
        (HEAD + "seeds: []", "empty grid"),
        (HEAD + "product: {pe: []}", "product.pe is empty"),
        (HEAD + "product: {pe: [alibi, alibi]}", 'two values known as "alibi"'),
        (HEAD + "seeds: [1, 1]", "with seed 1 is there twice"),
        (HEAD + "cases: {a: {}, b: {}}", "is there twice"),
        (HEAD + "product: {train.stepz: [1]}", 'unknown recipe key "train.stepz"; did you mean "train.steps"'),
        (HEAD + "changes: {pee: alibi}", 'unknown recipe key "pee"; did you mean "pe"'),
        (HEAD + "seeds: [-1]", "seeds"),
        (HEAD + "seeds: many", "seeds"),
        (HEAD + "cases: {a: {recipe: [x]}}", "known by its name or file, not by"),
        ("[" * 3000, "nested too deep"),
        ("{a: " * 100_000 + "1" + "}" * 100_000, "nested too deep"),
        ("- " * 100_000 + "1", "nested too deep"),
        ("seeds: [1]", "no recipe is named"),
        ("recipe: symmetry/adition-relative", 'did you mean "symmetry/addition-relative"'),
        (HEAD.replace("smoke", "smoky"), 'did you mean "smoke"'),
        ("- a", "does not hold a grid"),
        ("a: [", "is not YAML"),
        ("", "does not hold a grid"),
    ],
)  # fmt: skip
def test_bad_grids_are_one_line(write, text, message):
    with pytest.raises(TenfoldError, match=message) as caught:
        grid(write(text))
    assert "\n" not in str(caught.value)
    assert "grid" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", 'does not define "grid"'),
        ("grid = [1]", 'does not define "grid"'),
        ("grid = []", "empty grid"),
        ("1 / 0", "ZeroDivisionError"),
        ("raise SystemExit", "SystemExit"),
        ("raise BaseException('x')", "BaseException: x"),
        ("def grid(scale): raise BaseException('x')", "BaseException: x"),
        ("grid = lambda scale: 1 / 0", "ZeroDivisionError"),
        (PYTHON + "grid = [base, base]", "is there twice"),
    ],
)
def test_bad_python_is_one_line(write, text, message):
    with pytest.raises(TenfoldError, match=message):
        grid(write(text, "grid.py"))


def test_a_duplicate_is_refused_also_when_seeds_are_given(write):
    with pytest.raises(TenfoldError, match="is there twice"):
        grid(write(HEAD + "cases: {a: {}, b: {}}"), seeds=[0, 1])
    with pytest.raises(TenfoldError, match="with seed 1 is there twice"):
        grid(write(HEAD), seeds=[1, 1])


def test_yaml_may_lay_one_mapping_under_another(write):
    text = "name: g\n" + HEAD + "cases:\n  a: &a {pe: alibi, seed: 3}\n  b: {<<: *a, pe: rotary}\n"
    result = grid(write(text))
    assert [(each.pe.name, each.seed) for each in result] == [("alibi", 3), ("rotary", 3)]


def test_no_file(tmp_path):
    with pytest.raises(TenfoldError, match="there is no grid"):
        grid(tmp_path / "grid.yaml")
