"""Shared by the tests of proofs: small recipes of local models, with random weights or trained in seconds."""

import numpy as np
import pytest
import torch

import tenfold
from tenfold.runs.build import build
from tenfold.runs.recipe import Recipe


def _window(**changes):
    return {"name": "window", "behind": 1, "ahead": 0, "axis": "column", "answers": 0, **changes}


def _parts(*more, **changes):
    joint = {"name": "joint", "reach": 1, "clip": True, "roles": 6}
    role = {"name": "learned", "axis": "role", "limit": 6}
    return [_window(**changes), {"name": "pairwise", "relation": joint}, role, *more]


CYCLIC = {"name": "learned", "axis": "cyclic", "limit": 8}
LOCAL = {  # recipes of local models, by what is special about them
    "plain": {"pe": _parts()},
    "one token of the answer more": {"pe": _parts(answers=1)},
    "all columns' answers": {"pe": _parts(behind=2, answers=None)},
    "two layers": {"pe": _parts(), "model": {"layers": 2}},
    "two layers, three answers": {"pe": _parts(answers=1), "model": {"layers": 2}},
    "three layers, all answers": {"pe": _parts(answers=None), "model": {"layers": 3}},
    "decimal": {"pe": _parts(), "task": "addition"},
    "three numbers": {
        "pe": _parts(behind=2, answers=1),
        "task": {"name": "addition", "base": 2, "terms": 3},
    },
    "modular": {
        "pe": _parts(behind=2, answers=1),
        "task": {"name": "modular-addition", "base": 2, "modulus": 8},
    },
    "operands reversed": {
        "pe": _parts(),
        "format": {"name": "reversed", "operands": "reversed"},
    },
    "successor": {"pe": _parts(), "task": {"name": "successor", "base": 2}},
    "subtraction": {"pe": _parts(), "task": {"name": "subtraction", "base": 2}},
    "parity": {"pe": _parts(behind=0), "task": "parity"},
    "comparison": {"pe": _parts(behind=0), "task": {"name": "comparison", "base": 2}},
    "hub": {"pe": _parts(hub=0), "task": {"name": "multiplication", "base": 3}},
    "hub of two digits": {
        "pe": _parts(behind=2, answers=2, hub=0),
        "task": {"name": "multiplication", "base": 2, "multiplier": 2},
        "model": {"layers": 2},
    },
    "hub told apart by digits": {
        "pe": _parts(
            {
                "name": "pairwise",
                "relation": {"name": "joint", "reach": 1, "clip": True, "hub": 0, "digits": 2},
            },
            behind=2,
            answers=2,
            hub=0,
        ),
        "task": {"name": "multiplication", "base": 2, "multiplier": 2},
    },
    "cyclic": {
        "pe": _parts(CYCLIC),
        "schemes": [{"name": "cyclic", "period": 3}],
    },
    "cyclic with a hub": {
        "pe": _parts(CYCLIC, hub=0),
        "task": {"name": "multiplication", "base": 3},
        "schemes": [{"name": "cyclic", "period": 2}],
    },
    "cyclic side by side": {
        "pe": _parts(CYCLIC),
        "format": "interleaved",
        "schemes": [{"name": "cyclic", "period": 3}],
    },
    "side by side": {"pe": _parts(), "format": "interleaved"},
    "side by side, marked": {"pe": _parts(), "format": {"name": "interleaved", "mark": True}},
    "seq2seq": {"pe": _parts(), "model": {"kind": "seq2seq"}},
    "seq2seq without encoder layers": {
        "pe": _parts(),
        "model": {"kind": "seq2seq", "encoder_layers": 0},
    },
    "seq2seq of two layers": {"pe": _parts(answers=1), "model": {"kind": "seq2seq", "layers": 2}},
    "seq2seq that sees its answer for longer": {
        "pe": _parts(behind=2, answers=2),
        "cross_pe": _parts(),
        "encoder_pe": _parts(behind=0),
        "model": {"kind": "seq2seq"},
    },
    "seq2seq with a hub": {
        "pe": _parts(hub=0),
        "task": {"name": "multiplication", "base": 3},
        "model": {"kind": "seq2seq"},
    },
    "seq2seq that sees nothing at the end": {
        "pe": _parts(behind=0),
        "task": {"name": "comparison", "base": 2},
        "model": {"kind": "seq2seq"},
    },
    "seq2seq, cyclic, side by side": {
        "pe": _parts(CYCLIC),
        "format": "interleaved",
        "schemes": [{"name": "cyclic", "period": 2}],
        "model": {"kind": "seq2seq", "encoder_layers": 0},
    },
    "rotary by columns": {"pe": _parts({"name": "rotary", "axis": "column"})},
    "alibi by columns": {"pe": _parts({"name": "alibi", "axis": "column"})},
    "post": {"pe": _parts(), "model": {"norm": "post"}},
}


