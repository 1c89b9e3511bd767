"""Rounding: no float32 logit is further from float64 than the bound, and each of its parts holds by itself."""

import copy
import itertools
import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from tenfold.core.errors import TenfoldError
from tenfold.features.proofs import rounding
from tenfold.features.proofs.rounding import (
    FLOAT32,
    FLOAT64,
    GELU,
    Arithmetic,
    Meter,
    Mixtures,
    Moments,
    Products,
    Slopes,
    Vectors,
    gamma,
)

JOINT = {"name": "pairwise", "relation": {"name": "joint", "reach": 1, "clip": True}}
CLOSE = {"name": "relative", "reach": 3, "clip": True}
VALUES = {"name": "pairwise", "values": True, "relation": CLOSE}
SCALAR = {"name": "scalar", "relation": CLOSE}
ROLE = {"name": "learned", "axis": "role", "limit": 5}
WINDOW = {"name": "window", "behind": 1, "ahead": 0, "axis": "column"}
LOCAL = {"name": "compose", "parts": [WINDOW, JOINT, ROLE]}
HEADS = {"name": "per-head", "parts": [SCALAR, VALUES]}
NOTHING = Vectors(*(torch.zeros((), dtype=torch.float64),) * 3)


def exactly(x):
    return torch.tensor(x, dtype=torch.float64)


@pytest.fixture
def single(make_model):
    """A model in float32, with weights about as large as at the start of training."""

    def make(*names, times=0.8, **size):
        model = make_model(*names, lively=False, **size).float()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(times).add_(0.02 * torch.randn(parameter.shape, generator=seeded()))
            for module in model.modules():
                if isinstance(module, torch.nn.Embedding):
                    module.weight.mul_(50 / times)
        return model

    return make


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def batches(make_batcher, task, layout, count=4):
    """Pairs: problems together, and the first of them alone."""
    rng, batcher = np.random.default_rng(1), make_batcher(layout)
    examples = [task.sample(32, length, rng) for length in range(1, count + 1)]
    return [(batcher(some), batcher(some.rows([0]))) for some in examples]


def measured(model, given):
    """The bound, and how far float32 is from float64 in truth."""
    exact, off = copy.deepcopy(model).double(), 0.0
    with Meter(model) as meter, torch.no_grad():
        for batch, _ in given:
            off = max(off, (model(batch) - exact(batch)).abs().max().item())
    return meter.bound(), off


def shuffled(model, seed=0):
    """The same model but for the order of its sums: width and feed-forward width in another order."""
    model = copy.deepcopy(model)
    perm = {}

    def order(size):
        return perm.setdefault(size, torch.randperm(size, generator=seeded(seed)))

    with torch.no_grad():
        for name, p in model.named_parameters():
            part = name.split(".")
            if "query" in part or "key_value" in part or "head" in part:
                if p.ndim == 2:
                    p.copy_(p[:, order(p.shape[1])])
            elif p.shape[-1] in (16, 64) and ("each" not in part or p.shape[-1] == 16):
                p.copy_(p[..., order(p.shape[-1])])
                if p.ndim == 2 and {"expand", "contract", "out"} & set(part):
                    p.copy_(p[order(p.shape[0])])
        for block in (m for m in model.modules() if isinstance(m, rounding.Attention)):
            back = torch.argsort(order(16))  # what is mixed has the order of the heads
            block.out.weight.copy_(block.out.weight[:, back])
    return model


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(
    ("kind", "layers", "pe"),
    [
        ("decoder", 1, LOCAL),
        ("decoder", 1, "none"),
        ("decoder", 2, HEADS),
        ("decoder", 3, SCALAR),
        ("seq2seq", 1, VALUES),
        ("seq2seq", 2, ROLE),
    ],
)
def test_no_logit_is_further_off(single, make_batcher, task, kind, layers, pe, norm):
    model = single(kind, pe, layers=layers, norm=norm)
    given = batches(make_batcher, task, model.layout)
    bound, off = measured(model, given)
    assert 0 < off < bound
    assert math.isfinite(bound)
    exact, other = copy.deepcopy(model).double(), shuffled(model)
    last, _ = given[-1]
    torch.testing.assert_close(shuffled(exact)(last), exact(last), rtol=0, atol=1e-12)
    for batch, alone in given:
        truth = exact(batch)
        assert (other(batch) - truth).abs().max() < bound
        answers = alone.target.shape[1]
        assert (model(alone)[0] - truth[0, :answers]).abs().max() < bound


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_bound_is_of_use(single, make_batcher, task, norm):
    model = single("decoder", LOCAL, layers=1, norm=norm)
    bound, off = measured(model, batches(make_batcher, task, "causal"))
    assert bound < 1e4 * off
    assert bound < 0.1


