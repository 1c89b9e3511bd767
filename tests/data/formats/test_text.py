"""Numbers among random words: where words stand, what they leave alone, and that a problem has its own."""

import numpy as np
import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import IGNORED, Batcher
from tenfold.data.formats import FORMATS
from tenfold.data.formats.numeric import InPlace
from tenfold.data.formats.random_words import MOST_WORDS, InText, word
from tenfold.data.formats.woven import Squeeze
from tenfold.data.roles import Role
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.multiplication import Multiplication
from tenfold.data.tasks.chance import draws
from tenfold.encodings.relations import Significance, Uniform

TASKS = [Addition(), Addition(terms=3), Multiplication(1), Multiplication(3), Addition(base=16)]


def written(task, **options):
    return Batcher(task, InText(**options), "in_place")


def table(batch, vocabulary):
    """Tokens, facts and what is read there, of the first row."""
    side, target = batch.sequence, batch.target[0].tolist()
    read = [IGNORED] * (len(side.places) - len(target)) + target
    return {
        "token": [vocabulary.text([i]) for i in side.tokens[0]],
        **{axis: side.places[axis][0].tolist() for axis in ("index", "role", "column")},
        "significance": side.places["significance"][0].tolist(),
        "read": ["" if i == IGNORED else vocabulary.text([i]) for i in read],
    }


def test_worked_example():
    """The example of docs/text.md: pads have a column, words have nothing, the answer has a gap."""
    batcher = written(Addition(), frame=4)
    facts = table(batcher(batcher.parse("ma re 12+ ti 345 ka")), batcher.vocabulary)
    assert " ".join(facts["token"]) == "ma re _ _ 1 2 + ti _ 3 4 5 ka"
    assert facts["index"] == list(range(13))
    assert facts["role"] == [0, 0, 3, 3, 3, 3, 1, 0, 4, 4, 4, 4, 0]
    assert facts["significance"] == [-1, -1, -1, -1, 1, 0, -1, -1, -1, 2, 1, 0, -1]
    assert facts["column"] == [-1, -1, 3, 2, 1, 0, 4, -1, 3, 2, 1, 0, -1]
    assert facts["read"] == ["", "", "", "", "", "", "_", "", "_", "3", "5", "7", ""]


def test_what_overflows_is_read_at_the_multiplier_too():
    batcher = written(Multiplication(3), frame=3)
    facts = table(batcher(batcher.parse("ma 12* ti re 345 ka")), batcher.vocabulary)
    assert " ".join(facts["token"]) == "ma _ 1 2 * ti re 3 4 5 ka"
    assert facts["role"] == [0, 3, 3, 3, 1, 0, 0, 4, 4, 4, 0]
    assert facts["column"] == [-1, -1, 5, 4, 3, -1, -1, 2, 1, 0, -1]
    assert facts["read"] == ["", "", "_", "_", "4", "", "", "1", "4", "0", ""]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.name}-{task.terms}-{task.base}")
def test_without_the_words_it_is_in_place(task, rng):
    """Take the words out, and the tokens, their facts and the answer are those of `in-place`, but for columns of pads."""
    examples = task.sample(40, 4, rng, samplers.lengths)
    batcher = written(task, frame=5, most=6)
    plain = Batcher(task, InPlace(5), "in_place")(examples)
    batch = batcher(examples)
    side = batch.sequence
    for row in range(40):
        number = side.places["role"][row] > Role.TEXT
        assert torch.equal(side.tokens[row, number], plain.sequence.tokens[row])
        for axis in ("role", "significance"):
            theirs = plain.sequence.places[axis].expand(40, -1)[row]
            assert torch.equal(side.places[axis][row, number], theirs)
        ours, theirs = side.places["column"][row, number], plain.sequence.places["column"][row]
        assert torch.equal(ours[theirs >= 0], theirs[theirs >= 0])
        target = batch.target[row]
        assert torch.equal(target[target != IGNORED], plain.target[row])
        words = side.places["role"][row] == Role.TEXT
        assert (side.tokens[row, words] >= len(batcher.vocabulary.symbols)).all()
        for axis in ("significance", "column"):
            assert (side.places[axis][row, words] == -1).all()


def test_words_are_up_to_so_many_in_every_place(rng):
    task = Addition()
    examples = task.sample(3000, 8, rng, samplers.exact)
    gaps = InText(most=3, words=7).words(examples, InText(words=7).vocabulary(task))
    for gap in gaps:
        counts = np.bincount(gap.count, minlength=4)
        assert len(counts) == 4
        assert (abs(counts - 750) < 120).all()  # five standard deviations
        drawn = np.bincount(gap.ids[gap.inside] - 15, minlength=7)
        assert len(drawn) == 7
        assert (abs(drawn - drawn.mean()) < 0.2 * drawn.mean()).all()
    together = np.corrcoef([gap.count for gap in gaps])
    assert abs(together - np.eye(3)).max() < 0.1


def test_a_problem_has_its_words_whatever_stands_beside_it(rng):
    task = Addition()
    examples = task.sample(20, 6, rng, samplers.lengths)
    batcher = written(task, frame=6, most=4)
    whole = batcher.format.write(examples, batcher.vocabulary)
    for row in range(20):
        alone = batcher.format.write(
            task.parse(task.question(examples, row)), batcher.vocabulary
        )  # a narrower array, too
        size = int(alone.question_length[0])
        assert whole.question_length[row] == size
        assert np.array_equal(whole.question.tokens[row, -size:], alone.question.tokens[0])


