"""Declarations that a proof rests on: whose they are, and lies of encodings, models and tasks that tests find."""

import copy
import json
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

import tenfold
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.encodings import Learned, NoPE, PositionalEncoding, Window
from tenfold.evals.exact_match import Examiner
from tenfold.features.proofs import declarations
from tenfold.features.proofs.certify import (
    EXACTLY,
    IF,
    PROVED,
    ProofCheck,
    certify,
    certify_model,
    own_files,
    prove,
)
from tenfold.features.proofs.declarations import trusted, violations
from tenfold.features.proofs.prover import Prover
from tenfold.models import Decoder
from tenfold.models.decoding import Swift, by_neighbours
from tenfold.models.locality import locality
from tenfold.models.locality_check import leak
from tenfold.runs import own_components
from tenfold.runs.build import build
from tenfold.runs.own_files import Included

WINDOW = {"behind": 1, "ahead": 0, "axis": "column", "answers": 0}


class MyWindow(Window):
    """A window as declared, of a class that the prover does not know."""

    name = "my-window"


class FarWindow(Window):
    """It also sees the keys `far` columns back, and says nothing of it."""

    name = "far-window"
    far = 25

    def visible(self, q_at, k_at):
        behind = q_at["column"].unsqueeze(-1) - k_at["column"].unsqueeze(-2)
        placed = (q_at["column"] >= 0).unsqueeze(-1) & (k_at["column"] >= 0).unsqueeze(-2)
        return super().visible(q_at, k_at) | ((behind == self.far) & placed).unsqueeze(1)


class Creeping(NoPE):
    """It adds a little for every column, and says that it reads differences alone."""

    name = "creeping"

    def __init__(self):
        PositionalEncoding.__init__(self, "column")

    def embed(self, x, at):
        first = torch.arange(x.shape[-1]) == 0  # in one direction: layer norm takes the mean away
        return x + 0.01 * at["column"].clamp(min=0).unsqueeze(-1) * first.to(x.dtype)


class Counting(Decoder):
    """Logits that depend on how long the sequence is."""

    longest = 60

    def forward(self, batch):
        logits = super().forward(batch)
        return -logits if batch.sequence.tokens.shape[1] > self.longest else logits


class Forgetful(Addition):
    """From 12 digits on its answers are one more than those of its machine."""

    def solve(self, operands, lengths):
        examples = super().solve(operands, lengths)
        answer = examples.answer.copy()
        answer[lengths.max(1) >= 12, 0] ^= 1
        return replace(examples, answer=answer)


def with_window(model, window):
    model = copy.deepcopy(model)
    pe = model.stack.encodings[0]
    pe._set_parts([window, *pe.parts[1:]])
    return model


def with_class(model, kind):
    model = copy.deepcopy(model)
    model.__class__ = kind
    return model


@pytest.fixture
def batcher(adder):
    return adder.built.batcher


@pytest.fixture
def model(adder):
    return adder.model("final")


def test_known_components_are_proved_without_a_condition(adder, model, batcher):
    assert trusted(model, batcher) == []
    assert violations(model, batcher, locality(model)) == []
    found = certify_model(model, batcher)
    assert (found.proved, found.conditional, found.declared) == (True, False, [])
    assert ProofCheck(found, None).exit_code == 0


def test_an_unknown_class_is_proved_if_its_declarations_hold(model, batcher):
    found = certify_model(with_window(model, MyWindow(**WINDOW)), batcher)
    assert found.verdict in (PROVED + IF, EXACTLY + IF)
    assert (found.proved, found.in_float32, found.conditional) == (False, False, True)
    assert [said.rsplit(".")[-1] for said in found.declared] == ["MyWindow"]
    assert ProofCheck(found, None).exit_code == 3
    assert "taken at its word: encoding" in found.summary()
    stored = json.loads(json.dumps(found.as_json()))
    assert (stored["proved"], stored["conditional"]) == (False, True)
    assert stored["verdict"].endswith("if its declarations hold")


def patched(model):
    model = copy.deepcopy(model)
    model.head.forward = model.head.forward
    return model