def test_float64_measures_a_little_better(single, make_batcher, task):
    model = single("decoder", LOCAL, layers=1)
    given = batches(make_batcher, task, "causal")
    bound, _ = measured(model, given)
    lower, off = measured(model.double(), given)
    assert off == 0
    assert 0.5 * bound < lower <= bound


def test_grows_with_the_weights(single, make_batcher, task):
    given = batches(make_batcher, task, "causal")
    bounds = [
        measured(single("decoder", LOCAL, layers=2, times=times), given)[0] for times in (1, 2, 3)
    ]
    assert bounds == sorted(bounds)
    assert bounds[2] > 4 * bounds[0]
    huge = single("decoder", LOCAL, layers=2, times=1e3)
    assert measured(huge, given)[0] == math.inf


@pytest.mark.parametrize("pe", ["alibi", "rotary", {"name": "compose", "parts": [WINDOW, "alibi"]}])
def test_no_bound_where_nothing_is_declared(single, make_batcher, task, pe):
    assert measured(single("decoder", pe), batches(make_batcher, task, "causal"))[0] is None


def test_nothing_measured(single):
    with pytest.raises(TenfoldError, match="has measured nothing yet"):
        Meter(single("decoder")).bound()


def test_hooks_are_gone(single, make_batcher, task):
    model = single("decoder")
    measured(model, batches(make_batcher, task, "causal"))
    assert not any(module._forward_hooks for module in model.modules())


def test_a_cache_is_measured_too(single, make_batcher, task):
    for kind in ("decoder", "seq2seq"):
        model = single(kind)
        batch, _ = batches(make_batcher, task, model.layout)[-1]
        with Meter(model) as meter:
            model.answer(batch)
        assert 0 < meter.bound() < math.inf


def summed(terms):
    """One by one, in float32."""
    total = np.float32(0)
    for term in terms:
        total = np.float32(total + term)
    return total


def test_a_linear_layer_in_the_worst_order():
    """1 + t + t + ...: with t just below half a unit in the last place, all are lost."""
    n, t = 500, 0.99 * 2.0**-24
    layer = torch.nn.Linear(n, 1)
    with torch.no_grad():
        layer.weight.fill_(t)[0, 0] = 1
        layer.bias.zero_()
    x = torch.ones(1, n)
    rounding = Products.of(layer, x, layer(x)).after(layer, NOTHING).error.item()
    terms = layer.weight.detach().numpy()[0]
    off = abs(float(summed(terms)) - math.fsum(terms.astype(float)))
    assert 0.9 * rounding < off <= rounding


@pytest.mark.parametrize("seed", range(5))
def test_a_linear_layer_in_many_orders(seed):
    rng, layer = np.random.default_rng(seed), torch.nn.Linear(60, 8)
    x = torch.from_numpy(rng.standard_normal((1, 60), dtype=np.float32))
    rounding = Products.of(layer, x, layer(x), groups=8).after(layer, NOTHING).error
    for out, (row, bias) in enumerate(zip(layer.weight.detach(), layer.bias.detach(), strict=True)):
        terms = np.append((row * x[0]).numpy(), bias.item())
        truth = math.fsum([*(row.double() * x[0].double()).tolist(), bias.item()])
        rising = np.sort(terms)
        for order in (terms, rising, rising[::-1], rng.permutation(terms)):
            assert abs(float(summed(order)) - truth) <= rounding[out]


