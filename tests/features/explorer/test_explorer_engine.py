"""The explorer's engine in Chromium against torch: logits of every encoding and architecture, written problems, answers."""

import json

import numpy as np
import pytest
import torch

from tenfold.data.batch import IGNORED
from tenfold.features.explorer.model_export import as_text, exported
from tenfold.features.explorer.page_bundle import bundled
from tenfold.features.explorer.shipped_models import TITLES, shipped
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import Run

pytestmark = pytest.mark.full
QUESTIONS = ["0+0", "7+8", "999+1", "12+34567", "4805+9217", "99999+99999"]
SMALL = {"layers": 2, "width": 16, "heads": 2}
LINES = [
    {"attention": attention, "head": 1, "keys": keys, "axis": "column", "offset": offset, "value": -0.5 * offset}
    for attention in ("causal", "cross", "two-way")
    for keys in ("answer", "operand 1", "operand 2")
    for offset in (0, 1)
]  # fmt: skip
UPRIGHT = [
    {"attention": attention, "head": 2, "keys": keys, "value": -1.0}
    for attention in ("causal", "cross", "two-way")
    for keys in ("operator", "all")
]
MATRIX = [
    {"attention": attention, "head": 1, "keys": "all", "axis": "index", "step": step, "offset": offset, "value": 0.0}
    for attention, step, offset in (
        ("causal", (1, 1), 1), ("causal", (1, 0), 0), ("cross", (1, -1), -1), ("cross", (1, -1), 0), ("cross", (1, 1), 0),
    )
]  # fmt: skip
RELATIONS = {
    "relative": {"name": "relative", "reach": 40},
    "clipped": {"name": "relative", "reach": 2, "clip": True},
    "significance": {"name": "significance", "reach": 8},
    "uniform": {"name": "uniform", "reach": 40, "digits": 6},
    "joint": {"name": "joint", "reach": 1, "clip": True},
    "joint-hub": {"name": "joint", "reach": 2, "clip": True, "hub": 1, "digits": 6},
}
ENCODINGS = {
    "none": "none",
    "learned": {"name": "learned", "limit": 64},
    "learned-role": {"name": "learned", "axis": "role", "limit": 6},
    "sinusoidal": "sinusoidal",
    "sinusoidal-scaled": {"name": "sinusoidal", "scale": 0.03, "base": 100.0},
    "rotary": "rotary",
    "rotary-partial": {"name": "rotary", "share": 0.5, "base": 100.0, "axis": "column"},
    "alibi": "alibi",
    **{f"pairwise-{name}": {"name": "pairwise", "relation": each} for name, each in RELATIONS.items()},
    "pairwise-values": {"name": "pairwise", "relation": RELATIONS["relative"], "values": True, "unrelated": False},
    "window": {"name": "window", "behind": 3},
    "window-column": {"name": "window", "behind": 1, "ahead": 0, "axis": "column", "answers": 0},
    "window-hub": {"name": "window", "behind": 1, "axis": "column", "hub": 1},
    "soft-window": {"name": "soft-window", "behind": 1, "answers": 0, "slope": 0.7},
    "soft-window-type-1": {"name": "soft-window", "behind": 2, "ahead": 1, "decay": "type-1", "axis": "index"},
    "soft-window-type-2": {"name": "soft-window", "decay": "type-2", "slope": 2.0, "unrelated": False},
    "calibrated": {"name": "calibrated", "lines": LINES},
    "calibrated-open": {"name": "calibrated", "lines": [*LINES, *UPRIGHT], "question": "all"},
    "calibrated-matrix": {"name": "calibrated", "lines": MATRIX},
    "compose": {"name": "compose", "parts": ["rotary", {"name": "window", "behind": 5}, "alibi", {"name": "learned", "limit": 64}]},
    "compose-turned": {"name": "compose", "parts": ["rotary", {"name": "pairwise", "relation": RELATIONS["joint"]}]},
}  # fmt: skip
KINDS = {
    "decoder": {"model": {"kind": "decoder", **SMALL}, "format": "reversed"},
    "encoder": {"model": {"kind": "encoder", **SMALL}, "format": {"name": "in-place", "frame": "fit"}},
    "seq2seq": {"model": {"kind": "seq2seq", "encoder_layers": 1, **SMALL}, "format": "reversed"},
}  # fmt: skip
FORMATS = {
    "width": {**KINDS["decoder"], "format": {"name": "reversed", "width": 6}},
    "spare": {**KINDS["seq2seq"], "format": {"name": "reversed", "width": 3, "spare": 1}},
    "units-first": {**KINDS["decoder"], "format": {"name": "reversed", "operands": "reversed", "start": True}},
    "interleaved": {**KINDS["decoder"], "format": "interleaved"},
    "interleaved-marked": {**KINDS["seq2seq"], "format": {"name": "interleaved", "mark": True}},
    "frame": {**KINDS["encoder"], "format": {"name": "in-place", "frame": 6}},
    "post": {"model": {"kind": "decoder", **SMALL, "norm": "post"}, "format": "reversed"},
    "post-seq2seq": {"model": {"kind": "seq2seq", "encoder_layers": 0, **SMALL, "norm": "post"}, "format": "reversed"},
}  # fmt: skip


