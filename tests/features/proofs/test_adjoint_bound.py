"""The adjoint bound: every operation's rounding is in it, no error exceeds it, and it is below the bound by norms."""

import copy
import json
import math

import mpmath
import numpy as np
import pytest
import torch

from tenfold.encodings.pairwise import Pairwise
from tenfold.encodings.steady import Steady, steady_of
from tenfold.features.proofs import adjoint_attention as attention_module
from tenfold.features.proofs import adjoint_bound as bound_module
from tenfold.features.proofs import adjoint_steps as steps_module
from tenfold.features.proofs.adjoint_bound import adjoint_bound, leads
from tenfold.features.proofs.adjoint_nodes import AttentionWatch, distinct, has_adjoint
from tenfold.features.proofs.adjoint_steps import Heads, Mixing
from tenfold.features.proofs.certify import about, certify_model, certify_or_check, prove
from tenfold.features.proofs.prover import Prover, problem_batch
from tenfold.features.proofs.rounding import FLOAT32, Arithmetic, Meter, gamma
from tenfold.models.locality_check import logits_at
from tenfold.runs.build import build
from tenfold.runs.run import shipped

CLOSE = {"name": "relative", "reach": 3, "clip": True, "axis": "column"}
SIZE = {"width": 16, "heads": 2}
TWO = {**SIZE, "layers": 2}


class Case:
    """Some contexts of one depth, with a model that has middling random weights."""

    def __init__(self, recipe, times=0.4, count=12, seed=0):
        self.built = build(recipe)
        self.model = self.built.model().eval()
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for name, p in sorted(self.model.named_parameters()):
                drawn = torch.randn(p.shape, generator=generator)
                p.copy_(times * drawn if "embedding" not in name else drawn)
                if "norm" in name and name.endswith("weight"):
                    p.copy_(1 + drawn / 4)
        self.exact = copy.deepcopy(self.model).double()
        self.prover = Prover(self.model, self.built.batcher)
        depths, counts = np.unique(self.prover.depths, return_counts=True)
        self.place = int(depths[counts.argmax()]) - 1
        rows = np.flatnonzero(self.prover.depths == self.place + 1)
        self.rows = np.random.default_rng(seed).permutation(rows)[:count]
        self.batch = problem_batch(self.prover.batcher, self.prover.contexts, self.rows)
        self.target = self.batch.target[:, self.place]

    def leads(self, by=FLOAT32):
        with AttentionWatch(self.exact) as watch, torch.no_grad():
            logits_at(self.exact, self.batch, self.place)
            self.nodes = watch.nodes()
        return leads(self.exact, self.nodes, self.target, by)

    def lead(self, model):
        """The lead of the right token over each, (B, V), with gradients."""
        logits = logits_at.__wrapped__(model, self.batch, self.place)
        return logits.gather(1, self.target[:, None]) - logits


@pytest.fixture
def case(small, parts):
    def make(pe=None, times=0.4, **changes):
        model = {**SIZE, **changes.pop("model", {})}
        return Case(small(pe=pe or parts(), model=model, **changes), times)

    return make


def kept(case):
    """Runs the model; every operation's result by name, with gradients, and what errors may be added to."""
    found, hooks = {}, []

    def keep(name, x):
        if not x.requires_grad:
            x.requires_grad_()
        found[name] = x

    def out(name):
        return lambda _, __, y: keep(name, y)

    def given(name):
        return lambda _, args: keep(name, args[0])

    model = case.exact
    for layer, block in enumerate(model.stack.blocks):
        at = block.attention
        for name, module in (("norm", block.attention_norm), ("query", at.query), ("both", at.key_value), ("logits", at.logits),
                             ("weights", at.weights), ("out", at.out), ("norm2", block.feedforward_norm),
                             ("expand", block.expand), ("contract", block.contract)):  # fmt: skip
            hooks.append(module.register_forward_hook(out((name, layer))))
        for name, module in (("x", block.attention_norm), ("mixed", at.out), ("middle", block.feedforward_norm),
                             ("gelu", block.contract)):  # fmt: skip
            hooks.append(module.register_forward_pre_hook(given((name, layer))))
        if block.cross is not None:
            at = block.cross
            for name, module in (("norm", block.cross_norm), ("query", at.query), ("both", at.key_value), ("logits", at.logits),
                                 ("weights", at.weights), ("out", at.out)):  # fmt: skip
                hooks.append(module.register_forward_hook(out((f"cross {name}", layer))))
            for name, module in (("x", block.cross_norm), ("mixed", at.out)):
                hooks.append(module.register_forward_pre_hook(given((f"cross {name}", layer))))
    if model.reader() is not None:
        hooks.append(model.encoder.norm.register_forward_pre_hook(given(("source x", 0))))
        hooks.append(model.encoder.norm.register_forward_hook(out(("source norm", 0))))
    hooks += [
        model.stack.norm.register_forward_pre_hook(given(("x", layer + 1))),
        model.stack.norm.register_forward_hook(out(("norm", layer + 1))),
    ]
    lead = case.lead(model)
    for hook in hooks:
        hook.remove()
    return found, lead


