"""Attention against plain loops, with an encoding that uses all six ways in."""

import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.encodings import NoPE, PositionalEncoding
from tenfold.models import trace
from tenfold.models.layers import Attention, Cache, Seen
from tenfold.models.stack import visibility


class Everything(PositionalEncoding):
    """Turns, scores, biases, hides and adds values, each in a way that is easy to write as a loop."""

    name = "everything"

    def rotate(self, q, k, q_at, k_at):
        return q * (1 + q_at["index"])[:, None, :, None], k * (2 + k_at["index"])[:, None, :, None]

    def scores(self, q, k, q_at, k_at):
        return q.sum(-1, keepdim=True) * k_at["index"][:, None, None, :]

    def bias(self, q_at, k_at):
        return (q_at["index"][:, :, None] - k_at["index"][:, None, :]).unsqueeze(1) * 0.1

    def visible(self, q_at, k_at):
        return (q_at["index"][:, :, None] - k_at["index"][:, None, :]).abs().unsqueeze(1) <= 2

    def values(self, weights, q_at, k_at):
        return (
            (weights * k_at["index"][:, None, None, :])
            .sum(-1, keepdim=True)
            .expand(*weights.shape[:3], 3)
        )


def by_loops(attention, x, memory, q_at, k_at, allowed):
    heads, size = attention.heads, attention.size
    q_all, (k_all, v_all) = attention.query(x), attention.key_value(memory).split(heads * size, -1)
    out = torch.zeros_like(q_all)
    for b in range(len(x)):
        for h in range(heads):
            own = slice(h * size, (h + 1) * size)
            for t, at in enumerate(q_at):
                plain, logits = q_all[b, t, own], []
                q = plain * (1 + at)
                for s, there in enumerate(k_at):
                    k = k_all[b, s, own] * (2 + there)
                    logit = (q @ k + plain.sum() * there) / math.sqrt(size) + 0.1 * (at - there)
                    itself = not attention.crossing and s == len(k_at) - len(q_at) + t
                    seen = (abs(at - there) <= 2 or itself) and allowed[t][s]
                    logits.append(logit if seen else logit * 0 - math.inf)
                weights = torch.stack(logits).softmax(0)
                for s, there in enumerate(k_at):
                    out[b, t, own] += weights[s] * (v_all[b, s, own] + there)
    return attention.out(out)


@pytest.mark.parametrize("crossing", [False, True])
def test_by_loops(normal, line, crossing):
    torch.manual_seed(0)
    attention = Attention(width=6, heads=2, crossing=crossing).double()
    x, memory = normal(2, 4, 6), normal(2, 5, 6)
    q_at, k_at = (2, 3, 4, 5), (1, 2, 3, 4, 9)  # the last token is far from itself
    allowed = [[s <= t + 1 for s in range(5)] for t in range(4)]
    mask = torch.tensor(allowed)[None, None]
    mixed = attention(x, memory, Seen(Everything(), line(*q_at), line(*k_at), mask))
    assert_close(mixed, by_loops(attention, x, memory, q_at, k_at, allowed))


def test_no_mask_sees_everything(normal, line):
    attention = Attention(width=4, heads=1).double()
    x, at = normal(1, 3, 4), line(0, 1, 2)
    all_seen = torch.ones(1, 1, 3, 3, dtype=torch.bool)
    assert_close(
        attention(x, x, Seen(NoPE(), at, at, None)), attention(x, x, Seen(NoPE(), at, at, all_seen))
    )


@pytest.mark.parametrize("features", [0, 2])
def test_cache_holds_what_it_was_given(normal, features):
    cache, k, v = Cache(capacity=5), normal(2, 3, 5, 4), normal(2, 3, 5, 4)
    state = normal(2, 1, 5, features) if features else None
    for start, stop in ((0, 2), (2, 3), (3, 5)):
        fresh = [None if x is None else x[:, :, start:stop] for x in (k, v, state)]
        stored = cache.extend(*fresh)
        for kept, whole in zip(stored, (k, v, state), strict=True):
            assert kept is None if whole is None else torch.equal(kept, whole[:, :, :stop])
    assert cache.length == 5


def test_visibility_by_loops():
    valid = torch.tensor([[True] * 5, [False, False, True, True, True], [False] * 4 + [True]])
    for causal in (True, False):
        for queries in (1, 2, 5):
            for known in (None, valid):
                mask = visibility(queries, 5, known, causal, torch.device("cpu"))
                for b in range(3):
                    for t in range(queries):
                        for s in range(5):
                            me = 5 - queries + t
                            expected = (s <= me or not causal) and (known is None or known[b, s])
                            expected = expected or s == me
                            seen = (
                                True if mask is None else mask.expand(3, 1, queries, 5)[b, 0, t, s]
                            )
                            assert seen == expected


class SamePlace(PositionalEncoding):
    """A window that shows only keys at the query's own place."""

    def visible(self, q_at, k_at):
        return (q_at["index"].unsqueeze(-1) == k_at["index"].unsqueeze(-2)).unsqueeze(1)


def test_who_sees_nothing_takes_nothing(line, normal):
    """A window may leave a query of cross-attention without a key: it gets no value, and no NaN."""
    attention = Attention(8, 2, crossing=True).double()
    x, memory = normal(1, 2, 8).requires_grad_(), normal(1, 3, 8)
    out = attention(x, memory, Seen(SamePlace(), line(0, 9), line(0, 1, 2), None))
    assert_close(out[0, 1], attention.out.bias)
    assert not torch.allclose(out[0, 0], attention.out.bias)
    out.sum().backward()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("queries", [3, 1])
def test_a_token_always_sees_itself(line, normal, queries):
    """Whatever place it has; also the last tokens alone, as in decoding with a cache."""

    class Nothing(PositionalEncoding):
        def visible(self, q_at, k_at):
            return torch.zeros(1, 1, len(q_at), len(k_at), dtype=torch.bool)

    attention, x, at = Attention(8, 2).double(), normal(1, 3, 8), line(0, -1, 7)
    mixed = attention(x[:, -queries:], x, Seen(Nothing(), at.last(queries), at, None))
    _, own = attention.key_value(x).chunk(2, -1)
    assert_close(mixed, attention.out(own)[:, -queries:])


def test_a_token_sees_itself_and_what_the_window_shows(line, normal):
    attention, x, at = Attention(8, 2).double(), normal(1, 4, 8), line(3, -1, 3, 5)
    with trace(attention, "weights") as seen:
        attention(x, x, Seen(SamePlace(), at, at, visibility(4, 4, None, True, x.device)))
    expected = [[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]]
    assert (seen["weights"][0] > 0).int().tolist() == [[expected] * 2]
