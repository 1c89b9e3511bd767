"""Decoding as a fixed point, by neighbours and by sweeps, against the dense model and against token by token."""

import copy

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.models import decoding as module
from tenfold.models.decoding import (
    PATIENCE,
    Neighbours,
    Swift,
    by_neighbours,
    by_sweeps,
    gathered,
)
from tenfold.runs.build import build
from tenfold.runs.run import SHELF, Run

LENGTHS = (1, 2, 3, 7, 20)


def local_of(model, batcher):
    local = Swift(model, batcher).local
    assert local is not None
    return local


def asked(batcher, examples):
    return batcher(examples).without_answer(batcher.task.vocabulary.pad)


def within(batch):
    """Which places belong to their row's answer."""
    valid = batch.sequence.valid
    if valid is None:
        return torch.ones(batch.target.shape, dtype=torch.bool)
    return valid[:, batch.given - 1 : batch.given - 1 + batch.read]


def test_gathered_logits_are_the_dense_ones(built, lively, drawn):
    """Whatever stands in the answer: the truth here, then anything."""
    model, batcher = lively(built.model(), 0, ends=True), built.batcher
    batch = batcher(drawn(batcher.task, LENGTHS))
    assert batch.sequence.valid is not None  # rows of different lengths
    generator = torch.Generator().manual_seed(1)
    vocabulary = len(batcher.task.vocabulary)
    local, there = local_of(model, batcher), within(batch)
    for _ in range(2):
        with torch.inference_mode():
            for precise, tolerance in ((model, 1e-5), (copy.deepcopy(model).double(), 1e-12)):
                dense = precise(batch)
                found = gathered(precise, batch, local)
                assert found.shape == dense.shape
                assert_close(
                    found[there], dense[there], rtol=tolerance, atol=tolerance * dense.abs().max()
                )
        batch.sequence.tokens[:, batch.given :] = torch.randint(
            0, vocabulary, batch.sequence.tokens[:, batch.given :].shape, generator=generator
        )


def test_gathered_logits_depend_on_every_part(built, lively, drawn):
    """The test above could not fail if the model saw nothing: any token in sight matters."""
    model, batcher = lively(built.model(), 0).double(), built.batcher
    batch = batcher(drawn(batcher.task, [9]))
    dense = model(batch)
    assert dense[:, 1:-1].std(0).max() > 1e-3
    local = local_of(model, batcher)
    smaller = local._replace(columns=local.columns - 1, start=local.start - 1)
    if local.columns and local.start:  # a view too narrow gives other logits
        assert not torch.allclose(gathered(model, batch, smaller), dense)
    if local.hubs:
        without = local._replace(hubs=frozenset())
        assert not torch.allclose(gathered(model, batch, without), dense)


@pytest.mark.parametrize("ends", [True, False])
def test_both_ways_are_greedy(built, lively, drawn, ends):
    seed = 3 + ends
    model, batcher = lively(built.model(), seed, ends=ends), built.batcher
    batch = asked(batcher, drawn(batcher.task, LENGTHS, seed))
    greedy, end = model.answer(batch), batcher.task.vocabulary.end
    before = batch.sequence.tokens.clone()
    assert torch.equal(by_neighbours(model, batch, local_of(model, batcher), end)[0], greedy)
    answer, sweeps = by_sweeps(model, batch, end)
    assert torch.equal(answer, greedy)
    assert 1 <= sweeps <= batch.read + 1
    assert torch.equal(Swift(model, batcher).answer(batch), greedy)
    assert torch.equal(batch.sequence.tokens, before)  # nothing is written into what was asked


def test_what_is_remembered_from_batch_to_batch(built, lively, drawn):
    """One Swift for many batches: hubs of other lengths, other phases, one row and many, and back again."""
    model, batcher = lively(built.model(), 2), built.batcher
    swift = Swift(model, batcher)
    sets = ([1], [2], [1, 9], [3], [1], [2, 5])
    for number, lengths in enumerate(sets):
        batch = asked(batcher, drawn(batcher.task, lengths, number, each=1 + number % 3))
        assert torch.equal(swift.answer(batch), model.answer(batch)), number


def test_memory_forgets_what_was_numbered_otherwise():
    memory, one = module.ContextMemory(), np.array([1])
    for layout, facts, kept in (("a", 0, 0), ("a", 0, 1), ("b", 0, 0), ("b", 0, 1), ("b", 1, 0)):
        memory.facts.update({(0, number): number for number in range(facts)})
        memory.settle(layout)
        assert len(memory.known) == kept
        if not kept:
            memory.known.add(one, one)