def hooked(model):
    model = copy.deepcopy(model)
    model.head.register_forward_hook(lambda *_: None)
    return model


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (lambda model: with_class(model, type("Mine", (Decoder,), {})), "model .*Mine"),
        (patched, "model .*Linear, changed"),
        (hooked, "model .*Linear, changed"),
    ],
    ids=["a subclass", "a method replaced", "a hook"],
)
def test_what_is_not_known(model, batcher, changed, told):
    (said,) = trusted(changed(model), batcher)
    assert re.fullmatch(told, said)


def test_tasks_formats_and_schemes_are_known_by_their_exact_class(model, batcher):
    kinds = {
        "task": type("Mine", (Addition,), {})(base=2),
        "format": type("Own", (type(batcher.format),), {})(),
    }
    for name, thing in kinds.items():
        (said,) = trusted(model, replace(batcher, **{name: thing}))
        assert said.startswith(name)
    for name, method in (("task", "solve"), ("format", "write")):
        changed = copy.copy(getattr(batcher, name))
        setattr(changed, method, getattr(changed, method))
        (said,) = trusted(model, replace(batcher, **{name: changed}))
        assert re.fullmatch(f"{name} .*, changed", said)
    (said,) = trusted(model, replace(batcher, schemes=[lambda tokens, places, generator: places]))
    assert said.startswith("scheme")


def test_a_window_that_sees_further_is_refuted(model, batcher):
    """Found by replacing what is out of sight; the fast decoder, which would hide it, is not used."""
    lying = with_window(model, FarWindow(**WINDOW))
    found = certify_model(lying, batcher)
    assert found.verdict == "refuted"
    assert not found.wrong  # every context is right: short problems have no key so far away
    assert "change the logits" in found.violations[0]
    assert ProofCheck(found, None).exit_code == 1
    assert leak(lying, batcher, locality(lying)) is not None
    assert Swift(lying, batcher).local is None


def test_a_format_of_few_columns_is_tested_with_as_many(small, lively, monkeypatch):
    """A width of 9: windows are tested there, before such a model is decoded by neighbours."""
    monkeypatch.setattr(FarWindow, "far", 5)
    built = build(small(format={"name": "reversed", "width": 9}, model={"width": 16, "heads": 2}))
    model = lively(built.model(), 0)
    assert Swift(model, built.batcher).local is not None
    assert Swift(with_window(model, FarWindow(**WINDOW)), built.batcher).local is None


def test_evaluation_sees_what_a_window_hides(model, batcher):
    """At 60 digits the model is wrong, though its neighbours as declared would make it right."""
    lying = with_window(model, FarWindow(**WINDOW))
    examples = batcher.task.sample(20, 60, np.random.default_rng(0))
    batch = batcher(examples)
    blank = batch.without_answer(batcher.task.vocabulary.pad)
    fast, _ = by_neighbours(lying, blank, locality(lying), batcher.task.vocabulary.end)
    whole = lying.answer(blank)

    def right(answer):
        return float(((answer == batch.target) | (batch.target < 0)).all(1).float().mean())

    assert right(fast) == 1.0
    assert right(whole) < 0.5
    measured = Examiner(batcher).grade(Swift(lying, batcher), examples, 60, "uniform")[0]
    assert measured.value == pytest.approx(right(whole))


def test_a_sample_is_held_against_whole_sequences(model, batcher):
    """A decoder by neighbours that gives other answers than the whole sequence is not used; rows say what was done."""
    examples = batcher.task.sample(20, 30, np.random.default_rng(0))
    swift = Swift(model, batcher)
    exact, digit = Examiner(batcher).grade(swift, examples, 30, "uniform")
    assert (exact.value, exact.whole, digit.whole) == (1.0, 8, 8)
    assert exact.as_json()["whole"] == 8
    assert "whole" not in Examiner(batcher).grade(model, examples, 30, "uniform")[0].as_json()
    lying = with_window(model, FarWindow(**WINDOW))
    swift = Swift(lying, batcher)
    vars(swift)["local"] = locality(lying)  # as if no test had refuted it
    exact, _ = Examiner(batcher).grade(swift, examples, 30, "uniform")
    whole, _ = Examiner(batcher).grade(lying, examples, 30, "uniform")
    assert exact.whole == 20
    assert exact.value == whole.value < 1