def _recipe(**changes):
    for name in ("pe", "encoder_pe", "cross_pe"):
        if isinstance(changes.get(name), list):
            changes[name] = {"name": "compose", "parts": changes[name]}
    return Recipe(
        task={"name": "addition", "base": 2},
        format="reversed",
        data={"length": 5, "sampler": "lengths"},
        pe={"name": "compose", "parts": _parts()},
        model={"kind": "decoder", "layers": 1, "width": 32, "heads": 4},
        train={"steps": 300, "batch": 64, "lr": 0.005, "warmup": 20},
        eval={"lengths": [5], "slices": ["uniform"], "n": 50, "every": 300, "validation_n": 50},
    ).replace(**changes)  # fmt: skip


def _lively(model, seed, ends=False):
    """Large random weights: outputs vary with all that is seen; without `ends`, an answer never ends by itself."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            drawn = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.copy_(3 * drawn if "embedding" in name else drawn)
            if "norm" in name:
                parameter.copy_(1 + drawn / 4 if name.endswith("weight") else drawn / 4)
        model.head.bias.zero_()
        if not ends:
            model.head.bias[model.end] = -1e3
    return model.eval()


@pytest.fixture(scope="session")
def small():
    """`small(pe=[...], model={...})`: the recipe of a small binary adder that can be certified, changed so."""
    return _recipe


@pytest.fixture(scope="session")
def parts():
    """`parts("rotary", behind=2)`: encodings for a local model, its window changed so, and more of them."""
    return _parts


@pytest.fixture(scope="session")
def lively():
    """`lively(model, seed)`: the model with large random weights."""
    return _lively


@pytest.fixture(params=LOCAL, ids=lambda name: name.replace(" ", "-").replace(",", ""))
def built(request):
    """Every kind of local model in turn, not trained."""
    size = {"width": 16, "heads": 2}
    changes = LOCAL[request.param]
    return build(_recipe(**{**changes, "model": {**size, **changes.get("model", {})}}))


@pytest.fixture(scope="session")
def drawn():
    """`drawn(task, lengths)`: two problems of up to each of these lengths in one set, with long cascades."""

    def draw(task, lengths, seed=0, each=2):
        rng = np.random.default_rng(seed)
        some = [task.sample(each, length, rng) for length in lengths]
        widest = max(s.operands.shape[2] for s in some)
        operands = np.concatenate(
            [np.pad(s.operands, ((0, 0), (0, 0), (0, widest - s.operands.shape[2]))) for s in some]
        )
        return task.solve(operands, np.concatenate([s.lengths for s in some]))

    return draw


@pytest.fixture(scope="session")
def adder(tmp_path_factory):
    """A binary adder, trained in a few seconds until it is right at every length."""
    return tenfold.train(_recipe(), out=tmp_path_factory.mktemp("run") / "adder")


@pytest.fixture(scope="session")
def oracle():
    """`oracle(built)`: a local model of this kind whose logits are made right, by looking at the problem.

    Its answers depend on the whole input, as no local model's do; but they are the task's.
    """

    def make(built):
        model, batcher = built.model().eval(), built.batcher
        whole = model.forward

        def right(batch):
            logits = torch.zeros_like(whole(batch))
            return logits.scatter(-1, truths(batcher, batch, logits.shape[1])[..., None], 9.0)

        model.forward = right
        return model

    return make


def truths(batcher, batch, read):
    """The true tokens at the last places of a batch, from the operands that are written there."""
    task, vocabulary = batcher.task, batcher.task.vocabulary
    side = batch.sequence if batch.source is None else batch.source
    rows = []
    stop = batch.sequence.tokens.shape[1] - read + 1 - batch.given  # the first place read
    for row in range(len(batch)):
        role = side.places["role"].expand(len(batch), -1)[row].numpy()
        power = side.places["significance"].expand(len(batch), -1)[row].numpy()
        tokens = side.tokens[row].numpy()
        operands = np.zeros((1, task.terms, tokens.size), dtype=np.uint8)
        for m in range(task.terms):
            digits = (role == 3 + m) & (power >= 0)
            operands[0, m, power[digits]] = tokens[digits]
        lengths = np.array([[max(1, len(np.trim_zeros(x, "b"))) for x in operands[0]]])
        examples = task.solve(operands, lengths)
        answer = examples.answer[0, : examples.answer_length[0]].astype(np.int64)
        padded = np.full(stop + read + 1, vocabulary.end)
        padded[: len(answer)] = answer[: len(padded)]
        rows.append(padded[stop : stop + read])
    return torch.from_numpy(np.stack(rows))


def middling(model, seed, times):
    """The model with random weights of middling size, norms apart."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in sorted(model.named_parameters()):
            drawn = torch.randn(p.shape, generator=generator)
            if "norm" not in name:
                p.copy_(drawn if "embedding" in name else times * drawn)
    return model.eval()
