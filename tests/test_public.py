"""What `import tenfold` promises, as the README shows it."""

import sys

import pytest

import tenfold


@pytest.mark.parametrize("name", [name for name in dir(tenfold) if name != "__version__"])
def test_a_public_name_stays_what_it_is(name):
    """Also after every module is imported: a subpackage of the same name would take its place."""
    import tenfold.cli
    import tenfold.runs.run

    for _ in range(2):
        assert callable(getattr(tenfold, name))
        assert f"tenfold.{name}" not in sys.modules


def test_train_evaluate_ask(tmp_path):
    recipe = tenfold.recipe("symmetry/addition-relative", scale="smoke")
    run = tenfold.train(recipe.replace(pe="rotary"), tmp_path / "run")
    rows = run.evaluate(lengths=[2, 3], slices=["uniform"], n=10)
    assert [row.length for row in rows] == [2, 2, 3, 3]
    assert run.ask("12+34").truth == "46"
    assert run.model()(run.built.batch_at(0)).shape[0] == recipe.train.batch
    again = tenfold.Run.open(tmp_path / "run")
    assert again.recipe == run.recipe


def test_train_takes_a_name_and_refuses_what_it_does_not_know():
    with pytest.raises(tenfold.TenfoldError, match='did you mean "symmetry/addition-relative"'):
        tenfold.train("symmetry/addition-relativ")
    with pytest.raises(tenfold.TenfoldError, match='unknown recipe key "pee"; did you mean "pe"'):
        tenfold.Recipe(pee="alibi")


def test_no_other_name():
    with pytest.raises(AttributeError, match="trian"):
        _ = tenfold.trian
