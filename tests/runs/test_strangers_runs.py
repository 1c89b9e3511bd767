"""Run folders of a stranger: what is changed is noticed, what leads out is not followed, one bad run hides no other."""

import json
import os
import shutil

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.core.stored_files import sealed
from tenfold.results.collect import collect, query
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import SHELF, Run
from tenfold.runs.train import train
from tenfold.sweeps.sweep import SweepEntry, _settle

LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
HOSTILE = {
    "no-day": "about: 2020-99-99\n",
    "deep": "about: " + "[" * 10**5,
    "laughs": LAUGHS,
    "itself": "about: &a [*a]\n",
    "python": "about: !!python/object/apply:os.system [ls]\n",
    "number": "seed: " + "9" * 5000,
    "surrogate": 'name: "\\ud800"\n',
    "binary": "task: {name: addition, y: !!binary /w==}\n",
    "options": "pe: {name: compose, parts: " + "[" * 60 + "]" * 60 + "}\n",
}


@pytest.fixture
def secret(tmp_path):
    """A file of the person who opens the run, outside of it."""
    path = tmp_path / "secret.txt"
    path.write_text("mine\n")
    return path


@pytest.mark.parametrize("kind", HOSTILE)
def test_one_hostile_recipe_hides_no_other_run(tenfold, make, tmp_path, kind):
    good = make()
    (tmp_path / "runs" / kind).mkdir()
    (tmp_path / "runs" / kind / "recipe.yaml").write_text(HOSTILE[kind])
    code, out, err = tenfold("ls", "runs")
    assert (code, err) == (0, "")
    assert f"{good.name}" in out
    assert kind in out
    code, out, err = tenfold("show", f"runs/{kind}")
    assert "Traceback" not in err
    assert len(err.splitlines()) <= 1
    assert len(collect([tmp_path / "runs"]).runs) == 1


def test_a_changed_digit_in_a_result_is_noticed(make, tmp_path):
    folder = make(right={5: 10, 7: 3})
    path = folder / "result.json"
    whole = sealed(json.loads(path.read_text()))
    path.write_bytes(whole)
    assert collect([tmp_path / "runs"]).problems == []
    for at in [at for at, letter in enumerate(whole) if chr(letter).isdigit()]:
        changed = b"%d" % ((int(chr(whole[at])) + 1) % 10)
        path.write_bytes(whole[:at] + changed + whole[at + 1 :])
        collected = collect([tmp_path / "runs"])
        assert collected.rows == [], whole[:at].rpartition(b"\n")[2]
        assert "result.json is damaged" in collected.problems[0]
    recipe = Run.open(folder).recipe
    entry = SweepEntry(recipe, folder, None)
    assert _settle(entry)
    assert entry.state == "failed"
    assert "was changed after it was written; --fresh starts it over" in entry.reason


def test_a_result_of_an_earlier_version_has_no_seal_and_a_sweep_checks_what_it_says(make):
    folder = make()
    entry = SweepEntry(Run.open(folder).recipe, folder, None)
    assert _settle(entry)
    assert entry.state == "kept"
    stored = json.loads((folder / "result.json").read_text())
    stored["rows"][0]["value"] = 7.0  # a share
    (folder / "result.json").write_text(json.dumps(stored))
    assert _settle(entry)
    assert (entry.state, "result.json is damaged" in entry.reason) == ("failed", True)


def test_what_training_writes_is_sealed(recipe, tmp_path):
    run = train(recipe, tmp_path / "run")
    for name in ("result.json", "environment.json"):
        path = run.folder / name
        path.write_text(path.read_text().replace('"torch": "2', '"torch": "3'))
        with pytest.raises(TenfoldError, match=f"{name} is damaged: it was changed"):
            run.result() if name == "result.json" else run.environment()


@pytest.fixture
def exported(tmp_path):
    Run.open(SHELF / "comparison").export(tmp_path / "exported")
    return tmp_path / "exported"


def test_exported_files_agree_with_their_manifest(exported):
    assert Run.open(exported).ask("12?34").right
    path = exported / "weights.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 64
    path.write_bytes(data)
    with pytest.raises(TenfoldError, match=r"weights\.safetensors was changed after it was"):
        Run.open(exported).model()
    (exported / "manifest.json").unlink()  # as an export of 0.1
    assert Run.open(exported).model()


