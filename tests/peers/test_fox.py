"""FoX's forgetting gate, in flash-linear-attention and, as data-dependent ALiBi, in x-transformers.

Both read the logarithms of gates; weights of the gates and their start are not compared. The plain reference of
flash-linear-attention computes in single precision.
"""

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close
from x_transformers.x_transformers import DataDependentAlibi

from tenfold.encodings import FoX
from tenfold.encodings.attend import attend

WIDTH, HEADS, SIZE = 12, 3, 8
LENGTHS = [1, 7, 64, 200]


@pytest.mark.parametrize("tokens", LENGTHS)
def test_flash_linear_attention(tokens, normal, line, lively, naive):
    pe, at = lively(FoX(WIDTH, HEADS)), line(tokens)
    x = normal(2, tokens, WIDTH).requires_grad_()
    q, k, v = normal(3, 2, HEADS, tokens, SIZE)
    got, _ = attend(pe, q, k, v, at, at, state=pe.state(x, at))
    gates = F.logsigmoid(F.linear(x, pe.gate.weight, pe.gate.bias))  # (B, T, H)
    rows = (each.transpose(1, 2) for each in (q, k, v))
    wanted = naive("forgetting_attn").naive_forgetting_attn(*rows, gates).transpose(1, 2)
    assert_close(got, wanted, rtol=0, atol=1e-5)

    pull = normal(*got.shape)
    gradients = [torch.autograd.grad((out * pull).sum(), (x, pe.gate.weight), retain_graph=True) for out in (got, wanted)]  # fmt: skip
    assert_close(*gradients, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("tokens", LENGTHS)
def test_x_transformers(tokens, normal, line, lively):
    """The bias itself, for keys that a query sees; its option `bidirectional` has no counterpart here."""
    pe, at = lively(FoX(WIDTH, HEADS).double()), line(tokens)
    peer = DataDependentAlibi(WIDTH, HEADS).double()
    peer.to_forget_gates[0].load_state_dict(pe.gate.state_dict())
    x, q = normal(2, tokens, WIDTH).double(), torch.zeros(2, HEADS, tokens, SIZE)
    seen = torch.ones(tokens, tokens).tril().bool()
    ours = pe.state_bias(pe.state(x, at), q, q, at, at)
    assert_close(ours[..., seen], peer(x)[..., seen], rtol=0, atol=1e-11)
