"""Problems written as sentences: templates, the tokenizer, and what is read where."""

import numpy as np
import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import IGNORED, Batcher
from tenfold.data.formats import FORMATS
from tenfold.data.formats.wording import TEMPLATES, phrases, spoken, understood, words_of
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.comparison import Comparison
from tenfold.data.tasks.arithmetic.multiplication import Multiplication

FORMS = [("sentences", "causal"), ("sentences", "seq2seq"), ("sentences-in-place", "in_place")]
TASKS = [Addition(), Addition(base=7), Multiplication(1), Multiplication(3)]


def batcher_of(task, name="sentences", layout="causal", **options):
    return Batcher(task, FORMATS.build({"name": name, **options}), layout)


@pytest.fixture(params=FORMS, ids=lambda form: " ".join(form))
def form(request):
    return request.param


@pytest.fixture(params=TASKS, ids=lambda task: f"{task.name}-{task.base}")
def said(request):
    return request.param


def facts(side, row=0):
    return {axis: side.places[axis][row].tolist() for axis in ("role", "significance", "column")}


def test_answered_by_a_decoder():
    batcher = batcher_of(Addition())
    batch, v = batcher(batcher.parse("What is 12 plus 345?")), batcher.vocabulary
    assert v.text(batch.sequence.tokens[0]) == "what is 12 plus 345 ? =753;"
    assert v.text(batch.target[0][:4]) == "753;"
    assert facts(batch.sequence) == {
        "role": [0, 0, 3, 3, 1, 4, 4, 4, 0, 1, 2, 2, 2, 2],
        "significance": [-1, -1, 1, 0, -1, 2, 1, 0, -1, -1, 0, 1, 2, 3],
        "column": [-1, -1, 1, 0, -1, 2, 1, 0, -1, 0, 1, 2, 3, 4],
    }


def test_a_multiplier_has_no_column():
    batcher = batcher_of(Multiplication(2), layout="seq2seq")
    source = batcher(batcher.parse("multiply 12 with 345")).source
    assert facts(source) == {
        "role": [0, 3, 3, 1, 4, 4, 4],
        "significance": [-1, 1, 0, -1, 2, 1, 0],
        "column": [-1, -1, -1, -1, 2, 1, 0],
    }


def test_answered_in_place():
    """The word before the second number is read too, for what overflows the frame."""
    batcher = batcher_of(Addition(), "sentences-in-place", "in_place", frame=3)
    batch = batcher(batcher.parse("12 increased by 990 is what number ?"))
    v, side = batcher.vocabulary, batch.sequence
    assert v.text(side.tokens[0]) == "_12 increased by 990 is what number ?"
    target = batch.target[0].tolist()
    read = dict(enumerate(target, start=len(side.places) - len(target)))
    assert {at: token for at, token in read.items() if token != IGNORED} == {4: 1, 5: 0, 6: 0, 7: 2}
    assert facts(side) == {
        "role": [3, 3, 3, 0, 1, 4, 4, 4, 0, 0, 0, 0],
        "significance": [-1, 1, 0, -1, -1, 2, 1, 0, -1, -1, -1, -1],
        "column": [2, 1, 0, -1, 3, 2, 1, 0, -1, -1, -1, -1],
    }


def test_every_template_reads_back(form, said, rng):
    """Asked, spoken, understood and answered: each template, in every layout."""
    batcher = batcher_of(said, *form)
    examples = said.sample(3, 4, rng, samplers.lengths)
    labels = batcher.format.phrasings(said)
    assert len(labels) == len(TEMPLATES[said.operator]) >= 12
    for wording in labels.values():
        for row in range(3):
            numbers = said.question(examples, row).split(said.operator)
            text = spoken(wording, numbers)
            parsed = batcher.parse(text)
            assert parsed.wording == wording
            assert batcher.question(parsed, 0) == text
            written = batcher.format.write(parsed, batcher.vocabulary)
            read = batcher.format.read(written.answer.tokens[0], batcher.vocabulary, parsed)
            assert read == said.truth(examples, row)


