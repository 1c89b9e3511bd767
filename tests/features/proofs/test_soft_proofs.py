"""Proofs without a window: what far keys can do is never more than the bound, and no false proof is given."""

import copy
import json
import math
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import tenfold
from tenfold.core.errors import TenfoldError
from tenfold.data.roles import Role
from tenfold.data.tasks import samplers
from tenfold.features.proofs import soft_checker
from tenfold.features.proofs.certify import (
    IN_FLOAT64,
    certify,
    certify_model,
    certify_or_check,
    export_certified,
)
from tenfold.features.proofs.far_bound import TURN, FarBound, OutputPart
from tenfold.features.proofs.far_keys import (
    FarKeys,
    FarPlaces,
    far_places,
    places_of,
    possible_places,
)
from tenfold.features.proofs.prover import Prover
from tenfold.features.proofs.soft_prover import Captured, SoftProver, lead, prover_of
from tenfold.features.proofs.soft_view import soft_layers
from tenfold.features.proofs.stop_when_proved import EVERY, Certified
from tenfold.models.locality import NotCertifiable
from tenfold.models.locality_check import logits_at
from tenfold.models.near import near_only
from tenfold.runs.build import build, penalty_of
from tenfold.runs.run import SHELF

SOFT = {"name": "soft-window", "behind": 1, "answers": 0, "slope": 8.0}
REST = [
    {"name": "pairwise", "relation": {"name": "joint", "reach": 1, "clip": True}},
    {"name": "learned", "axis": "role", "limit": 5},
]


@pytest.fixture(scope="session")
def soft(small):
    """`soft(first)`: the recipe of a small binary adder with this encoding in place of the window."""
    return lambda first=SOFT, **changes: small(pe=[first, *REST], **changes)


@pytest.fixture(scope="session")
def trained(soft, tmp_path_factory):
    """A binary adder without a window, trained in some seconds."""
    chosen = soft(train={"penalty": {"name": "far-attention", "weight": 1.0}})
    return tenfold.train(chosen, out=tmp_path_factory.mktemp("soft") / "adder")


def test_it_is_proved_and_says_so(trained):
    checked = certify_or_check(trained, which="final")
    certificate = checked.certificate
    assert certificate.proved, certificate.summary()
    assert checked.exit_code == 0
    assert certificate.contexts == 111
    said = certificate.summary().splitlines()[0]
    assert "at every length, without a window: far attention at most " in said
    far = certificate.far
    assert far["left"] == pytest.approx(
        certificate.margin - far["first"] - far["remainder"], abs=far["most"]
    )
    assert certify_or_check(trained, trained.folder / "certificate.json").differences == []
    stored = trained.folder / "certificate.json"
    stored.write_text(stored.read_text().replace('"attention": 0.0', '"attention": 0.1'))
    assert "far attention is" in certify_or_check(trained, stored).differences[0]


@pytest.mark.full
def test_it_answers_long_problems(trained):
    task = trained.built.batcher.task
    for length in (50, 400):
        examples = task.sample(2, length, np.random.default_rng(0), samplers.longest)
        for row in range(2):
            assert trained.ask(task.question(examples, row), which="final").right


def influence_of(model, batcher, batch, place, near=None):
    """The bound at one place of long problems, and the leads and far attention there, of near keys alone and of all."""
    prover = SoftProver(model, batcher)
    layer = soft_layers(model, batcher)[0]
    groups = far_places(prover.near, batcher, layer.fading, prover._written)
    role = int(batch.sequence.places["role"][0, batch.given + place - 1])
    keys = FarKeys(layer, groups, role)
    target = batch.target[:, place]
    with torch.inference_mode(), near_only(model, prover.near), Captured(layer) as captured:
        alone = logits_at(model, batch, place)
        found = FarBound(layer).influence(captured.attended(), keys, target.clamp(min=0), 0.0)
    return prover, found, alone, target


