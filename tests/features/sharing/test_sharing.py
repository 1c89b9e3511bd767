"""A run is exported for the hub, uploaded to a stand-in of it, downloaded, and is the same run."""

import json
import shutil
from pathlib import Path

import pytest
import torch

import tenfold as library
from tenfold.core.errors import TenfoldError
from tenfold.features.sharing.hub_folder import share
from tenfold.features.sharing.hub_transfer import push
from tenfold.features.sharing.model_card import card_text

pytest.importorskip("huggingface_hub")

from huggingface_hub import ModelCard, ModelCardData


@pytest.fixture(scope="module")
def shared(trained, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared") / "adder"
    share(trained, folder, licence="apache-2.0")
    return folder


@pytest.fixture
def copy(shared, tmp_path):
    """One that a test may damage."""
    return Path(shutil.copytree(shared, tmp_path / "copy"))


def same(run, other):
    ours, theirs = run.model().state_dict(), other.model().state_dict()
    return ours.keys() == theirs.keys() and all(torch.equal(ours[k], theirs[k]) for k in ours)


def test_a_folder_gives_the_run_back(trained, shared):
    run = library.load(shared)
    assert run.recipe == trained.recipe
    assert same(run, trained)
    assert run.result()["rows"] == trained.result()["rows"]
    assert run.ask("3+4") == trained.ask("3+4")


def test_the_card_is_what_the_hub_reads(trained, shared):
    """Parsed by huggingface_hub: every measurement comes back with its interval."""
    card = ModelCard.load(shared / "README.md")
    assert isinstance(card.data, ModelCardData)
    assert card.data.library_name == "tenfold"
    assert card.data.license == "apache-2.0"
    assert {"tenfold", "length-generalization", "addition", "pairwise", "generic"} <= set(
        card.data.tags
    )
    rows = [row for row in trained.result()["rows"] if row["checkpoint"] == "best"]
    results = {
        (each.dataset_args["length"], each.dataset_args["slice"], each.metric_name): each
        for each in card.data.eval_results
    }
    assert len(results) == len(rows) > 0
    for row in rows:
        result = results[row["length"], row["slice"], row["metric"]]
        assert result.metric_value == row["value"]
        assert result.metric_args["n"] == row["n"]
        if row["metric"] == "exact":
            assert result.metric_type == "exact_match"
            assert (result.metric_args["low"], result.metric_args["high"]) == (
                row["low"],
                row["high"],
            )
    assert f"| 2 | uniform | exact | {rows_at(rows, 2):.4f} |" in card.text
    assert "given nothing beyond the text" in card.text
    assert 'tenfold.load("adder")' in card.text
    assert "has no certificate" in card.text


def rows_at(rows, length):
    (row,) = (
        r for r in rows if (r["length"], r["slice"], r["metric"]) == (length, "uniform", "exact")
    )
    return row["value"]


def test_nothing_about_the_machine_is_shared(shared):
    stored = json.loads((shared / "result.json").read_text())
    assert not {"command", "platform", "cores"} & set(stored["environment"])
    assert str(Path.home()) not in "".join(p.read_text() for p in shared.glob("*.json"))


def test_the_theorem_stands_in_the_card_of_a_proved_model(tmp_path):
    """The certificate that comes with the model is taken; the card is made without measuring it here."""
    run = library.open_run("successor")
    certificate = json.loads((run.folder / "certificate.json").read_text())
    text = card_text(run.recipe, [], certificate, name="me/successor")
    assert "**Theorem.** This model answers every problem of the task `successor" in text
    assert "at every length, including float32 rounding" in text
    assert f"{certificate['contexts']:,} local contexts" in text
    assert "- proved" in text.split("---")[1]
    refuted = {
        **certificate,
        "proved": False,
        "conditional": False,
        "wrong": 3,
        "verdict": "refuted",
    }
    text = card_text(run.recipe, [], refuted, name="me/successor")
    assert "There is no proof: the model is wrong on 3 of" in text
    assert "- proved" not in text.split("---")[1]
    assert "Theorem" not in text


@pytest.mark.full
def test_a_proved_model_by_command(tenfold, tmp_path):
    code, out, _ = tenfold("export", "successor", "--hub", "shelf", "--json")
    assert code == 0
    written = json.loads(out)
    assert {"weights", "recipe", "certificate", "card"} <= set(written)
    run = library.load("shelf")
    assert library.certify(run).proved
    manifest = json.loads(Path("shelf/manifest.json").read_text())
    assert {"weights.safetensors", "recipe.yaml", "certificate.json"} <= set(manifest)
    card = ModelCard.load("shelf/README.md")
    assert {each.metric_value for each in card.data.eval_results} == {1.0}


def test_through_the_hub_and_back(tenfold, trained, hub, tmp_path):
    code, _, err = tenfold("export", str(trained.folder), "--hub", "mine", "--push", "me/adder")
    assert code == 0, err
    assert f"uploaded: {hub.address}/me/adder" in err
    assert hub.repos["me/adder"].keys() == {path.name for path in Path("mine").iterdir()}
    assert (
        hub.repos["me/adder"]["weights.safetensors"]
        == Path("mine/weights.safetensors").read_bytes()
    )
    assert b'tenfold.load("me/adder")' in hub.repos["me/adder"]["README.md"]
    run = library.load("me/adder")
    assert same(run, trained)
    assert run.folder == tmp_path / "hf-home/tenfold/me--adder"


def test_what_came_from_the_hub_is_checked(trained, shared, hub):
    push(shared, "me/adder")
    data = bytearray(hub.repos["me/adder"]["weights.safetensors"])
    data[-1] ^= 1
    hub.repos["me/adder"]["weights.safetensors"] = bytes(data)
    with pytest.raises(
        TenfoldError, match=r"weights\.safetensors was changed after it was written"
    ):
        library.load("me/adder")


def test_a_private_model(shared, hub):
    push(shared, "me/secret", private=True)
    (created,) = (body for _, path, body in hub.asked if path == "/api/repos/create")
    given = json.loads(created)  # newer versions of the library say "visibility"
    assert given.get("visibility", given.get("private")) in ("private", True)


def test_a_name_that_is_not_on_the_hub(hub):
    with pytest.raises(
        TenfoldError, match='"me/nothing" on the Hugging Face hub cannot be reached: '
    ):
        library.load("me/nothing")


def test_a_hub_that_cannot_be_reached(tenfold, shared, hub, monkeypatch, tmp_path):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")  # nobody listens there
    with pytest.raises(
        TenfoldError, match='"me/adder" on the Hugging Face hub cannot be reached'
    ) as at:
        library.load("me/adder")
    assert "\n" not in str(at.value)
    with pytest.raises(TenfoldError, match="cannot be reached"):
        push(shared, "me/adder")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(TenfoldError, match="cannot be reached"):
        library.load("me/other")


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda f: (f / "weights.safetensors").write_bytes(b"x"), r"has 1 bytes of \d+"),
        (lambda f: (f / "recipe.yaml").write_text((f / "recipe.yaml").read_text().replace("seed: 0", "seed: 1")),
         r"recipe\.yaml is damaged: it was changed after it was written"),
        (lambda f: (f / "result.json").unlink(), r"result\.json is missing; manifest\.json names it"),
        (lambda f: (f / "manifest.json").unlink(), r"has no manifest\.json"),
        (lambda f: (f / "manifest.json").write_text("{}"), r"it does not name weights\.safetensors"),
        (lambda f: (f / "weights.safetensors").rename(f / "pytorch_model.bin"), "is a pickle, which can run code"),
        (lambda f: (f / "weights.safetensors").unlink(), "is no shared run"),
    ],
)  # fmt: skip
def test_a_damaged_export(copy, damage, why):
    damage(copy)
    with pytest.raises(TenfoldError, match=why):
        library.load(copy)