def mean_and_variance(x, way):
    n = np.float32(len(x))
    if way == "updating":
        mean, square = np.float32(0), np.float32(0)
        for count, value in enumerate(x, 1):
            delta = value - mean
            mean = mean + delta / np.float32(count)
            square = square + delta * (value - mean)
        return mean, square / n
    mean = summed(x) / n
    if way == "textbook":
        return mean, max(summed(x * x) / n - mean * mean, np.float32(0))
    return mean, summed((x - mean) ** 2) / n


@pytest.mark.parametrize("way", ["two passes", "textbook", "updating"])
@pytest.mark.parametrize("offset", [0.0, 1.0, 10.0, 100.0])
def test_a_norm_in_many_orders(way, offset):
    rng = np.random.default_rng(0)
    layer = torch.nn.LayerNorm(48)
    with torch.no_grad():
        layer.weight.copy_(torch.randn(48, generator=seeded()))
        layer.bias.copy_(torch.randn(48, generator=seeded(1)))
    g, b = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    for _ in range(20):
        x = (offset + rng.standard_normal(48)).astype(np.float32)
        allowed = Moments.of(layer, torch.from_numpy(x)).after(layer, NOTHING).error.item()
        truth = copy.deepcopy(layer).double()(torch.from_numpy(x).double()).detach().numpy()
        for order in (np.argsort(x), np.argsort(-x), np.argsort(np.abs(x)), rng.permutation(48)):
            mean, variance = mean_and_variance(x[order], way)
            scale = np.float32(1) / np.sqrt(variance + np.float32(layer.eps))
            for out in ((x - mean) * scale * g + b, (x * scale + -mean * scale) * g + b):
                assert out.dtype == np.float32
                assert np.linalg.norm(out - truth) <= allowed
        torch_out = layer(torch.from_numpy(x)).detach().numpy()
        assert np.linalg.norm(torch_out - truth) <= allowed


def test_errors_that_come_in_grow_by_no_more(single):
    """Vectors moved in the worst direction: through a linear layer, a norm, a feed-forward layer."""
    block = single("decoder", times=3.0).double().stack.blocks[0]
    x = torch.randn(6, 16, generator=seeded(), dtype=torch.float64)

    def feed(x):
        return block.contract(F.gelu(block.expand(block.feedforward_norm(x))))

    for error in (1e-6, 1e-2):
        given = Vectors(exactly(1.0), exactly(error), exactly(0.0))
        norm, linear = block.feedforward_norm, block.expand
        moments = Moments.of(norm, x)
        moved = moments.moved(norm, given)
        most = {
            norm: moments.after(norm, given).error,
            linear: Products.of(linear, x, linear(x)).after(linear, given).error,
            feed: error * Slopes.of(block, x).after(block, moments.steep, moved, given),
        }
        for layer, bound in most.items():
            for row in x:
                jacobian = torch.func.jacrev(layer)(row).detach()
                direction = torch.linalg.svd(jacobian).Vh[0]
                change = (layer(row + error * direction) - layer(row)).norm()
                assert change <= bound
    assert (
        Slopes.of(block, x).slope
        < 3
        * torch.linalg.matrix_norm(torch.func.vmap(torch.func.jacrev(feed))(x).detach(), 2).max()
    )


@pytest.mark.parametrize("change", [1e-4, 1e-2, 0.3])
def test_weights_change_no_more_than_logits(change):
    """The two bounds on what softmax does: in the 1-norm, and on a mixture of values."""
    logits = 3 * torch.randn(2, 3, 50, 6, generator=seeded(), dtype=torch.float64)
    keys_values = torch.randn(2, 6, 2 * 3 * 4, generator=seeded(1), dtype=torch.float64)
    values = keys_values.view(2, 6, 2, 3, 4)[:, :, 1].transpose(1, 2)
    largest = values.norm(dim=-1).amax((0, 2))
    seen = Mixtures.of(logits, keys_values)
    assert seen.keys == 6
    for seed in range(20):
        signs = torch.randint(0, 2, logits.shape, generator=seeded(seed)) * 2 - 1
        moved = (logits + change * signs).softmax(-1) - logits.softmax(-1)
        assert moved.abs().sum(-1).max() <= change
        off = (moved @ values).norm(dim=-1).amax((0, 2))
        assert (off <= change * (seen.apart + 3 * change * largest)).all()
    assert (off > 0.2 * change * seen.apart).all()


