"""Sequence tasks: any alphabet, nothing stripped, and one clear line for what is wrong."""

import numpy as np
import pytest
import torch

import tenfold
from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.batch import IGNORED, Batcher
from tenfold.data.formats import FORMATS
from tenfold.data.tasks import TASKS, SequenceTask, samplers
from tenfold.data.tasks.sequence import letters
from tenfold.data.tasks.symbolic.copying import Copying
from tenfold.data.tasks.symbolic.reversing import Reversing
from tenfold.evals.exact_match import Examiner
from tenfold.models.decoding import Swift
from tenfold.runs.build import build


class Doubling(SequenceTask):
    """Every token twice: an answer longer than its input."""

    name = "doubling"

    def __init__(self):
        super().__init__("xyz")

    def answer(self, tokens):
        return np.repeat(tokens, 2)

    def answer_size(self, length):
        return 2 * length

    def columns(self, length):
        return np.arange(length).repeat(2)


class Deduplicated(SequenceTask):
    """Neighbours that are equal become one: the length of an answer is not known from the question."""

    name = "deduplicated"

    def __init__(self):
        super().__init__("ab")

    def answer(self, tokens):
        return tokens[np.append(True, tokens[1:] != tokens[:-1])]


def written(task, text, layout="causal", name="in-order", **options):
    spec = Spec(name=name, options=options)
    return Batcher(task, FORMATS.build(spec), layout)(task.parse(text))


def test_nothing_is_stripped():
    task = Copying("0123456789")
    examples = task.parse("0312")
    assert (task.question(examples, 0), task.truth(examples, 0)) == ("0312", "0312")
    drawn = task.sample(500, 4, np.random.default_rng(0), samplers.exact)
    assert {task.question(drawn, row)[0] for row in range(500)} == set("0123456789")


@pytest.mark.parametrize("size", [1, 2, 26, 300, 1000])
def test_alphabets_of_any_size(size, rng):
    task = Copying(size)
    examples = task.sample(50, 6, rng, samplers.exact)
    assert examples.operands.max() < size
    assert len(task.vocabulary) == size + 5
    for row in range(50):
        text = task.question(examples, row)
        assert text == task.truth(examples, row)
        assert task.question(task.parse(text), 0) == text
        assert len(text.split() if size > 26 else text) == 6
    batcher = Batcher(task, FORMATS.build("in-order"), "causal")
    assert batcher(examples).target[:, :-1].numpy().tolist() == examples.operands[:, 0, ::-1].tolist()  # fmt: skip


def test_letters_are_distinct():
    assert len(set(letters(2000))) == 2000


@pytest.mark.parametrize("text", ["cba", "c b a", " cb  a"])
def test_spaces(text):
    assert Copying().question(Copying().parse(text), 0) == "cba"


def test_words_are_symbols():
    task = Copying(["to", "be", "or", "not"])
    assert task.truth(task.parse("to be or not to be"), 0) == "to be or not to be"
    batch = written(task, "be not")
    assert task.vocabulary.text(batch.target[0]) == "be not ;"
    with pytest.raises(TenfoldError, match='unknown symbol "tobe"; did you mean "to"'):
        task.parse("tobe or")


def test_facts_in_order():
    """`abc` reversed: the token that predicts `c` works on the input position of `c`."""
    batch = written(Reversing(), "abc")
    places = batch.sequence.places
    assert Reversing().vocabulary.text(batch.sequence.tokens[0]) == "abc=cba"
    assert places["index"][0].tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert places["role"][0].tolist() == [3, 3, 3, 1, 2, 2, 2]
    assert places["significance"][0].tolist() == [0, 1, 2, -1, 2, 1, 0]
    assert places["column"][0].tolist() == [0, 1, 2, 2, 1, 0, 3]


def test_an_encoder_decoder_reads_the_input_and_writes_in_order():
    batch = written(Reversing(), "abc", "seq2seq")
    assert batch.source.places["column"][0].tolist() == [0, 1, 2]
    assert Reversing().vocabulary.text(batch.sequence.tokens[0]) == "^cba"
    assert batch.sequence.places["column"][0].tolist() == [2, 1, 0, 3]


def test_in_place_each_token_is_answered_where_it_stands():
    batch = written(Reversing(), "abc", "in_place", "in-place", frame=4)
    v = Reversing().vocabulary
    assert (v.text(batch.sequence.tokens[0]), v.text(batch.target[0])) == ("_abc", "_cba")


def test_answers_longer_than_their_inputs():
    task = Doubling()
    batch = written(task, "xyz")
    assert task.vocabulary.text(batch.target[0]) == "xxyyzz;"
    assert batch.sequence.places["column"][0].tolist() == [0, 1, 2, 0, 0, 1, 1, 2, 2, 6]
    batch = written(task, "xyz", "in_place", "in-place", frame="fit")
    assert task.vocabulary.text(batch.sequence.tokens[0]) == "|||xyz"
    assert task.vocabulary.text(batch.target[0]) == "xxyyzz"


