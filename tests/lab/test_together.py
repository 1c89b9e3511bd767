"""Several runs at once are the same runs."""

import pytest

from tenfold.errors import TenfoldError
from tenfold.lab.recipes import recipe
from tenfold.lab.run import train
from tenfold.lab.together import train_together


@pytest.mark.slow
def test_together_equals_one_after_another(tmp_path):
    recipes = [recipe("symmetry/addition-relative", "smoke", seed=seed) for seed in range(3)]
    heard = []
    folders = [tmp_path / str(seed) for seed in range(3)]
    runs = train_together(
        recipes, folders, workers=2, tell=lambda number, line: heard.append((number, line["step"]))
    )
    assert set(heard) == {(number, step) for number in range(3) for step in range(1, 21)}
    for run in runs:
        alone = train(run.recipe, tmp_path / f"alone-{run.recipe.seed}")
        assert run.result()["rows"] == alone.result()["rows"]


@pytest.mark.slow
def test_a_failure_is_told_and_stops_nothing_else(tmp_path):
    recipes = [recipe("symmetry/addition-relative", "smoke", seed=seed) for seed in range(2)]
    (tmp_path / "file").write_text("")
    with pytest.raises(TenfoldError, match="cannot write"):
        train_together(recipes, [tmp_path / "file" / "run", tmp_path / "good"], workers=1)
    assert (tmp_path / "good" / "result.json").exists()