def test_gamma():
    assert gamma(0) == 0
    assert gamma(1) == pytest.approx(2.0**-24)
    assert gamma(2**23) == pytest.approx(1.0)


def test_float64_is_bounded_by_the_same_analysis(single, make_batcher, task):
    """2^-29 of float32's bound, where both are measured in float64; and float64 in another order stays within it."""
    model = single("decoder", LOCAL, layers=1).double()
    given = batches(make_batcher, task, "causal")
    with Meter(model) as meter, torch.no_grad():
        for batch, _ in given:
            model(batch)
    wide, fine = meter.bound(), meter.bound(FLOAT64)
    assert 0 < fine <= 1.1 * 2**-29 * wide
    other = shuffled(model)
    with torch.no_grad():
        off = max((other(batch) - model(batch)).abs().max().item() for batch, _ in given)
    assert 0 < off < 2 * fine


def test_a_bound_shrinks_with_the_unit(single, make_batcher, task):
    """At most t times the bound for t times the unit: what makes measuring in float64 good enough for float32."""
    model = single("decoder", LOCAL, layers=2).double()
    with Meter(model) as meter, torch.no_grad():
        for batch, _ in batches(make_batcher, task, "causal"):
            model(batch)
    bounds = [meter.bound(Arithmetic(2.0**-n, FLOAT32.tiny)) for n in (24, 27, 30, 40)]
    for (fewer, wide), (more, fine) in itertools.pairwise(
        zip((24, 27, 30, 40), bounds, strict=True)
    ):
        assert fine <= 2.0 ** (fewer - more) * wide * 1.01


def test_coarse_bounds_are_larger(single, make_batcher, task):
    model = single("decoder", LOCAL, layers=1).double()
    given, bounds = batches(make_batcher, task, "causal"), []
    for coarse in (False, True):
        with Meter(model, coarse=coarse) as meter, torch.no_grad():
            for batch, _ in given:
                model(batch)
        bounds.append(meter.bound(FLOAT64))
    assert bounds[0] < bounds[1] < 1e-6


def test_underflow_is_a_term(single, make_batcher, task):
    """Numbers below the smallest normal one may be 0: the bound grows with that number."""
    model = single("decoder", LOCAL, layers=1).double()
    with Meter(model) as meter, torch.no_grad():
        for batch, _ in batches(make_batcher, task, "causal"):
            model(batch)
    assert meter.bound(FLOAT32._replace(tiny=1e-6)) > meter.bound() + 1e-6
    layer = torch.nn.Linear(4, 1, bias=True)
    with torch.no_grad():
        layer.weight.fill_(2.0**-100)
        layer.bias.zero_()
    x = torch.full((1, 4), 2.0**-40)
    truth = 4 * 2.0**-140
    bound = Products.of(layer, x, layer(x)).after(layer, NOTHING).error.item()
    for computed in (0.0, layer(x).item()):  # flushed to zero, or not
        assert abs(computed - truth) <= bound


@pytest.mark.parametrize(("dtype", "by"), [(torch.float32, FLOAT32), (torch.float64, FLOAT64)])
def test_gelu_is_as_close_as_assumed(dtype, by):
    """|gelu(h) computed - gelu(h)| <= gamma(10) |h|, for both signs and all sizes."""
    mpmath = pytest.importorskip("mpmath")
    sizes = torch.cat([torch.logspace(-30, 2, 400), torch.linspace(0, 12, 400)]).to(dtype)
    h = torch.cat([sizes, -sizes])
    with mpmath.workdps(50):
        for given, out in zip(h.tolist(), F.gelu(h).tolist(), strict=True):
            exact = mpmath.mpf(given) * mpmath.erfc(-mpmath.mpf(given) / mpmath.sqrt(2)) / 2
            assert abs(mpmath.mpf(out) - exact) <= by.gamma(GELU) * abs(given) + by.tiny
