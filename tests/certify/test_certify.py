"""Certificates: proved, refuted and refused, each cross-checked by decoding every short input whole."""

import copy
import itertools
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

import tenfold
from tenfold.certify import Local, NotCertifiable, certify, locality
from tenfold.lab.build import build
from tenfold.lab.recipe import Recipe

WINDOW = {"name": "window", "behind": 1, "ahead": 0, "axis": "column", "answers": 0}
JOINT = {"name": "pairwise", "relation": {"name": "joint", "reach": 1, "clip": True}}
ROLE = {"name": "learned", "axis": "role", "limit": 5}


def local(*parts, **changes):
    """A small recipe of a decoder with these encodings at once."""
    return Recipe(
        task={"name": "addition", "base": 2},
        format="reversed",
        data={"length": 5, "sampler": "lengths"},
        pe={"name": "compose", "parts": list(parts)},
        model={"kind": "decoder", "layers": 1, "width": 32, "heads": 4},
        train={"steps": 300, "batch": 64, "lr": 0.005, "warmup": 20},
        eval={"lengths": [5], "slices": ["uniform"], "n": 50, "every": 300, "validation_n": 50},
    ).replace(**changes)  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A binary adder, trained in a few seconds."""
    return tenfold.train(local(WINDOW, JOINT, ROLE), out=tmp_path_factory.mktemp("run") / "adder")


@pytest.fixture
def broken(run):
    """The same with its answer `1` made a little less likely: some digits change."""
    model = copy.deepcopy(run.model("final"))
    with torch.no_grad():
        model.head.bias[1] -= run.certify(which="final").margin + 1
    return model


def wrong_below(model, batcher, limit):
    """The pairs of numbers below the limit whose sum the model, decoding whole, gets wrong."""
    pairs = list(itertools.product(range(limit), repeat=2))
    widest = limit.bit_length()
    digits = np.array([[[n >> i & 1 for i in range(widest)] for n in pair] for pair in pairs])
    lengths = np.array([[max(1, n.bit_length()) for n in pair] for pair in pairs])
    batch = batcher(batcher.task.solve(digits.astype(np.uint8), lengths))
    answer, target = model.answer(batch.asked(batcher.task.vocabulary.pad)), batch.target
    right = ((answer == target) | (target < 0)).all(1)
    return [pair for pair, fine in zip(pairs, right.tolist(), strict=True) if not fine]


def test_proved(run):
    found = run.certify(which="final")
    assert (found.verdict, found.proved, found.wrong) == ("proved in exact arithmetic", True, 0)
    assert (found.contexts, found.columns) == (111, 2)
    assert found.margin > 0
    assert wrong_below(run.model("final"), run.built.batcher, 64) == []


def test_proved_models_add_long_numbers(run):
    rows = run.evaluate([300], ["uniform", "nines"], 20, which="final")
    assert [row.value for row in rows if row.metric == "exact"] == [1.0, 1.0]


def test_refuted_with_inputs_that_fail(run, broken):
    batcher = run.built.batcher
    found = certify(broken, batcher)
    assert (found.verdict, found.proved) == ("refuted", False)
    assert found.wrong > 0
    assert found.margin <= 0
    assert found.counterexamples
    for case in found.counterexamples:
        a, b = (int(number, 2) for number in case["question"].split("+"))
        assert int(case["truth"], 2) == a + b
        assert case["answer"] != case["truth"]
    fails = wrong_below(broken, batcher, 16)
    shortest = min(max(pair).bit_length() or 1 for pair in fails)
    told = [int(n, 2) for n in found.counterexamples[0]["question"].split("+")]
    assert (max(told).bit_length() or 1) <= shortest + 1  # a 1 may stand before a leading zero
    assert certify(broken, batcher).weights != run.certify(which="final").weights


def test_what_lies_outside_changes_no_bit(run):
    """Digits and answers out of sight are replaced, in place; the logits stay as they are, bit for bit."""
    model, batcher = run.model("final"), run.built.batcher
    seen = locality(model)
    assert seen == Local(columns=1, answers=1)
    examples = batcher.task.sample(16, 12, np.random.default_rng(0))
    batch = batcher(examples)
    logits, places = model(batch), batch.sequence.places
    column, answer = places["column"].expand(16, -1), places["role"].expand(16, -1) == 2
    generator = torch.Generator().manual_seed(0)
    for place in range(batch.read):
        outside = (column > place) | (column < place - seen.columns)
        outside |= answer & (column < place - seen.answers + 1)
        other = torch.randint(0, 2, column.shape, generator=generator)
        tokens = torch.where(outside & (batch.sequence.tokens < 2), other, batch.sequence.tokens)
        assert not torch.equal(tokens, batch.sequence.tokens)
        changed = replace(batch, sequence=replace(batch.sequence, tokens=tokens))
        assert torch.equal(model(changed)[:, place], logits[:, place])


def test_two_layers_see_twice_as_far():
    recipe = local({**WINDOW, "answers": None}, JOINT, ROLE, model={"layers": 2})
    built = build(recipe)
    assert locality(built.model()) == Local(columns=2, answers=3)
    found = certify(built.model(), built.batcher)
    assert (found.columns, found.verdict) == (3, "refuted")


@pytest.mark.parametrize(
    ("recipe", "reason"),
    [
        (local(WINDOW, {"name": "learned", "limit": 99}), r'"compose" reads the axis "index"'),
        (local("alibi"), r'reads the axis "index", whose places have no bound'),
        (local(WINDOW, {"name": "learned", "axis": "column", "limit": 99}), "absolute places"),
        (local(JOINT), 'no window on "column" in every head'),
        (local({**WINDOW, "ahead": 1}, JOINT), "open ahead by 1; a one-sided one"),
        (
            local({"name": "per-head", "parts": [WINDOW, JOINT]}),
            'no window on "column" in every head',
        ),
        (
            local(WINDOW, {"name": "cope", "axis": "column"}),
            "counts over keys, also those that are not",
        ),
        (local({**WINDOW, "behind": 0}, JOINT), r"1 columns do not decide: .* needs \d"),
        (local(WINDOW, JOINT, format={"name": "reversed", "width": 5}), "without a width"),
        (local(WINDOW, JOINT, schemes=["cyclic"]), "no schemes"),
    ],
)
def test_not_certifiable(recipe, reason):
    built = build(recipe)
    with pytest.raises(NotCertifiable, match=reason):
        certify(built.model(), built.batcher)


def test_an_encoder_is_not_certifiable():
    built = build(Recipe(format="in-place", pe=WINDOW, model={"kind": "encoder"}))
    with pytest.raises(NotCertifiable, match='the kind "encoder" are not certifiable'):
        certify(built.model(), built.batcher)


def told(*words):
    asked = [sys.executable, "-m", "tenfold", "certify", *map(str, words)]
    return subprocess.run(asked, capture_output=True, text=True, check=False)


def test_from_the_command_line(run, tmp_path):
    done = told(run.folder, "--checkpoint", "final", "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["proved"] is True
    assert {"contexts", "columns", "margin", "counterexamples"} <= set(found)
    said = told(run.folder, "--checkpoint", "final").stdout
    assert said.startswith("proved in exact arithmetic: right at every length\n111 contexts")
    few = told(run.folder, "--limit", "10")
    assert few.returncode == 2
    assert "more than 10 contexts of 2 columns; raise the limit" in few.stderr
    untrained = tenfold.train(
        local(WINDOW, JOINT, ROLE, train={"steps": 1}), out=tmp_path / "untrained"
    )
    refuted = told(untrained.folder)
    assert refuted.returncode == 1
    assert refuted.stdout.startswith("refuted: wrong on ")
    alibi = tenfold.train(local("alibi", train={"steps": 1}), out=tmp_path / "alibi")
    refused = told(alibi.folder, "--json")
    assert refused.returncode == 2
    assert json.loads(refused.stdout)["verdict"] == "not certifiable"
    assert refused.stderr.count("\n") == 1
