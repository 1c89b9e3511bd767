"""The machine that a model is: it writes what the model writes, right or wrong, at any length."""

import itertools

import numpy as np
import pytest
import torch

from tenfold.data.tasks.transducer import END
from tenfold.features.proofs.certify import certify, certify_model
from tenfold.features.proofs.extraction import extract
from tenfold.features.proofs.machine import UNDEFINED
from tenfold.features.proofs.prover import enumerate_contexts
from tenfold.features.proofs.run_machine import extract_machine, look_up
from tenfold.models.locality import NotCertifiable
from tenfold.runs.build import build


def spoiled(run, token, by=0.0):
    """A trained model with one token a little less likely: some digits, or ends, change."""
    model = run.built.model()
    model.load_state_dict(run.model("final").state_dict())
    with torch.no_grad():
        model.head.bias[token] -= certify(run, which="final").margin + 1 + by
    return model.eval()


def greedy(model, batcher, examples):
    """The model's answers token by token, without their ends."""
    vocabulary = batcher.task.vocabulary
    found = model.answer(batcher(examples).without_answer(vocabulary.pad)).numpy()
    return [row[row != vocabulary.end].tolist() for row in found]


def same_answers(found, model, batcher, lengths, n=20, seed=0):
    """The machine's answers are the model's; gives how long they were."""
    rng, sizes = np.random.default_rng(seed), []
    for length in lengths:
        examples = batcher.task.sample(n, length, rng)
        expected = greedy(model, batcher, examples)
        sizes += map(len, expected)
        assert [found.answer(examples, row).tolist() for row in range(n)] == expected
        written = found.write(examples.operands, examples.lengths)
        assert [[t for t in row if t != END] for row in written.tolist()] == expected
    return sizes


@pytest.fixture(scope="module")
def machine(adder):
    return extract_machine(adder, which="final")


def test_a_proved_adder_is_the_adder(adder, machine):
    assert machine.machine.states == 2
    assert machine.machine.smallest
    assert machine.own
    assert machine.differs is None
    assert machine.contexts == certify(adder, which="final").contexts  # nothing else is met
    assert machine.room == 1
    assert machine.machine.complete
    model, batcher = adder.model("final"), adder.built.batcher
    same_answers(machine, model, batcher, range(1, 41), n=25)
    same_answers(machine, model, batcher, [300], n=2)


def test_as_long_as_can_be(adder, machine):
    """Columns go in blocks as long as there are blocks: at lengths around every square, nothing is lost."""
    task = adder.built.batcher.task
    rng = np.random.default_rng(0)
    for length in [*range(1, 30), *(k * k + d for k in range(6, 13) for d in range(-4, 3))]:
        for question in (
            f"{'1' * length}+1",
            f"1+{'1' * length}",
            f"{'1' * length}+{'1' * length}",
            f"1{'0' * (length - 1)}+0",
            f"1{''.join(map(str, rng.integers(0, 2, length - 1)))}+1{'0' * (length // 2)}",
        ):
            examples = task.parse(question)
            a, b = (int(number, 2) for number in question.split("+"))
            text = "".join(map(str, machine.answer(examples)[::-1].tolist()))
            assert text == f"{a + b:b}", question
            line = machine.write(examples.operands, examples.lengths)[0]
            assert line[len(text)] == END


def test_two_hundred_thousand_digits(adder, machine):
    task = adder.built.batcher.task
    examples = task.sample(1, 200_000, np.random.default_rng(0))
    truth = examples.answer[0, : examples.answer_length[0]]
    assert np.array_equal(machine.answer(examples), truth)


def test_rows_of_different_lengths(adder, machine, drawn):
    examples = drawn(adder.built.batcher.task, [1, 2, 3, 4, 99, 100, 101])
    written = machine.write(examples.operands, examples.lengths)
    for row, line in enumerate(written.tolist()):
        size = int(examples.answer_length[row])
        assert line[:size] == examples.answer[row, :size].tolist()
        assert set(line[size:]) == {END}


def test_run_looks_up_what_it_would_answer(adder):
    for question in ("0+0", "1+1", "101+11", f"{'1' * 150}+1"):
        assert look_up(adder, question, which="final") == adder.ask(question, which="final")


@pytest.mark.parametrize("token", ["0", "1", "end"])
def test_a_broken_adder_is_another_machine(adder, token):
    batcher = adder.built.batcher
    number = batcher.task.vocabulary.end if token == "end" else int(token)
    by = next(
        by for by in range(40) if not certify_model(spoiled(adder, number, by), batcher).proved
    )
    model = spoiled(adder, number, by)
    found = extract(model, batcher)
    assert found.differs is not None
    assert not found.own
    sizes = same_answers(found, model, batcher, [1, 2, 3, 5, 20, 60])
    assert len(set(sizes)) > 1
    check_difference(found, model, batcher, longest=4)


