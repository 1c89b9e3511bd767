"""Layouts: the worked example of the core types, and what a model may see of an answer."""

import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import IGNORED, LAYOUTS
from tenfold.data.roles import Role
from tenfold.data.tasks import samplers

ROLES = {Role.TEXT: ".", Role.OPERATOR: "o", Role.ANSWER: "a", Role.OPERAND: "1", 4: "2", -1: "-1"}

WORKED = {
    "in_place": """
        token         _  _  _  1  2  +  _  _  3  4  5
        index         0  1  2  3  4  5  6  7  8  9 10
        role          1  1  1  1  1  o  2  2  2  2  2
        significance -1 -1 -1  1  0 -1 -1 -1  2  1  0
        column       -1 -1 -1  1  0  5  4  3  2  1  0
        predicts                     _  _  _  3  5  7
    """,
    "causal": """
        token         1  2  +  3  4  5  =  7  5  3
        index         0  1  2  3  4  5  6  7  8  9
        role          1  1  o  2  2  2  o  a  a  a
        significance  1  0 -1  2  1  0 -1  0  1  2
        column        1  0 -1  2  1  0  0  1  2  3
        predicts                        7  5  3  ;
    """,
    "seq2seq source": """
        token         1  2  +  3  4  5
        index         0  1  2  3  4  5
        role          1  1  o  2  2  2
        significance  1  0 -1  2  1  0
        column        1  0 -1  2  1  0
    """,
    "seq2seq": """
        token         ^  7  5  3
        index         0  1  2  3
        role          o  a  a  a
        significance -1  0  1  2
        column        0  1  2  3
        predicts      7  5  3  ;
    """,
}


def table(side, target, vocabulary):
    """Tokens, facts and what is predicted, a column a token; what follows the answer's end is left out."""
    symbols = vocabulary.symbols
    facts = {
        axis: side.places[axis][0].tolist() for axis in ("index", "role", "significance", "column")
    }
    lines = {"token": [symbols[i] for i in side.tokens[0]], **facts}
    lines["role"] = [ROLES[role] for role in facts["role"]]
    shown = len(side.places)
    if target is not None:
        graded = [symbols[i] for i in target[0] if i != IGNORED]
        before = shown - target.shape[1]
        shown = before + len(graded)
        lines["predicts"] = [""] * before + graded
    return "\n".join(
        name.ljust(12) + "".join(f"{value:>3}" for value in values[:shown])
        for name, values in lines.items()
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_worked_example(layout, make_batcher, task):
    options = {"frame": 5} if layout == "in_place" else {}
    batch = make_batcher(layout, **options)(task.parse("12+345"))
    shown = {layout: table(batch.sequence, batch.target, task.vocabulary)}
    if batch.source is not None:
        shown[f"{layout} source"] = table(batch.source, None, task.vocabulary)
    for name, text in shown.items():
        print(f"12+345, {name}\n{text}\n")
        expected = WORKED[name].strip("\n").rstrip()
        indent = len(expected) - len(expected.lstrip())
        assert text == "\n".join(line[indent:] for line in expected.splitlines())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_without_answer_shows_the_question_alone(layout, make_batcher, ragged, task):
    options = {"frame": 6} if layout == "in_place" else {}
    batch = make_batcher(layout, **options)(ragged)
    question, blank = batch.without_answer(task.vocabulary.pad), task.vocabulary.pad
    assert torch.equal(
        question.sequence.tokens[:, : batch.given], batch.sequence.tokens[:, : batch.given]
    )
    assert (question.sequence.tokens[:, batch.given :] == blank).all()
    assert (question.target == IGNORED).all()
    assert question.read == batch.read
    assert (batch.target != IGNORED).any()  # the batch itself is as it was
    if layout != "in_place":
        assert (batch.sequence.tokens[:, batch.given :] != blank).any()


def test_a_causal_question_ends_with_equals(make_batcher, ragged, task):
    batch = make_batcher("causal")(ragged)
    tokens = batch.sequence.tokens
    assert (tokens[:, batch.given - 1] == task.vocabulary.equals).all()
    assert tokens.shape[1] == batch.given + batch.read - 1


@pytest.mark.parametrize("layout", ["causal", "seq2seq"])
def test_ragged_rows_are_aligned_at_the_right(layout, make_batcher, ragged, task):
    batch = make_batcher(layout)(ragged)
    side = batch.source or batch.sequence
    sizes = ragged.lengths.sum(1) + 1
    end = None if batch.source else batch.given - 1
    for row, count in enumerate(sizes):
        question = task.question(ragged, row)
        assert task.vocabulary.text(side.tokens[row, :end]) == question.rjust(int(sizes.max()), "_")
        padding = int(sizes.max() - count)
        budget = int(ragged.longest[row]) + 2  # an answer may have one digit more, and its end
        length = int(count) if batch.source else int(count) + budget
        after = len(side.places) - padding - length
        expected = [-1] * padding + list(range(length)) + [-1] * after
        assert side.places["index"][row].tolist() == expected
        assert side.valid[row].tolist() == [place >= 0 for place in expected]
        for fact in ("role", "significance", "column"):
            assert (side.places[fact][row][~side.valid[row]] == -1).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_that_are_alike_share_their_places(layout, make_batcher, task, rng):
    options = {"frame": 4} if layout == "in_place" else {}
    batch = make_batcher(layout, **options)(task.sample(9, 4, rng, samplers.exact))
    assert batch.sequence.valid is None
    assert batch.sequence.places["index"].shape[0] == 1


def test_targets_after_the_end_are_not_graded(make_batcher, task):
    batch = make_batcher("causal")(task.parse("1+2"))
    assert batch.target.tolist() == [[3, task.vocabulary.end, IGNORED]]


def test_unknown_layout(make_batcher):
    with pytest.raises(TenfoldError, match='unknown layout "casual"; did you mean "causal"'):
        make_batcher("casual")


def test_a_format_that_does_not_fit_the_layout(make_batcher):
    with pytest.raises(
        TenfoldError, match='"in-place" cannot be laid out as "causal"; it can as in_place'
    ):
        make_batcher("causal", format="in-place")


def test_batch_moves_whole(make_batcher, ragged):
    batch = make_batcher("seq2seq")(ragged).to("meta")
    for side in (batch.sequence, batch.source):
        assert side.tokens.is_meta
        assert all(side.places[axis].is_meta for axis in side.places)
    assert batch.source.valid.is_meta
    assert batch.target.is_meta
    assert len(batch) == 5
