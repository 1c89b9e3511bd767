"""The proved models that come with the package: each is proved again, and answers."""

import json

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.features.proofs.certify import certify_or_check, read_certificate
from tenfold.features.proofs.run_machine import extract_machine
from tenfold.features.proofs.shipped_answers import answer
from tenfold.runs.run import SHELF, shipped, shipped_names

SMALL = 100_000  # contexts; the certificates of larger ones are checked by hand


def test_the_plainest_come_first():
    found = shipped_names()
    assert found[0] == "addition"
    assert {
        "addition",
        "subtraction",
        "successor",
        "parity",
        "comparison",
        "multiplication",
    } <= set(found)


@pytest.mark.parametrize("name", shipped_names())
def test_its_certificate_is_right(name):
    run, held = shipped(name), read_certificate(SHELF / name / "certificate.json")
    assert held["proved"]
    if held["far"] is not None:
        assert held["far"]["left"] > held["bound64"]
        pytest.skip("without a window; test_soft_proofs.py has the independent checker prove it")
    assert held["in_float32"]
    assert held["margin"] > held["bound"] + held["bound64"] > held["bound"]
    if held["contexts"] > SMALL:
        pytest.skip("many contexts")
    checked = certify_or_check(run, SHELF / name / "certificate.json")
    assert checked.differences == []
    assert (checked.certificate.verdict, checked.exit_code) == ("proved", 0)
    assert checked.certificate.declared == []
    assert extract_machine(run).own


@pytest.mark.parametrize("name", shipped_names())
def test_no_machine_path_is_in_it(name):
    held = json.dumps(read_certificate(SHELF / name / "certificate.json"))
    assert "/" not in held.replace("certified/", "")


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("99999999999999999999+1", "1" + "0" * 20),
        ("1000-999", "0001"),
        ("21?12", "><"),
        ("7*142857", "999999"),
        ("123456789*987654321", "121932631112635269"),
    ],
)
@pytest.mark.parametrize("machine", [False, True])
def test_answers(question, answered, machine):
    found = answer(question, machine=machine)
    assert found.answer == answered
    assert found.right


def test_questions_that_nobody_answers():
    with pytest.raises(TenfoldError, match='no proved model answers "what"'):
        answer("what")
    with pytest.raises(TenfoldError, match="7-12 is negative"):
        answer("7-12")
    with pytest.raises(
        TenfoldError, match="parity and successor can answer a single number; name one"
    ):
        answer("101")
    assert shipped("nothing") is None
