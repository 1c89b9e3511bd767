"""Accuracy of single digits, against answers whose faults are known."""

import numpy as np
import pytest
import torch

from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.evals.digit_accuracy import digit_rows, right_by_digit
from tenfold.evals.exact_match import Examiner


class Wrong:
    """Answers with the truth, but for these columns of every answer."""

    def __init__(self, batcher, *columns):
        self.batcher, self.columns = batcher, columns

    def ask(self, examples):
        self.examples = examples
        return examples

    def answer(self, batch):
        written = self.batcher.format.write(self.examples, self.batcher.task.vocabulary)
        tokens = written.answer.tokens.copy()
        column = np.broadcast_to(written.answer.column, tokens.shape)
        tokens[np.isin(column, self.columns)] += 1
        return torch.from_numpy(tokens)


LAYOUTS = [("in_place", {"frame": 5}), ("causal", {})]


@pytest.mark.parametrize(("layout", "options"), LAYOUTS)
def test_faults_are_found_where_they_are(make_batcher, layout, options):
    batcher = make_batcher(layout, **options)
    model = Wrong(batcher, 0, 2)
    examples = model.ask(Addition().sample(20, 4, np.random.default_rng(0)))
    right, stored = right_by_digit(Examiner(batcher), model, examples)
    for row in range(20):
        requested = (
            6 if layout == "in_place" else int(examples.answer_length[row]) + 1
        )  # and the end
        assert stored[row].tolist() == [place < requested for place in range(stored.shape[1])]
        wanted = [place not in (0, 2) and place < requested for place in range(stored.shape[1])]
        assert right[row].tolist() == wanted


def test_rows_of_single_digits_and_of_several(make_batcher, monkeypatch):
    batcher = make_batcher("in_place", frame=5)
    model, examiner = Wrong(batcher, 1), Examiner(batcher)
    ((_, _, drawn),) = examiner.questions([3], ["uniform"], 30)
    model.ask(drawn)
    rows = digit_rows(examiner, model, 3, [(1, 1), (2, 2), (1, 3), (3, 6), (9, 9)], n=30)
    assert {row.metric: row.value for row in rows} == {
        "digit-1": 1.0, "digit-2": 0.0, "digit-1-3": 0.0, "digit-3-6": 1.0,
    }  # fmt: skip
    assert {(row.length, row.slice, row.n) for row in rows} == {(3, "uniform", 30)}
    assert all(row.low < row.high for row in rows)


def test_an_oracle_is_right_everywhere_and_agrees_with_exact_match(make_batcher, make_model):
    batcher, examiner = make_batcher("in_place", frame=4), None
    examiner = Examiner(batcher)
    model = make_model("encoder", {"name": "learned", "limit": 9})
    ((_, _, drawn),) = examiner.questions([4], ["uniform"], 40)
    right, stored = right_by_digit(examiner, model, drawn)
    exact, _ = examiner.grade(model, drawn, 4, "uniform")
    assert (right | ~stored).all(1).mean() == exact.value
    oracle = Wrong(batcher)
    oracle.ask(drawn)
    right, stored = right_by_digit(examiner, oracle, drawn)
    assert right.all()
    assert stored.all()
