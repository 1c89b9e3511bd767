"""Encodings on a device without float64, as Apple's MPS is: simulated, with real numbers.

A tensor "on" the device says that it is on `meta` and holds its numbers aside. A float64 number there is refused, and so is
an operation that mixes it with a tensor of the CPU, as on a real device.
"""

import pytest
import torch
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

import tenfold
from tenfold.core.registry import Spec
from tenfold.data.places import Places
from tenfold.encodings import ENCODINGS, SIZES, Attends, exact_angles
from tenfold.encodings.attend import attend
from tenfold.runs.build import build

DEVICE = torch.device("meta")
COPIES = {torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default}
EVERY = {
    f"{name}-{number}": {"name": name, **options}
    for name in ENCODINGS.names()
    for number, options in enumerate(ENCODINGS[name].examples(64))
}


class Held(torch.Tensor):
    """A tensor on a device without float64."""

    @staticmethod
    def __new__(cls, data):
        if data.dtype == torch.float64:
            raise TypeError("this device does not have float64")
        return torch.Tensor._make_wrapper_subclass(
            cls, data.size(), strides=data.stride(), storage_offset=data.storage_offset(),
            dtype=data.dtype, device=DEVICE,
        )  # fmt: skip

    def __init__(self, data):
        self.held = data

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return computed(func, args, kwargs or {})


def computed(func, args, kwargs):
    """Do an operation on the numbers that are held; its result is on the device unless it was copied to the CPU."""
    given = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, torch.Tensor)]
    if func not in COPIES and any(type(x) is not Held and x.dim() for x in given):
        raise RuntimeError(f"{func} mixes tensors of the CPU and of the device")
    target = kwargs.get("device")
    plain = {**kwargs, "device": torch.device("cpu")} if target is not None else kwargs
    arguments, plain = tree_map(lambda x: x.held if isinstance(x, Held) else x, (args, plain))
    result = func(*arguments, **plain)
    if func in COPIES and target is not None and torch.device(target).type == "cpu":
        return result
    if func._schema.name.endswith("_"):
        return args[0]
    return tree_map(lambda x: Held(x) if isinstance(x, torch.Tensor) else x, result)


class Device(TorchDispatchMode):
    """What is made on the device is held, too: `torch.arange(3, device=...)`, `x.to(...)`."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        target = kwargs.get("device")
        if Held in types or (target is not None and torch.device(target) == DEVICE):
            return computed(func, args, kwargs)
        return func(*args, **kwargs)


@pytest.fixture
def device(monkeypatch):
    made = torch.tensor

    def tensor(data, *, device=None, **options):  # which no mode sees
        return made(data, **options) if device is None else made(data, **options).to(device)

    monkeypatch.setattr(exact_angles, "WITH_FLOAT64", {"cpu"})
    monkeypatch.setattr(torch, "tensor", tensor)
    with Device():
        yield DEVICE


def sides(spec, device):
    """The output of attention with an encoding, on the CPU and on the device."""
    torch.manual_seed(0)
    pe = ENCODINGS.factory(Spec.model_validate(spec), SIZES)(width=16, heads=2, head_size=8)
    kind = Attends.CAUSAL if Attends.CAUSAL in pe.kinds else Attends.TWO_WAY
    x, q, k, v = torch.randn(2, 9, 16), *torch.randn(3, 2, 2, 9, 8)
    at = {axis: torch.arange(9)[None].expand(2, -1) for axis in pe.axes | {"index"}}
    at["role"] = at["index"] % 5
    for where in (torch.device("cpu"), device):
        own, moved = pe.to(where), [each.to(where) for each in (x, q, k, v)]
        places = Places(**{axis: place.to(where) for axis, place in at.items()})
        x_there = own.embed(moved[0], places)
        state = own.state(x_there, places)
        out, _ = attend(own, *moved[1:], places, places, kind, state=state)
        yield out.to("cpu") + x_there.to("cpu").sum()


@pytest.mark.parametrize("spec", [{"name": "rotary"}, {"name": "sinusoidal"}, {"name": "sandwich"}])
def test_on_a_device_without_float64(spec, device):
    assert_close(*sides(spec, device))


@pytest.mark.full
@pytest.mark.parametrize("spec", EVERY.values(), ids=EVERY)
def test_every_encoding_on_a_device_without_float64(spec, device):
    assert_close(*sides(spec, device))


def test_the_device_refuses_float64(device):
    """The simulation can fail: this is what encodings did before."""
    with pytest.raises(TypeError, match="does not have float64"):
        torch.arange(3, device=device, dtype=torch.float64)
    held = torch.arange(3, device=device)
    with pytest.raises(TypeError, match="does not have float64"):
        held.double()
    with pytest.raises(RuntimeError, match="mixes tensors"):
        held + torch.arange(3)
    assert (held + 1).to("cpu").tolist() == [1, 2, 3]


def test_without_care_rotary_would_fail(monkeypatch, device):
    monkeypatch.setattr(exact_angles, "WITH_FLOAT64", {"cpu", "meta"})
    with pytest.raises(TypeError, match="does not have float64"):
        list(sides({"name": "rotary"}, device))


def test_far_angles_are_as_exact_as_on_the_cpu(device):
    """At place ten million float32 angles are off by whole turns."""
    pe, q = tenfold.Rotary(head_size=8), torch.randn(1, 1, 1, 8)
    at = torch.full((1, 1), 10_000_001)
    here, _ = pe.rotate(q, q, Places(index=at), Places(index=at))
    there = Places(index=at.to(device))
    moved, _ = pe.rotate(q.to(device), q.to(device), there, there)
    assert torch.equal(moved.to("cpu"), here)
    angle = 10_000_001 * torch.tensor(0.1).pow(torch.arange(4))  # in float32
    assert (angle.cos() - (10_000_001 * 0.1 ** torch.arange(4).double()).cos()).abs().max() > 1e-3


def test_a_model_learns_on_such_a_device(device):
    """A step of a model of tenfold with rotary positions: the same loss and gradients as on the CPU."""
    recipe = tenfold.recipe("bias/decoder-vanilla", scale="smoke").replace(pe="rotary")
    built, results = build(recipe), []
    batch = built.batch_at(0)
    for where in (torch.device("cpu"), device):
        torch.manual_seed(0)
        model = built.model()
        model.load_state_dict(results[0][2] if results else model.state_dict())
        model = model.to(where)
        there = batch.to(where)
        logits = model(there)
        loss = logits.float().pow(2).mean()
        loss.backward()
        gradients = [p.grad.to("cpu") for p in model.parameters() if p.grad is not None]
        state = {name: value.to("cpu").clone() for name, value in model.state_dict().items()}
        results.append((loss.detach().to("cpu"), gradients, state))
    assert_close(results[1][0], results[0][0])
    assert_close(results[1][1], results[0][1])