def far_attention(model, near, batch, place):
    """The largest attention on far keys at a place, over heads: (B,)."""
    masses = []
    layer = model.stack.blocks[0].attention
    seen = []
    hooks = [
        layer.register_forward_pre_hook(lambda _, given: seen.append(given[2])),
        layer.weights.register_forward_hook(lambda _, __, out: masses.append(out)),
    ]
    logits = logits_at(model, batch, place)
    for hook in hooks:
        hook.remove()
    near_keys = near.keys(seen[-1].q_at, seen[-1].k_at)[:, None]
    return logits, torch.where(near_keys, 0.0, masses[-1]).sum(-1).amax((1, 2))


def adversary(model, prover, batch, place, first, other, rng):
    """Far digits chosen one by one, from the nearest on, so that the lead over another token falls the most."""
    side = batch.sequence
    column = side.places["column"].expand(side.tokens.shape)
    role = side.places["role"].expand(side.tokens.shape)
    far = (column >= 0) & (side.tokens != prover.far_replaced(batch, place, rng).sequence.tokens)
    far[:, batch.given + place :] = False
    order = [(abs(int(column[0, t]) - place), t) for t in range(far.shape[1]) if far[0, t]]
    tokens = side.tokens.clone()
    for _, t in sorted(order)[:8]:
        choices = range(prover.contexts.transducer.base) if role[0, t] >= 2 else []
        best = []
        for digit in choices:
            tokens[0, t] = digit
            changed = copy.copy(batch)
            object.__setattr__(changed, "sequence", copy.copy(side))
            object.__setattr__(changed.sequence, "tokens", tokens)
            logits = logits_at(model, changed, place)[0]
            best.append((float(logits[first] - logits[other]), digit))
        if best:
            tokens[0, t] = min(best)[1]
    changed = copy.copy(batch)
    object.__setattr__(changed, "sequence", copy.copy(side))
    object.__setattr__(changed.sequence, "tokens", tokens)
    return changed


SERIES = {
    "soft": {**SOFT, "slope": 2.0},
    "alibi": {"name": "alibi", "axis": "column", "slope": 1.5},
    "alibi of several slopes": {"name": "alibi", "axis": "column"},
    "type-1": {"name": "type-1", "axis": "column", "slope": 3.0},
    "type-2": {**SOFT, "slope": 3.0, "decay": "type-2"},
    "power": {"name": "power", "axis": "column", "power": 0.5, "slope": 6.0},
}


