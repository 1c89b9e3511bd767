"""Several layers without a window: far keys, of any layer, never do more than the bound."""

import copy
import math

import numpy as np
import pytest
import torch
from tests.features.proofs.conftest import middling

import tenfold
from tenfold.data.roles import Role
from tenfold.data.tasks import samplers
from tenfold.features.proofs import soft_layers as module
from tenfold.features.proofs.adjoint_attention import Before, Embedded
from tenfold.features.proofs.adjoint_bound import Layered
from tenfold.features.proofs.adjoint_nodes import LayerNodes
from tenfold.features.proofs.certify import certify_model, certify_or_check
from tenfold.features.proofs.rounding import FLOAT32
from tenfold.features.proofs.soft_prover import LayeredProver, lead, prover_of
from tenfold.models.locality import NotCertifiable
from tenfold.models.locality_check import logits_at
from tenfold.models.near import near_only
from tenfold.runs.build import build

HIDDEN = {"name": "soft-window", "behind": 1, "answers": 0, "slope": 12.0, "unrelated": False}
REST = [
    {"name": "pairwise", "relation": {"name": "joint", "reach": 1, "clip": True}},
    {"name": "learned", "axis": "role", "limit": 5},
]
TWO = {"width": 16, "heads": 2, "layers": 2}


@pytest.fixture(scope="session")
def layered(small):
    """`layered(slope=4.0)`: the recipe of a binary adder of two layers without a window."""

    def make(model=TWO, train=None, task=None, **changes):
        more = {} if task is None else {"task": task}
        return small(pe=[{**HIDDEN, **changes}, *REST], model=model, train=train or {}, **more)

    return make


@pytest.fixture(scope="session")
def trained(layered, tmp_path_factory):
    """Trained in some seconds."""
    recipe = layered(train={"penalty": {"name": "far-attention", "weight": 1.0}})
    return tenfold.train(recipe, out=tmp_path_factory.mktemp("layers") / "adder")


