"""The machine as a Coq file: coqc accepts it for every task that has a statement, and rejects it if an entry is changed.

`TENFOLD_COQ=required` forbids skipping where coqc is not installed.
"""

import json
import os
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.features.proofs.coq_export import check_coq, coq_text, write_coq
from tenfold.features.proofs.extraction import extract
from tenfold.features.proofs.machine import UNDEFINED
from tenfold.features.proofs.run_machine import extract_machine
from tenfold.runs.build import build
from tenfold.runs.run import open_run


def find_coqc():
    """Its path; without it, skip, or fail where it must be there."""
    program = shutil.which("coqc")
    if program is None:
        if os.environ.get("TENFOLD_COQ") == "required":
            pytest.fail("coqc is not installed; and TENFOLD_COQ is required")
        pytest.skip("coqc is not installed (Debian: apt install coq)")
    return program


@pytest.fixture(scope="module")
def adding():
    """The machine of the shipped adder in base 2, and its task."""
    run = open_run("addition-base-2")
    return extract_machine(run), run.built.batcher.task


@pytest.fixture
def checked(tmp_path):
    """`checked(text)`: what coqc says of this file."""
    find_coqc()

    def check(text):
        path = tmp_path / "machine.v"
        path.write_text(text)
        return check_coq(path)

    return check


def test_the_command(tenfold, tmp_path):
    find_coqc()
    file = tmp_path / "adder.v"
    out = ["--out", tmp_path / "machine"]
    code, printed, _ = tenfold("extract", "addition-base-2", *out, "--coq", file)
    assert code == 0
    assert printed.splitlines()[-1] == f"coqc accepts {file}"
    assert not list(tmp_path.rglob("*.vo*"))  # nothing of coqc's is left
    file.write_text(changed(file.read_text(), "Write 1 0", "Write 0 0", 0))
    said = check_coq(file)
    assert said.accepted is False
    assert (
        "table_agrees"
        in file.read_text().splitlines()[int(re.search(r"line (\d+)", said.said)[1]) - 4]
    )


@pytest.mark.full
def test_the_command_in_json(tenfold, tmp_path, monkeypatch):
    out = ["--out", tmp_path, "--coq", "--json"]
    monkeypatch.setenv("PATH", str(tmp_path))  # as if coqc were not installed
    code, printed, _ = tenfold("extract", "addition-base-2", *out)
    values = json.loads(printed)
    assert (code, values["coq"], values["coq_accepted"]) == (0, str(tmp_path / "machine.v"), None)
    code, printed, _ = tenfold("extract", "addition-base-2", *out[:-1])
    assert "coqc is not installed, so the proof was not checked" in printed


def changed(text, before, after, which):
    """The text with one entry of the table replaced."""
    at = [found.start() for found in re.finditer(rf"\b{before}\b", text)][which]
    return text[:at] + after + text[at + len(before) :]


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "theorem"),
    [
        ("parity", r"nth i s 0 = list_sum \(firstn \(S i\) a\) mod 2"),
        ("successor", r"value s = value a \+ 1 "),
        ("comparison", r"nth \(verdict 0 \(low \(S i\) a\) \(low \(S i\) b\)\) signs 0"),
        ("multiplication", r"value s = m \* value a "),
        ("subtraction", r"value s = value a - value b "),
        ("addition", r"value s = value a \+ value b "),
        ("addition-base-16", r"value s = value a \+ value b "),
    ],
)
def test_shipped_models(name, theorem, checked):
    run = open_run(name)
    text = coq_text(extract_machine(run), run.built.batcher.task)
    assert re.search(theorem, text)
    assert checked(text).accepted


@pytest.mark.full
@pytest.mark.parametrize(
    "changes",
    [
        {"task": {"name": "addition", "base": 3}},
        {"task": {"name": "addition", "base": 2, "terms": 3}, "pe": {"behind": 2, "answers": 1}},
        {"task": {"name": "multiplication", "base": 3, "most": 2}, "pe": {"hub": 0}},
        {"task": {"name": "subtraction", "base": 2}},
        {"task": {"name": "successor", "base": 2}},
        {"schemes": [{"name": "cyclic", "period": 3}], "pe": {"cyclic": True}},
        {"model": {"kind": "seq2seq", "encoder_layers": 0}},
    ],
    ids=["base-3", "three-numbers", "product", "difference", "successor", "cyclic", "seq2seq"],
)
def test_other_bases_and_models(small, parts, oracle, checked, changes):
    more = dict(changes.get("pe", {}))
    cyclic = [{"name": "learned", "axis": "cyclic", "limit": 8}] if more.pop("cyclic", 0) else []
    built = build(small(**{**changes, "pe": parts(*cyclic, **more)}))
    text = coq_text(extract(oracle(built), built.batcher), built.batcher.task)
    assert checked(text).accepted


