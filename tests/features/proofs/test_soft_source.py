"""An encoder-decoder without a window: far keys of the answer and of the source never do more than the bound."""

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.features.proofs.conftest import middling

import tenfold
from tenfold.data.roles import Role
from tenfold.data.tasks import samplers
from tenfold.encodings.soft_window import SoftWindow
from tenfold.features.proofs.adjoint_nodes import LayerNodes
from tenfold.features.proofs.certify import certify_model, certify_or_check
from tenfold.features.proofs.soft_layers import FarMixtures
from tenfold.features.proofs.soft_prover import LayeredProver, lead, prover_of
from tenfold.models.locality import NotCertifiable
from tenfold.models.locality_check import logits_at
from tenfold.models.near import near_only
from tenfold.runs.build import build

SOFT = {"name": "soft-window", "behind": 1, "answers": 0, "slope": 8.0}
REST = [
    {"name": "pairwise", "relation": {"name": "joint", "reach": 1, "clip": True}},
    {"name": "learned", "axis": "role", "limit": 5},
]
SOURCE = {"kind": "seq2seq", "encoder_layers": 0, "width": 16, "heads": 2}
PLAIN = {"name": "alibi", "axis": "column", "slope": 8.0}


@pytest.fixture(scope="session")
def crossed(small):
    """`crossed(slope=4.0)`: the recipe of a binary adder with a source and without a window."""

    def make(soft=SOFT, task=None, train=None, layers=1, model=None, **more):
        task = {} if task is None else {"task": task}
        size = {**SOURCE, "layers": layers, **(model or {})}
        return small(pe=[soft, *REST], model=size, train=train or {}, **task, **more)

    return make


@pytest.fixture(scope="session")
def trained(crossed, tmp_path_factory):
    """Trained in some seconds."""
    recipe = crossed(train={"penalty": {"name": "far-attention", "weight": 1.0}})
    return tenfold.train(recipe, out=tmp_path_factory.mktemp("source") / "adder")


def adversary(model, prover, batch, place, other):
    """Far digits of one problem, chosen one by one from the nearest on, so that the lead over another token falls the most."""
    side, target = batch.source, int(batch.target[0, place])
    column = side.places["column"].expand(side.tokens.shape)[0]
    apart = (place - column).abs()
    near = (column <= place) & (apart <= prover.sight.columns)
    far = torch.nonzero((column >= 0) & ~near)[:, 0]
    tokens = side.tokens.clone()
    for t in far[apart[far].argsort()][:6].tolist():
        found = []
        for digit in range(prover.contexts.transducer.base):
            tokens[0, t] = digit
            logits = logits_at(model, replace(batch, source=replace(side, tokens=tokens)), place)[0]
            found.append((float(logits[target] - logits[other]), digit))
        tokens[0, t] = min(found)[1]
    return replace(batch, source=replace(side, tokens=tokens))


def far_weights(model, prover, batch, place):
    """The largest attention on far keys at a place, of the answer and of the source; and the logits."""
    seen, found = [], []
    parts = [part for block in model.stack.blocks for part in (block.attention, block.cross)]
    hooks = [
        part.register_forward_pre_hook(lambda _, given: seen.append(given[2])) for part in parts
    ]
    hooks += [
        part.weights.register_forward_hook(lambda _, __, w: found.append(w)) for part in parts
    ]
    logits = logits_at(model, batch, place)
    for hook in hooks:
        hook.remove()
    near = [prover.near.keys(each.q_at, each.k_at)[:, None] for each in seen]
    far = [torch.where(keys, 0.0, w).sum(-1)[..., -1].max().item() for keys, w in zip(near, found, strict=True)]  # fmt: skip
    return max(far[::2]), max(far[1::2]), logits