def test_the_words_of_a_problem_stay_what_they_are():
    """Runs are resumed, and results compared, by other versions: this text may not change."""
    batcher = written(Addition(), frame=5, most=4, words=50)
    assert batcher.question(Addition().parse("123+4095"), 0) == PINNED


PINNED = "nu 123+ sa tu 4095 nu zi vo ri"


@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.name}-{task.terms}-{task.base}")
def test_a_question_is_parsed_again(task, rng):
    batcher = written(task, frame=6, most=2)
    examples = task.sample(20, 5, rng, samplers.lengths)
    for row in range(20):
        question = batcher.question(examples, row)
        again = batcher.parse(question)
        assert batcher.question(again, 0) == question
        assert task.truth(again, 0) == task.truth(examples, row)
        given, drawn = batcher(again).sequence.tokens[0], batcher(examples.rows([row])).sequence.tokens[0]  # fmt: skip
        assert torch.equal(given, drawn)


def test_words_before_an_operator_are_moved_behind_it():
    batcher = written(Addition(), frame=4)
    assert batcher.question(batcher.parse("ma 12 ti + re 345"), 0) == "ma 12+ ti re 345"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ma 12+ 345 hello", 'unknown word "hello"'),
        ("12 ma 345", '"12 ma 345" has no operator before 345'),
        ("ma 12", '"12" is not a sum of 2 numbers'),
        ("1 ma 2+3", "no operator before 2+3"),
    ],
)
def test_what_is_no_problem_is_refused(text, message):
    with pytest.raises(TenfoldError) as caught:
        written(Addition(), frame=4).parse(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_relations_by_column_do_not_see_how_much_text_there_is(rng):
    """Any two number tokens share a class with the same two of any other row, and words are unrelated to all."""
    task = Addition()
    places = written(task, frame=4, most=5)(
        task.sample(30, 4, rng, samplers.lengths)
    ).sequence.places
    classes = Significance(reach=4, axis="column")(places, places)
    first = None
    for row in range(30):
        number = places["role"][row] > Role.TEXT
        related = classes[row][number][:, number]
        first = related if first is None else first
        assert torch.equal(related, first)
        assert (classes[row][~number] == 0).all()
        assert (classes[row][:, ~number] == 0).all()
    assert (first[0:4, 0:4] == first[5:9, 5:9]).all()
    assert (first > 0).all()


def test_uniform_vectors_reach_every_number_token(rng):
    """All tokens of numbers see the multiplier's digits by one vector each: pads and the operator, too; words do not."""
    task = Multiplication(3)
    batcher = written(task, frame=4, most=5)
    places = batcher(task.sample(30, 4, rng, samplers.lengths)).sequence.places
    relation = Uniform(reach=8, digits=3, axis="column")
    classes = relation(places, places)
    role, significance, column = (places[axis] for axis in ("role", "significance", "column"))
    count = 0
    for row in range(30):
        for key in ((role[row] == Role.OPERAND) & (significance[row] >= 0)).nonzero()[:, 0]:
            others = torch.arange(len(role[row])) != key
            seen = classes[row, :, key]
            expected = relation.first + significance[row, key]
            assert (seen[others & (column[row] >= 0)] == expected).all()
            assert (seen[role[row] <= Role.TEXT] == 0).all()
            count += 1
    assert count >= 30


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"frame": 0}, "frame is 0"),
        ({"most": -1}, "most is -1"),
        ({"words": MOST_WORDS + 1}, f"there are {MOST_WORDS}"),
        ({"frame": "fit"}, "frame is 'fit'"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(TenfoldError, match=message):
        FORMATS.build({"name": "in-text", **options})


def test_an_answer_is_not_read_without_its_question():
    batcher = written(Addition(), frame=4)
    with pytest.raises(TenfoldError, match="cannot be read without its question"):
        batcher.format.read(np.zeros(9, dtype=np.int64), batcher.vocabulary)


def test_no_word_is_a_number_in_any_base():
    words = [word(number) for number in range(MOST_WORDS)]
    assert len(set(words)) == MOST_WORDS
    assert not any(set(each) <= set("0123456789abcdef") for each in words)


def test_random_numbers_of_problems_differ(rng):
    examples = Addition().sample(2000, 3, rng, samplers.exact)
    bits = draws(examples, 4)
    pairs = {tuple(operands.ravel()) for operands in examples.operands}
    assert len(np.unique(bits)) == 4 * len(pairs)
    swapped = draws(Addition().solve(examples.operands[:, ::-1], examples.lengths[:, ::-1]), 4)
    same = (examples.operands[:, 0] == examples.operands[:, 1]).all(1)
    assert (bits != swapped)[~same].all()


def test_squeezing_agrees_with_a_loop(rng):
    inside = rng.random((30, 12)) < 0.5
    rows = rng.integers(0, 100, inside.shape)
    squeeze = Squeeze(inside)
    squeezed = squeeze(rows, -7)
    for row in range(30):
        kept = [int(value) for value, there in zip(rows[row], inside[row], strict=True) if there]
        assert squeezed[row].tolist() == [-7] * (squeezed.shape[1] - len(kept)) + kept
        assert squeeze.count[row] == len(kept)