def entries(text):
    """Every entry of the table of a file: where it begins and ends."""
    begin, end = text.index("Definition table"), text.index("Definition starts")
    return [
        (found.start() + begin, found.end() + begin)
        for found in re.finditer(r"Write \d+ \d+|Stop", text[begin:end])
    ]


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "times"),
    [("addition-base-2", 4), ("subtraction", 2), ("multiplication", 2), ("addition-base-16", 1)],
)
def test_a_changed_transition_is_rejected(name, times, checked):
    """Another digit, another state, an end, or nothing; anywhere in the table."""
    run = open_run(name)
    text = coq_text(extract_machine(run), run.built.batcher.task)
    assert checked(text).accepted
    rng = np.random.default_rng(0)
    found = entries(text)
    for number, row in enumerate(rng.choice(len(found), times, replace=False)):
        begin, end = found[row]
        digit, state = map(int, (re.findall(r"\d+", text[begin:end]) or [0, 0])[:2])
        other = [f"Write {digit ^ 1} {state}", f"Write {digit} {state ^ 1}", "Stop", "Nothing"]
        entry = other[number] if other[number] != text[begin:end] else "Nothing"
        said = checked(text[:begin] + entry + text[end:])
        assert said.accepted is False
        assert "Unable to unify" in said.said


@pytest.mark.full
def test_a_changed_meaning_or_start_is_rejected(adding, checked):
    text = coq_text(*adding)
    assert checked(text.replace("[[(1, 0)];", "[[(1, 1)];")).accepted is False
    assert (
        checked(text.replace("starts : list nat := [0]", "starts : list nat := [1]")).accepted
        is False
    )
    assert checked(text.replace("value a + value b", "value a + value b + 1")).accepted is False
    assumed = text.replace("Proof. vm_compute. reflexivity. Qed.", "Admitted.", 1)
    assert assumed != text
    assert checked(assumed).accepted is False  # coqc accepts it, with something assumed


def test_what_has_no_statement(adding, small, parts, oracle, tmp_path):
    machine, task = adding
    built = build(
        small(
            task={"name": "modular-addition", "base": 2, "modulus": 8},
            pe=parts(behind=2, answers=1),
        )
    )
    with pytest.raises(
        TenfoldError, match='nothing is stated in Coq about the task "modular-addition"; there are'
    ):
        coq_text(machine, built.batcher.task)
    with pytest.raises(TenfoldError, match=r'"my-adder\.v" is no name of a Coq file'):
        write_coq(machine, task, tmp_path / "my-adder.v")
    with pytest.raises(TenfoldError, match="this format pads them to the longest"):
        coq_text(replace(machine, view=replace(machine.view, together=True)), task)


def test_a_machine_that_does_not_compute_its_task(adding):
    machine, task = adding
    run = open_run("addition-base-2")
    model = run.model()
    with torch.no_grad():
        model.head.bias[1] -= 10
    with pytest.raises(TenfoldError, match="no proof: they differ first after the columns"):
        coq_text(extract(model, run.built.batcher), task)
    output = machine.machine.output.copy()
    for entry, told in ((1, "does not compute its task"), (UNDEFINED, "leaves open")):
        output[0, 0] = entry
        broken = replace(machine, machine=replace(machine.machine, output=output))
        with pytest.raises(TenfoldError, match=told):
            coq_text(broken, task)


def test_without_coq_it_is_skipped_unless_it_must_not_be(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("TENFOLD_COQ", raising=False)
    with pytest.raises(pytest.skip.Exception, match="coqc is not installed"):
        find_coqc()
    monkeypatch.setenv("TENFOLD_COQ", "required")
    with pytest.raises(pytest.fail.Exception, match="TENFOLD_COQ is required"):
        find_coqc()