def norm_errors(layer, x, u):
    """lambda, kappa / s and rho, of docs/certify.md."""
    d = x.shape[-1]
    s = (x.var(-1, correction=0) + layer.eps).sqrt()
    spread = x.square().mean(-1).sqrt() / s
    c = (d + 8) * u
    factor = (1 + 18 * u) / (1 - 3 * c * spread**2).sqrt()
    rho = 6 * u * (x.abs() / s[..., None] + 2 * spread[..., None]) * factor[..., None]
    return factor - 1, factor * c * spread, rho * layer.weight.abs() + 2 * u * layer.bias.abs()


def linear_errors(layer, x, u):
    return u * (layer.in_features + 1) * (x.abs() @ layer.weight.abs().T + layer.bias.abs())


@torch.no_grad()
def first_order(case, u):
    """What each operation's rounding takes from the leads to first order, (B, V), with gradients of autograd."""
    with torch.enable_grad():
        found, lead = kept(case)
        names = list(found)
        per_other = [
            torch.autograd.grad(lead[:, o].sum(), [found[n] for n in names], retain_graph=True, allow_unused=True)
            for o in range(lead.shape[1])
        ]  # fmt: skip
    model, total = case.exact, torch.zeros_like(lead)
    blocks, last = model.stack.blocks, len(model.stack.blocks)
    steady = [steady_of(model.stack.encodings[layer]) for layer in range(last)]

    def pay(name, own):
        for o, gradients in enumerate(per_other):
            g = gradients[names.index(name)]
            if g is not None:
                total[:, o] += (g.abs() * own).flatten(1).sum(1)

    def pay_norm(name, layer, x):
        lam, kappa, rho = norm_errors(layer, x, u)
        pay(name, rho)
        n = (x - x.mean(-1, keepdim=True)) / (
            x.var(-1, correction=0, keepdim=True) + layer.eps
        ).sqrt()
        for o, gradients in enumerate(per_other):
            y = gradients[names.index(name)] * layer.weight
            total[:, o] += (lam * (y * n).sum(-1).abs() + kappa * y.sum(-1).abs()).sum(1)

    def pay_embedding(name, stack):
        s = steady_of(stack.encodings[0])
        embedded = s.terms * u * (stack.embedding.weight.norm(dim=1).max() + s.embed)
        for o, gradients in enumerate(per_other):
            total[:, o] += embedded * gradients[names.index(name)].norm(dim=-1).sum(1)

    def pay_attention(kind, layer, at, s, queries, keys_of):
        k = at.size
        query, both, logits, weights, mixed, out = (
            (kind + name, layer) for name in ("query", "both", "logits", "weights", "mixed", "out")
        )
        pay(query, linear_errors(at.query, queries[:, -found[query].shape[1] :], u))
        pay(both, linear_errors(at.key_value, keys_of, u))
        b, t, _ = found[query].shape
        q = found[query].view(b, t, -1, k).transpose(1, 2)
        keys, values = found[both].view(b, -1, 2, q.shape[1], k).permute(2, 0, 3, 1, 4)
        there = found[logits].isfinite()
        terms = (q.abs() @ keys.abs().mT + q.norm(dim=-1, keepdim=True) * s.scores) / math.sqrt(k)
        own = u * (k + 4 + s.terms) * (terms + s.bias)
        pay(logits, torch.where(there, own, 0.0))
        w, count = found[weights], there.sum(-1, keepdim=True)
        below = found[logits].amax(-1, keepdim=True) - found[logits]
        own = w * u * (1.5 * count + 28 + torch.where(there, below, 0.0))
        pay(weights, torch.where(there, own, 0.0))
        own = u * (2 * count + 1 + s.terms) * (w @ (values.abs() + s.values))
        pay(mixed, own.transpose(1, 2).flatten(2))
        pay(out, linear_errors(at.out, found[mixed], u))

    pay_embedding(("x", 0), model.stack)
    if model.reader() is not None:
        pay_embedding(("source x", 0), model.encoder)
        pay_norm(("source norm", 0), model.encoder.norm, found["source x", 0])
    for layer, (block, s) in enumerate(zip(blocks, steady, strict=True)):
        n = found["norm", layer]
        pay_norm(("norm", layer), block.attention_norm, found["x", layer])
        pay_attention("", layer, block.attention, s, n, n)
        if block.cross is not None:
            x = found["cross x", layer]
            pay(("cross x", layer), u * x.abs())
            pay_norm(("cross norm", layer), block.cross_norm, x)
            known, source = steady_of(model.stack.cross_encodings[layer]), found["source norm", 0]
            pay_attention("cross ", layer, block.cross, known, found["cross norm", layer], source)
        middle = found["middle", layer]
        pay(("middle", layer), u * middle.abs())
        pay_norm(("norm2", layer), block.feedforward_norm, middle)
        pay(("expand", layer), linear_errors(block.expand, found["norm2", layer], u))
        pay(("gelu", layer), 10 * u * found["expand", layer].abs())
        pay(("contract", layer), linear_errors(block.contract, found["gelu", layer], u))
        pay(("x", layer + 1), u * found["x", layer + 1].abs())
    pay_norm(("norm", last), model.stack.norm, found["x", last])
    own = linear_errors(model.head, found["norm", last], u)[:, -1]
    return total + own + own.gather(1, case.target[:, None])