def test_long_sequences_are_confirmed_as_far_as_affordable(model, batcher, monkeypatch):
    monkeypatch.setattr("tenfold.models.decoding.CONFIRMED", 10_000)
    swift = Swift(model, batcher)
    counts = []
    for length in (5, 20, 60):
        batch = batcher(batcher.task.sample(8, length, np.random.default_rng(0)))
        counts.append(swift.confirmed(batch.without_answer(batcher.task.vocabulary.pad)))
    assert counts[0] == 8
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 0


def test_a_lie_beyond_all_tests_is_at_least_a_condition(model, batcher, monkeypatch):
    monkeypatch.setattr(FarWindow, "far", 2000)
    found = certify_model(with_window(model, FarWindow(**WINDOW)), batcher)
    assert found.conditional
    assert not found.proved


def test_an_encoding_that_reads_absolute_columns_is_refuted(model, batcher):
    lying = copy.deepcopy(model)
    pe = lying.stack.encodings[0]
    pe._set_parts([*pe.parts, Creeping()])
    said = violations(lying, batcher, locality(lying))
    assert any("if all columns are moved by" in sentence for sentence in said)
    found = certify_model(lying, batcher)
    assert found.verdict == "refuted"


def test_a_model_that_looks_at_the_length_is_refuted(model, batcher):
    lying = with_class(model, Counting)
    found = certify_model(lying, batcher)
    assert (found.verdict, found.wrong) == ("refuted", 0)
    assert any("such as the length" in sentence for sentence in found.violations)


def test_a_model_that_answers_otherwise_than_its_logits_is_refuted(model, batcher):
    class Stubborn(Decoder):
        def answer(self, batch):
            answer = super().answer(batch)
            return answer * 0 if batch.read > 20 else answer

    found = certify_model(with_class(model, Stubborn), batcher)
    assert found.verdict == "refuted"
    assert any("asked whole it answers" in sentence for sentence in found.violations)


def test_a_task_that_departs_from_its_machine_is_refuted(model, batcher):
    found = certify_model(model, replace(batcher, task=Forgetful(base=2)))
    assert (found.verdict, found.wrong) == ("refuted", 0)
    assert any("problem of 12 digits otherwise than its machine" in s for s in found.violations)


def test_every_task_with_a_machine_keeps_to_it(small):
    for task in declarations.TASKS:
        options = {"modulus": 8} if task.name == "modular-addition" else {}
        if "base" in task.__init__.__annotations__:
            options["base"] = 2
        batcher = replace(build(small()).batcher, task=task(**options))
        assert batcher.task.transducer() is not None
        assert declarations.other_machine(batcher) is None, task.name


@pytest.fixture
def my_window():
    """The window is known by its name, and forgotten after the test."""
    tenfold.register(MyWindow)
    yield
    own_components._forget(MyWindow.name)


@pytest.mark.usefixtures("my_window")
def test_own_components_end_training_with_a_condition(small, tmp_path):
    """`stop: certified-exactly` ends; the certificate says what it rests on, and `tenfold certify` exits with 3."""
    parts = [{"name": "my-window", **WINDOW}, *small().pe.model_dump()["parts"][1:]]
    run = tenfold.train(
        small(pe={"name": "compose", "parts": parts}, stop="certified-exactly"),
        out=tmp_path / "run",
    )
    assert run.result()["reason"] == "certified-exactly"
    found = certify(run, which="final")
    assert found.conditional
    assert ProofCheck(found, None).exit_code == 3


def test_own_files_are_a_condition(adder, model, batcher):
    """A file of the recipe can change a class of tenfold itself, which then looks like a known one."""
    included = Included(file="my.py", sha256="0" * 64)
    own = own_files(adder.recipe.model_copy(update={"include": (included,)}))
    found = prove(Prover(model, batcher), model, adjoints=False, own=own)
    assert found.conditional
    assert found.declared == ["own file my.py"]
    assert "taken at its word: own file my.py" in found.summary()
    assert own_files(adder.recipe) == []


def test_learned_positions_of_a_known_class_count_as_known(small):
    built = build(small())
    assert any(type(module) is Learned for module in built.model().modules())
    assert trusted(built.model(), built.batcher) == []
