"""Accuracy against the truncated function, of models that are known to compute it, or not to end."""

import numpy as np
import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import TASKS
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.modular_addition import ModularAddition
from tenfold.data.tasks.samplers import exact
from tenfold.evals.exact_match import Examiner
from tenfold.features.influence.run_influence import truncated_influence
from tenfold.features.truncation.prediction import predict
from tenfold.features.truncation.truncated_accuracy import (
    moved_rows,
    truncated_rows,
)

WIDTH = 6


class Adder:
    """Adds the last `digits` digits of two numbers that are padded to a width; every `endless`-th answer has no end."""

    def __init__(self, vocabulary, digits=9, endless=None, modulus=None):
        self.end, self.limit, self.endless, self.modulus = vocabulary.end, 10**digits, endless, modulus  # fmt: skip
        self.asked = 0

    def answer(self, batch):
        self.asked += len(batch)
        tokens = batch.sequence.tokens.numpy()
        powers = 10 ** np.arange(WIDTH - 1, -1, -1)
        a, b = tokens[:, :WIDTH] @ powers, tokens[:, WIDTH + 1 : 2 * WIDTH + 1] @ powers
        total = a % self.limit + b % self.limit
        if self.modulus is not None:
            total = total % self.modulus
        answer = total[:, None] // 10 ** np.arange(batch.read) % 10
        answer[:, -1] = self.end
        if self.endless is not None:
            answer[:: self.endless, -1] = 0
        return torch.from_numpy(answer)


@pytest.fixture
def examiner(make_batcher):
    return Examiner(make_batcher("causal", width=WIDTH))


def values(rows):
    return {(row.length, row.metric): row.value for row in rows}


def test_the_truncated_function_is_told_from_the_truth(examiner):
    model = Adder(examiner.batcher.vocabulary, digits=3)
    found = values(truncated_rows(examiner, model, 3, range(1, WIDTH + 1), n=200))
    for length in range(1, WIDTH + 1):
        assert found[length, "exact-truncated"] == 1.0
        assert found[length, "exact"] == float(length <= 3)
        assert found[length, "no-end"] == 0.0
    assert model.asked == 200 * WIDTH  # once, and graded twice


def test_a_true_adder_is_right_and_does_not_truncate(examiner):
    model = Adder(examiner.batcher.vocabulary)
    found = values(truncated_rows(examiner, model, 3, [2, 5], n=200))
    assert found == {
        (2, "exact"): 1.0, (2, "exact-truncated"): 1.0, (2, "no-end"): 0.0,
        (5, "exact"): 1.0, (5, "exact-truncated"): 0.0, (5, "no-end"): 0.0,
    }  # fmt: skip


def test_rows_are_those_of_the_evaluator(examiner):
    model = Adder(examiner.batcher.vocabulary, digits=2, endless=3)
    ours = [row for row in truncated_rows(examiner, model, 3, [3, 5], n=100) if row.metric == "exact"]  # fmt: skip
    theirs = [row for row in examiner.rows(model, [3, 5], n=100) if row.metric == "exact"]
    assert ours == theirs


def test_answers_without_an_end_are_wrong_and_counted(examiner):
    model = Adder(examiner.batcher.vocabulary, digits=3, endless=4)
    found = values(truncated_rows(examiner, model, 3, [3, 4], n=200))
    for length in (3, 4):
        assert found[length, "no-end"] == 0.25
        assert found[length, "exact-truncated"] == 0.75
    assert found[3, "exact"] == 0.75


def test_no_end_where_rows_have_different_lengths(make_batcher, make_model):
    """Beyond a row's last place the answer holds ends that nobody said."""
    examiner = Examiner(make_batcher("causal"))
    model = make_model("decoder", {"name": "learned", "limit": 40})
    with torch.no_grad():
        model.head.bias[examiner.batcher.vocabulary.end] = -1e9
    rows = values(truncated_rows(examiner, model, 1, [4], n=30))
    assert rows[4, "no-end"] == 1.0
    with torch.no_grad():
        model.head.bias[examiner.batcher.vocabulary.end] = 1e9
    assert values(truncated_rows(examiner, model, 1, [4], n=30))[4, "no-end"] == 0.0


