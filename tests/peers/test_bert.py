"""BERT's relative keys (`relative_key` of transformers): our `pairwise` with the relation "relative"."""

import pytest
import torch
from benchmarks.peer import attention_difference, model_difference
from benchmarks.step import Setting

from tenfold.models import Shape


@pytest.fixture(params=[torch.float32, torch.float64], ids=str)
def limit(request):
    """The largest difference to accept, everything being of one precision."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(request.param)
    yield 1e-5 if request.param is torch.float32 else 1e-13
    torch.set_default_dtype(before)


@pytest.fixture(params=[9, 20])
def batch(request):
    """Frames of 9 and 20 digits, up to 41 tokens; BERT has vectors for distances up to 64."""
    return Setting(frame=request.param, batch=10).built().batch_at(0)


@pytest.mark.parametrize("heads", [2, 4])
def test_attention(batch, heads, limit):
    assert attention_difference(batch, Shape(1, 32, heads)) < limit


def test_whole_model(batch, limit):
    """Ours with norms after each sublayer; BERT's norm of the embeddings is folded into our table of them."""
    assert model_difference(batch, Shape(3, 32, 4), vocabulary=16) < limit