VALUES = {"name": "pairwise", "values": True, "relation": CLOSE}
SCALAR = {"name": "scalar", "relation": CLOSE}


SOURCE = {"kind": "seq2seq", "encoder_layers": 0}


@pytest.mark.parametrize(
    ("more", "model"),
    [([], {}), ([VALUES], {}), ([SCALAR], {}), ([], SOURCE)],
    ids=["plain", "values", "bias", "source"],
)
def test_every_operation_pays_what_it_rounds(case, parts, more, model, monkeypatch):
    """At a tiny unit the bound is the sum over operations of |adjoint| times error: none is left out, none twice."""
    for module in (steps_module, attention_module, bound_module):
        monkeypatch.setattr(module, "BALL", 1.0)
    some, u = case(parts(*more), model=model), 2.0**-44
    lost, ours = some.leads(Arithmetic(u, 0.0 + 2.0**-1022)).lost, first_order(some, u)
    others = torch.arange(lost.shape[1]) != some.target[:, None]
    others &= (some.target != some.model.end)[:, None]  # there nothing of a source is in sight
    torch.testing.assert_close(lost[others], ours[others], rtol=1e-5, atol=0)


@pytest.mark.parametrize("model", [TWO, {**TWO, **SOURCE}], ids=["two", "source"])
def test_two_layers_pay_at_least_as_much(case, model):
    """A token that several others see pays for each of them, not for their sum."""
    some, u = case(model=model), 2.0**-44
    lost, ours = some.leads(Arithmetic(u, 2.0**-1022)).lost, first_order(some, u)
    others = torch.arange(lost.shape[1]) != some.target[:, None]
    assert (lost[others] >= ours[others]).all()
    assert (lost[others] <= 2 * ours[others]).all()


