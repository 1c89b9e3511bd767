"""What a page says of a certificate, a machine and long problems, for a proved model."""

import dataclasses
import functools
import json
import shutil

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from tenfold.core.errors import TenfoldError
from tenfold.features.proofs.certify import certify
from tenfold.features.proofs.long_problems import LONG_PROBLEMS
from tenfold.features.proofs.machine import Difference
from tenfold.features.proofs.machine_drawing import draw_machine
from tenfold.features.proofs.machine_files import (
    MachineTable,
    as_json,
    column_label,
    describe_machine,
    drawn_machine,
    token_label,
    write_machine,
)
from tenfold.features.proofs.proof_section import proof
from tenfold.features.proofs.prover import weights_hash
from tenfold.features.proofs.run_machine import extract_machine
from tenfold.runs.run import SHELF, Run


@pytest.fixture
def run(tmp_path):
    shutil.copytree(SHELF / "comparison", tmp_path / "comparison")
    return Run.open(tmp_path / "comparison")


def test_a_proof_on_a_page(run, tmp_path):
    task, found = run.built.batcher.task, extract_machine(run)
    write_machine(found, task, run.folder)
    told = {
        "what": "a long one",
        "right": True,
        "agrees": True,
        "model_seconds": 1.5,
        "machine_seconds": 0.012,
    }
    (run.folder / LONG_PROBLEMS).write_text(json.dumps([told]))
    text = proof(run, tmp_path)
    assert "<b>proved</b>: right at every length, also in float32" in text
    assert "463 contexts of 1 column that" in text
    assert "this machine of 3 states" in text
    assert "It equals the machine of its task" in text
    fingerprint = run.recipe.fingerprint
    assert text.count(f'id="machine-{fingerprint}"') == 1
    assert "all that it remembers of the columns read so far" in text
    for suffix in ("png", "svg"):
        assert (tmp_path / f"machine-{fingerprint}.{suffix}").is_file()
    assert "<td>1.50 s</td><td>0.012 s</td>" in text


def test_a_machine_of_version_0_1_is_told_in_words(run, tmp_path):
    found = extract_machine(run)
    old = {key: value for key, value in as_json(found).items() if key != "columns"}
    (run.folder / "machine.json").write_text(json.dumps(old))
    text = proof(run, tmp_path)
    assert "this machine of 3 states" in text
    assert "<code>tenfold extract</code> draws it" in text
    assert "<svg" not in text


def edit(path, **changes):
    """Change values of a JSON file, as somebody who wants to be believed would, without its seal."""
    values = json.loads(path.read_text()) | changes
    values.pop("seal", None)
    path.write_text(json.dumps(values))


def test_an_edited_certificate_is_not_believed(run, tmp_path):
    """A model that is refuted, with a certificate that says it is proved, hash of the weights and all."""
    weights = load_file(run.folder / "weights.safetensors")
    name = next(name for name, tensor in weights.items() if tensor.dim() == 2)
    weights[name] = -weights[name]
    (run.folder / "manifest.json").unlink(missing_ok=True)
    save_file(weights, run.folder / "weights.safetensors")
    refuted = Run.open(run.folder)
    assert certify(refuted).verdict == "refuted"
    edit(run.folder / "certificate.json", weights=weights_hash(refuted.model()))
    text = proof(refuted, tmp_path)
    assert "its certificate is not right: verdict is refuted, the certificate says proved" in text
    assert "<b>refuted</b>" in text
    assert "<b>proved</b>" not in text
    text = proof(refuted, tmp_path, [0.0])  # no time is left for a proof
    assert "<b>unverified</b>" in text
    assert "<b>proved</b>" not in text


