"""What a page says of a certificate, a machine and long problems, for a proved model."""

import json
import shutil

import pytest

from tenfold.features.proofs.certify import certify
from tenfold.features.proofs.long_problems import LONG_PROBLEMS
from tenfold.features.proofs.machine_files import (
    as_json,
    column_label,
    describe_machine,
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


def test_a_proof_on_a_page(run):
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
    text = proof(run)
    assert "<b>proved</b>: right at every length, also in float32" in text
    assert "463 contexts of 1 column that" in text
    assert "this machine of 3 states" in text
    assert "It equals the machine of its task" in text
    assert text.count("<svg") == 1
    assert "<td>1.50 s</td><td>0.012 s</td>" in text


def test_nothing_without_a_certificate(run):
    (run.folder / "certificate.json").unlink()
    assert proof(run) == ""


def test_the_machine_as_files(run):
    task, found = run.built.batcher.task, extract_machine(run)
    written = write_machine(found, task, run.folder / "machine")
    held = json.loads(written["table"].read_text())
    assert held == as_json(found)
    assert (held["states"], held["own"], held["differs"]) == (3, True, None)
    assert "digraph" in written["dot"].read_text()
    assert "/ >" in written["dot"].read_text()  # tokens as they are written
    assert "<svg" in written["drawing"].read_text()
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