def test_a_run_with_components_of_its_own(tmp_path):
    """Their files are kept beside the run, and are not executed when it is loaded."""
    from tenfold.runs.shipped_examples import examples

    library.include(examples()["examples/log_bias.py"])
    recipe = library.recipe("symmetry/addition-relative", scale="smoke")
    recipe = recipe.replace(pe=f"{examples()['examples/log_bias.py']}:LogBias")
    run = library.train(recipe, out=tmp_path / "run")
    share(run, tmp_path / "shared")
    assert list((tmp_path / "shared/own-files").glob("*.py"))
    assert library.load(tmp_path / "shared").recipe == run.recipe


def test_a_card_may_be_edited(copy):
    (copy / "README.md").write_text("mine")
    assert library.load(copy).recipe.name == "symmetry/addition-relative"


def test_other_names(trained):
    assert library.load("successor").recipe.task.name == "successor"
    assert library.load(trained.folder).finished
    with pytest.raises(
        TenfoldError, match=r"there is no folder ./a/b; a name on the hub is owner/name"
    ):
        library.load("./a/b")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "name one folder: --out FOLDER, or --hub FOLDER"),
        (("--out", "a", "--hub", "b"), "name one folder"),
        (("--out", "a", "--push", "me/adder"), "--push, --private and --license need --hub"),
    ],
)
def test_a_command_that_is_off(tenfold, trained, words, why):
    code, out, err = tenfold("export", str(trained.folder), *words)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert why in err
    assert err.count("\n") == 1


def test_without_the_library(monkeypatch, trained, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(TenfoldError, match=r"pip install 'tenfold\[hf\]'"):
        library.load("me/adder")
