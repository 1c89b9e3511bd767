import math

import pytest
import torch
from pydantic import ValidationError

from tenfold.training.options import Training, learning_rate, make_optimizer


def test_warm_up_is_linear_and_ends_at_the_rate():
    options = Training(lr=0.5, warmup=10, steps=100)
    rates = [learning_rate(step, options) for step in range(10)]
    assert rates == pytest.approx([0.05 * (step + 1) for step in range(10)])


def test_cosine():
    options = Training(lr=2.0, warmup=20, steps=120, final_lr=0.1)
    for step in range(20, 121):
        expected = 0.2 + 1.8 * (1 + math.cos(math.pi * (step - 20) / 100)) / 2
        assert learning_rate(step, options) == pytest.approx(expected)
    assert learning_rate(120, options) == pytest.approx(0.2)
    assert learning_rate(1000, options) == pytest.approx(0.2)


def test_constant():
    options = Training(lr=0.3, warmup=2, schedule="constant", steps=10)
    assert [learning_rate(step, options) for step in range(4)] == [0.15, 0.3, 0.3, 0.3]


def test_no_warm_up():
    assert learning_rate(0, Training(lr=0.3, warmup=0, steps=10)) == pytest.approx(0.3)
    assert learning_rate(0, Training(lr=0.3, warmup=10, steps=5)) == pytest.approx(0.03)


def test_decay_acts_on_matrices_only():
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.LayerNorm(3))
    matrices, vectors = make_optimizer(model, Training(weight_decay=0.7)).param_groups
    assert (matrices["weight_decay"], vectors["weight_decay"]) == (0.7, 0.0)
    assert [p.ndim for p in matrices["params"]] == [2]
    assert [p.ndim for p in vectors["params"]] == [1, 1, 1]


@pytest.mark.parametrize(
    "wrong",
    [{"steps": 0}, {"lr": -1}, {"average": 1.0}, {"clip": 0}, {"schedule": "linear"}, {"x": 1}],
)
def test_wrong_options(wrong):
    with pytest.raises(ValidationError):
        Training(**wrong)