@pytest.mark.parametrize("name", os.listdir(SHELF))
def test_the_models_of_the_package_have_a_manifest(name):
    assert (SHELF / name / "manifest.json").is_file()
    Run.open(SHELF / name).weights()


def test_fresh_starts_over_where_checkpoints_is_a_link(recipe, tmp_path):
    """The link goes, what it leads to stays."""
    first = train(recipe, tmp_path / "run")
    elsewhere = tmp_path / "elsewhere"
    (first.folder / "checkpoints").rename(elsewhere)
    (first.folder / "checkpoints").symlink_to(elsewhere)
    steps = []
    train(recipe, first.folder, fresh=True, progress=lambda line: steps.append(line.get("step")))
    assert steps[0] == 1
    assert not (first.folder / "checkpoints").is_symlink()
    assert sorted(path.name for path in elsewhere.iterdir())


def test_fresh_that_cannot_remove_what_is_there_is_an_error(recipe, tmp_path, monkeypatch):
    run = train(recipe, tmp_path / "run")

    def fails(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(shutil, "rmtree", fails)
    with pytest.raises(TenfoldError, match=r"cannot remove .*checkpoints: Permission denied"):
        train(recipe, run.folder, fresh=True)


@pytest.mark.parametrize(
    "name", ["metrics.jsonl", "samples.jsonl", "log.txt", "environment.json", "checkpoints"]
)
def test_training_writes_through_no_link(recipe, tmp_path, secret, name):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / name).symlink_to(secret if "." in name else tmp_path)
    with pytest.raises(TenfoldError, match=f"{name} leads out of the folder"):
        train(recipe, folder)
    assert secret.read_text() == "mine\n"


def read_all(folder):
    run = Run.open(folder)
    return run.result(), run.environment(), run.metrics(), run.model()


@pytest.mark.parametrize(
    "name", ["recipe.yaml", "result.json", "environment.json", "metrics.jsonl", "checkpoints"]
)
def test_nothing_is_read_through_a_link_or_a_pipe(recipe, tmp_path, secret, name):
    run = train(recipe, tmp_path / "run")
    path = run.folder / name
    moved = tmp_path / f"moved-{name}"
    path.rename(moved)
    for put in (lambda: path.symlink_to(moved), lambda: os.mkfifo(path)):
        put()
        if name == "checkpoints" and not path.is_symlink():
            continue  # a pipe is no folder: there are no checkpoints
        with pytest.raises(TenfoldError, match=r"leads out of the folder|is no regular file"):
            read_all(run.folder)
        path.unlink()


def test_a_pipe_in_a_folder_is_not_waited_for(recipe, tmp_path):
    (tmp_path / "run").mkdir()
    os.mkfifo(tmp_path / "run" / "metrics.jsonl")
    with pytest.raises(TenfoldError, match=r"metrics\.jsonl is no regular file"):
        train(recipe, tmp_path / "run")


TEXT = {
    "format": "bytes", "pe": "none", "data": {"length": 8}, "name": "text",
    "model": {"kind": "decoder", "layers": 1, "width": 16, "heads": 2},
    "train": {"steps": 2, "batch": 4},
    "eval": {"lengths": [8], "slices": ["uniform"], "n": 16, "every": 2, "validation_n": 16},
}  # fmt: skip


