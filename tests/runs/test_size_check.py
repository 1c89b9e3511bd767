"""A recipe that is far too large is one line, before anything is made or written."""

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.runs.build import build, parameter_count
from tenfold.runs.cost import count
from tenfold.runs.machine_memory import available, total
from tenfold.runs.recipe_files import recipe
from tenfold.runs.size_check import check_countable, check_size

NAME = "symmetry/addition-relative"
HUGE = {
    "model.width": 10**7,
    "model.layers": 10**9,
    "model.feedforward": 10**13,
    "train.steps": 10**21,
    "train.accumulate": 10**20,
    "train.batch": 10**12,
    "data.length": 10**12,
    "eval.lengths": [10**12],
    "eval.n": 10**20,
}
GIB = 2.0**30


def changed(key, value):
    part, name = key.split(".")
    return recipe(NAME, "smoke", **{part: {name: value}})


@pytest.mark.parametrize(("key", "value"), HUGE.items())
def test_the_value_is_named_and_what_would_fit_does_fit(key, value):
    with pytest.raises(TenfoldError) as caught:
        check_size(changed(key, value), 8 * GIB)
    shown = value[0] if isinstance(value, list) else value
    assert str(caught.value).startswith(f"{key} is {shown}: ")
    (fits,) = str(caught.value).rpartition(f"; {key} ")[2].split(" would fit")[:1]
    check_size(changed(key, [int(fits)] if isinstance(value, list) else int(fits)), 8 * GIB)


@pytest.mark.full
@pytest.mark.parametrize(("key", "value"), HUGE.items())
def test_through_the_command_line_nothing_is_written(tenfold, tmp_path, key, value):
    code, out, err = tenfold("train", NAME, "--scale", "smoke", f"--{key}", value)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {key} is ")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("key", "value"), [("model.layers", 10**9), ("model.width", 10**28)])
def test_a_cost_that_cannot_be_counted_is_refused(tenfold, key, value):
    code, out, err = tenfold("train", NAME, "--scale", "smoke", f"--{key}", value, "--dry-run")
    assert (code, out) == (2, "")
    assert f"{key} is {value}" in err


def test_a_cost_beyond_this_machine_is_still_printed(tenfold):
    code, out, _ = tenfold("train", NAME, "--scale", "smoke", "--model.width", 10**7, "--dry-run")
    assert code == 0
    assert "parameters  1,200,00" in out


def test_a_sweep_is_refused_as_well(tenfold, tmp_path):
    (tmp_path / "grid.yaml").write_text(
        f"recipe: {NAME}\nproduct: {{model.layers: [2, 1000000000]}}"
    )
    code, _, err = tenfold("sweep", "grid.yaml", "--scale", "smoke")
    assert code == 2
    assert "model.layers is 1000000000" in err
    assert not (tmp_path / "runs").exists()


def test_force_goes_on(tenfold, monkeypatch):
    monkeypatch.setattr("tenfold.runs.size_check.total", lambda: 1000)
    words = ("train", NAME, "--scale", "smoke", "--out", "run")
    code, _, err = tenfold(*words)
    assert code == 2
    assert "this machine has 0.0 GiB" in err
    assert tenfold(*words, "--force")[0] == 0
    assert tenfold(*words)[0] == 0  # a finished run needs nothing


def test_what_fits_is_let_through():
    for name in (NAME, "extrapolation/code-alibi", "bias/addition-alibi"):
        check_size(recipe(name), 64 * GIB)
    check_countable(recipe(NAME, "paper"), 8 * GIB)


def test_other_devices_have_their_own_memory(monkeypatch):
    monkeypatch.setattr("tenfold.runs.build.usable_device", lambda name: None)
    large = changed("train.batch", 10**6)
    with pytest.raises(TenfoldError, match=r"train\.batch is 1000000"):
        check_size(large, GIB)
    check_size(large.replace(train={"device": "cuda"}), GIB)


def test_many_layers_are_counted_from_two():
    deep = changed("model.layers", 40)
    assert parameter_count(deep) == build(deep).model().parameter_count()


def test_many_rows_are_counted_from_some():
    """Twice the rows, twice the operations, also where only some of the rows are counted."""
    few, many = (count(build(changed("train.batch", rows))) for rows in (1024, 4096))
    assert many.flops_per_step == 4 * few.flops_per_step
    fixed = 16 * few.parameters
    assert many.memory_bytes - fixed == 4 * (few.memory_bytes - fixed)


def test_memory_of_the_machine(tmp_path):
    meminfo, group = tmp_path / "meminfo", tmp_path / "group"
    meminfo.write_text("MemTotal:  4000 kB\nMemAvailable:  1000 kB\n")
    assert (total(meminfo, group), available(meminfo, group)) == (4_096_000, 1_024_000)
    group.mkdir()
    (group / "memory.max").write_text("2000\n")
    assert total(meminfo, group) == 2000
    (group / "memory.max").write_text("max\n")
    assert total(meminfo, group) == 4_096_000
    assert total() > 10**6
