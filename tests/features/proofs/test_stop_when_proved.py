"""Training that ends once proved, and what is left of it for others: weights, recipe, certificate."""

import json
import signal

import pytest
import torch
from safetensors.torch import load_file

import tenfold
from tenfold.core.errors import TenfoldError
from tenfold.core.stored_files import MANIFEST
from tenfold.features.proofs.certify import (
    CERTIFICATE,
    certify,
    export_certified,
    prove,
    read_certificate,
    write_certificate,
)
from tenfold.features.proofs.prover import Prover, weights_hash
from tenfold.features.proofs.run_machine import look_up
from tenfold.features.proofs.stop_when_proved import EVERY
from tenfold.models.locality import NotCertifiable
from tenfold.runs.build import build
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import WEIGHTS, Run
from tenfold.runs.stops import STOPS
from tenfold.training.loop import Stopped

WINDOW = {"name": "window", "behind": 1, "ahead": 0, "axis": "column", "answers": 0}
JOINT = {"name": "pairwise", "relation": {"name": "joint", "reach": 1, "clip": True}}
ROLE = {"name": "learned", "axis": "role", "limit": 5}
LOCAL = Recipe(
    task={"name": "addition", "base": 2},
    format="reversed",
    data={"length": 4, "sampler": "lengths"},
    pe={"name": "compose", "parts": [WINDOW, JOINT, ROLE]},
    model={"kind": "decoder", "layers": 1, "width": 32, "heads": 4},
    stop="certified",
    train={
        "steps": 2000, "batch": 64, "lr": 0.005, "warmup": 20, "checkpoint_every": 40, "log_every": 20,
    },
    eval={"lengths": [5], "slices": ["uniform"], "n": 20, "every": 200, "validation_n": 20},
)  # fmt: skip


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    return tenfold.train(LOCAL, out=tmp_path_factory.mktemp("proved") / "run")


@pytest.fixture(scope="module")
def exported(proved, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported") / "adder"
    export_certified(proved, folder)
    return folder


def test_it_ends_once_proved(proved):
    result = proved.result()
    assert result["reason"] == "certified"
    assert result["steps"] < LOCAL.train.steps
    assert result["steps"] % EVERY == 0
    for which in ("best", "final"):  # what was proved is what is kept
        found = certify(proved, which=which)
        assert found.verdict == "proved"
        assert found.weights == weights_hash(proved.model(which))
    assert weights_hash(proved.model("best")) == weights_hash(proved.model("final"))
    assert result["best_step"] == result["steps"]


def test_no_earlier_attempt_would_have_been_a_proof(tmp_path, proved):
    """It ends at the first of every 25 steps at which the whole of the contexts is right."""
    verdicts = {}
    held = build(LOCAL)
    provers = []

    def stop(model, step):
        if step % EVERY == 0:
            provers.append(provers[0] if provers else Prover(model, held.batcher))
            verdicts[step] = prove(provers[0], model).verdict
        return "enough" if step == proved.result()["steps"] else None

    again = tenfold.train(LOCAL, out=tmp_path / "whole", stop=stop)
    *before, last = sorted(verdicts)
    assert last == proved.result()["steps"]
    assert verdicts[last] == "proved"
    assert all(verdicts[step] != "proved" for step in before)
    assert weights_hash(again.model("final")) == weights_hash(proved.model("final"))


def test_resumed_it_ends_at_the_same_step_with_the_same_bits(tmp_path, proved):
    steps = proved.result()["steps"]
    cut = steps // 2 + 3  # between two attempts, and between two checkpoints

    def interrupt(line):
        if line.get("step") == cut:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Stopped, match=f"at step {cut}"):
        tenfold.train(LOCAL, out=tmp_path / "run", progress=interrupt)
    again = tenfold.train(LOCAL, out=tmp_path / "run")
    assert (again.result()["steps"], again.result()["reason"]) == (steps, "certified")
    for name, value in proved.model("final").state_dict().items():
        assert torch.equal(again.model("final").state_dict()[name], value), name