def moved(case, u, sign, share=0.99):
    """The leads when every linear layer, norm, gelu, mixture and weight is off by `share` of its error, in this direction."""
    found, lead = kept(case)
    model, hooks = case.exact, []
    gradients = dict(zip(found, torch.autograd.grad(lead[:, sign].sum(), list(found.values()), allow_unused=True), strict=True))  # fmt: skip

    def off(name, own, y):
        return y - share * own * gradients[name].sign()

    def after(name, error):
        return lambda module, given, y: off(name, error(module, given[0], u), y)

    def norm_error(module, x, u):
        return norm_errors(module, x, u)[2]

    for layer, block in enumerate(model.stack.blocks):
        at = block.attention
        for name, module, error in (("norm", block.attention_norm, norm_error), ("query", at.query, linear_errors), ("both", at.key_value, linear_errors),
                                    ("out", at.out, linear_errors), ("norm2", block.feedforward_norm, norm_error),
                                    ("expand", block.expand, linear_errors), ("contract", block.contract, linear_errors)):  # fmt: skip
            hooks.append(module.register_forward_hook(after((name, layer), error)))
        hooks.append(
            at.weights.register_forward_hook(
                lambda _, __, w, layer=layer: off(
                    ("weights", layer), u * w * (28 + (w > 0).sum(-1, keepdim=True)), w
                )
            )
        )
        hooks.append(
            block.contract.register_forward_pre_hook(
                lambda _, given, layer=layer: off(
                    ("gelu", layer), 10 * u * given[0].abs(), given[0]
                )
            )
        )
    with torch.no_grad():
        worse = case.lead(model)[:, sign]
    for hook in hooks:
        hook.remove()
    return (lead[:, sign] - worse).detach()


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("power", [-12, -15, -19])
def test_no_error_of_the_worst_direction_exceeds_it(case, layers, power):
    """Large units, so that second-order terms matter: all operations are off together, against the right digit."""
    some, u = case(model={**SIZE, "layers": layers}), 2.0**power
    lost = some.leads(Arithmetic(u, 2.0**-126)).lost
    linear = first_order(some, u)
    for other in range(3):
        rows = some.target != other
        off = moved(some, u, other)
        assert (off <= lost[:, other])[rows].all()
        assert (off > 0.1 * linear[:, other])[rows].any()
    if (layers, power) == (1, -19):
        assert (lost / linear)[linear > 1e-4].median() < 3


@pytest.mark.parametrize("power", [0, 10, 20, 30])
def test_what_float64_loses_of_an_adjoint_is_in_its_radius(power):
    """Keys and values that share a large part: it cancels in the adjoint of the query, but not what was lost of it."""
    mpmath.mp.dps = 60
    nothing, ones = torch.zeros(1, 4, 1, dtype=torch.float64), torch.ones(1, 4, 1, dtype=torch.bool)
    for seed in range(3):
        generator = torch.Generator().manual_seed(seed)
        q, k, v, a = torch.randn(4, 4, 4, generator=generator, dtype=torch.float64)
        q, a, k, v = q[0], a[0], 2.0**power + k, 2.0**power + v
        q[0] = -q[1:].sum()
        heads = Heads(q.view(1, 1, 4), nothing[:, 0], k.view(1, 4, 1, 4), nothing, v.view(1, 4, 1, 4), nothing, ones, None, None, None)  # fmt: skip
        mixing = Mixing(heads, Steady(), Arithmetic(2.0**-110, 2.0**-1022))
        got = mixing.back(a.view(1, 1, 1, 4), nothing[:, :1], torch.tensor([0]))
        q, k, v, a = (x.numpy().astype(object) * mpmath.mpf(1) for x in (q, k, v, a))
        w = np.array([mpmath.exp(x / 2) for x in k @ q])
        w /= w.sum()
        exact = (w * (v @ a - w @ (v @ a))) @ k / 2
        off = mpmath.norm(list(got.q.flatten().numpy() - exact))
        assert off <= got.rq.item()


