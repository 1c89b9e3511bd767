"""Attention scaled in evaluation: what it equals, where it begins, and that it ends."""

import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import running_text
from tenfold.encodings import Inverse
from tenfold.features.reach.empirical_field import fields
from tenfold.papers.extrapolation.attention_scaling import constant, log_length, scaled


def text(count, rows=2):
    tokens = torch.randint(0, 10, (rows, count + 1), generator=torch.Generator().manual_seed(1))
    return running_text(tokens)


@torch.no_grad()
def test_a_constant_is_longer_queries(make_model):
    """Without a bias, logits times 1.5 are those of queries times 1.5."""
    model = make_model("decoder", "none").double().eval()
    plain = model(text(12))
    with scaled(model, constant(1.5)):
        scaled_output = model(text(12))
    for block in model.stack.blocks:
        block.attention.query.weight *= 1.5
        block.attention.query.bias *= 1.5
    torch.testing.assert_close(scaled_output, model(text(12)))
    assert not torch.allclose(scaled_output, plain)


@torch.no_grad()
def test_the_bias_is_scaled_too(make_model):
    """Queries that ask nothing: weights b(n)^2, and 1/n sharpened is a narrower field."""
    model = make_model("decoder", "inverse", heads=2)
    for block in model.stack.blocks:
        block.attention.query.weight.zero_()
        block.attention.query.bias.zero_()
    with scaled(model, constant(2.0)):
        scaled_output = fields(model, text(64))
    log_b = Inverse(heads=2).series().log_b(torch.arange(64, dtype=torch.float64))
    expected = torch.zeros_like(log_b)  # over queries 56..63, as fields are
    for query in range(56, 64):
        expected[:, : query + 1] += (2 * log_b[:, : query + 1]).softmax(1) / 8
    torch.testing.assert_close(scaled_output.shares[0], expected)
    assert (scaled_output.attention < fields(model, text(64)).attention).all()


@torch.no_grad()
def test_up_to_the_training_length_nothing_changes(make_model):
    model = make_model("decoder", "alibi").double().eval()
    plain = model(text(20))
    with scaled(model, log_length(8)):
        scaled_output = model(text(20))
        parts = torch.cat(list(model.in_parts(text(20), 6)), 1)
    torch.testing.assert_close(scaled_output[:, :8], plain[:, :8])
    assert ((scaled_output - plain)[:, 8:].abs().amax(-1) > 1e-9).all()
    torch.testing.assert_close(parts, scaled_output)  # with a cache the same
    assert torch.equal(model(text(20)), plain)  # and it is over


def test_a_length_without_a_logarithm():
    with pytest.raises(TenfoldError, match="a training length of 1; at least 2"):
        log_length(1)