def run_of(folder, trained, pe="sinusoidal", **parts):
    """A run that was never written: random weights, or some steps of training."""
    recipe = Recipe.of({"task": "addition", "data": {"length": 5}, "pe": pe, "train": {"batch": 16, "steps": 10}, "eval": {"lengths": [2], "validation": [2]}, **parts})  # fmt: skip
    run = Run(folder, recipe)
    model = run.built.model()
    if trained:
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
        for number in range(3):
            batch = run.built.batch_at(number)
            loss = torch.nn.functional.cross_entropy(
                model(batch).flatten(0, 1), batch.target.flatten(), ignore_index=IGNORED
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    run._models["best"] = model.eval()
    return run


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("engine"), {}
    cases = [(f"{name}-{kind}", {"pe": pe, **parts}) for name, pe in ENCODINGS.items() for kind, parts in KINDS.items()]  # fmt: skip
    cases += [(f"format-{name}", parts) for name, parts in FORMATS.items()]
    for name, parts in cases:
        for trained in (False, True):
            made[f"{name}-{'trained' if trained else 'random'}"] = run_of(folder, trained, **parts)
    return made | {f"shipped-{name}": shipped(name) for name in TITLES}


@pytest.fixture(scope="module")
def computed(browser, runs, tmp_path_factory):
    """What the page computes: for every run and question the tokens, the places and the logits."""
    path = tmp_path_factory.mktemp("engine-page") / "page.html"
    models = [exported(run, name=name) for name, run in runs.items()]
    path.write_text(bundled(as_text(models), "test"))
    page = browser.new_page()
    page.goto(path.as_uri())
    script = """questions => explorer.specs.map(spec => {
      const network = new explorer.Network(spec);
      return questions.map(question => {
        const written = explorer.writeProblem(explorer.parseProblem(question, spec.task), spec);
        const {sequence, source, target, given} = written, list = side => side && [
          Array.from(side.tokens), ...["index", "role", "significance", "column"].map(axis => Array.from(side.at[axis]))];
        return {given, target, sequence: list(sequence), source: list(source),
          logits: Array.from(network.logits(sequence, source, target.length))};
      });
    })"""
    results = page.evaluate(script, QUESTIONS)
    page.close()
    return dict(zip(runs, results, strict=True))


def lists_of(side):
    if side is None:
        return None
    axes = ("index", "role", "significance", "column")
    return [side.tokens[0].tolist(), *(side.places[axis][0].tolist() for axis in axes)]


def test_problems_are_written_as_in_python(runs, computed):
    assert len(runs) > 100
    for name, run in runs.items():
        for question, seen in zip(QUESTIONS, computed[name], strict=True):
            batch = run.built.batcher(run.built.batcher.parse(question))
            assert seen["sequence"] == lists_of(batch.sequence), (name, question)
            assert seen["source"] == lists_of(batch.source), (name, question)
            assert seen["given"] == batch.given
            graded = batch.target[0] != IGNORED
            assert [t for t, there in zip(seen["target"], graded, strict=True) if there] == batch.target[0][graded].tolist()  # fmt: skip


def test_logits_equal_those_of_torch(runs, computed):
    worst = {}
    for name, run in runs.items():
        model = run.model()
        for question, seen in zip(QUESTIONS, computed[name], strict=True):
            batch = run.built.batcher(run.built.batcher.parse(question))
            with torch.inference_mode():
                logits = model(batch)[0].numpy()
            ours = np.array(seen["logits"], dtype=np.float64).reshape(logits.shape)
            worst[name] = max(worst.get(name, 0.0), float(np.abs(ours - logits).max()))
    far = {name: error for name, error in worst.items() if not error < 1e-4}
    assert far == {}, json.dumps(far, indent=1)