def test_in_exact_arithmetic_it_ends_no_later(tmp_path, proved):
    run = tenfold.train(LOCAL.replace(stop="certified-exactly"), out=tmp_path / "run")
    assert run.result()["reason"] == "certified-exactly"
    assert run.result()["steps"] <= proved.result()["steps"]
    assert certify(run, which="final").proved


def test_too_few_steps_are_all_made(tmp_path):
    run = tenfold.train(LOCAL.replace(train={"steps": 30}), out=tmp_path / "run")
    assert (run.result()["steps"], run.result()["reason"]) == (30, None)


def test_averages_are_refused(tmp_path):
    recipe = LOCAL.replace(train={"average": 0.9})
    with pytest.raises(TenfoldError, match=r"train\.average is 0\.9, it must be 0") as told:
        tenfold.train(recipe, out=tmp_path / "run")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"pe": "alibi"}, 'reads the axis "index"'),
        (
            {"pe": {"name": "compose", "parts": [{**WINDOW, "behind": 0}, JOINT]}},
            "do not determine the answer",
        ),
        ({"format": {"name": "reversed", "width": 5}}, "without a width"),
        ({"task": {"name": "modular-addition", "modulus": 7, "base": 2}}, "not declared as a"),
    ],
    ids=["alibi", "narrow", "width", "no machine"],
)
def test_what_cannot_be_certified_fails_at_once(tmp_path, changes, reason):
    seen = []
    with pytest.raises(NotCertifiable, match=reason) as told:
        tenfold.train(LOCAL.replace(**changes), out=tmp_path / "run", progress=seen.append)
    assert "\n" not in str(told.value)
    assert [line for line in seen if line.get("step", 0) > 1] == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"pe": "alibi"}, 'reads the axis "index"'),
        ({"pe": "none", "model": {"name": "gru"}}, 'needs attention, which .* "gru" does not have'),
        ({"train": {"average": 0.9}}, "it must be 0"),
    ],
    ids=["alibi", "gru", "average"],
)
def test_a_model_that_can_never_be_proved_writes_nothing(tmp_path, changes, reason):
    with pytest.raises(TenfoldError, match=reason):
        tenfold.train(LOCAL.replace(**changes), out=tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_unknown_reasons_to_stop_are_refused():
    with pytest.raises(TenfoldError, match="stop") as told:
        LOCAL.replace(stop="certifid")
    assert "\n" not in str(told.value)
    assert {"certified", "certified-exactly"} <= set(STOPS.names())


# export


def test_exported_it_is_the_same_model(proved, exported):
    opened = Run.open(exported)
    assert opened.published
    assert not proved.published
    assert {path.name for path in exported.iterdir()} == {
        "recipe.yaml",
        WEIGHTS,
        CERTIFICATE,
        MANIFEST,
    }
    assert weights_hash(opened.model()) == weights_hash(proved.model())
    assert opened.recipe.fingerprint == LOCAL.fingerprint
    held = read_certificate(exported / CERTIFICATE)
    assert certify(opened).differences(held) == []
    assert certify(proved).differences(held) == []
    assert held["about"]["recipe"] == LOCAL.fingerprint
    assert opened.ask("1011+110").answer == "10001"
    assert look_up(opened, f"{'1' * 90}+1").answer == "1" + "0" * 90
    assert load_file(exported / WEIGHTS).keys() == proved.model().state_dict().keys()


def test_exported_again_it_is_the_same(exported, tmp_path):
    Run.open(exported).export(tmp_path / "again")
    for name in ("recipe.yaml", WEIGHTS):
        assert (tmp_path / "again" / name).read_bytes() == (exported / name).read_bytes()


def test_a_folder_with_a_run_is_not_written_over(proved, exported, tmp_path):
    with pytest.raises(TenfoldError, match="holds a run already; name a new folder"):
        proved.export(exported)
    with pytest.raises(TenfoldError, match="holds a run already"):
        proved.export(proved.folder)


def test_what_cannot_be_certified_is_exported_without_a_certificate(tmp_path):
    recipe = LOCAL.replace(pe="alibi", stop=None, train={"steps": 2})
    run = tenfold.train(recipe, out=tmp_path / "run")
    assert set(export_certified(run, tmp_path / "out")) == {"recipe", "weights"}
    assert not (tmp_path / "out" / CERTIFICATE).exists()
    assert weights_hash(Run.open(tmp_path / "out").model()) == weights_hash(run.model())


def test_what_has_too_many_contexts_is_exported_without_a_certificate(tmp_path):
    wide = {"name": "compose", "parts": [{**WINDOW, "behind": 14, "answers": 14}, JOINT]}
    recipe = LOCAL.replace(task="addition", pe=wide, stop=None, train={"steps": 1})
    run = tenfold.train(recipe, out=tmp_path / "run")
    assert set(export_certified(run, tmp_path / "out")) == {"recipe", "weights"}


def test_a_refuted_model_is_exported_with_what_it_is(tmp_path):
    run = tenfold.train(LOCAL.replace(stop=None, train={"steps": 2}), out=tmp_path / "run")
    export_certified(run, tmp_path / "out")
    held = read_certificate(tmp_path / "out" / CERTIFICATE)
    assert (held["proved"], held["verdict"]) == (False, "refuted")


def damaged(exported, tmp_path, content):
    folder = tmp_path / "damaged"
    folder.mkdir()
    for path in exported.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    weights = folder / WEIGHTS
    weights.write_bytes(content(weights.read_bytes()))
    return Run.open(folder)


@pytest.mark.parametrize(
    "content",
    [lambda data: b"", lambda data: b"short", lambda data: data[:-1], lambda data: b"\xff" * 4096],
    ids=["empty", "short", "cut", "noise"],
)
def test_damaged_weights_are_one_clear_line(exported, tmp_path, content):
    run = damaged(exported, tmp_path, content)
    with pytest.raises(TenfoldError, match=r"weights\.safetensors") as told:
        run.model()
    assert "\n" not in str(told.value)


def test_weights_of_another_model_are_one_clear_line(exported, tmp_path):
    """The file is whole, but it does not fit the recipe beside it."""
    run = damaged(exported, tmp_path, lambda data: data)
    path = run.folder / "recipe.yaml"
    path.write_text(path.read_text().replace("width: 32", "width: 16"))
    with pytest.raises(TenfoldError) as told:
        Run.open(run.folder).model()
    assert "\n" not in str(told.value)


def test_changed_weights_are_another_model(exported, tmp_path):
    """A bit of the last weight is turned: the file reads well, and the certificate is not about it."""

    def turned(data):
        return data[:-1] + bytes([data[-1] ^ 1])

    run = damaged(exported, tmp_path, turned)
    with pytest.raises(TenfoldError, match="was changed after it was written"):
        certify(run)
    (run.folder / MANIFEST).unlink()  # as in an export of 0.1
    said = certify(run).differences(read_certificate(run.folder / CERTIFICATE))
    assert said
    assert said[0].startswith("weights is")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "cannot be read"),
        ("{", "cannot be read"),
        ("[]", "is not a certificate"),
        ("{}", "is not a certificate"),
        ("3", "is not a certificate"),
    ],
)
def test_what_is_no_certificate(tmp_path, content, says):
    path = tmp_path / "certificate.json"
    path.write_text(content)
    with pytest.raises(TenfoldError, match=says) as told:
        read_certificate(path)
    assert "\n" not in str(told.value)


def test_certificates_are_plain_json(proved):
    """Every number is one that any reader of JSON takes."""

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    text = write_certificate(proved, certify(proved)).read_text()
    assert json.loads(text, parse_constant=refuse)["verdict"] == "proved"
