"""What decision trees explain, against means by hand and against answers that are known."""

import sys
from importlib.util import find_spec

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import TASKS
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.digitwise_addition import DigitwiseAddition
from tenfold.data.tasks.samplers import exact
from tenfold.evals.exact_match import Examiner
from tenfold.features.truncation.explained_digits import explained, explained_by_model

NEEDS = pytest.mark.skipif(find_spec("sklearn") is None, reason="needs scikit-learn")


@pytest.fixture
def sums():
    return Addition().sample(40_000, 4, np.random.default_rng(0), exact)


def by_hand(operands, digits, column):
    """R^2 of the mean for each digit sum and carry, over the same problems: two plain loops."""
    held = {}
    for (a, b), digit in zip(operands.tolist(), digits.tolist(), strict=True):
        carry = (a[column - 1] + b[column - 1]) // 10 if column else 0
        held.setdefault(((a[column] + b[column]) % 10, carry), []).append(digit)
    left = sum(((np.array(each) - np.mean(each)) ** 2).sum() for each in held.values())
    return 1 - left / ((digits - digits.mean()) ** 2).sum()


@NEEDS
def test_sums_are_explained_but_for_carries_from_further_below(sums):
    found = explained(sums.operands, sums.answer.astype(np.int64))
    assert found[:2] == [1.0, 1.0]  # nothing comes from further below the tens
    for column in (2, 3):
        assert 0.93 < found[column] < 0.99
        assert found[column] == pytest.approx(
            by_hand(sums.operands, sums.answer[:, column].astype(float), column), abs=0.025
        )
    assert 0.7 < found[4] < 0.9  # the overflow knows the carry of one column


@NEEDS
def test_without_carries_all_is_explained():
    task = DigitwiseAddition()
    examples = task.sample(1000, 4, np.random.default_rng(0), exact)
    found = explained(examples.operands, examples.answer.astype(np.int64))
    assert found[:4] == [1.0] * 4


@NEEDS
def test_noise_is_not_explained(sums):
    said = np.random.default_rng(1).integers(0, 10, (len(sums), 4))
    assert all(share < 0.05 for share in explained(sums.operands, said))


@NEEDS
def test_what_is_no_digit_is_left_out(sums):
    said = sums.answer.astype(np.int64)
    said[::2, 0] = 11  # an end
    said[:, 1] = -1
    said[:, 2] = 7
    found = explained(sums.operands, said)
    assert found[0] == 1.0
    assert found[1] is None
    assert found[2] is None


@NEEDS
def test_a_model_beside_the_truth(make_batcher, adder):
    """An adder that never looks back: its digits are digit sums, which the true ones are not."""
    examiner = Examiner(make_batcher("in_place", frame=6))
    examples = Addition().sample(400, 4, np.random.default_rng(0), exact)
    model, truth = explained_by_model(examiner, adder(6, back=0), examples)
    assert model[:4] == [1.0] * 4
    assert truth[0] == 1.0
    assert truth[3] < 1.0


@pytest.mark.parametrize(
    "spec",
    [
        "full-multiplication",
        {"name": "modular-addition", "modulus": 51},
        "digitwise-addition",
        {"name": "several", "of": {"sum": "addition", "product": "full-multiplication"}},
        {"name": "addition", "terms": 3},
    ],
    ids=str,
)
def test_other_tasks(spec, make_batcher):
    task = TASKS.build(spec)
    examples = task.sample(20, 3, np.random.default_rng(0))
    with pytest.raises(TenfoldError, match=f'explain sums of two .* "{task.name}" is something'):
        explained_by_model(Examiner(make_batcher("causal", task=task)), None, examples)


def test_three_operands(rng):
    examples = Addition(terms=3).sample(20, 3, rng)
    with pytest.raises(TenfoldError, match=r"explained by 3 operand\(s\); it takes two"):
        explained(examples.operands, examples.answer.astype(np.int64))


def test_without_scikit_learn(sums, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.model_selection", None)
    with pytest.raises(TenfoldError, match="need scikit-learn; pip install 'tenfold"):
        explained(sums.operands, sums.answer.astype(np.int64))