@pytest.mark.full
@pytest.mark.parametrize("name", SERIES)
@pytest.mark.parametrize("task", ["addition", "multiplication"])
def test_far_keys_do_no_more_than_the_bound(soft, name, task):
    """At many lengths, with random far digits and with digits chosen against the right one."""
    chosen = soft(SERIES[name], task={"name": task, "base": 3}, model={"width": 16, "heads": 2})
    built = build(chosen)
    rng, tight = np.random.default_rng(1), 0.0
    for seed in range(3):
        torch.manual_seed(seed)
        model = built.model().double().eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(1 + 2 * seed).add_(0.05 * torch.randn_like(parameter))
        batcher = built.batcher
        for length in (2, 4, 9, 40):
            batch = batcher(batcher.task.sample(1, length, rng, samplers.exact))
            for place in {0, 1, length // 2, length - 1}:
                try:
                    prover, found, alone, target = influence_of(model, batcher, batch, place)
                except NotCertifiable:
                    assert name == "alibi of several slopes"
                    return
                if int(target[0]) < 0:
                    continue
                there = torch.ones(1, dtype=torch.bool)
                worst = int(found.left[0].argmin())
                fillings = [batch, *(prover.far_replaced(batch, place, rng) for _ in range(5))]
                fillings.append(adversary(model, prover, batch, place, int(target[0]), worst, rng))
                for filling in fillings:
                    logits, mass = far_attention(model, prover.near, filling, place)
                    assert mass <= found.mass + 1e-12
                    less = lead(alone, target, there) - lead(logits, target, there)
                    allowed = found.first + found.remainder
                    assert bool((less <= allowed + 1e-9).all())
                    tight = max(tight, float(mass / found.mass.clamp(min=1e-300)))
    assert tight > 0.02  # the bound is not trivially large


@torch.no_grad()
def far_and_near(soft, large):
    """A model whose heads have pairs of opposite values, with weights that add `large` to one number of the residual for both.

    `large` has no effect. Returns the bound at one place, the step that far keys make there, and what both came from.
    """
    built = build(soft({**SOFT, "slope": 4.0}, model={"width": 16, "heads": 2}))
    model, generator = built.model().double().eval(), torch.Generator().manual_seed(0)
    for name, p in sorted(model.named_parameters()):
        if "norm" not in name:
            p.copy_(
                (1 if "embedding" in name else 0.15) * torch.randn(p.shape, generator=generator)
            )
    at = model.stack.blocks[0].attention
    for part in (at.key_value.weight[16:], at.key_value.bias[16:]):
        part[1::2] = -part[::2]
    at.out.weight[:, 1::2], at.out.weight[0] = 0.0, large
    task = built.batcher.task
    batch = built.batcher(task.sample(12, 9, np.random.default_rng(0), samplers.exact))
    prover, found, *_ = influence_of(model, built.batcher, batch, 4)
    seen = []
    hook = model.stack.blocks[0].feedforward_norm.register_forward_pre_hook(
        lambda _, given: seen.append(given[0][:, -1])
    )
    logits_at(model, batch, 4)
    with near_only(model, prover.near):
        logits_at(model, batch, 4)
    hook.remove()
    return found, (seen[0] - seen[1]).norm(dim=-1)


@pytest.mark.parametrize("power", [0, 27, 32])
def test_weights_that_cancel_do_not_hide_how_far_the_residual_moves(soft, power):
    """Squares of such weights have lost the rest in float64, and with it the remainder."""
    plain, _ = far_and_near(soft, 0.0)
    found, step = far_and_near(soft, 2.0**power)
    assert (step > 1e-3).any()
    assert (step <= found.moved).all()
    torch.testing.assert_close(found.moved, plain.moved, rtol=0.01, atol=0)


def test_far_keys_beyond_all_numbers_leave_nothing(trained):
    """The first digit's query sees digits ahead so loudly that exponentials overflow; later contexts are as before."""
    model = copy.deepcopy(trained.model("final")).double()
    prover, layer = (
        SoftProver(model, trained.built.batcher),
        soft_layers(model, trained.built.batcher)[0],
    )
    assert prover.far(model, 0.0).left > 0
    pairs = layer.pe.parts[1]
    ahead = pairs.relation(
        places_of([0, 0], [Role.OPERATOR] * 2),
        places_of([-1, -1], [Role.OPERAND, Role.OPERAND + 1]),
    )
    with torch.no_grad():
        pairs.table[ahead[0, 0]] *= -(2.0**20)
    found = certify_model(model.float(), trained.built.batcher)
    assert not found.proved, found.summary()
    assert not prover.far(model.double(), 0.0).left > 0


def test_without_a_bound_on_float64_nothing_is_proved(trained):
    """2^60 is added and subtracted in a hidden layer, which float64 does not resolve."""
    model = copy.deepcopy(trained.model("final"))
    block = model.stack.blocks[0]
    with torch.no_grad():
        block.expand.weight[1], block.expand.bias[1] = block.expand.weight[0], block.expand.bias[0]
        block.contract.weight[:, 0] = 2.0**40
        block.contract.weight[:, 1] = -(2.0**40)
    found = certify_model(model, trained.built.batcher)
    assert (found.verdict, found.far) == (IN_FLOAT64, None)
    assert "no proof" in found.summary()


def test_where_numbers_cancel_nothing_is_left(soft):
    """2^36 is added and subtracted: model and bound find margins that differ by what float64 loses."""
    built = build(soft())
    model = built.model().double().eval()
    block = model.stack.blocks[0]
    with torch.no_grad():
        block.expand.weight[1], block.expand.bias[1] = block.expand.weight[0], block.expand.bias[0]
        block.contract.weight[:, 0], block.contract.weight[:, 1] = 2.0**36, -(2.0**36)
    assert SoftProver(model, built.batcher).far(model, 0.0).left == -math.inf


def test_a_bound_about_another_model_leaves_nothing(trained, monkeypatch):
    model = copy.deepcopy(trained.model("final")).double()
    prover, of = SoftProver(model, trained.built.batcher), OutputPart.of.__func__
    assert prover.far(model, 0.0).left > 0

    def other(cls, layer):
        part = of(cls, layer)
        return part._replace(bias=part.bias + 1e-4 * torch.arange(len(part.bias)))

    monkeypatch.setattr(OutputPart, "of", classmethod(other))
    assert prover.far(model, 0.0).left == -math.inf


def test_a_certificate_has_numbers_that_json_has(trained):
    certificate = certify(trained, which="final")
    lost = replace(certificate, far={**certificate.far, "left": -math.inf, "first": math.nan})
    stored = json.loads(json.dumps(lost.as_json(), allow_nan=False))
    assert (stored["far"]["left"], stored["far"]["first"]) == (None, None)
    assert lost.differences(stored) == []
    assert any("far left is" in line for line in certificate.differences(stored))


def test_a_series_that_diverges_on_the_way_does_not_end_training(soft, monkeypatch):
    """Kerple's numbers are learned: with p = 3 its series converges, with p = 0.5 nothing is proved yet."""
    built = build(soft({"name": "kerple-log", "axis": "column"}))
    model = built.model()
    pe = model.stack.encodings[0].parts[0]

    def set_p(value):
        with torch.no_grad():
            pe.p.fill_(value)
            pe.a.fill_(10.0)

    set_p(3.0)
    monkeypatch.setattr(type(built), "model", lambda _: model)
    monkeypatch.setattr(Prover, "refuted", lambda *_, **__: False)  # of near keys
    stop = Certified(built)
    assert stop(model, EVERY - 1) is None
    set_p(0.5)
    assert stop(model, EVERY) is None
    assert stop.certificate is None


def test_errors_of_logits_may_differ_by_head(soft):
    """Where heads pull in opposite directions, one may be more and the other less than computed."""
    built = build(soft({**SOFT, "slope": 2.0}, model={"width": 16, "heads": 2}))
    torch.manual_seed(0)
    model, error = built.model().double().eval(), 0.05
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    batch = built.batcher(
        built.batcher.task.sample(12, 9, np.random.default_rng(0), samplers.exact)
    )
    prover, layer = SoftProver(model, built.batcher), soft_layers(model, built.batcher)[0]
    groups = far_places(prover.near, built.batcher, layer.fading, prover._written)
    keys, bound = FarKeys(layer, groups, Role.ANSWER), FarBound(layer)
    target = batch.target[:, 4]
    with torch.inference_mode(), near_only(model, prover.near), Captured(layer) as captured:
        logits_at(model, batch, 4)
        seen = captured.attended()
        found = bound.influence(seen, keys, target, error)
        for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            off = 2 * error * torch.tensor(signs, dtype=torch.float64)
            other = bound.influence(seen._replace(total=seen.total + off), keys, target, 0.0)
            assert (other.first <= found.first + 1e-12).all()


@pytest.mark.parametrize("first", [SERIES["soft"], SERIES["type-1"], SERIES["power"]])
def test_sums_of_decays_are_upper_bounds_and_close(soft, first):
    built = build(soft(first))
    layer = soft_layers(built.model().double(), built.batcher)[0]
    group = FarPlaces(3, np.arange(2), 1, 2, None)
    keys = FarKeys(layer, [group], 2)
    n = torch.arange(2, 200_000, dtype=torch.float64)
    series = layer.fading.series[0]
    total = series.log_b(n).exp().sum(1)
    rest = series.tail(torch.tensor([200_000.0], dtype=torch.float64))[:, 0]
    assert bool((keys.decay[:, 0] >= total).all())
    assert bool((keys.decay[:, 0] <= 1.01 * (total + rest)).all())


def test_the_second_derivative_of_a_norm():
    """At most sqrt(2) / (sqrt(D) s^2), also where eps matters."""
    generator = torch.Generator().manual_seed(0)
    for size in (1e-3, 0.05, 1.0):
        for _ in range(50):
            x, e = torch.randn(2, 8, generator=generator, dtype=torch.float64)
            x, e = size * x, e / e.norm()

            def moved(t, x=x, e=e):
                return torch.nn.functional.layer_norm(x + t * e, (8,), eps=1e-3)

            step = 1e-4 * size
            zero = torch.zeros((), dtype=torch.float64)
            second = (moved(step) - 2 * moved(zero) + moved(-step)) / step**2
            s = (x.var(correction=0) + 1e-3).sqrt()
            assert second.norm() <= 1.001 * TURN / (math.sqrt(8) * s**2)


@pytest.mark.full
def test_no_false_proof_of_sabotaged_weights(trained):
    """Noise, single weights, far classes made loud: what is called proved answers long problems right."""
    batcher = trained.built.batcher
    rng, proofs, others = np.random.default_rng(0), 0, 0
    model = trained.model("final")
    problems = [batcher(batcher.task.sample(16, n, rng, samplers.longest)) for n in (3, 9, 60)]
    for attack in range(12):
        torch.manual_seed(attack)
        broken = copy.deepcopy(model)
        with torch.no_grad():
            named = dict(broken.named_parameters())
            if attack % 3 == 0:
                for parameter in named.values():
                    parameter.add_(10 ** (-3 + attack / 5) * torch.randn_like(parameter))
            elif attack % 3 == 1:
                table = named["stack.encodings.each.0.own.1.table"]
                table[torch.randint(0, len(table), (8,))] *= 2.0**attack
            else:
                name = sorted(named)[attack % len(named)]
                flat = named[name].view(-1)
                flat[torch.randint(0, len(flat), (1,))] *= -(4.0 ** (attack / 6))
        certificate = certify_model(broken, batcher)
        broken.eval()
        wrong = False
        for batch in problems:
            answer = broken.answer(batch.without_answer(batcher.task.vocabulary.pad))
            wrong |= bool(((answer != batch.target) & (batch.target >= 0)).any())
        assert not (certificate.proved and wrong)
        proofs, others = proofs + certificate.proved, others + (not certificate.proved)
    assert proofs > 2
    assert others > 2


def test_what_diverges_is_not_proved(soft):
    built = build(soft({"name": "inverse", "axis": "column"}))
    with pytest.raises(NotCertifiable, match="diverges: the harmonic series"):
        prover_of(built.model(), built.batcher)
    built = build(soft({"name": "t5", "axis": "column"}))
    with pytest.raises(NotCertifiable, match="every distance has the same weight"):
        prover_of(built.model(), built.batcher)


@pytest.mark.full
def test_what_diverges_is_refuted_by_a_length(soft, tmp_path):
    """The harmonic series: right at the lengths of training, wrong at some length, which is shown."""
    chosen = soft({"name": "inverse", "axis": "column", "slope": 50.0}, train={"steps": 400})
    run = tenfold.train(chosen, out=tmp_path / "run")
    certificate = certify(run, which="final")
    assert certificate.verdict == "refuted"
    assert "diverges" in certificate.summary()
    case = certificate.counterexamples[0]
    assert case["answer"] != case["truth"]


def test_only_plain_formats(soft):
    for changes, words in (
        ({"model": {"layers": 2}}, "tokens without a column are hidden"),
        ({"model": {"norm": "post"}}, "norms before it"),
        ({"format": "interleaved"}, 'the format "reversed"'),
    ):
        built = build(soft(**changes))
        with pytest.raises(NotCertifiable, match=words):
            prover_of(built.model(), built.batcher)


def test_the_penalty_is_the_far_attention(soft):
    built = build(soft(train={"penalty": {"name": "far-attention", "weight": 2.0}}))
    penalty, model = penalty_of(built.recipe), built.model()
    batch = built.batch_at(0)
    with penalty.watching(model):
        model(batch)
    total = penalty.total(batch)
    assert total.requires_grad
    with near_only(model, penalty.near), penalty.watching(model):
        model(batch)
    assert penalty.total(batch).item() == 0.0
    assert total.item() > 0.0
    with pytest.raises(TenfoldError, match='unknown penalty "far-atention"; did you mean'):
        build(soft(train={"penalty": "far-atention"}))


@pytest.fixture
def exported(trained, tmp_path):
    export_certified(trained, tmp_path / "model", which="final")
    return tmp_path / "model"


def test_the_soft_checker_accepts_and_finds_changes(exported, capsys):
    assert soft_checker.main(str(exported)) == 0
    verdict = json.loads((exported / "certificate.json").read_text())["verdict"]
    assert capsys.readouterr().out.splitlines()[-1] == f"accepted: {verdict}"
    path = exported / "certificate.json"
    stored = json.loads(path.read_text())
    for far, words in (
        ({"attention": stored["far"]["attention"] / 2}, "the far attention is"),
        ({"left": stored["far"]["left"] + 1e-3}, "the left is"),
    ):
        path.write_text(json.dumps({**stored, "far": {**stored["far"], **far}}))
        assert soft_checker.main(str(exported)) == 1
        assert words in capsys.readouterr().out
    path.write_text(json.dumps({**stored, "far": {**stored["far"], "refined": 3}}))
    assert soft_checker.main(str(exported)) == 2


def test_the_soft_checker_finds_false_claims(exported, capsys):
    """Bounds that are no bounds, a condition that is left out, a verdict that is not the one of its flags."""
    path = exported / "certificate.json"
    stored = json.loads(path.read_text())
    proved = {"proved": True, "in_float32": True, "verdict": "proved"}
    for values, told in (
        ({"bound64": -1e9}, "this is no proof"),
        ({"bound64": None}, "this is no proof"),
        ({**proved, "bound": 0.0}, "does not exceed the bounds"),
        ({**proved, "bound": 1e9}, "does not exceed the bounds"),
        ({**proved, "bound": 1e9, "bound64": -2e9}, "does not exceed the bounds"),
        ({"in_float32": not stored["in_float32"]}, "the verdict is"),
        ({"proved": False}, "the verdict is"),
        ({"verdict": "refuted"}, "the verdict is refuted"),
        ({"declared": ["encoding mine.SoftWindow"]}, "this is no proof"),
        ({"violations": ["the model sees more"]}, "this is no proof"),
    ):
        path.write_text(json.dumps({**stored, **values}))
        assert soft_checker.main(str(exported)) == 1
        assert told in capsys.readouterr().out
    condition = {"proved": False, "in_float32": False, "verdict": "proved if its declarations hold"}
    path.write_text(json.dumps({**stored, **condition, "conditional": True}))
    assert soft_checker.main(str(exported)) == 1  # the numbers are right, but it is no proof
    assert capsys.readouterr().out.splitlines()[-1] == f"accepted: {condition['verdict']}"


def test_the_soft_checker_refuses_what_it_does_not_read(exported, capsys):
    """A statement about another model, such as one that decays along the index, is not that of the numbers."""
    path = exported / "certificate.json"
    stored = json.loads(path.read_text())
    about = stored["about"]

    def with_option(part, **options):
        parts = about["pe"]["parts"]
        return {"pe": {**about["pe"], "parts": [{**p, **options} if n == part else p for n, p in enumerate(parts)]}}  # fmt: skip

    relation = about["pe"]["parts"][1]["relation"]
    for more in (
        with_option(0, axis="index"),
        with_option(0, unrelated=False),
        with_option(0, slope=-8.0),
        with_option(0, ahead=1),
        with_option(1, values=True),
        with_option(1, relation={**relation, "hub": 0}),
        with_option(2, axis="column"),
        {"pe": {**about["pe"], "name": "per-head"}},
        {"model": {**about["model"], "activation": "relu"}},
        {"format": "interleaved"},
    ):
        path.write_text(json.dumps({**stored, "about": {**about, **more}}))
        assert soft_checker.main(str(exported)) == 2, more
        assert capsys.readouterr().out.startswith("not checked: ")
    path.write_text("{}")
    assert soft_checker.main(str(exported)) == 2


def test_the_soft_checker_rejects_a_loss_that_is_no_number(exported, capsys, monkeypatch):
    """In the first contexts alone; those that follow do not cover it."""
    influence, calls = soft_checker.influence, []

    def overflowing(*given):
        margin, loss, mass = influence(*given)
        calls.append(given)
        return margin, loss * (math.nan if len(calls) == 1 else 1.0), mass

    monkeypatch.setattr(soft_checker, "influence", overflowing)
    assert soft_checker.main(str(exported)) == 1
    assert len(calls) > 1
    assert "this is no proof" in capsys.readouterr().out


def test_the_soft_checker_stands_alone(exported):
    """numpy alone, at most 300 lines, and the independent checker beside it."""
    source = Path(soft_checker.__file__)
    assert len(source.read_text().splitlines()) <= 300
    assert "tenfold" not in "".join(
        line for line in source.read_text().splitlines() if line.startswith(("import", "from"))
    )
    for name in ("soft_checker.py", "independent_checker.py"):
        shutil.copy(source.with_name(name), exported.parent / name)
    ran = subprocess.run(
        [sys.executable, exported.parent / "soft_checker.py", exported],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[-1].startswith("accepted: proved")


@pytest.mark.full
def test_the_shipped_model_is_accepted():
    assert soft_checker.main(str(SHELF / "addition-alibi")) == 0


def test_a_refined_context_counts_once(trained, soft):
    """Also where its remainder is refined before far places are left out, and again after it."""
    built = build(soft({"name": "alibi", "axis": "column", "slope": 3.0}))
    model = built.model()
    model.load_state_dict(trained.model("final").state_dict())
    prover = SoftProver(model.double(), built.batcher)
    enough = sum(int((found.left > 0).all(1).sum()) for _, found in prover.influences(model))
    assert 0 < enough < len(prover.contexts)
    assert len(prover.contexts) - enough <= prover.far(model, 0.0).refined <= len(prover.contexts)


def test_places_that_a_context_excludes(soft):
    """Only where the bound over all far places is too much: a group that is left out has no token in any problem."""
    built = build(soft({"name": "alibi", "axis": "column", "slope": 8.0}))
    model, task = built.model().double(), built.batcher.task
    prover = SoftProver(model, built.batcher)
    layer = soft_layers(model, built.batcher)[0]
    groups = far_places(prover.near, built.batcher, layer.fading, prover._written)
    left_out, rng = 0, np.random.default_rng(0)
    for depth in np.unique(prover.depths):
        rows = np.flatnonzero(prover.depths == depth)
        place = int(depth) - 1
        possible = possible_places(prover.contexts, rows, place, prover.near, groups)
        columns = prover.contexts.paths(rows)[0]
        for length in (1, 2, 3, 6):
            examples = task.sample(200, length, rng, samplers.lengths)
            for at, sizes in enumerate(examples.lengths):
                if not place <= examples.answer_length[at]:
                    continue
                symbols = task.transducer().digits(columns)[:, -1]
                here = [place < size for size in sizes]
                alike = ((symbols != task.base) == here).all(1)
                for number, group in enumerate(groups):
                    told = possible[torch.from_numpy(alike), number]
                    if group.side < 0:
                        there = sizes[group.role - Role.OPERAND] > place + group.first
                    else:
                        least = int(group.role == Role.ANSWER)
                        there = place - group.first >= least and group.role < Role.OPERAND
                    assert not (there and not told.all())
        left_out += int((~possible).sum())
    assert left_out > 0
    plain = {int(r): f for some, found in prover.influences(model) for r, f in zip(some, found.mass, strict=True)}  # fmt: skip
    for some, found in prover.influences(model, closer=True):
        assert all(mass <= plain[int(r)] for r, mass in zip(some, found.mass, strict=True))