def check_difference(found, model, batcher, longest):
    """The word told is the shortest: no problem shows a difference at a lower place, and one does there."""
    task, vocabulary = batcher.task, batcher.task.vocabulary
    pairs = list(itertools.product(range(2**longest), repeat=2))
    digits = [[[n >> i & 1 for i in range(longest)] for n in pair] for pair in pairs]
    lengths = [[max(1, n.bit_length()) for n in pair] for pair in pairs]
    examples = task.solve(np.array(digits, dtype=np.uint8), np.array(lengths))
    batch = batcher(examples)
    answer = model.answer(batch.without_answer(vocabulary.pad))
    graded = (batch.target >= 0) & (answer != batch.target)
    places = graded.int().argmax(1)[graded.any(1)]
    told = found.differs.word
    assert len(told) - 1 == int(places.min())
    assert found.machine.run(told, found.differs.start)[-1] == found.differs.output
    assert found.differs.output != found.differs.task_output


def test_an_answer_that_never_ends_stops_at_its_budget(adder):
    batcher = adder.built.batcher
    model = spoiled(adder, batcher.task.vocabulary.end, by=1e3)
    found = extract(model, batcher)
    sizes = same_answers(found, model, batcher, [1, 2, 9, 30], n=5)
    assert max(sizes) == 30 + found.room + 1
    examples = batcher.task.parse("1+1")
    assert (found.write(examples.operands, examples.lengths) != END).all()


def test_an_answer_that_ends_at_once_is_empty(adder):
    batcher = adder.built.batcher
    model = spoiled(adder, batcher.task.vocabulary.end, by=-1e4)
    found = extract(model, batcher)
    assert found.machine.states == 1
    assert found.answer(batcher.task.parse("1+1")).tolist() == []
    same_answers(found, model, batcher, [1, 5])


@pytest.mark.parametrize("ends", [True, False])
def test_an_untrained_model_is_a_machine(built, lively, ends):
    """Of every kind: hubs, phases, encoder-decoders, side by side; it closes over its own outputs."""
    seed = 3 + ends
    model, batcher = lively(built.model(), seed, ends=ends), built.batcher
    if built.recipe.model.layers == 3 or batcher.task.base == 10:
        pytest.skip("many contexts")
    if not ends and len(enumerate_contexts(model, batcher)) > 250:
        pytest.skip("many contexts where any token may follow any")
    found = extract(model, batcher, limit=100_000)
    same_answers(found, model, batcher, [1, 2, 3, 5], n=16, seed=seed)
    same_answers(found, model, batcher, [24], n=3, seed=seed)
    defined = found.machine.output != UNDEFINED
    assert ((found.machine.next >= 0) == (found.machine.output >= 0))[defined].all()


@pytest.mark.parametrize(
    "name",
    ["multiplication", "from 1 on", "cyclic", "together", "seq2seq"],
)
def test_a_proved_model_is_its_task(small, parts, oracle, name):
    """Where a model's outputs are the true ones, so is its machine, whatever the hub, the phases, the ends."""
    cyclic = {"name": "learned", "axis": "cyclic", "limit": 8}
    changes = {
        "multiplication": {
            "task": {"name": "multiplication", "base": 3},
            "pe": parts(hub=0),
        },
        "from 1 on": {
            "task": {"name": "multiplication", "base": 3, "least": 1},
            "pe": parts(hub=0),
        },
        "cyclic": {"schemes": [{"name": "cyclic", "period": 3}], "pe": parts(cyclic)},
        "together": {"format": "interleaved"},
        "seq2seq": {"model": {"kind": "seq2seq", "encoder_layers": 0}},
    }[name]
    built = build(small(**changes))
    found = extract(oracle(built), built.batcher)
    assert found.differs is None
    assert found.own
    rng = np.random.default_rng(0)
    for length in (1, 2, 3, 4, 99, 100, 101):
        examples = built.batcher.task.sample(5, length, rng)
        for row in range(5):
            truth = examples.answer[row, : examples.answer_length[row]]
            assert found.answer(examples, row).tolist() == truth.tolist()


def test_what_is_not_local_is_no_machine(small):
    built = build(small(pe="alibi"))
    with pytest.raises(NotCertifiable, match='reads the axis "index"'):
        extract(built.model(), built.batcher)
