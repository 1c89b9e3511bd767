"""Sums, products and sums of several numbers in one model: trained a little, asked, measured by operation."""

import json

import pytest

from tenfold.features.proofs.certify import certify
from tenfold.models.locality import NotCertifiable
from tenfold.runs.recipe_files import recipe
from tenfold.runs.run import Run
from tenfold.runs.train import train

ASKED = {
    "symmetry/two-operations": {"12+34": "46", "6*34": "204"},
    "symmetry/addition-terms": {"12+34": "46", "1+22+33": "56", "1+2+3+4": "10"},
    "symmetry/addition-3-relative": {"1+22+33": "56"},
}


@pytest.mark.parametrize("name", ASKED)
def test_one_model_is_asked_all(tenfold, name):
    assert tenfold("train", name, "--scale", "smoke", "--out", "run")[0] == 0
    for question, truth in ASKED[name].items():
        code, out, _ = tenfold("ask", "run", question, "--json")
        assert code in (0, 1)
        printed = json.loads(out)
        assert printed["question"] == question
        assert printed["truth"] == truth


def test_accuracy_by_operation(tenfold):
    assert tenfold("train", "symmetry/two-operations", "--scale", "smoke", "--out", "run")[0] == 0
    rows = Run.open("run").result()["rows"]
    labels = {row["slice"] for row in rows if row["length"] == 2}
    assert {
        "uniform",
        "sum",
        "product",
        "sum-cascade-1",
        "product-nines",
    } <= labels
    assert {row["length"] for row in rows if row["slice"] == "product"} == {1, 2, 3, 4}


def test_digit_by_digit_too(tmp_path):
    """A causal decoder over `6*34=402;`, an encoder-decoder, products uniform over levels beside sums with cascades."""
    changes = {
        "format": "reversed",
        "pe": "rotary",
        "data": {
            "sampler": {"name": "by-part", "of": {"sum": "mixed", "product": "levels"}},
        },
        "eval": {"slices": ["uniform", "parts"]},
    }
    for kind in ("decoder", "seq2seq"):
        small = recipe("symmetry/two-operations", "smoke").replace(model={"kind": kind}, **changes)
        run = train(small, tmp_path / kind)
        assert run.ask("12+34").truth == "46"
        assert run.ask("6*34").truth == "204"
        with pytest.raises(NotCertifiable):
            certify(run)
