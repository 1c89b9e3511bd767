"""Tags against a plain loop over the words, from the last one on."""

import itertools
import re

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import Batcher
from tenfold.data.formats.numeric import Reversed
from tenfold.data.tasks import samplers
from tenfold.data.tasks.symbolic.tagging import WORDS, Tagging


def by_hand(words):
    """The grammar once more, in words: a phrase is `d`, adjectives and nouns, and ends in a noun."""
    tags = ""
    for word in reversed(words):
        right = tags[:1]
        in_phrase = right in ("I", "E")
        if word == "n":
            tag = "I" if in_phrase else "E"
        elif word == "a":
            tag = "I" if in_phrase else "O"
        elif word == "d":
            tag = "B" if in_phrase else "O"
        elif word == "c":
            tag = "I" if right == "I" else "O"
        else:
            tag = "O"
        tags = tag + tags
    return tags


def sentences(longest):
    for length in range(1, longest + 1):
        for words in itertools.product(WORDS, repeat=length):
            if length == 1 or words[0] != "c":
                yield "".join(words)


def test_all_short_sentences():
    task, count = Tagging(), 0
    for text in sentences(4):
        examples = task.parse(text)
        assert task.question(examples, 0) == text
        assert task.truth(examples, 0) == by_hand(text)
        count += 1
    assert count == 5 + 4 * (5 + 25 + 125)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 9, 2000])
def test_long_ones(length, rng):
    task = Tagging()
    examples = task.sample(5, length, rng, samplers.lengths)
    for row in range(5):
        assert task.truth(examples, row) == by_hand(task.question(examples, row))


def test_the_machine(check_machine):
    check_machine(Tagging())


def test_tokens():
    v = Tagging().vocabulary
    assert "".join(v.symbols) == "cnadv_;^=TBIEO"
    assert len(set(v.symbols)) == len(v)
    assert [v.symbols[token] for token in (v.pad, v.end, v.start, v.equals, v.operator)] == [
        *"_;^=T"
    ]


@pytest.mark.parametrize("layout", ["causal", "seq2seq"])
def test_written_from_the_last_word_on(layout):
    task = Tagging()
    batch = Batcher(task, Reversed(), layout)(task.parse("danv"))
    question = (batch.sequence if batch.source is None else batch.source).tokens[0, :4]
    assert task.vocabulary.text(question) == "danv"
    assert task.vocabulary.text(batch.target[0]) == "OEIB;"
    assert batch.sequence.places["column"][0, -5:].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("text", ["d a n v", " danv ", "dan v"])
def test_spaces(text):
    assert Tagging().question(Tagging().parse(text), 0) == "danv"


@pytest.mark.parametrize("text", ["x", "dog", "DAN", "12", "d,a"])
def test_what_is_no_sentence(text):
    with pytest.raises(TenfoldError, match=r'unknown symbol ".*"; known: a, c, d, n, v'):
        Tagging().parse(text)


def test_no_sentence_begins_with_a_conjunction():
    with pytest.raises(TenfoldError, match='"cn" begins with a conjunction, c, as no sentence'):
        Tagging().parse("cn")
    assert Tagging().truth(Tagging().parse("c"), 0) == "O"


def test_runs_of_adjectives(rng):
    task = Tagging()
    hard = task.hard(9)["cascades"]
    assert list(hard) == ["cascade-1", "cascade-2", "cascade-4", "cascade-8", "cascade-all"]
    for label, size in zip(hard, (1, 2, 4, 8, 8), strict=True):
        examples = task.sample(200, 9, rng, hard[label])
        for row in range(200):
            text = task.question(examples, row)
            assert len(text) == 9
            assert size in [len(run) for run in re.findall("(?:^|(?<=[^a]))(a*)[nv]", text)]
    assert Tagging().hard(1) == {"cascades": {}}
    assert list(Tagging().hard(2)["cascades"]) == ["cascade-1", "cascade-all"]


def test_half_of_the_runs_follow_a_noun(rng):
    task = Tagging()
    examples = task.sample(400, 9, rng, task.hard(9)["cascades"]["cascade-all"])
    texts = [task.question(examples, row) for row in range(400)]
    assert set(texts) == {"aaaaaaaan", "aaaaaaaav"}
    assert 150 < texts.count("aaaaaaaan") < 250
