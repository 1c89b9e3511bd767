"""What every task obeys, with every sampler, in every format and layout."""

from contextlib import contextmanager
from dataclasses import fields, replace

import numpy as np
import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.batch import IGNORED, Batcher
from tenfold.data.formats import FORMATS
from tenfold.data.formats.wording import TEMPLATES
from tenfold.data.tasks import SAMPLERS, TASKS, Examples, SequenceTask
from tenfold.evals.exact_match import Examiner, grade

WRITTEN = [  # (format, layout)
    ({"name": "in-place", "frame": 6}, "in_place"),
    ({"name": "in-place", "frame": "fit"}, "in_place"),
    ({"name": "in-text", "frame": 6, "most": 4}, "in_place"),
    ({"name": "sentences-in-place", "frame": 6}, "in_place"),
    *(
        (spec, layout)
        for layout in ("causal", "seq2seq")
        for spec in (
            {"name": "reversed"},
            {"name": "in-order"},
            {"name": "reversed", "width": 6},
            {"name": "reversed", "operands": "reversed"},
            {"name": "reversed", "width": 6, "operands": "reversed"},
            {"name": "interleaved"},
            {"name": "interleaved", "width": 6},
            {"name": "hinted", "hints": 64},
            {"name": "spaced"},
            {"name": "sentences"},
        )
    ),
]
OPTIONS = {  # what a sampler requires
    "cascade": {"cascade": 2},
    "carries": {"carries": 2},
    "appended": {"to": 6},
    "by-part": {"of": {"sum": "nines", "product": "levels"}},
    "patterns": {"of": {"a": 1}},
}
PAIRS = {"cascade", "carries", "complexity", "mixed"}  # of carries, which need two operands


def bound(name):
    return SAMPLERS.bind(Spec(name=name, options=OPTIONS.get(name, {})))


def applies(name, task):
    if name == "by-part":
        return task.name == "several"
    if name == "patterns":
        return task.drawn == 1 and task.hub == 0  # something multiplies the number
    if name == "levels":
        return task.drawn > 1 or task.hub == 0  # else one number, and nothing multiplies it
    return name not in PAIRS or task.drawn == 2


@pytest.fixture
def samplers_of(any_task):
    """Every sampler that applies to the task, by name."""
    return {name: bound(name) for name in SAMPLERS.names() if applies(name, any_task)}


@pytest.fixture
def problems(any_task, samplers_of, rng):
    """Some from every sampler, side by side."""
    return joined([any_task.sample(4, 5, rng, sampler) for sampler in samplers_of.values()])


def joined(drawn, width=6):
    """Examples of one task side by side."""
    room = drawn[0].room
    sizes = {"operands": width, "answer": width + room, "columns": width + room}

    def together(name):
        arrays = [getattr(examples, name) for examples in drawn]
        if not isinstance(arrays[0], np.ndarray):
            return arrays[0]
        short = [sizes.get(name, array.shape[-1]) - array.shape[-1] for array in arrays]
        more = [[(0, 0)] * (arrays[0].ndim - 1) + [(0, size)] for size in short]
        padded = arrays if name not in sizes else map(np.pad, arrays, more)
        return np.concatenate(list(padded))

    return Examples(**{field.name: together(field.name) for field in fields(Examples)})


def writes(spec, task):
    """Whether a format is for a task."""
    if "sentences" in spec["name"]:
        return task.operator in TEMPLATES
    if spec["name"] == "in-order":  # answers of numbers begin with their units
        return isinstance(task, SequenceTask) or task.as_long
    if spec["name"] == "in-text":  # digits among words
        return task.vocabulary.symbols[0] == "0"
    return "width" not in spec or task.fills


@pytest.fixture
def batchers(any_task):
    """Every way to write the task's problems."""
    return [
        Batcher(any_task, FORMATS.build(Spec.model_validate(spec)), layout)
        for spec, layout in WRITTEN
        if writes(spec, any_task)
    ]


