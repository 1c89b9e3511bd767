"""Parity with implementations that nobody here wrote: with the same weights in, the same numbers out.

They live in an environment of their own, which `make peers` sets up and runs these tests in. Where the peers are
not installed in the versions compared with, nothing of this folder is collected.
"""

import importlib
import importlib.metadata
import importlib.util
import sys
import tomllib
import warnings
from pathlib import Path
from types import ModuleType

import pytest
import torch

from tenfold.data.places import Places
from tenfold.models.layers import Attention, Seen

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
PEERS = dict(pin.split("==") for pin in PROJECT["optional-dependencies"]["peers"] if "==" in pin)


def installed(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


if any(installed(name) != version for name, version in PEERS.items()):
    collect_ignore_glob = ["test_*.py"]
else:
    with warnings.catch_warnings():  # what they warn of while they are imported is theirs
        warnings.simplefilter("ignore")
        for module in ("transformers.models.bloom.modeling_bloom", "x_transformers"):
            importlib.import_module(module)


@pytest.fixture
def normal():
    """Random tensors, always the same ones."""
    generator = torch.Generator().manual_seed(0)

    def make(*shape, dtype=torch.float32):
        return torch.randn(*shape, generator=generator, dtype=dtype)

    return make


@pytest.fixture
def line():
    """`line(5)`: places 0..4 on the axis `index`."""
    return lambda count: Places(index=torch.arange(count)[None])


@pytest.fixture
def lively(normal):
    """Gives every parameter of a module a value that matters, and no dropout."""

    def shaken(module):
        with torch.no_grad():
            for weights in module.parameters():
                weights.copy_(normal(*weights.shape) * weights.shape[-1] ** -0.5)
        return module.eval()

    return shaken


@pytest.fixture
def attend(line):
    """Our attention with a peer's weights q, k, v and out: (weight, bias or None) each."""

    @torch.no_grad()
    def run(x, pe, heads, q, k, v, out, causal):
        width, count = x.shape[-1], x.shape[1]

        def joined(*parts):
            zeros = torch.zeros(width, dtype=x.dtype)
            biases = [zeros if bias is None else bias for _, bias in parts]
            return torch.cat([weight for weight, _ in parts]), torch.cat(biases)

        ours = Attention(width, heads).to(x.dtype)
        for linear, parts in ((ours.query, [q]), (ours.key_value, [k, v]), (ours.out, [out])):
            weight, bias = joined(*parts)
            linear.weight.copy_(weight)
            linear.bias.copy_(bias)
        allowed = torch.ones(count, count).tril().bool()[None, None] if causal else None
        return ours(x, x, Seen(pe.to(x.dtype), line(count), line(count), allowed))

    return run


@pytest.fixture
def causal_mask():
    """(1, 1, T, T), to be added to the logits: the peers' way."""

    def make(count, dtype=torch.float32):
        ahead = torch.ones(count, count).triu(1).bool()
        return torch.zeros(count, count, dtype=dtype).masked_fill(ahead, torch.finfo(dtype).min)[
            None, None
        ]

    return make


@pytest.fixture
def naive(monkeypatch):
    """`naive("path_attn")`: the plain references of flash-linear-attention, loaded by file.

    Its packages import Triton; these files need PyTorch alone. One sums up by a kernel, in place of which is PyTorch's.
    """
    folder = "fla.ops.utils"
    sums, constant = ModuleType(f"{folder}.cumsum"), ModuleType(f"{folder}.constant")
    sums.chunk_global_cumsum = lambda g, cu_seqlens=None, scale=1.0: g.cumsum(1) * scale
    constant.RCP_LN2 = loaded("fla/ops/utils/constant.py").RCP_LN2
    for module in (sums, constant):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return lambda name: loaded(f"fla/ops/{name}/naive.py")


def loaded(file):
    """A file of flash-linear-attention as a module."""
    path = importlib.metadata.distribution("fla-core").locate_file(file)
    spec = importlib.util.spec_from_file_location(Path(file).parent.name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