def test_places_do_not_say_how_long_an_answer_is():
    task = Deduplicated()
    one, four = (written(task, text) for text in ("aaaa", "abab"))
    assert (one.target[0] != IGNORED).sum() == 2
    assert (four.target[0] != IGNORED).sum() == 5
    for axis in one.sequence.places:
        assert one.sequence.places[axis].tolist() == four.sequence.places[axis].tolist()


def test_rows_of_different_lengths_have_their_own_columns(rng):
    task = Reversing()
    examples = task.sample(30, 5, rng, samplers.lengths)
    batcher = Batcher(task, FORMATS.build("in-order"), "causal")
    together = batcher(examples)
    for row in range(30):
        alone = batcher(examples.rows([row]))
        size = alone.sequence.tokens.shape[1]
        start = together.given - alone.given
        places = together.sequence.places["column"][row, start : start + size]
        assert places.tolist() == alone.sequence.places["column"][0].tolist()


@pytest.mark.parametrize("text", ["", "  "])
def test_empty_input(text):
    with pytest.raises(TenfoldError, match="the input is empty; write some of the symbols a, b, c"):
        Copying().parse(text)


@pytest.mark.parametrize(("text", "symbol"), [("abz", "z"), ("a B", "B"), ("a,b", ",")])
def test_unknown_symbol(text, symbol):
    with pytest.raises(TenfoldError, match=f'unknown symbol "{symbol}"; known: a, b, c'):
        Copying().parse(text)


@pytest.mark.parametrize(
    ("alphabet", "message"),
    [
        ("", "an alphabet of no symbols"),
        (0, "an alphabet of no symbols"),
        ("aba", 'the symbol "a" stands twice'),
        (["a", "b c"], 'the symbol "b c" of an alphabet is empty or has a space'),
        (["a", ""], "is empty or has a space"),
    ],
)
def test_bad_alphabets(alphabet, message):
    with pytest.raises(TenfoldError, match=message):
        TASKS.build(Spec(name="copying", options={"alphabet": alphabet}))


def test_a_task_that_answers_more_than_it_states():
    class Wrong(Doubling):
        def answer_size(self, length):
            return length

    with pytest.raises(TenfoldError, match=r"answers 6 token\(s\) to an input of 3; 1 to 3"):
        Wrong().parse("xyz")


@pytest.mark.parametrize("name", ["reversed", "interleaved"])
def test_no_zeros_in_front(name):
    with pytest.raises(TenfoldError, match="has no zeros: leave width out"):
        Batcher(Copying(), FORMATS.build(Spec(name=name, options={"width": 5})), "causal")


def test_words_stand_around_digits_alone():
    with pytest.raises(TenfoldError, match='the task "copying" has other symbols'):
        Batcher(Copying(), FORMATS.build("in-text"), "in_place")


def test_numbers_are_not_written_in_order():
    with pytest.raises(TenfoldError, match="use the format reversed"):
        Batcher(TASKS.build("addition"), FORMATS.build("in-order"), "causal")


def test_sequences_are_neither_truncated_nor_parts_of_arithmetic():
    with pytest.raises(TenfoldError, match="no numbers that could be truncated"):
        TASKS.build(Spec(name="truncated", options={"of": "copying"}))
    parts = {"sum": "addition", "copy": "copying"}
    with pytest.raises(TenfoldError, match='"copy" is of the task "copying", which has no numbers'):
        TASKS.build(Spec(name="several", options={"of": parts}))


def test_slices_that_do_not_apply_ask_nothing():
    batcher = Batcher(Copying(), FORMATS.build("in-order"), "causal")
    labels = [label for _, label, _ in Examiner(batcher).samplers([5], ["unequal", "carries", "pairs", "hard"])]  # fmt: skip
    assert labels == []


@pytest.mark.parametrize("name", ["copying", "reversing"])
def test_a_windowed_model_answers_as_it_does_token_by_token(name, rng):
    """Decoding by neighbours assumes that answers go from column to column; reversing does not."""
    recipe = tenfold.Recipe(
        task=name,
        format="in-order",
        pe={"name": "window", "behind": 1, "ahead": 0, "axis": "column"},
        model={"kind": "decoder", "layers": 1, "width": 16, "heads": 2},
    )
    built = build(recipe)
    model, batcher = built.model().eval(), built.batcher
    swift = Swift(model, batcher)
    assert swift.linear is (name == "copying")
    batch = batcher(batcher.task.sample(20, 9, rng, samplers.lengths)).without_answer(
        batcher.vocabulary.pad
    )
    assert torch.equal(swift.answer(batch), model.answer(batch))