def test_a_certificate_of_other_weights_is_named(run, tmp_path):
    edit(run.folder / "certificate.json", weights="0" * 64)
    text = proof(run, tmp_path)
    assert "its certificate is of other weights" in text
    assert "<b>" not in text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"verdict": "<script>alert(1)</script>"}, "verdict is"),
        ({"weights": "<b>"}, "weights is"),
        ({"contexts": "many"}, "contexts is"),
        ({"about": []}, "about is"),
    ],
)
def test_a_certificate_with_other_values_is_one_line(run, tmp_path, changes, said):
    edit(run.folder / "certificate.json", **changes)
    with pytest.raises(TenfoldError, match=f"certificate.json is not a certificate: {said}"):
        proof(run, tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"columns": ["<script>alert(1)</script>"] * 121},
        {"states": 4},
        {"states": 10**9},
        {"next": [[7] * 121] * 3},
        {"output": [["x"] * 121] * 3},
        {"output": [[0]] * 3},
        {"starts": [-1]},
        {"differs": {"word": ["0,0"], "state": 9, "writes": 0, "truth": 1}},
        {"differs": {"word": ["9,x"], "state": 0, "writes": 0, "truth": 1}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_machine_is_drawn_from_checked_numbers_alone(run, tmp_path, changes):
    write_machine(extract_machine(run), run.built.batcher.task, run.folder)
    edit(run.folder / "machine.json", **changes)
    with pytest.raises(TenfoldError, match=r"machine\.json is damaged: ") as caught:
        proof(run, tmp_path)
    assert len(str(caught.value).splitlines()) == 1


def test_a_removed_machine_is_missed(run, tmp_path):
    """The drawing beside it says that there was one."""
    write_machine(extract_machine(run), run.built.batcher.task, run.folder)
    (run.folder / "machine.json").unlink()
    with pytest.raises(
        TenfoldError, match=r"machine\.json is missing, though machine\.dot is there"
    ):
        proof(run, tmp_path)


def test_a_machine_of_the_page_is_the_models_own(run, tmp_path):
    """A file that says that the machine is another is not believed either; without time for it, it is unverified."""
    write_machine(extract_machine(run), run.built.batcher.task, run.folder)
    edit(run.folder / "machine.json", own=False)
    assert "It equals the machine of its task" in proof(run, tmp_path)
    text = proof(run, tmp_path, [0.0])
    assert "Unverified: the model is said to compute the same" in text
    (run.folder / "machine.svg").write_text("<svg><script>alert(1)</script></svg>")
    assert "alert" not in proof(run, tmp_path)


@pytest.mark.parametrize("text", ["3", "{}", "[3]", '[{"what": 1}]', "[" * 10**5, "{"])
def test_damaged_long_problems_are_one_line(run, tmp_path, text):
    (run.folder / LONG_PROBLEMS).write_text(text)
    with pytest.raises(TenfoldError, match=r"feats\.json is damaged"):
        proof(run, tmp_path)


def test_nothing_without_a_certificate(run, tmp_path):
    (run.folder / "certificate.json").unlink()
    assert proof(run, tmp_path) == ""


def test_a_machine_is_drawn_from_its_table(run, tmp_path):
    """From machine.json alone, the same drawing as from the model, also where it differs from its task."""
    task, found = run.built.batcher.task, extract_machine(run)
    label, token = column_label(found), functools.partial(token_label, task)
    differs = Difference(0, np.array([0, 12]), 0, int(found.machine.output[0, 12]), 0, 5)
    table = as_json(dataclasses.replace(found, differs=differs, own=False))
    drawn = drawn_machine(MachineTable.model_validate(json.loads(json.dumps(table))), task)
    one = drawn.figure(tmp_path / "table", "a title").files[1]
    two = draw_machine(found.machine, tmp_path / "model.svg", label, differs, token)
    assert one.read_bytes() == two.read_bytes()
    assert "does not do what its task asks" in drawn.legend()


def test_the_machine_as_files(run):
    task, found = run.built.batcher.task, extract_machine(run)
    written = write_machine(found, task, run.folder / "machine")
    held = json.loads(written["table"].read_text())
    assert {key: held[key] for key in held if key != "seal"} == as_json(found)
    assert (held["states"], held["own"], held["differs"]) == (3, True, None)
    assert "digraph" in written["dot"].read_text()
    assert "/ >" in written["dot"].read_text()  # tokens as they are written
    assert set(written) == {"table", "dot"}
    assert (held["columns"][0], held["columns"][10]) == ("0,0", "0,-")
    assert column_label(found)(0) == "0,0"
    assert column_label(found)(10) == "0,-"
    assert token_label(task, -1) == "the end"


def test_said_in_words(run, capsys):
    print(certify(run).summary())
    print(describe_machine(extract_machine(run), run.built.batcher.task))
    said = capsys.readouterr().out
    assert said.startswith("proved: right at every length\n463 contexts, all right")
    assert "3 states, no smaller one does the same" in said
    assert "the task's own machine: yes, state for state" in said