def test_few_short_rows(built, lively, drawn):
    """Two rows of one to three digits, where places of different rows are close to each other."""
    model, batcher = lively(built.model(), 1), built.batcher
    end, local = batcher.task.vocabulary.end, local_of(model, batcher)
    for length in (1, 2, 3):
        for number in range(2):
            batch = asked(batcher, drawn(batcher.task, [length], number))
            answer = by_neighbours(model, batch, local, end)[0]
            assert torch.equal(answer, model.answer(batch)), (length, number)


@pytest.mark.parametrize(
    ("task", "layers", "changes"),
    [
        ("parity", 1, {"behind": 2, "answers": 2}),
        ({"name": "comparison", "base": 2}, 2, {"behind": 1, "answers": 1}),
        ({"name": "subtraction", "base": 2}, 1, {"behind": 3, "answers": 3}),
    ],
)
def test_two_rows_are_not_one_front(small, parts, lively, drawn, task, layers, changes):
    """The last place of one row and the first of the next are neighbours in number only."""
    recipe = small(
        task=task, pe=parts(**changes), model={"layers": layers, "width": 16, "heads": 2}
    )
    built = build(recipe)
    batcher = built.batcher
    for seed in range(8):
        model = lively(built.model(), seed)
        local = local_of(model, batcher)
        for number in range(4):
            batch = asked(batcher, drawn(batcher.task, [1], number))
            found, _ = by_neighbours(model, batch, local, batcher.task.vocabulary.end)
            assert torch.equal(found, model.answer(batch))


def test_the_last_sweep_may_be_cut(small, lively, drawn):
    built = build(small())
    model, batcher = lively(built.model(), 0), built.batcher
    batch, end = asked(batcher, drawn(batcher.task, [40])), batcher.task.vocabulary.end
    greedy = model.answer(batch)
    whole, needed = by_sweeps(model, batch, end)
    for most in range(1, needed + 2):
        answer, sweeps = by_sweeps(model, batch, end, most)
        assert sweeps == min(most, needed)
        assert torch.equal(answer[:, :most], greedy[:, :most])  # so many are final
    assert torch.equal(whole, greedy)


class Counted:
    """How many digits were looked at, and how many computed."""

    def __init__(self, monkeypatch):
        self.looked = self.computed = 0
        predicted, follow, logits = Neighbours.predicted, Neighbours.follow, Neighbours.logits

        def count_predicted(near, digits, *given):
            self.looked += len(digits)
            return predicted(near, digits, *given)

        def count_follow(near, *given):
            before = self.looked
            steps = follow(near, *given)
            self.looked = before + steps  # those among them that were computed count once
            return steps

        def count_logits(near, digits):
            self.computed += len(digits)
            return logits(near, digits)

        monkeypatch.setattr(Neighbours, "predicted", count_predicted)
        monkeypatch.setattr(Neighbours, "follow", count_follow)
        monkeypatch.setattr(Neighbours, "logits", count_logits)

    def of(self, run, question):
        self.looked = self.computed = 0
        batcher = run.built.batcher
        batch = asked(batcher, batcher.task.parse(question))
        model, end = run.model("final"), batcher.task.vocabulary.end
        answer, sweeps = by_neighbours(model, batch, local_of(model, batcher), end)
        examples = batcher.task.parse(question)
        text = batcher.format.read(answer[0].numpy(), batcher.task.vocabulary)
        assert text == batcher.task.truth(examples, 0)
        return self.looked, self.computed, sweeps


@pytest.mark.parametrize("numbered", [True, False])
def test_only_what_saw_a_change_is_asked_again(adder, monkeypatch, numbered):
    """A cascade over all columns costs a few looks a column, not a pass over all columns for each."""
    if not numbered:  # as where keys would not fit
        monkeypatch.setattr(Neighbours, "_codes", lambda near: None)
    counted = Counted(monkeypatch)
    looks = {}
    for size in (25, 50, 100, 200):
        calm, ripple = "1" * size + "+" + "0" * 1, "1" * size + "+1"
        easy, hard = counted.of(adder, calm), counted.of(adder, ripple)
        assert easy[0] <= 4 * (size + 2)
        assert hard[0] <= 6 * (size + 2)
        looks[size] = hard[0]
        if numbered:  # what looks alike is computed once: there are 111 contexts
            assert max(easy[1], hard[1]) <= 200
        else:
            assert hard[1] == hard[0]
    assert looks[200] - looks[100] == 2 * (looks[100] - looks[50])  # linear


