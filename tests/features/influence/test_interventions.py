"""Interventions: the task's own dependencies are found, and those of models that are made to see less."""

import numpy as np
import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks import TASKS
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.subtraction import Subtraction
from tenfold.data.tasks.samplers import exact, lengths
from tenfold.data.tasks.task import Examples
from tenfold.evals.exact_match import Examiner
from tenfold.evals.interventions import answers, changes, influence


class Told:
    """Answers what it is told to: the true answer of every problem, or the true one of a changed problem."""

    def __init__(self, targets):
        self.targets = targets

    def answer(self, batch):
        rows = len(batch)
        told, self.targets = self.targets[:rows], self.targets[rows:]
        return torch.as_tensor(told)


@pytest.fixture
def examiner(make_batcher):
    return Examiner(make_batcher("in_place", frame=6))


def test_every_other_digit_once():
    task = Addition()
    found = changes(task, task.parse("12+305"))
    asked = [task.question(found.examples, row) for row in range(len(found.examples))]
    wanted = {f"1{d}+305" for d in "013456789"} | {f"{d}2+305" for d in "23456789"}
    wanted |= {f"12+30{d}" for d in "012346789"} | {f"12+3{d}5" for d in "123456789"}
    wanted |= {f"12+{d}05" for d in "12456789"}
    assert sorted(asked) == sorted(wanted)  # none begins with 0, each once
    assert set(zip(found.operand.tolist(), found.column.tolist(), strict=True)) == {
        (0, 0), (0, 1), (1, 0), (1, 1), (1, 2),
    }  # fmt: skip
    assert [task.truth(found.examples, row) for row in range(len(asked))] == [
        str(sum(map(int, question.split("+")))) for question in asked
    ]


def test_a_number_of_one_digit_may_become_0():
    task = Addition()
    found = changes(task, task.parse("7+10"))
    asked = {task.question(found.examples, row) for row in range(len(found.examples))}
    assert "0+10" in asked
    assert "7+00" not in asked


def test_what_is_no_problem_of_the_task_is_left_out():
    task = Subtraction()
    found = changes(task, task.parse("31-27"))
    asked = [task.question(found.examples, row) for row in range(len(found.examples))]
    every = {f"3{d}-27" for d in "023456789"} | {f"{d}1-27" for d in "12456789"}
    every |= {f"31-2{d}" for d in "012345689"} | {f"31-{d}7" for d in "13456789"}
    assert sorted(asked) == sorted(q for q in every if eval(q) >= 0)


def by_loops(task, question):
    """Two plain loops: which columns of the true sum move with each change, by input digit."""
    a, b = question.split("+")
    found = {}
    for operand, number in enumerate((a, b)):
        for column in range(len(number)):
            for digit in "0123456789":
                place = len(number) - 1 - column
                other = number[:place] + digit + number[place + 1 :]
                if other == number or (len(other) > 1 and other[0] == "0"):
                    continue
                sums = [int(a) + int(b), int(other) + int((b, a)[operand])]
                old, new = (str(each).rjust(6) for each in sums)
                moves = [x != y for x, y in zip(old[::-1], new[::-1], strict=True)]
                found.setdefault((operand, column), []).append(moves)
    return {key: np.mean(moves, 0) for key, moves in found.items()}


@pytest.mark.parametrize("question", ["12+305", "999+1", "5+5"])
def test_the_truth_is_what_two_plain_loops_find(examiner, question, adder):
    examples = Addition().parse(question)
    found = influence(examiner, adder(6), [examples])
    truth = by_loops(Addition(), question)
    assert found.exact == 1.0
    for (operand, column), shares in truth.items():
        columns = found.truth.shape[2]
        np.testing.assert_allclose(found.truth[operand, column], shares[:columns])
        np.testing.assert_allclose(found.model[operand, column], shares[:columns])
    missing = np.isnan(found.truth).all(2)
    assert int((~missing).sum()) == len(truth)


def test_a_model_that_looks_one_column_back(examiner, adder):
    examples = Addition().sample(20, 4, np.random.default_rng(0), exact)
    examples.operands[:, 1, 1] = (
        9 - examples.operands[:, 0, 1]
    )  # so that carries run through the tens
    examples = Addition().solve(examples.operands, examples.lengths)
    found = influence(examiner, adder(6, back=1), [examples])
    assert found.truth[0, 0, 2] > 0.2
    assert found.model[0, 0, 2] == 0
    by_offset = found.by_offset(found.model)
    assert by_offset[0] == [1.0, 1.0]
    assert by_offset[1][0] > 0.2
    assert by_offset[2] == by_offset[-1] == [0.0, 0.0]


def test_sets_are_counted_together(examiner, adder):
    rng = np.random.default_rng(0)
    parts = [Addition().sample(n, 4, rng, lengths) for n in (7, 5)]
    joint = Examples(*(np.concatenate([getattr(p, k) for p in parts])
                       for k in ("operands", "lengths", "answer", "answer_length")))  # fmt: skip
    one, two = (influence(examiner, adder(6, back=1), sets) for sets in ([joint], parts))
    np.testing.assert_array_equal(one.counts, two.counts)
    np.testing.assert_allclose(one.model, two.model)
    assert (one.problems, one.exact) == (two.problems, two.exact)


@pytest.mark.parametrize("layout", ["in_place", "causal", "seq2seq"])
def test_answers_are_laid_out_by_column(make_batcher, layout, ragged):
    examiner = Examiner(make_batcher(layout, **({"frame": 6} if layout == "in_place" else {})))
    batch = next(iter(examiner.batches(ragged)))
    end, pad = examiner.batcher.vocabulary.end, examiner.batcher.vocabulary.pad
    told = batch.target.masked_fill(batch.target < 0, end)
    said, true = answers(examiner, Told(told), ragged)
    np.testing.assert_array_equal(said, true)
    for row, length in enumerate(ragged.answer_length.tolist()):
        np.testing.assert_array_equal(true[row, :length], ragged.answer[row, :length])
        assert set(true[row, length:].tolist()) <= {end, pad, -1}


def test_a_task_whose_numbers_do_not_say_what_is_asked(make_batcher, adder):
    class Doubled(Addition):
        def sample(self, n, length, rng, sampler=None):
            drawn = super().sample(n, length, rng, sampler)
            drawn.answer[:] = (drawn.answer + 1) % 10
            return drawn

    task = Doubled()
    examiner = Examiner(make_batcher("in_place", frame=6, task=task))
    with pytest.raises(TenfoldError, match="cannot be changed"):
        influence(examiner, adder(6), [task.sample(3, 3, np.random.default_rng(0))])


def test_a_product_depends_on_all_of_its_multiplier(make_batcher):
    task = TASKS.build({"name": "multiplication", "multiplier": 1})
    examples = task.sample(40, 4, np.random.default_rng(0), exact)
    batcher = make_batcher("in_place", frame=4, task=task)
    examiner = Examiner(batcher)
    found = influence(examiner, Told(np.zeros((100_000, 5), dtype=np.int64)), [examples])
    assert (found.truth[0, 0] > 0.5).all()
    assert (found.model[~np.isnan(found.model)] == 0).all()
    assert np.isnan(found.truth[0, 1:]).all()


@pytest.mark.parametrize("words", [(), ("--lists",)])
def test_a_long_measurement_shows_how_far_it_is(tenfold, words):
    asked = ("influence", "addition", "--length", 2, "--n", 3, "--out", "page")
    code, _, err = tenfold(*asked, *words)
    assert code == 0
    assert "changing digits" in err