def test_held_out_templates_are_never_written(said, rng):
    batcher = batcher_of(said, held_out=3)
    examples = said.sample(500, 5, rng, samplers.exact)
    wordings = {batcher.parse(batcher.question(examples, row)).wording for row in range(500)}
    assert wordings == set(phrases(said.operator)[:-3])
    labels = batcher.format.phrasings(said)
    assert {label for label, wording in labels.items() if wording not in wordings} == {
        "unseen-1",
        "unseen-2",
        "unseen-3",
    }


@pytest.mark.parametrize("operator", TEMPLATES)
def test_held_out_templates_have_no_word_of_their_own(operator):
    """Else a model would meet a word that it never saw."""
    every = [{word for gap in phrase for word in gap} for phrase in phrases(operator)]
    assert set().union(*every[-3:]) <= set().union(*every[:-3])
    assert len(set(phrases(operator))) == len(every)


@pytest.mark.parametrize("operator", TEMPLATES)
def test_templates_have_two_numbers_with_a_word_between(operator):
    for before, between, after in phrases(operator):
        assert between
        assert all(word == word.lower() for word in (*before, *between, *after))


def test_the_template_follows_from_the_digits(form, rng):
    task = Addition()
    batcher = batcher_of(task, *form)
    examples = task.sample(20, 5, rng, samplers.lengths)
    once, again = batcher(examples), batcher(examples)
    assert torch.equal(once.sequence.tokens, again.sequence.tokens)
    for row in range(20):
        alone = task.parse(task.question(examples, row))
        assert batcher.question(alone, 0) == batcher.question(examples, row)


def test_a_sentence_of_known_words_need_not_be_a_template():
    batcher = batcher_of(Addition())
    examples = batcher.parse("please , how much do i get if 12 and 345 is added ?")
    assert batcher.task.truth(examples, 0) == "357"
    assert batcher.question(examples, 0) == "please, how much do i get if 12 and 345 is added?"


def test_the_tokenizer_splits_words_numbers_and_signs():
    task = Addition()
    vocabulary = task.vocabulary.with_words(words_of(task))
    assert understood("What is 12+345?", task, vocabulary) == (
        ["12", "345"],
        (("what", "is"), ("+",), ("?",)),
    )
    ids = vocabulary.ids(["what", "is", *"12", "plus", "?"])
    assert vocabulary.text(ids) == "what is 12 plus ?"
    assert len(set(ids.tolist())) == 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("what is 12 pluss 345?", 'unknown word "pluss"; did you mean "plus"?'),
        ("what is 12 plus é ?", 'unknown word "é"'),
        ("what is 12?", "has 1 number(s); 2 with a word between them are wanted"),
        ("add 1 and 2 and 3", "has 3 number(s); 2 with a word"),
        ("plus 12 345", 'as in "what is 12 plus 345?"'),
        ("", "has 0 number(s)"),
    ],
)
def test_what_is_not_understood_is_refused(text, message, form):
    with pytest.raises(TenfoldError) as caught:
        batcher_of(Addition(), *form).parse(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_digits_of_another_base_are_refused():
    with pytest.raises(TenfoldError, match="not a sum of 2 numbers in base 7"):
        batcher_of(Addition(base=7)).parse("what is 12 plus 345789?")


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        (Comparison(), {}, r'no sentences for "\?"; there are for \+ and \*'),
        (Addition(base=16), {}, "base 2 to 10"),
        (Addition(terms=3), {}, "a sentence is about 2 numbers, not 3"),
        (Addition(), {"held_out": 18}, "18 templates held out of 18"),
    ],
)
def test_what_cannot_be_said(task, options, message, rng):
    with pytest.raises(TenfoldError, match=message):
        batcher_of(task, **options)(task.sample(2, 3, rng))


def test_what_a_model_writes_stays_visible():
    batcher = batcher_of(Addition())
    v = batcher.vocabulary
    tokens = np.concatenate([v.ids("75"), v.ids(["plus"]), v.ids("3;9")])
    assert batcher.format.read(tokens, v) == "3 plus 57"