KINDS = {
    "one layer": {},
    "two layers": {"model": TWO},
    "three layers": {"model": {**SIZE, "layers": 3}},
    "hub": {"task": {"name": "multiplication", "base": 3}, "hub": 0},
    "values": {"more": [VALUES]},
    "bias": {"more": [SCALAR]},
    "heads": {"more": [{"name": "per-head", "parts": [SCALAR, VALUES]}]},
    "cyclic": {"more": [{"name": "learned", "axis": "cyclic", "limit": 8}], "schemes": [{"name": "cyclic", "period": 3}]},
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("times", [0.2, 0.5])
def test_between_what_is_observed_and_the_norms(case, parts, kind, times):
    changes = {**KINDS[kind]}
    hub = {"hub": changes.pop("hub")} if "hub" in changes else {}
    some = case(parts(*changes.pop("more", []), **hub), times, **changes)
    with Meter(some.exact) as meter:
        found = some.leads()
    with torch.no_grad():
        truth, single = some.lead(some.exact), some.lead(some.model)
    others = found.margin.isfinite()
    torch.testing.assert_close(found.margin[others], truth[others], rtol=0, atol=1e-9)
    assert ((single - truth).abs() <= found.lost)[others].all()
    assert 0 < found.lost.max() <= 2 * meter.bound()


@torch.no_grad()
def exactly(model, nodes):
    """The logits of the first context with 40 digits, by a plain loop."""
    mpmath.mp.dps = 40

    def vector(x):
        return [mpmath.mpf(float(v)) for v in x]

    def linear(layer, x):
        return [mpmath.fdot(vector(row), x) + mpmath.mpf(float(b)) for row, b in zip(layer.weight, layer.bias, strict=True)]  # fmt: skip

    def norm(layer, x):
        mean = sum(x) / len(x)
        s = mpmath.sqrt(sum((v - mean) ** 2 for v in x) / len(x) + mpmath.mpf(layer.eps))
        return [(v - mean) / s * g + b for v, g, b in zip(x, vector(layer.weight), vector(layer.bias), strict=True)]  # fmt: skip

    def gelu(h):
        return h * (1 + mpmath.erf(h / mpmath.sqrt(2))) / 2

    (block,), (sight,) = model.stack.blocks, nodes.sights
    at, keys = block.attention, sight.keys[0].tolist()
    inputs = [vector(nodes.embedded[key]) for key in keys]
    normed = [norm(block.attention_norm, x) for x in inputs]
    q, both, mixed = (
        linear(at.query, normed[0]),
        [linear(at.key_value, n) for n in normed],
        [],
    )
    for h in range(at.heads):
        part = slice(h * at.size, (h + 1) * at.size)
        seen = [s for s in range(len(keys)) if sight.there[0, s, h]]
        pairs = {s: vector(sight.scores[0, s, h]) for s in seen}
        scores = [mpmath.fdot(q[part], [a + b for a, b in zip(both[s][part], pairs[s], strict=True)]) for s in seen]  # fmt: skip
        weights = [mpmath.exp(score / mpmath.sqrt(at.size)) for score in scores]
        values = [both[s][len(q) :][part] for s in seen]
        mixed += [mpmath.fdot(weights, [v[i] for v in values]) / sum(weights) for i in range(at.size)]  # fmt: skip
    x = [a + b for a, b in zip(inputs[0], linear(at.out, mixed), strict=True)]
    hidden = [gelu(h) for h in linear(block.expand, norm(block.feedforward_norm, x))]
    x = [a + b for a, b in zip(x, linear(block.contract, hidden), strict=True)]
    return linear(model.head, norm(model.stack.norm, x))


@pytest.mark.parametrize("name", ["parity", "addition-base-2"])
def test_shipped_models_with_forty_digits(name):
    """float32's leads, and float64's, from those of 40 digits: within the bound, in a few contexts."""
    run = shipped(name)
    model = run.model().eval()
    exact, prover = copy.deepcopy(model).double(), Prover(model, run.built.batcher)
    for row in range(0, len(prover.contexts), -(-len(prover.contexts) // 6)):
        place = int(prover.depths[row]) - 1
        batch = problem_batch(prover.batcher, prover.contexts, np.array([row]))
        target = batch.target[:, place]
        with AttentionWatch(exact) as watch, torch.no_grad():
            double, single = logits_at(exact, batch, place), logits_at(model, batch, place)
            nodes = watch.nodes()
        found, true = leads(exact, nodes, target), exactly(exact, nodes)
        for other in range(len(true)):
            lead = true[target.item()] - true[other]
            for logits, lost in ((single, found.lost[0, other].item()), (double, 1e-12)):
                computed = logits[0, target.item()].item() - logits[0, other].item()
                assert abs(computed - lead) <= lost


@pytest.mark.full
def test_the_bound_of_a_shipped_model(monkeypatch):
    """It is far below that of norms, and the certificate says which of the two it has."""
    run = shipped("addition-base-2")
    found = certify_model(run.model(), run.built.batcher)
    assert (found.verdict, found.bound_by) == ("proved", "adjoints")
    assert 0.002 < found.bound < 0.003
    assert "by adjoints" in found.summary()
    assert found.as_json()["bound_by"] == "adjoints"
    monkeypatch.setattr("tenfold.features.proofs.certify.adjoint_bound", lambda *_: None)
    coarse = certify_model(run.model(), run.built.batcher)
    assert (coarse.verdict, coarse.bound_by) == ("proved", "norms")
    assert coarse.bound > 30 * found.bound
    assert any("bound_by is" in line for line in found.differences(coarse.as_json()))


@pytest.mark.full
def test_a_certificate_by_norms_is_checked_by_norms(adder, tmp_path):
    """Also an older one, which does not say so."""
    found = certify_model(adder.model("final"), adder.built.batcher)
    assert found.bound_by == "adjoints"
    path, about_run = tmp_path / "certificate.json", {"about": about(adder, "final")}
    older = prove(Prover(adder.model("final"), adder.built.batcher), adder.model("final"), adjoints=False)  # fmt: skip
    assert older.bound > found.bound
    for certificate, leave in ((found, False), (older, False), (older, True)):
        stored = {**certificate.as_json(), **about_run}
        if leave:
            del stored["bound_by"]
        path.write_text(json.dumps(stored))
        checked = certify_or_check(adder, path)
        assert (checked.differences, checked.certificate.bound_by) == ([], certificate.bound_by)


def test_where_norms_suffice_many_contexts_are_left_to_them(adder, monkeypatch):
    monkeypatch.setattr("tenfold.features.proofs.certify.ADJOINTS", 100)
    model, batcher = adder.model("final"), adder.built.batcher
    norms = certify_model(model, batcher)
    prover = Prover(model, batcher)
    asked = prove(prover, model, adjoints=True)
    assert asked.bound_by == "adjoints"
    enough = prove(prover, model, adjoints=False).verdict == "proved"
    assert norms.bound_by == ("norms" if enough else "adjoints")


@pytest.mark.parametrize("kind", ["post", "seq2seq", "rotary"])
def test_models_that_it_does_not_know(small, parts, kind):
    changes = {
        "post": {"model": {**SIZE, "norm": "post"}},
        "seq2seq": {"model": {**SIZE, "kind": "seq2seq"}},
        "rotary": {"pe": parts({"name": "rotary", "axis": "column"})},
    }[kind]
    some = build(small(**{"model": SIZE, **changes}))
    model = some.model().double()
    assert not has_adjoint(model)
    assert adjoint_bound(Prover(model, some.batcher), model) is None


def test_an_encoding_that_is_not_linear_has_no_adjoint(adder, monkeypatch):
    """It declares a vector for each pair, and squares the query."""
    model, batcher = copy.deepcopy(adder.model("final")).double(), adder.built.batcher
    prover, scores = Prover(model, batcher), Pairwise.scores
    assert adjoint_bound(prover, model) is not None
    monkeypatch.setattr(Pairwise, "scores", lambda pe, q, *more: scores(pe, q.square(), *more))
    assert adjoint_bound(prover, model) is None


@pytest.mark.parametrize("where", ["hidden", "adjoint", "attention"])
def test_what_cancels_has_a_huge_bound(adder, where):
    """2^60 is added and subtracted: in the sum, in the derivative alone, or in the values of a head."""
    model, batcher = copy.deepcopy(adder.model("final")), adder.built.batcher
    block = model.stack.blocks[0]
    before = adjoint_bound(Prover(model, batcher), copy.deepcopy(model).double())
    with torch.no_grad():
        if where == "hidden":
            block.expand.bias[:2] = 2.0**60
            block.contract.weight[:, 1] = -block.contract.weight[:, 0]
        elif where == "adjoint":  # both units are 0 nearly, and so is their sum; not its derivative
            block.expand.weight[1], block.expand.bias[1] = block.expand.weight[0], block.expand.bias[0]  # fmt: skip
            block.contract.weight[:, 0] = 2.0**40
            block.contract.weight[:, 1] = -(2.0**40)
        else:
            block.attention.key_value.bias[32] = 2.0**60
            block.attention.out.bias -= 2.0**60 * block.attention.out.weight[:, 0]
    found = adjoint_bound(Prover(model, batcher), model.double())
    assert before < 0.1
    assert found is None or found > 1e3


def test_rows_that_are_alike_are_one_node():
    rows = torch.tensor([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [1.0, 2.0000001]], dtype=torch.float64)
    first, kind = distinct([rows, torch.tensor([0, 0, 0, 0])])
    assert len(first) == 3
    assert kind[0] == kind[2]
    assert torch.equal(rows[first][kind], rows)
    _, kind = distinct([rows, torch.tensor([0, 0, 1, 0])])
    assert len(set(kind.tolist())) == 4


def test_it_grows_with_the_smallest_number(case):
    some = case()
    fine, coarse = (some.leads(FLOAT32._replace(tiny=tiny)).lost.max() for tiny in (2.0**-126, 1e-8))  # fmt: skip
    assert coarse > fine + 1e-8
    assert gamma(1) > 0