@pytest.mark.parametrize("patience", [1, 3])
@pytest.mark.parametrize("ends", [True, False])
def test_what_does_not_settle_is_written_in_order(
    built, lively, drawn, monkeypatch, patience, ends
):
    """As of a running parity, in which each digit turns on the one before it."""
    monkeypatch.setattr(Neighbours, "_codes", lambda near: None)
    monkeypatch.setattr(module, "PATIENCE", patience)
    ordered = []
    in_order = Neighbours.in_order

    def noted(near, first, there, answer):
        ordered.append(first)
        return in_order(near, first, there, answer)

    monkeypatch.setattr(Neighbours, "in_order", noted)
    model, batcher = lively(built.model(), 5, ends=ends), built.batcher
    batch = asked(batcher, drawn(batcher.task, LENGTHS, 5))
    end, local = batcher.task.vocabulary.end, local_of(model, batcher)
    answer, sweeps = by_neighbours(model, batch, local, end)
    assert torch.equal(answer, model.answer(batch))
    if ordered:
        assert sweeps == patience + batch.read - ordered[0]
    if patience == 1 and local.answers and not ends:
        assert ordered


@pytest.mark.parametrize("rows", [0, 16])
@pytest.mark.parametrize("patience", [1, 3])
@pytest.mark.parametrize("ends", [True, False])
def test_known_contexts_are_looked_up_in_order(
    built, lively, drawn, monkeypatch, patience, rows, ends
):
    """The same answers, whether what is left is written row by row or in all rows at once, in blocks of any size."""
    monkeypatch.setattr(module, "PATIENCE", patience)
    monkeypatch.setattr(module, "ROWS", rows)
    monkeypatch.setattr(module, "BLOCK", 3)
    model, batcher = lively(built.model(), 5, ends=ends), built.batcher
    batch = asked(batcher, drawn(batcher.task, LENGTHS, 5))
    end, local = batcher.task.vocabulary.end, local_of(model, batcher)
    answer, _ = by_neighbours(model, batch, local, end)
    assert torch.equal(answer, model.answer(batch))


@pytest.mark.parametrize(
    ("name", "question"),
    [("parity", "1101001000" * 200), ("multiplication", "7*" + "142857" * 333)],
)
def test_many_fronts_are_looked_up_in_linear_time(name, question, monkeypatch):
    """Each digit of 2,000 turns on the one before it; sweeps alone would look at two million."""
    run, looks = Run.open(SHELF / name), []
    predicted = Neighbours.predicted

    def noted(near, digits):
        looks.append(len(digits))
        return predicted(near, digits)

    monkeypatch.setattr(Neighbours, "predicted", noted)
    assert run.ask(question).right
    assert sum(looks) <= (PATIENCE + 2) * len(question)


def test_cascades_of_several_rows_at_once(adder, rng):
    """Fronts in many rows, at different places, with sums that have none between them."""
    batcher, task = adder.built.batcher, adder.built.batcher.task
    questions = [f"{'1' * a}0{'1' * b}+{c}" for a in (1, 7, 30) for b in (1, 3, 20) for c in "01"]
    some = [task.parse(question) for question in questions]
    widest = max(s.operands.shape[2] for s in some)
    operands = np.concatenate(
        [np.pad(s.operands, ((0, 0), (0, 0), (0, widest - s.operands.shape[2]))) for s in some]
    )
    examples = task.solve(operands, np.concatenate([s.lengths for s in some]))
    model, batch = adder.model("final"), asked(batcher, examples)
    answer = by_neighbours(model, batch, local_of(model, batcher), task.vocabulary.end)[0]
    assert torch.equal(answer, model.answer(batch))
    for row, question in enumerate(questions):
        a, b = (int(number, 2) for number in question.split("+"))
        assert int(batcher.format.read(answer[row].numpy(), task.vocabulary), 2) == a + b


ELSEWHERE = [
    "alibi",
    "rotary",
    {"name": "learned", "limit": 200},
    "none",
    {"name": "window", "behind": 3, "ahead": 0},  # on the index
    {"name": "window", "behind": 1, "axis": "column"},  # open ahead
]


@pytest.mark.parametrize("kind", ["decoder", "seq2seq"])
@pytest.mark.parametrize("pe", ELSEWHERE, ids=str)
@pytest.mark.parametrize("seed", [1, 2])
def test_sweeps_are_greedy_for_any_causal_model(small, lively, drawn, kind, pe, seed):
    built = build(small(pe=pe, model={"kind": kind, "layers": 2, "width": 16, "heads": 2}))
    model, batcher = lively(built.model(), seed, ends=seed == 2), built.batcher
    swift = Swift(model, batcher)
    assert swift.local is None
    assert not swift.linear
    for lengths in ([1, 2, 3], [5, 20]):
        batch = asked(batcher, drawn(batcher.task, lengths, seed))
        greedy = model.answer(batch)
        assert torch.equal(by_sweeps(model, batch, swift.end)[0], greedy)
        assert torch.equal(swift.answer(batch), greedy)