@contextmanager
def named(case):
    """Add to a failure in which of many cases it was."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in the case {case}")
        raise


def each_way(law):
    """A law of every way to write a task's problems."""

    def test(batchers, problems):
        assert batchers
        for batcher in batchers:
            with named((type(batcher.format), vars(batcher.format), batcher.layout)):
                law(batcher, problems)

    return test


def each_sampler(law):
    """A law of every sampler that applies to a task."""

    def test(any_task, samplers_of):
        assert samplers_of
        for name, sampler in samplers_of.items():
            with named(name):
                law(any_task, sampler, np.random.default_rng(7))

    return test


def arrays(examples):
    return examples.operands, examples.lengths, examples.answer, examples.answer_length


def test_every_format_is_examined():
    assert {spec["name"] for spec, _ in WRITTEN} == set(FORMATS.names())


@each_sampler
def test_same_seed_same_sample(any_task, sampler, rng):
    once, again, other = (
        arrays(any_task.sample(50, 5, np.random.default_rng(seed), sampler)) for seed in (3, 3, 4)
    )
    assert all(np.array_equal(a, b) for a, b in zip(once, again, strict=True))
    assert not np.array_equal(once[0], other[0])


@each_sampler
def test_no_global_seed_is_read(any_task, sampler, rng):
    before = np.random.get_state()[1].copy()  # noqa: NPY002 (that it is left alone is the point)
    any_task.sample(50, 5, np.random.default_rng(0), sampler)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


@each_way
def test_truth_grades_1_and_one_changed_token_grades_0(batcher, problems):
    target = batcher(problems).target
    graded = target != IGNORED
    assert graded.any(1).all()
    answer = torch.where(graded, target, 0)
    whole, right, counted = grade(answer, target)
    assert whole.all()
    assert torch.equal(right, graded)
    assert torch.equal(counted, graded)
    for row in range(len(target)):
        for place in graded[row].nonzero()[:, 0].tolist():
            changed = answer.clone()
            changed[row, place] += 1
            whole, right, _ = grade(changed, target)
            assert whole.tolist() == [other != row for other in range(len(target))]
            assert int(right.sum()) == int(graded.sum()) - 1


class Oracle:
    """Reads the question's tokens as a person would write them, and writes the task's true answer."""

    def __init__(self, batcher):
        self.batcher = batcher

    def answer(self, batch):
        vocabulary, answers = self.batcher.vocabulary, torch.zeros_like(batch.target)
        given = batch.sequence.tokens[:, : batch.given] if batch.source is None else batch.source.tokens  # fmt: skip
        for row, tokens in enumerate(given):
            kept = [token for token in tokens if token not in (vocabulary.pad, vocabulary.equals)]
            text = vocabulary.text(kept).lstrip(
                self.batcher.task.operator
            )  # these stand in for room
            own = self.batcher(self.batcher.task.parse(text)).target[0]
            size = min(len(own), batch.read)
            here = slice(-size, None) if self.batcher.layout == "in_place" else slice(size)
            answers[row, here] = own[here]
        return answers


@pytest.mark.parametrize(
    ("written", "layout"),
    [
        ({"name": "in-place", "frame": 6}, "in_place"),
        ({"name": "reversed"}, "causal"),
        ({"name": "in-order"}, "causal"),
        ({"name": "in-order"}, "seq2seq"),
    ],
)
def test_an_oracle_scores_1_through_the_whole_evaluator(any_task, written, layout):
    if written["name"] == "in-order" and not (
        isinstance(any_task, SequenceTask) or any_task.as_long
    ):
        pytest.skip("answers of numbers begin with their units")
    batcher = Batcher(any_task, FORMATS.build(Spec.model_validate(written)), layout)
    slices = ("uniform", "full", "cascades", "hard")
    rows = Examiner(batcher).rows(Oracle(batcher), (1, 2, 6), slices, n=10)
    assert {row.length for row in rows} == {1, 2, 6}
    assert {(row.value, row.n) for row in rows} == {(1.0, 10)}


