"""What a page says of a certificate, a machine and long problems, for a proved model."""

import dataclasses
import functools
import json
import shutil

import numpy as np
import pytest

from tenfold.features.proofs.certify import certify
from tenfold.features.proofs.long_problems import LONG_PROBLEMS
from tenfold.features.proofs.machine import Difference
from tenfold.features.proofs.machine_drawing import draw_machine
from tenfold.features.proofs.machine_files import (
    as_json,
    column_label,
    describe_machine,
    drawn_machine,
    token_label,
    write_machine,
)
from tenfold.features.proofs.proof_section import proof
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


def test_nothing_without_a_certificate(run, tmp_path):
    (run.folder / "certificate.json").unlink()
    assert proof(run, tmp_path) == ""


def test_a_machine_is_drawn_from_its_table(run, tmp_path):
    """From machine.json alone, the same drawing as from the model, also where it differs from its task."""
    task, found = run.built.batcher.task, extract_machine(run)
    label, token = column_label(found), functools.partial(token_label, task)
    differs = Difference(0, np.array([0, 12]), 0, int(found.machine.output[0, 12]), 0, 5)
    table = as_json(dataclasses.replace(found, differs=differs, own=False))
    drawn = drawn_machine(json.loads(json.dumps(table)), task)
    one = drawn.figure(tmp_path / "table", "a title").files[1]
    two = draw_machine(found.machine, tmp_path / "model.svg", label, differs, token)
    assert one.read_bytes() == two.read_bytes()
    assert "does not do what its task asks" in drawn.legend()


def test_the_machine_as_files(run):
    task, found = run.built.batcher.task, extract_machine(run)
    written = write_machine(found, task, run.folder / "machine")
    held = json.loads(written["table"].read_text())
    assert held == as_json(found)
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
