"""A looped encoder: what a loop hands on, when a row stops, what training draws."""

import pytest
import torch

from tenfold.core.registry import Spec
from tenfold.encodings import ENCODINGS, SIZES
from tenfold.models import Looped, Shape, trace
from tenfold.models.layers import set_generator
from tenfold.models.looped import LoopInput
from tenfold.runs.recipe_files import recipe as published
from tenfold.runs.train import train


@pytest.fixture
def batch(make_batcher, ragged):
    return make_batcher("in_place", frame=6)(ragged)


def looped(task, feedback, loops=6, through=1):
    pe = ENCODINGS.factory(Spec.of({"name": "learned", "limit": 16}), SIZES)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        model = Looped(
            vocabulary=len(task.vocabulary), end=task.vocabulary.end, shape=Shape(2, 16, 2),
            pe=pe, loops=loops, feedback=feedback, through=through,
        )  # fmt: skip
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape))
    return model.double().eval()


def counter(model, most):
    """Its answer is its last answer plus one, up to `most`; at first 0."""

    def loop(batch, given):
        seen = given.answer[:, :1]
        limit = batch.sequence.tokens[:, -1:] % most
        answer = torch.where(seen == model.nothing, 0, torch.minimum(seen + 1, limit))
        answer = answer.expand_as(batch.target)
        return torch.nn.functional.one_hot(answer, model.nothing).double(), LoopInput(answer, None)

    return loop


def test_rows_stop_by_themselves(task, batch, monkeypatch):
    """A row that counts to k changes in k + 1 loops; one more shows that it has settled."""
    model = looped(task, "guess")
    monkeypatch.setattr(model, "_loop", counter(model, 5))
    logits, loops = model.settled(batch)
    limits = batch.sequence.tokens[:, -1] % 5
    assert len(set(limits.tolist())) > 1
    assert (logits.argmax(-1) == limits[:, None]).all()
    assert loops.tolist() == (limits + 2).tolist()


def test_an_exact_number_of_loops(task, batch, monkeypatch):
    """Row by row what `settled` stops at, and no stop: a counter without limit counts on."""
    model = looped(task, "guess")
    logits, loops = model.settled(batch)
    for row, count in enumerate(loops.tolist()):
        torch.testing.assert_close(model.after(batch, count)[row], logits[row])
    monkeypatch.setattr(model, "_loop", counter(model, 5))
    limits = batch.sequence.tokens[:, -1] % 5
    for count in (1, 3, 9):
        assert (
            model.after(batch, count)[:, 0].argmax(-1).tolist()
            == limits.clamp(max=count - 1).tolist()
        )


def test_what_never_settles_ends(task, batch, monkeypatch):
    model = looped(task, "guess", loops=3)
    flips = lambda b, given: (  # noqa: E731
        torch.zeros(*b.target.shape, 13).double(),
        LoopInput((given.answer + 1) % 2, None),
    )
    monkeypatch.setattr(model, "_loop", flips)
    assert model.settled(batch)[1].tolist() == [batch.read + 3] * len(batch)
    assert model.settled(batch, most=2)[1].tolist() == [2] * len(batch)


@pytest.mark.parametrize("feedback", ["guess", "state", "both"])
def test_a_row_is_answered_as_it_is_alone(task, batch, feedback):
    model = looped(task, feedback)
    together = model.settled(batch)[0]
    for row in range(len(batch)):
        alone = model.settled(batch.rows(slice(row, row + 1)))[0]
        torch.testing.assert_close(alone[0], together[row])


@pytest.mark.parametrize("feedback", ["guess", "state", "both"])
def test_a_loop_sees_the_question_and_what_it_is_given(task, batch, feedback):
    model = looped(task, feedback)
    first, given = model._loop(batch, model._nothing(batch))
    second, _ = model._loop(batch, given)
    assert not torch.allclose(first, second)
    other = batch.rows(torch.arange(len(batch)).roll(1))
    assert not torch.allclose(second, model._loop(other, given)[0])


def test_gradients_flow_through_the_last_loops_only(task, batch):
    for through, expected in ((1, 1), (3, 3)):
        model = looped(task, "state", loops=4, through=through).train()
        kept = []
        model.stack.register_forward_hook(
            lambda _module, _given, out, kept=kept: kept.append(out.requires_grad)
        )
        for seed in range(8):
            set_generator(model, torch.Generator().manual_seed(seed))
            kept.clear()
            model(batch).sum().backward()
            assert sum(kept) == min(expected, len(kept))
            assert kept == sorted(kept)  # without gradients first


def test_training_draws_from_the_trainers_generator(task, batch):
    """So a run that is resumed loops as often as one that was not stopped."""
    model = looped(task, "guess").train()
    counts = []
    for _ in range(2):
        set_generator(model, torch.Generator().manual_seed(3))
        with trace(model, "stack.norm") as seen:
            for _ in range(10):
                model(batch)
        counts.append(len(seen["stack.norm"]))
    assert counts[0] == counts[1] > 10


def test_learns_to_carry_by_its_own_answer(tmp_path):
    """22222+1 and 22221+1 differ in one digit; a layer that sees two columns cannot distinguish their answers in one pass."""
    chosen = published("symmetry/looped-addition").replace(
        task={"name": "addition", "base": 3},
        model={"width": 32, "heads": 4},
        train={"steps": 200, "batch": 64, "checkpoint_every": 200, "log_every": 50},
        eval={"lengths": [3], "slices": ["uniform"], "n": 20, "every": 200, "validation": []},
    )
    run = train(chosen, tmp_path)
    batcher, model = run.built.batcher, run.model().eval()
    batches = [batcher(batcher.task.parse(text)) for text in ("22222+1", "22221+1")]

    def right(most):
        return [torch.equal(model.settled(b, most)[0].argmax(-1), b.target) for b in batches]

    assert not all(right(1))
    assert all(right(None))


def test_options_of_another_kind_are_refused(tenfold):
    code, _, err = tenfold(
        "train", "symmetry/addition-relative", "--scale", "smoke", "--model.loops", "3"
    )
    assert code == 2
    assert err.strip() == 'error: a model of the kind "encoder" has no loops; leave it out'
    code, _, err = tenfold(
        "train", "symmetry/looped-addition", "--scale", "smoke", "--model.feedback", "hope"
    )
    assert code == 2
    assert "feedback is 'hope'" in err
    assert err.count("\n") == 1
