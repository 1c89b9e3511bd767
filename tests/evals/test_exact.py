"""The evaluator: Python integers score 1.0 everywhere, an untrained model scores chance."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import IGNORED, Batcher
from tenfold.data.formats.interleaved import Interleaved
from tenfold.data.formats.numeric import InPlace, Reversed
from tenfold.data.tasks import TASKS
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.comparison import Comparison
from tenfold.evals import exact_match as exact
from tenfold.evals.exact_match import SLICES, Examiner, RowMemory

LENGTHS = (1, 2, 5, 8)
WRITTEN = [
    (InPlace(8), "in_place"),
    (InPlace("fit"), "in_place"),
    *(
        (written, layout)
        for layout in ("causal", "seq2seq")
        for written in (
            Reversed(),
            Reversed(width=8),
            Reversed(operands="reversed"),
            Interleaved(),
            Interleaved(width=8),
        )
    ),
]
NAMES = [f"{written.name} {vars(written)} {layout}" for written, layout in WRITTEN]


class Oracle:
    """Reads the question's tokens, adds with Python integers, writes the answer's tokens."""

    def __init__(self, batcher):
        self.task, self.format = batcher.task, batcher.format

    def answer(self, batch):
        tokens = (
            batch.sequence.tokens[:, : batch.given] if batch.source is None else batch.source.tokens
        )
        rows = [self.task.vocabulary.text(row) for row in tokens]
        return torch.stack([self.row(text, batch.read) for text in rows])

    def row(self, text, places):
        total = np.base_repr(sum(self.operands(text)), self.task.base).lower()
        if isinstance(self.format, InPlace):
            written = total.rjust(places, "_")
        else:
            digits = places - 1 if self.format.width else 0
            written = (total.rjust(digits, "0")[::-1] + ";").ljust(places, "_")
        return torch.from_numpy(self.task.vocabulary.ids(written))

    def operands(self, text):
        text = text.lstrip("_").rstrip("=") if not isinstance(self.format, InPlace) else text
        if isinstance(self.format, Interleaved):
            terms = [text[1:][m :: self.task.terms] for m in range(self.task.terms)]
        else:
            terms = [term.strip("_") for term in text.split("+")]
        if getattr(self.format, "operands", "forward") == "reversed":
            terms = [term[::-1] for term in terms]
        return [int(term, self.task.base) for term in terms]


class Untrained:
    def __init__(self, model):
        self.model, self.asked = model, []

    def answer(self, batch):
        self.asked.append(batch)
        return self.model.answer(batch)


@pytest.fixture(params=WRITTEN, ids=NAMES)
def examiner(request, task):
    written, layout = request.param
    return Examiner(Batcher(task, written, layout))


@pytest.mark.parametrize("base", [3, 10, 16])
def test_python_integers_score_1(examiner, base):
    examiner = replace(examiner, batcher=replace(examiner.batcher, task=Addition(base=base)))
    rows = examiner.rows(Oracle(examiner.batcher), LENGTHS, tuple(SLICES), n=40)
    assert {row.length for row in rows} == set(LENGTHS)
    slices = {"uniform", "full", "unequal", "nines", "cascade-1", "cascade-4", "cascade-all"}
    assert slices < {row.slice for row in rows}
    for row in rows:
        assert (row.value, row.n) == (1.0, 40)
        assert row.high == (1.0 if row.metric == "exact" else None)


def test_more_terms(task):
    task = Addition(terms=4)
    for written, layout in (
        (InPlace(5), "in_place"),
        (Reversed(), "causal"),
        (Interleaved(), "seq2seq"),
    ):
        examiner = Examiner(Batcher(task, written, layout))
        rows = examiner.rows(
            Oracle(examiner.batcher), (1, 5), ("uniform", "unequal", "nines"), n=40
        )
        assert {row.value for row in rows} == {1.0}


class Solver:
    """Reads the question as a person wrote it, and writes what the task says."""

    def __init__(self, batcher):
        self.batcher = batcher

    def answer(self, batch):
        task, answer = self.batcher.task, torch.full_like(batch.target, 0)
        for row, tokens in enumerate(batch.sequence.tokens[:, : batch.given - 1]):
            examples = task.parse(task.vocabulary.text(tokens).strip("_"))
            truth = task.vocabulary.ids(task.truth(examples, 0)[::-1] + ";")
            answer[row, : len(truth)] = torch.from_numpy(truth)
        return answer


class Nothing:
    def __init__(self, token):
        self.token = token

    def answer(self, batch):
        return torch.full_like(batch.target, self.token)


@pytest.mark.parametrize("name", TASKS.names())
def test_the_truth_scores_1_on_every_slice_of_every_task(name):
    batcher = Batcher(TASKS.build(name), Reversed(), "causal")
    rows = Examiner(batcher).rows(Solver(batcher), (1, 4, 7), tuple(SLICES), n=10)
    assert {row.length for row in rows} == {1, 4, 7}
    assert {row.value for row in rows} == {1.0}


def test_tokens_that_are_no_digits_count():
    task = Comparison()
    examiner = Examiner(Batcher(task, Reversed(), "causal"))
    for symbol, share in (("=", 1.0), ("<", 0.0), (";", 0.0), ("_", 0.0)):
        answerer = Nothing(int(task.vocabulary.ids(symbol)[0]))
        rows = examiner.grade(answerer, task.parse("123?123"), 3, "equal")
        assert [row.value for row in rows] == [0.0, share]


def test_an_oracle_that_is_wrong_once(task):
    """One row of fifty wrong in one digit: exactly that is counted."""
    batcher = Batcher(task, Reversed(width=5), "causal")

    class Slip(Oracle):
        def answer(self, batch):
            answer = super().answer(batch)
            answer[7, 2] = (answer[7, 2] + 1) % 10
            return answer

    exact_row, digit_row = Examiner(batcher).rows(Slip(batcher), (5,), n=50)
    assert (exact_row.metric, exact_row.value, exact_row.n) == ("exact", 49 / 50, 50)
    assert (digit_row.metric, digit_row.value, digit_row.n) == ("digit", 299 / 300, 50)
    assert exact_row.low < 49 / 50 < exact_row.high


def test_pads_are_not_digits(task):
    """Who answers nothing but pads has no digit right, however wide the frame."""

    class Silent:
        def answer(self, batch):
            return torch.full_like(batch.target, task.vocabulary.pad)

    rows = Examiner(Batcher(task, InPlace(20), "in_place")).rows(Silent(), (1, 5, 20), n=50)
    assert {row.value for row in rows} == {0.0}


@pytest.mark.parametrize("n", [0, -5])
def test_no_problems(task, n):
    with pytest.raises(TenfoldError, match="at least 1 is needed"):
        Examiner(Batcher(task, InPlace(5), "in_place")).rows(None, (1,), n=n)


@pytest.mark.parametrize("name", ["encoder", "decoder", "seq2seq"])
def test_an_untrained_model_scores_chance(name, task, make_model):
    model = make_model(name, "rotary")
    written = InPlace("fit") if name == "encoder" else Reversed()
    rows = Examiner(Batcher(task, written, model.layout)).rows(model, (3, 6), n=200)
    for row in rows:
        assert row.value == 0 if row.metric == "exact" else row.value < 0.3


def test_the_answer_is_never_shown(examiner, task):
    model = Untrained(Oracle(examiner.batcher))
    examiner.rows(model, (3,), ("uniform", "nines"), n=10)
    assert model.asked
    for batch in model.asked:
        assert (batch.target == IGNORED).all()
        assert (batch.sequence.tokens[:, batch.given :] == task.vocabulary.pad).all()


def test_small_memory_splits_and_says_the_same(examiner, monkeypatch):
    oracle = Untrained(Oracle(examiner.batcher))
    whole = examiner.rows(oracle, (2, 6), ("uniform", "unequal"), n=60)
    assert len(oracle.asked) == 4
    monkeypatch.setattr(exact, "MEMORY", 2**20)
    split = examiner.rows(oracle, (2, 6), ("uniform", "unequal"), n=60)
    assert len(oracle.asked) > 4 + 8
    assert whole == split


def test_batches_stay_within_the_memory(task, monkeypatch, rng):
    """Also where the first question is the shortest."""
    monkeypatch.setattr(exact, "MEMORY", 2**23)
    batcher = Batcher(task, Reversed(), "causal")
    short, long = task.parse("1+2"), task.parse("9" * 60 + "+" + "9" * 60)
    operands = np.concatenate(
        [np.pad(short.operands, ((0, 0), (0, 0), (0, 59))), *[long.operands] * 30]
    )
    examples = task.solve(operands, np.concatenate([short.lengths, *[long.lengths] * 30]))
    examiner = Examiner(batcher, memory=RowMemory(heads=4, width=16))
    for batch in examiner.batches(examples):
        rows, tokens = batch.sequence.tokens.shape
        assert rows * 4 * 3 * 4 * tokens**2 <= 2**23


def test_questions_do_not_depend_on_what_else_is_asked(task):
    examiner = Examiner(Batcher(task, Reversed(), "causal"))

    def requested(lengths, slices):
        result = examiner.questions(lengths, slices, 20)
        return {(length, label): examples.operands.tolist() for length, label, examples in result}

    many = requested((2, 3, 7), tuple(SLICES))
    for lengths, slices in (((7,), ("uniform",)), ((3, 2), ("nines", "cascades"))):
        few = requested(lengths, slices)
        assert few
        assert all(many[key] == value for key, value in few.items())
    assert many[7, "uniform"] != asked_with_seed(1, task)


def asked_with_seed(seed, task):
    examiner = Examiner(Batcher(task, Reversed(), "causal"), seed=seed)
    ((_, _, examples),) = examiner.questions((7,), ("uniform",), 20)
    return examples.operands.tolist()


def test_rows_are_told_as_they_come(task):
    examiner, calls = Examiner(Batcher(task, Reversed(), "causal")), []
    rows = examiner.rows(
        Oracle(examiner.batcher), (2, 3), n=5, progress=lambda done, of: calls.append((done, of))
    )
    assert calls == [(1, 2), (2, 2)]
    assert rows[0].as_json() == {
        "length": 2, "slice": "uniform", "metric": "exact", "value": 1.0, "n": 5,
        "low": rows[0].low, "high": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize("length", [0, -3])
def test_no_length(examiner, length):
    with pytest.raises(TenfoldError, match=f"length of {length} is too short"):
        examiner.rows(Oracle(examiner.batcher), (3, length), n=5)


def test_a_length_beyond_the_frame(task):
    examiner = Examiner(Batcher(task, InPlace(5), "in_place"))
    with pytest.raises(
        TenfoldError, match='length of 6 digits does not fit the format "in-place", which holds 5'
    ):
        examiner.rows(Oracle(examiner.batcher), (5, 6), n=5)


def test_unknown_slice(task):
    examiner = Examiner(Batcher(task, Reversed(), "causal"))
    with pytest.raises(TenfoldError, match='unknown slice "uniforn"; did you mean "uniform"'):
        examiner.rows(Oracle(examiner.batcher), (5,), ("uniforn",), n=5)


def test_a_length_that_no_memory_holds_is_refused_before_a_problem_is_drawn(task, monkeypatch):
    examiner, oracle = Examiner(batcher := Batcher(task, Reversed(), "causal")), Oracle(batcher)
    monkeypatch.setattr(Examiner, "problems", None)
    with pytest.raises(TenfoldError, match=r"^a length of 20,000 needs about 328\.8 GiB") as caught:
        examiner.rows(oracle, (5, 20_000), n=1)
    most = int(str(caught.value).rpartition("a length of ")[2].replace(",", ""))
    examiner.check_memory([most], oracle)
    with pytest.raises(TenfoldError, match="needs about"):
        examiner.check_memory([4 * most], oracle)


def test_a_question_that_no_memory_holds_is_refused_before_it_is_laid_out(task, monkeypatch):
    examiner = Examiner(Batcher(task, Reversed(), "causal"))
    question = task.parse("9" * 20_000 + "+1")
    monkeypatch.setattr(Batcher, "__call__", None)
    with pytest.raises(TenfoldError, match=r"an input of 20,001 tokens needs about 35\.9"):
        list(examiner.answers(Oracle(examiner.batcher), question))