def test_in_place_there_is_no_end(make_batcher, adder):
    examiner = Examiner(make_batcher("in_place", frame=6))
    rows = truncated_rows(examiner, adder(6), 3, [3], n=20)
    assert [row.metric for row in rows] == ["exact", "exact-truncated"]
    assert [row.value for row in rows] == [1.0, 1.0]


def test_measured_is_as_predicted(make_batcher):
    """A truncated adder's accuracy against the truth, modulo 7, is what theory counts."""
    task = ModularAddition(7)
    examiner = Examiner(make_batcher("causal", width=WIDTH, task=task))
    model = Adder(examiner.batcher.vocabulary, digits=2, modulus=7)
    lengths = [2, 3, 4, 6]
    for slice in ("uniform", "full"):
        sliced = ["uniform"] if slice == "uniform" else ["pairs"]
        rows = truncated_rows(examiner, model, 2, lengths, sliced, n=4000)
        wanted = {each.length: each.accuracy for each in predict(task, 2, lengths, slice=slice)}
        asked = [r for r in rows if r.metric == "exact" and r.slice in ("uniform", f"{r.length}x{r.length}")]  # fmt: skip
        assert len(asked) == len(lengths)
        for row in asked:
            assert abs(row.value - wanted[row.length]) < 4 * (0.25 / 4000) ** 0.5


def test_dropped_digits_move_nothing(examiner):
    vocabulary = examiner.batcher.vocabulary
    for digits, dropped in ((3, 0.0), (9, 1.0)):
        rows = moved_rows(examiner, Adder(vocabulary, digits=digits), 3, 5, n=10)
        assert {row.metric: row.value for row in rows} == {
            "moved-by-dropped": dropped, "moved-by-kept": 1.0,
        }  # fmt: skip
        assert {(row.length, row.slice) for row in rows} == {(5, "full")}
        assert sum(row.n for row in rows) == 10 * 2 * (4 * 9 + 8)


def test_a_length_at_which_nothing_is_dropped(examiner):
    with pytest.raises(TenfoldError, match="of 3 digits, truncation to 3 drops none; ask for more"):
        moved_rows(examiner, Adder(examiner.batcher.vocabulary), 3, 3)


def test_several_operations(make_batcher):
    """A model that adds, among sums and products: right on the sums alone, and so against the last digits."""
    task = TASKS.build({"name": "several", "of": {"sum": "addition", "product": {"name": "full-multiplication", "digits": WIDTH}}})  # fmt: skip
    examiner = Examiner(make_batcher("causal", width=WIDTH, task=task))
    model = Adder(examiner.batcher.vocabulary, digits=2)
    rows = truncated_rows(examiner, model, 2, [2, 4], ["parts"], n=100)
    found = {(row.length, row.slice, row.metric): row.value for row in rows}
    assert found[2, "sum", "exact"] == found[2, "sum", "exact-truncated"] == 1.0
    assert (found[4, "sum", "exact"], found[4, "sum", "exact-truncated"]) == (0.0, 1.0)
    assert max(found[4, "product", "exact"], found[4, "product", "exact-truncated"]) < 0.05
    with pytest.raises(TenfoldError, match="their numbers alone do not make a question"):
        moved_rows(examiner, model, 2, 4, n=20)


def test_influence_of_the_truncated_function():
    task = Addition()
    examples = task.sample(30, 5, np.random.default_rng(0), exact)
    whole = truncated_influence(task, 9, [examples], 6)
    cut = truncated_influence(task, 3, [examples], 6)
    assert (cut[:, 3:] == 0).all()  # dropped: nothing moves
    assert (cut[:, range(3), range(3)] == 1).all()
    np.testing.assert_array_equal(cut[:, :3, :3], whole[:, :3, :3])
    assert (whole[:, range(5), range(5)] == 1).all()
    assert (cut[:, :, 4:] == 0).all()
    parts = truncated_influence(task, 3, [examples.rows(slice(9)), examples.rows(slice(9, 30))], 6)
    np.testing.assert_allclose(parts, cut)