@each_way
def test_the_answer_reads_back_as_the_truth(batcher, problems):
    written = batcher.format.write(problems, batcher.vocabulary)
    for row in range(len(problems)):
        tokens = written.answer.tokens[row]
        text = batcher.format.read(tokens, batcher.vocabulary, problems, row)
        assert text == batcher.task.truth(problems, row)


@each_way
def test_the_budget_holds_every_answer(batcher, problems):
    written = batcher.format.write(problems, batcher.vocabulary)
    assert (written.graded <= written.budget).all()
    assert written.budget.max() == written.answer.tokens.shape[1]


@each_way
def test_facts_are_as_long_as_the_text(batcher, problems):
    batch = batcher(problems)
    for side in (batch.sequence, batch.source):
        if side is not None:
            assert set(side.places) == {"index", "role", "significance", "column"}
            for axis in side.places:
                rows, tokens = side.places[axis].shape
                assert rows in (1, len(problems))
                assert tokens == side.tokens.shape[1]


@each_way
def test_facts_do_not_know_the_answer(batcher, problems):
    """The same operands with any other answer are written with the same facts."""
    rng = np.random.default_rng(7)
    other = replace(
        problems,
        answer=rng.integers(1, batcher.task.base, problems.answer.shape, dtype=np.uint8),
        answer_length=rng.integers(1, problems.answer.shape[1] + 1, len(problems)),
    )
    ours, theirs = batcher(problems), batcher(other)
    assert not torch.equal(ours.target, theirs.target)
    for mine, its in ((ours.sequence, theirs.sequence), (ours.source, theirs.source)):
        if mine is not None:
            assert all(torch.equal(mine.places[axis], its.places[axis]) for axis in mine.places)
            assert (mine.valid is None) == (its.valid is None)


@each_sampler
def test_operands_stay_within_the_length(any_task, sampler, rng):
    examples = any_task.sample(200, 5, rng, sampler)
    columns = np.arange(examples.operands.shape[2])
    outside = columns >= examples.lengths[..., None]
    assert examples.lengths.min() >= 1  # none is missing where all parts have as many
    assert examples.lengths.max() <= sampler.keywords.get("to", 5)  # that of `appended`
    assert (examples.operands < any_task.base).all()
    assert (examples.operands[outside] == 0).all()
    if isinstance(any_task, SequenceTask):
        return  # its first token may be any
    leading = np.take_along_axis(examples.operands, examples.lengths[..., None] - 1, -1)[..., 0]
    assert ((leading > 0) | (examples.lengths == 1)).all()


@each_sampler
def test_nothing_stands_beyond_an_answer(any_task, sampler, rng):
    examples = any_task.sample(50, 5, rng, sampler)
    beyond = np.arange(examples.answer.shape[1]) >= examples.answer_length[:, None]
    assert examples.answer.dtype == np.uint8  # of these; larger alphabets have more
    assert (examples.answer[beyond] == 0).all()
    assert (examples.answer < len(any_task.vocabulary)).all()
    assert (examples.answer_length <= examples.most).all()


@each_sampler
def test_parse_is_the_inverse_of_question(any_task, sampler, rng):
    examples = any_task.sample(20, 5, rng, sampler)
    for row in range(20):
        parsed = any_task.parse(any_task.question(examples, row))
        assert any_task.question(parsed, 0) == any_task.question(examples, row)
        assert any_task.truth(parsed, 0) == any_task.truth(examples, row)


@pytest.mark.parametrize("name", TASKS.names())
def test_no_length(name, rng):
    for length in (0, -1):
        with pytest.raises(TenfoldError, match=f"length of {length} is too short"):
            TASKS.build(name).sample(1, length, rng)