def worst_of(model, batcher, prover, rng, lengths=(10, 100, 1000)):
    """The most that far contents take from a lead, and the most attention that they have: as drawn, random, and chosen."""
    most, attended = 0.0, [0.0, 0.0]
    for length in lengths:
        one = length > 100
        batch = batcher(batcher.task.sample(1 if one else 8, length, rng, samplers.exact))
        for place in [length // 2] if one else sorted({0, 1, 2, length // 2, length - 1}):
            target = batch.target[:, place]
            there = target >= 0
            if not there[0]:
                continue
            with torch.inference_mode(), near_only(model, prover.near):
                alone = logits_at(model, batch, place)
            fillings = [prover.far_replaced(batch, place, rng) for _ in range(2 if one else 5)]
            if length == 10:
                first = batch.rows(slice(0, 1))
                fillings += [adversary(model, prover, first, place, other) for other in (0, 1)]
            for filling in [batch, *fillings]:
                rows = len(filling)
                with torch.inference_mode():
                    *far, logits = far_weights(model, prover, filling, place)
                attended = [max(pair) for pair in zip(attended, far, strict=True)]
                less = lead(alone[:rows], target[:rows], there[:rows])
                less = less - lead(logits, target[:rows], there[:rows])
                most = max(most, less.max().item())
    return most, attended


@pytest.mark.parametrize(
    ("soft", "times", "seed", "task"),
    [
        ({**SOFT, "slope": 6.0}, 0.15, 0, None),
        ({**SOFT, "slope": 5.0}, 0.1, 1, {"name": "addition", "base": 3}),
        (PLAIN, 0.15, 2, None),
        ({**SOFT, "slope": 60.0, "decay": "type-1"}, 0.15, 3, {"name": "multiplication", "base": 2}),
    ],
    ids=["soft", "base-3", "alibi", "type-1-product"],
)  # fmt: skip
def test_far_contents_do_no_more_than_the_bound(crossed, soft, times, seed, task):
    built = build(crossed(soft, task=task))
    model = middling(built.model(), seed, times).double()
    prover = prover_of(model, built.batcher)
    assert isinstance(prover, LayeredProver)
    far = prover.far(model, 0.0)
    assert math.isfinite(far.most)
    most, attended = worst_of(model, built.batcher, prover, np.random.default_rng(seed))
    assert 0 < most <= far.most
    assert 0 < max(attended) <= far.attention
    assert attended[1] > 0  # the source, too
    assert prover._too_much(model, far) is None


def test_a_bound_that_leaves_the_source_out_is_exceeded(crossed, monkeypatch):
    """Far digits are in the source: without them the bound would be false, and the test on the model finds it."""
    slow = [{**SOFT, "slope": 3.0}, *REST]
    built = build(crossed({**SOFT, "slope": 60.0}, cross_pe=slow))
    model = middling(built.model(), 0, 0.15).double()
    nothing = lambda self, layer, reading, mixing, own: torch.zeros_like(mixing.moves)  # noqa: E731
    monkeypatch.setattr(FarMixtures, "across", nothing)
    prover = prover_of(model, built.batcher)
    far = prover.far(model, 0.0)
    most, _ = worst_of(model, built.batcher, prover, np.random.default_rng(0), lengths=(10,))
    assert most > far.most
    assert "far tokens take" in prover._too_much(model, far)


@pytest.mark.full
def test_two_layers_that_read_a_source(crossed):
    """Problems as they are: what replaced tokens become in the second layer may be no node."""
    built = build(crossed({**SOFT, "slope": 8.0}, layers=2))
    model = middling(built.model(), 0, 0.1).double()
    prover, rng, most = prover_of(model, built.batcher), np.random.default_rng(0), 0.0
    far = prover.far(model, 0.0)
    for length in (4, 9, 30):
        batch = built.batcher(built.batcher.task.sample(12, length, rng, samplers.exact))
        for place in sorted({0, 1, 2, length // 2, length - 1}):
            target = batch.target[:, place]
            there = target >= 0
            with torch.inference_mode():
                whole = logits_at(model, batch, place)
                with near_only(model, prover.near):
                    alone = logits_at(model, batch, place)
            most = max(most, (lead(alone, target, there) - lead(whole, target, there)).max().item())
    assert 0 < most <= far.most


def test_it_is_proved_and_answers_long_problems(trained):
    checked = certify_or_check(trained, which="final")
    found = checked.certificate
    assert (found.verdict, checked.exit_code) == ("proved in exact arithmetic", 0), found.summary()
    assert found.columns == 2
    assert 0 < found.far["left"] < found.margin
    assert certify_or_check(trained, trained.folder / "certificate.json").differences == []
    task = trained.built.batcher.task
    examples = task.sample(2, 200, np.random.default_rng(0), samplers.longest)
    for row in range(2):
        assert trained.ask(task.question(examples, row), which="final").right


def test_the_verdict_names_what_is_near_and_what_far_tokens_take(trained):
    found = certify_model(trained.model("final"), trained.built.batcher)
    first, second = found.summary().splitlines()
    assert first.startswith("proved in exact arithmetic at every length, without a window: far")
    assert "a context has 2 columns, near are keys up to R = 1 column behind" in second
    assert f"take at most {found.far['first']:.2g} to first order and 0 beyond" in second


class LyingWindow(SoftWindow):
    """Its bias ends to decay at a distance of 200, though it declares a series that converges."""

    def bias(self, q_at, k_at):
        return super().bias(q_at, k_at).clamp(min=-200 * self.slope)


class LoudWindow(SoftWindow):
    """The same from a distance of 80, where keys are as loud as near ones."""

    def bias(self, q_at, k_at):
        bias = super().bias(q_at, k_at)
        return torch.where(bias < -80 * self.slope, 0.0, bias)


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [(LyingWindow, "proved in exact arithmetic if its declarations hold"), (LoudWindow, "refuted")],
)
def test_a_window_that_lies_about_its_decay(trained, kind, verdict):
    model = copy.deepcopy(trained.model("final"))
    for module in model.modules():
        if type(module) is SoftWindow:
            module.__class__ = kind
    found = certify_model(model, trained.built.batcher)
    assert found.verdict == verdict
    assert not found.proved
    assert any(kind.__name__ in said for said in found.declared)


def test_sabotage_is_not_proved(trained, crossed):
    """Weights that are changed, or that fade slowly: what is proved is right on long problems with random far digits."""
    batcher, verdicts = trained.built.batcher, []
    rng, generator = np.random.default_rng(0), torch.Generator().manual_seed(0)
    for number in range(8):
        model = copy.deepcopy(trained.model("final"))
        with torch.no_grad():
            block = model.stack.blocks[0]
            if number < 4:  # far digits of the source get louder, or say more
                part = block.cross.key_value.weight if number % 2 else block.cross.query.weight
                part.mul_(2.0 ** (number + 1))
            for p in model.parameters():
                p.add_(0.02 * number * p.std() * torch.randn(p.shape, generator=generator))
        found = certify_model(model, batcher)
        verdicts.append(found.proved)
        if found.proved:
            batch = batcher(batcher.task.sample(20, 40, rng, samplers.longest))
            answer = model.answer(batch.without_answer(batcher.task.vocabulary.pad))
            assert ((answer == batch.target) | (batch.target < 0)).all()
    assert not all(verdicts)
    slow = build(crossed({**SOFT, "slope": 1.0}))
    model = slow.model()
    model.load_state_dict(trained.model("final").state_dict())
    assert not certify_model(model, slow.batcher).proved


def test_what_it_refuses(crossed):
    for changes, reason in (
        ({"model": {"encoder_layers": 1}}, r"its encoder has no layers \(encoder_layers: 0\)"),
        ({"format": "interleaved"}, 'the format "reversed" without a width'),
        ({"model": {"norm": "post"}}, "norms before it"),
        ({"task": {"name": "modular-addition", "base": 2, "modulus": 8}, "soft": {**SOFT, "behind": 2}, "layers": 2}, "at least as long"),
        ({"encoder_pe": {"name": "learned", "limit": 64}}, 'the axis "index"'),
        ({"task": {"name": "successor", "base": 2}}, "such as an operator that is not hidden; here one has none"),
        ({"soft": {**SOFT, "unrelated": False}}, "such as an operator that is not hidden; here one has none"),
    ):  # fmt: skip
        built = build(crossed(**changes))
        with pytest.raises(NotCertifiable, match=reason):
            prover_of(built.model(), built.batcher)


def test_a_digit_that_no_context_has_is_not_bounded(crossed, monkeypatch):
    """Of every token that may be far there must be a node; otherwise nothing is known of it."""
    built = build(crossed())
    model = middling(built.model(), 0, 0.1).double()
    prover = prover_of(model, built.batcher)
    joined = LayerNodes.joined.__func__

    def without(cls, some):
        nodes = joined(cls, some)
        labels = nodes.source.labels.clone()
        labels[(labels == Role.OPERAND).nonzero()[0]] = -1
        return nodes._replace(source=nodes.source._replace(labels=labels))

    assert math.isfinite(prover.far(model, 0.0).most)
    monkeypatch.setattr(LayerNodes, "joined", classmethod(without))
    assert prover.far(model, 0.0).most == math.inf


def test_operands_are_far_in_the_source_alone(crossed):
    """Each attention counts the far keys that it can have, and no others."""
    built, asked = build(crossed()), []
    model = middling(built.model(), 0, 0.1).double()
    prover = prover_of(model, built.batcher)
    original = FarMixtures._by_query

    def keep(self, tokens, *more):
        asked.append((tokens.layer.attention.crossing, {each.role for each in tokens.places}))
        return original(self, tokens, *more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FarMixtures, "_by_query", keep)
        prover.far(model, 0.0)
    assert asked == [
        (False, {Role.ANSWER, Role.OPERATOR}),
        (True, {Role.OPERAND, Role.OPERAND + 1}),
    ]