def long_problems(built, seed):
    """Batches of problems of several lengths, with the places to look at."""
    rng = np.random.default_rng(seed)
    for length in (4, 9, 30):
        sampler = samplers.longest if length % 2 else samplers.exact
        batch = built.batcher(built.batcher.task.sample(12, length, rng, sampler))
        yield batch, sorted({0, 1, 2, length // 2, length - 1})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("slope", "times", "layers"), [(8.0, 0.15, 2), (6.0, 0.1, 2), (10.0, 0.15, 3)]
)
def test_far_keys_do_no_more_than_the_bound(layered, slope, times, layers, seed):
    built = build(layered(slope=slope, model={**TWO, "layers": layers}))
    model = middling(built.model(), seed, times).double()
    prover = prover_of(model, built.batcher)
    far, most, attended = prover.far(model, 0.0), 0.0, 0.0
    assert math.isfinite(far.most)
    for batch, places in long_problems(built, seed):
        for place in places:
            target = batch.target[:, place]
            there = target >= 0
            found = []
            hooks = [
                block.attention.weights.register_forward_hook(
                    lambda _, __, w, found=found: found.append(w)
                )
                for block in model.stack.blocks
            ]
            with torch.inference_mode():
                whole = logits_at(model, batch, place)
                with near_only(model, prover.near):
                    alone = logits_at(model, batch, place)
            for hook in hooks:
                hook.remove()
            for all_, near in zip(found[:layers], found[layers:], strict=True):
                columns = (all_ > 0).any(-1) & (near > 0).any(-1)
                attended = max(attended, (torch.where(near > 0, 0.0, all_).sum(-1)[columns]).max())
            less = lead(alone, target, there) - lead(whole, target, there)
            most = max(most, less.max().item())
    assert 0 < most <= far.most
    assert 0 < attended <= far.attention


def test_vectors_after_a_layer_stay_in_their_balls(layered):
    """Every token of a long problem is within the ball of some node: its vector with far keys, and what it would be alone."""
    built = build(layered(slope=4.0))
    model = middling(built.model(), 0, 0.15).double()
    prover, kept = prover_of(model, built.batcher), []
    original = module.leads

    def keep(exact, nodes, target, *, steady, far):
        first = Embedded(exact.stack, nodes.embedded, steady(exact.stack.encodings[0]), FLOAT32)
        block = exact.stack.blocks[0]
        before = Before(block.attention, block.attention_norm, first, FLOAT32)
        kept.append(
            Layered(exact, 0, nodes.sights[0], before, FLOAT32, steady(exact.stack.encodings[0]), tight=True, far=far)
        )  # fmt: skip
        return original(exact, nodes, target, steady=steady, far=far)

    module.leads = keep
    prover.far(model, 0.0)
    module.leads = original
    level, seen = kept[0], []
    hook = model.stack.blocks[0].register_forward_hook(lambda _, __, y: seen.append(y))
    most = 0.0
    for batch, places in long_problems(built, 0):
        with torch.inference_mode():
            logits_at(model, batch, places[-1])
        column = batch.sequence.places["column"].expand(batch.sequence.tokens.shape)
        column = column[:, : seen[-1].shape[1]]
        vectors = seen[-1][column >= 0]
        apart = torch.cdist(vectors, level.x, compute_mode="donot_use_mm_for_euclid_dist")
        inside = apart <= level.radius
        assert inside.any(1).all()
        most = max(most, apart.amin(1).max().item())
    hook.remove()
    assert most > 1e-6  # far keys do something


def test_two_layers_are_proved(trained):
    checked = certify_or_check(trained, which="final")
    found = checked.certificate
    assert (found.verdict, checked.exit_code) == ("proved in exact arithmetic", 0), found.summary()
    assert (found.contexts, found.columns) == (394, 3)
    assert 0 < found.far["left"] < found.margin
    assert found.far["attention"] < 0.05
    assert certify_or_check(trained, trained.folder / "certificate.json").differences == []
    task = trained.built.batcher.task
    examples = task.sample(2, 200, np.random.default_rng(0), samplers.longest)
    for row in range(2):
        assert trained.ask(task.question(examples, row), which="final").right


def test_a_slow_decay_is_not_proved(trained, layered):
    """The same weights where far keys fade slowly: right or not, nothing is proved."""
    slow = build(layered(slope=1.5))
    model = slow.model()
    model.load_state_dict(copy.deepcopy(trained.model("final").state_dict()))
    found = certify_model(model, slow.batcher)
    assert not found.proved
    assert not found.conditional


def test_what_a_node_was_not_seen_of_is_not_bounded(trained, monkeypatch):
    """Without any answer token among the nodes, nothing is known of far ones."""
    joined = LayerNodes.joined.__func__

    def without(cls, some):
        nodes = joined(cls, some)
        return nodes._replace(labels=torch.where(nodes.labels == Role.ANSWER, 1, nodes.labels))

    prover = prover_of(trained.model("final"), trained.built.batcher)
    assert isinstance(prover, LayeredProver)
    assert prover.far(trained.model("final"), 0.0).left > 0
    monkeypatch.setattr(LayerNodes, "joined", classmethod(without))
    assert not prover.far(trained.model("final"), 0.0).left > 0


def test_far_keys_beyond_all_numbers_have_all_attention(layered):
    built = build(layered())
    model = middling(built.model(), 0, 1.0).double()
    far = prover_of(model, built.batcher).far(model, 0.0)
    assert (far.attention, far.left) == (1.0, -math.inf)


def test_a_bound_about_another_model_is_no_bound(trained, monkeypatch):
    """What is computed from the nodes must be the model's own leads."""
    joined = LayerNodes.joined.__func__

    def other(cls, some):
        nodes = joined(cls, some)
        return nodes._replace(embedded=1.01 * nodes.embedded.roll(1, 1))

    prover = prover_of(trained.model("final"), trained.built.batcher)
    monkeypatch.setattr(LayerNodes, "joined", classmethod(other))
    found = prover.far(trained.model("final"), 0.0)
    assert not found.left > 0
    assert found.most == math.inf


def test_what_it_refuses(layered, small):
    shown = build(layered(unrelated=True))
    with pytest.raises(NotCertifiable, match="tokens without a column are hidden"):
        prover_of(shown.model(), shown.batcher)
    cut = build(layered(task={"name": "modular-addition", "base": 2, "modulus": 8}, behind=2))
    with pytest.raises(NotCertifiable, match="answers are at least as long"):
        prover_of(cut.model(), cut.batcher)