@pytest.mark.parametrize("stated", [None, "0" * 16, 3])
def test_a_text_run_reads_no_text_that_it_does_not_know(tenfold, tmp_path, monkeypatch, stated):
    """A stranger's run that names a file of ours: without its digest, nothing of it is kept or shown."""
    monkeypatch.setenv("TENFOLD_CACHE", str(tmp_path / "cache"))
    (tmp_path / "poem.txt").write_text("the secret of the sea\n" * 200)
    (tmp_path / "public.txt").write_text("all may read this line\n" * 200)
    made = Recipe.of({"task": {"name": "files", "path": str(tmp_path / "public.txt")}, **TEXT})
    run = train(made, tmp_path / "runs" / "text")
    path = tmp_path / "runs" / "text" / "recipe.yaml"
    assert Run.open(run.folder).examples(8, 1)  # our own run knows its text
    run.export(tmp_path / "exported")
    assert Run.open(tmp_path / "exported").ask("all may").answer is not None
    kept = sorted(os.listdir(tmp_path / "cache"))
    path.write_text(path.read_text().replace("public.txt", "poem.txt"))
    known = {"tenfold": "0.2.0"} if stated is None else {"tenfold": "0.2.0", "text": stated}
    (run.folder / "environment.json").write_text(json.dumps(known))
    with pytest.raises(TenfoldError, match=r"trained on other text|does not state the digest"):
        Run.open(run.folder).built.source.prepare()
    recipe = Recipe.of({"task": {"name": "files", "path": str(tmp_path / "poem.txt")}, **TEXT})
    result = json.loads((run.folder / "result.json").read_text()) | {
        "fingerprint": recipe.fingerprint
    }
    (run.folder / "result.json").write_bytes(
        sealed({k: v for k, v in result.items() if k != "seal"})
    )
    for words in (
        ("ask", run.folder, "the"),
        ("eval", run.folder),
        ("report", run.folder, "--out", "page"),
    ):
        _, out, err = tenfold(*words)
        assert "Traceback" not in err
        assert "secret" not in out
    assert "secret" not in (tmp_path / "page" / "report.html").read_text()
    assert sorted(os.listdir(tmp_path / "cache")) == kept


def test_a_checkpoint_that_holds_no_tensors_falls_back(recipe, tmp_path):
    """Its manifest agrees, but the file is no safetensors: the one before it is taken."""
    from tenfold.core.stored_files import manifest
    from tenfold.training.checkpoint import Checkpoints

    run = train(recipe, tmp_path / "run")
    checkpoints = Checkpoints(run.folder / "checkpoints")
    newest = checkpoints.path(checkpoints.steps()[-1])
    files = {path.name: path.read_bytes() for path in newest.iterdir()}
    files["model.safetensors"] = b"\xff" * 100
    del files["manifest.json"]
    (newest / "model.safetensors").write_bytes(files["model.safetensors"])
    (newest / "manifest.json").write_bytes(manifest(files))
    with pytest.warns(UserWarning, match="skipped a damaged checkpoint.*holds no tensors"):
        assert checkpoints.latest().step == checkpoints.steps()[0]


def test_a_manifest_that_names_a_device(recipe, tmp_path):
    run = train(recipe, tmp_path / "run")
    for path in (run.folder / "checkpoints").iterdir():
        (path / "manifest.json").write_text(json.dumps({"/dev/zero": {"size": 9, "sha256": "0"}}))
    with pytest.raises(TenfoldError, match="is no file of this folder"):
        Run.open(run.folder).model()


def test_recipes_without_a_folder_are_as_before():
    assert Recipe.of({"about": "2020-99-99"}).about == "2020-99-99"


def test_files_that_a_result_states_are_read_as_they_were(recipe, tmp_path):
    """Digits in the metrics, in the log of samples and in the prose of a recipe."""
    run = train(recipe.replace(about="made in 2026"), tmp_path / "run", log_samples=True)
    for name, old, new in (
        ("metrics.jsonl", b'"step": 3', b'"step": 4'),
        ("recipe.yaml", b"2026", b"2027"),
        ("samples.jsonl", b'"seed": 0', b'"seed": 1'),
    ):
        path = run.folder / name
        data = path.read_bytes()
        path.write_bytes(data.replace(old, new, 1))
        assert path.read_bytes() != data
        if name == "metrics.jsonl":
            with pytest.raises(
                TenfoldError, match=r"metrics\.jsonl was changed after it was written"
            ):
                run.metrics()
        elif name == "recipe.yaml":
            with pytest.raises(TenfoldError, match=r"recipe\.yaml is damaged: it was changed"):
                Run.open(run.folder)
            assert "was changed after" in collect(run.folder).problems[0]
        else:
            with pytest.warns(UserWarning, match="it was changed after it was written"):
                query(collect(run.folder), "select count(*) from samples")
        path.write_bytes(data)
    assert Run.open(run.folder).metrics()
