"""The gated linear recurrence against a plain loop."""

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.encodings import NoPE
from tenfold.models.gated_linear import GatedLinear, by_chunks
from tenfold.models.layers import Seen


def by_loops(q, k, v, decay, state):
    """One position after another: decay, add, read."""
    read = []
    for t in range(k.shape[2]):
        state = decay[:, :, t].exp()[..., None, None] * state
        state = state + torch.einsum("bhk,bhv->bhkv", k[:, :, t], v[:, :, t])
        read.append(torch.einsum("bhk,bhkv->bhv", q[:, :, t], state))
    return torch.stack(read, 2), state


@pytest.mark.parametrize("chunk", [1, 3, 4, 64])
@pytest.mark.parametrize("queries", [1, 5, 11])
def test_by_loops(normal, chunk, queries):
    q, k, v = normal(2, 3, 11, 4), normal(2, 3, 11, 4), normal(2, 3, 11, 4)
    decay, state = -normal(2, 3, 11).abs(), normal(2, 3, 4, 4)
    read, after = by_chunks(q[:, :, -queries:], k, v, decay, state, chunk)
    expected, final = by_loops(q, k, v, decay, state)
    assert_close(read, expected[:, :, -queries:])
    assert_close(after, final)


def test_a_long_memory_and_a_short_one_are_finite(normal):
    k = normal(1, 1, 500, 4).float()
    for rate in (0.0, -200.0):
        read, _ = by_chunks(k, k, k, torch.full((1, 1, 500), rate), torch.zeros(1, 1, 4, 4), 64)
        assert read.isfinite().all()


def test_in_steps_as_at_once(normal, line):
    torch.manual_seed(0)
    mixer, x, at = GatedLinear(8, 2, chunk=3).double(), normal(2, 7, 8), line(*range(7))
    whole = mixer(x, x, Seen(NoPE(), at, at, None))
    cache = mixer.new_cache(7)
    parts = [mixer(p, p, Seen(NoPE(), at, at, None, cache)) for p in x.split([4, 1, 2], 1)]
    assert_close(torch.cat(parts, 1), whole)


def test_padding_leaves_the_state_alone(normal, line):
    torch.manual_seed(0)
    mixer, x, at = GatedLinear(8, 2).double(), normal(1, 6, 8), line(*range(6))
    valid = torch.tensor([[False, True, True, False, True, True]])
    padded = mixer(x, x, Seen(NoPE(), at, at, None, valid=valid))
    kept = x[:, valid[0]]
    assert_close(padded[:, valid[0]], mixer(kept, kept, Seen(NoPE(), at, at, None)))


def test_it_reads_one_way_and_takes_no_encoding_of_attention(make_model):
    mixer = Spec(name="gated-linear")
    with pytest.raises(TenfoldError, match='"gated-linear" reads a sequence from its beginning on'):
        make_model("encoder", mixer=mixer)
    with pytest.raises(TenfoldError, match=r'"alibi" acts in attention, .*"gated-linear" does not'):
        make_model("decoder", "alibi", mixer=mixer)
    assert make_model("decoder", "sinusoidal", mixer=mixer).stack.encodings[0].name == "sinusoidal"
