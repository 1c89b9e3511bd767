"""Stick-breaking attention, in flash-linear-attention; in double precision, which its plain reference keeps."""

import pytest
import torch
from torch.testing import assert_close

from tenfold.encodings import StickBreaking
from tenfold.encodings.attend import attend

LENGTHS = [1, 7, 64, 300]


@pytest.fixture(params=LENGTHS)
def qkv(request, normal):
    return normal(3, 2, 3, request.param, 8, dtype=torch.float64)


@pytest.mark.parametrize("itself", [False, True])
def test_flash_linear_attention(itself, qkv, line, naive):
    at = line(qkv.shape[-2])
    got, _ = attend(StickBreaking(itself=itself), *qkv, at, at)
    rows = (each.transpose(1, 2) for each in qkv)
    wanted, _ = naive("stickbreaking_attn").naive_stickbreaking_attn(*rows, attend_current=itself)
    assert_close(got, wanted.transpose(1, 2), rtol=0, atol=1e-12)


def test_remainder(qkv, line, naive):
    """The peer hands out what is left of the stick; ours gives it to the query's own value."""
    at = line(qkv.shape[-2])
    got, _ = attend(StickBreaking(remainder=True), *qkv, at, at)
    q, k, v = (each.transpose(1, 2) for each in qkv)
    out, left = naive("stickbreaking_attn").naive_stickbreaking_attn(q, k, v)
    wanted = out + left.unsqueeze(-1) * v
    assert_close(got, wanted.transpose(1, 2), rtol=0, atol=1e-12)