def test_swift_goes_by_neighbours_exactly_where_a_model_is_local(built, lively, drawn, monkeypatch):
    model, batcher = lively(built.model(), 0), built.batcher
    took = []

    def noted(name):
        whole = getattr(module, name)

        def call(*given, **more):
            took.append(name)
            return whole(*given, **more)

        monkeypatch.setattr(module, name, call)

    noted("by_neighbours")
    noted("by_sweeps")
    swift, batch = Swift(model, batcher), asked(batcher, drawn(batcher.task, [3]))
    assert swift.linear
    swift.answer(batch)
    other = build(built.recipe.replace(pe="alibi", encoder_pe=None, cross_pe=None))
    swift = Swift(lively(other.model(), 0), other.batcher)
    swift.answer(asked(other.batcher, drawn(batcher.task, [3])))
    assert took == ["by_neighbours", "by_sweeps"]


def test_long_answers_that_do_not_settle_go_on_token_by_token(small, lively, drawn, monkeypatch):
    """A model that is not local and needs many sweeps; and a batch too large for a sweep to be cheap."""
    built = build(small(pe="none", model={"layers": 1, "width": 16, "heads": 2}))
    batcher = built.batcher
    slow = 0
    for seed in range(6):
        model = lively(built.model(), seed)
        batch = asked(batcher, drawn(batcher.task, [40], seed))
        slow += by_sweeps(model, batch, model.end)[1] > module.SWEEPS
        greedy = model.answer(batch)
        assert torch.equal(Swift(model, batcher).answer(batch), greedy)
        with monkeypatch.context() as patch:
            patch.setattr(module, "FEW", 0)
            assert torch.equal(Swift(model, batcher).answer(batch), greedy)
    assert slow > 0


def test_a_hub_must_be_one_in_every_head(small, parts, lively, drawn):
    """One head lets every column see operand 1, another lets its digits see other columns: all is seen by all."""
    window = parts()[0]
    heads = {"name": "per-head", "parts": [{**window, "hub": 1}, window]}
    built = build(small(pe=[heads, *parts()[1:]], model={"layers": 2, "width": 16, "heads": 2}))
    batcher = built.batcher
    for seed in range(20):
        model = lively(built.model(), seed)
        batch = asked(batcher, drawn(batcher.task, [9], seed))
        assert torch.equal(Swift(model, batcher).answer(batch), model.answer(batch))


def test_digits_told_apart_by_their_power_are_not_alike(small, parts, lively, drawn):
    """An encoding that sees the power of every digit of operand 1: what looks alike elsewhere is not."""
    joint = {"name": "joint", "reach": 1, "clip": True, "hub": 1, "digits": 40}
    built = build(small(pe=parts({"name": "pairwise", "relation": joint})))
    batcher = built.batcher
    for seed in range(8):
        model = lively(built.model(), seed)
        batch = asked(batcher, drawn(batcher.task, [9, 30], seed))
        assert torch.equal(Swift(model, batcher).answer(batch), model.answer(batch))


@pytest.mark.parametrize(
    ("hub", "changes"),
    [
        (1, {}),
        (0, {"task": {"name": "multiplication", "base": 3}, "format": "interleaved"}),
    ],
    ids=["addition", "interleaved"],
)
def test_a_hub_that_grows_is_not_linear(small, parts, hub, changes):
    """Where every column sees all of an operand that may be long, time and memory grow with the square."""
    built = build(small(pe=parts(hub=hub), **changes))
    assert not Swift(built.model(), built.batcher).linear


def test_ten_thousand_digits(adder):
    """Linear in memory: the dense model would need gigabytes."""
    batcher, model = adder.built.batcher, adder.model("final")
    task = batcher.task
    examples = task.sample(1, 10_000, np.random.default_rng(0))
    found = Swift(model, batcher).answer(asked(batcher, examples))[0].numpy()
    truth = examples.answer[0, : examples.answer_length[0]]
    assert np.array_equal(found[found != task.vocabulary.end], truth)


def test_a_width_is_decoded_too(small, lively, drawn):
    """A format that pads operands is not certifiable, yet its model may be local."""
    built = build(small(format={"name": "reversed", "width": 9}, model={"width": 16, "heads": 2}))
    for seed in range(4):
        model, batcher = lively(built.model(), seed, ends=seed == 3), built.batcher
        batch = asked(batcher, drawn(Addition(base=2), (1, 5, 9), seed))
        assert Swift(model, batcher).linear
        assert torch.equal(Swift(model, batcher).answer(batch), model.answer(batch))
