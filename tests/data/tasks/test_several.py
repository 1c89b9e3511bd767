"""Several tasks in one: every part against Python integers, one layout for all, and what tells them apart."""

import functools
import operator

import numpy as np
import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.batch import Batcher
from tenfold.data.formats import FORMATS
from tenfold.data.roles import Role
from tenfold.data.tasks import SAMPLERS, TASKS, samplers
from tenfold.data.tasks.wrappers.several import Several
from tenfold.evals.exact_match import SLICES, Examiner

SIGNS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
LARGE = {
    "sum": "addition",
    "three": {"name": "addition", "terms": 3},
    "times": {"name": "multiplication", "multiplier": 2},
    "minus": "subtraction",
    "order": "comparison",
}


def made(of=None, **options):
    given = {} if of is None else {"of": of}
    return TASKS.build(Spec.of({"name": "several", **given, **options}))


def terms(*counts):
    return made({f"of-{n}": {"name": "addition", "terms": n} for n in counts})


def written(task, text, format):
    """Question and answer as they stand in a row of their own."""
    vocabulary = task.vocabulary
    line = FORMATS.build(Spec.of(format)).write(task.parse(text), vocabulary)
    return vocabulary.text(line.question.tokens[0]), vocabulary.text(
        line.answer.tokens[0, : line.graded[0]]
    )


def reckoned(text):
    sign = next(sign for sign in SIGNS if sign in text)
    return functools.reduce(SIGNS[sign], map(int, text.split(sign)))


def test_answers_are_those_of_python(rng):
    task = made({k: v for k, v in LARGE.items() if k != "order"})
    examples = task.sample(400, 30, rng, samplers.lengths)
    seen = set()
    for row in range(400):
        text = task.question(examples, row)
        assert int(task.truth(examples, row)) == reckoned(text)
        sign = next(sign for sign in SIGNS if sign in text)
        seen.add((sign, text.count(sign)))
    assert seen == {("+", 1), ("+", 2), ("-", 1), ("*", 1)}


def test_one_layout_for_sums_and_products():
    task, frame = made(), {"name": "in-place", "frame": 5}
    assert written(task, "12+345", frame) == ("___12+__345", "___357")
    assert written(task, "6*345", frame) == ("____6*__345", "__2070")
    assert written(task, "12+345", "reversed") == ("12+345", "753;")
    assert written(task, "6*345", "reversed") == ("6*345", "0702;")
    assert written(task, "6*345", "interleaved") == ("*636465", "0702;")


def test_the_layout_does_not_follow_from_the_batch(rng):
    """A person's one product is written as among sums: same places, same facts, same room for the answer."""
    task = made({"sum": "addition", "product": {"name": "multiplication", "multiplier": 2}})
    several = task.sample(50, 5, rng)
    for spec in ({"name": "in-place", "frame": 6}, {"name": "reversed", "width": 6}):
        every = FORMATS.build(Spec.of(spec)).write(several, task.vocabulary)
        for row in range(50):
            alone = FORMATS.build(Spec.of(spec)).write(
                task.parse(task.question(several, row)), task.vocabulary
            )
            size = int(every.question_length[row])
            for fact in ("tokens", "role", "significance", "column"):
                for side in ("question", "answer"):
                    mine, all_ = (
                        getattr(getattr(alone, side), fact),
                        getattr(getattr(every, side), fact),
                    )
                    whole = np.broadcast_to(all_, (50, all_.shape[1]))[row]
                    whole = whole[len(whole) - size :] if side == "question" else whole
                    assert mine[0].tolist() == whole.tolist()


def test_a_multiplier_has_a_role_of_its_own_and_no_column():
    task = made()
    batcher = Batcher(task, FORMATS.build(Spec.of({"name": "in-place", "frame": 3})), "in_place")
    sums, products = (batcher(task.parse(text)).sequence.places for text in ("45+67", "6*78"))
    assert sums["role"][0].tolist() == [3, 3, 3, Role.OPERATOR, 4, 4, 4]
    assert products["role"][0].tolist() == [5, 5, 5, Role.OPERATOR, 4, 4, 4]
    assert sums["column"][0].tolist() == [-1, 1, 0, 3, 2, 1, 0]
    assert products["column"][0].tolist() == [-1, -1, -1, 3, 2, 1, 0]
    assert products["significance"][0].tolist() == [-1, -1, 0, -1, -1, 1, 0]
    alone = TASKS.build("multiplication")  # there every problem has one: operand 0
    places = Batcher(alone, batcher.format, "in_place")(alone.parse("6*78")).sequence.places
    assert places["role"][0].tolist() == [3, Role.OPERATOR, 4, 4, 4]


def test_a_multiplier_among_sums_of_three():
    task = made({"three": {"name": "addition", "terms": 3}, "product": "multiplication"})
    examples = task.parse("6*78")
    assert (examples.hub.tolist(), examples.longest.tolist()) == ([1], [2])
    line = FORMATS.build(Spec.of({"name": "in-place", "frame": 2})).write(examples, task.vocabulary)
    assert task.vocabulary.text(line.question.tokens[0]) == "____6*78"
    assert line.question.role[0].tolist() == [3, 3, 1, 6, 6, 1, 5, 5]
    assert line.question.column[0].tolist() == [-1, -1, -1, -1, -1, 2, 1, 0]


def test_more_and_fewer_numbers():
    task, frame = terms(2, 3, 4), {"name": "in-place", "frame": 4}
    assert written(task, "12+345", frame) == ("_____" * 2 + "__12+_345", "__357")
    assert written(task, "1+22+333", frame) == ("_____" + "___1+__22+_333", "__356")
    assert written(task, "1+2+3+4444", frame) == ("___1+___2+___3+4444", "_4450")
    assert written(task, "1+22+333", "reversed") == ("1+22+333", "653;")
    assert written(task, "12+345", {"name": "reversed", "width": 4}) == ("0012+0345", "75300;")
    rows = task.sample(30, 3, np.random.default_rng(0))
    line = FORMATS.build(Spec.of("reversed")).write(rows, task.vocabulary)
    for row in range(30):
        question = task.vocabulary.text(line.question.tokens[row]).lstrip("_")
        assert question == task.question(rows, row)
        assert int(line.question_length[row]) == len(question)


def test_no_encoding_sees_a_difference_where_numbers_are_missing():
    """The last numbers have the roles and places that they have in a sum of as many as there can be."""
    task, format = terms(2, 3), FORMATS.build(Spec.of({"name": "in-place", "frame": 3}))
    two, three = (format.write(task.parse(t), task.vocabulary) for t in ("12+34", "5+12+34"))
    for fact in ("tokens", "role", "significance", "column"):
        mine, its = (getattr(each.question, fact)[0] for each in (two, three))
        assert mine[4:].tolist() == its[4:].tolist()
    assert task.vocabulary.text(two.question.tokens[0, :4]) == "____"


def test_verdicts_have_the_tokens_of_the_whole():
    task = made(LARGE)
    assert task.operator == "+*-?"
    assert task.truth(task.parse("21?12"), 0) == "><"
    assert task.truth(task.parse("100-99"), 0) == "001"
    assert written(task, "21?12", "reversed")[1] == "<>;"
    format = FORMATS.build(Spec.of({"name": "reversed", "width": 4}))
    for text, truth in (("345-340", "005"), ("21?12", "><"), ("1+2", "3")):
        examples = task.parse(text)
        answer = format.write(examples, task.vocabulary).answer.tokens[0]
        assert format.read(answer, task.vocabulary, examples) == truth


def test_shares(rng):
    task = made(shares={"sum": 3})
    examples = task.sample(4000, 3, rng)
    assert abs((examples.operator == 0).mean() - 0.75) < 5 * (0.75 * 0.25 / 4000) ** 0.5


def test_a_sampler_for_each_part(rng):
    task = made()
    both = SAMPLERS.bind({"name": "by-part", "of": {"sum": "exact", "product": "lengths"}})
    examples = task.sample(300, 4, rng, both)
    sums = examples.operator == 0
    assert 0 < sums.sum() < 300
    assert (examples.lengths[sums] == 4).all()
    assert set(examples.longest[~sums].tolist()) == {1, 2, 3, 4}
    some = SAMPLERS.bind({"name": "by-part", "of": {"product": "exact"}})
    assert (task.sample(50, 4, rng, some).operator == 1).all()
    with pytest.raises(TenfoldError, match='unknown part "products"; did you mean "product"'):
        task.sample(1, 4, rng, SAMPLERS.bind({"name": "by-part", "of": {"products": "exact"}}))
    with pytest.raises(TenfoldError, match="for the task `several`; this one has no parts"):
        TASKS.build("addition").sample(1, 4, rng, both)


def test_slices_of_each_part(rng):
    task, format = made(), FORMATS.build(Spec.of("reversed"))
    labels = {name: list(SLICES[name](5, task, format)) for name in SLICES}
    assert labels["parts"] == ["sum", "product"]
    assert labels["uniform"] == ["uniform"]
    assert labels["cascades"] == [f"sum-cascade-{size}" for size in (1, 2, 4, "all")]
    assert labels["nines"] == ["sum-nines", "product-nines"]
    assert labels["levels"] == [
        *(f"sum-levels-{n}" for n in range(4)),
        *(f"product-levels-{n}" for n in range(5)),
    ]
    assert labels["pairs"] == []
    for name, part in (("parts", "sum"), ("parts", "product"), ("nines", "product-nines")):
        drawn = task.sample(30, 5, rng, SLICES[name](5, task, format)[part])
        assert (drawn.operator == part.startswith("product")).all()


class Oracle:
    """Reads the tokens of a question in place, reckons with Python integers, writes the tokens of the answer."""

    def __init__(self, task):
        self.vocabulary = task.vocabulary

    def answer(self, batch):
        texts = [self.vocabulary.text(row).replace("_", "") for row in batch.sequence.tokens]
        answers = [str(reckoned(text)).rjust(batch.read, "_") for text in texts]
        return torch.from_numpy(np.stack([self.vocabulary.ids(text) for text in answers]))


def test_an_oracle_is_right_on_every_slice():
    """It sees nothing but the question: so each tells its operation."""
    task = made({k: v for k, v in LARGE.items() if k not in {"order", "minus"}})
    batcher = Batcher(task, FORMATS.build(Spec.of({"name": "in-place", "frame": 5})), "in_place")
    slices = ["uniform", "parts", "full", "pads", "cascades", "carries", "levels", "nines"]
    rows = Examiner(batcher).rows(Oracle(task), [1, 3, 5], slices, n=40)
    assert {row.value for row in rows if row.metric == "exact"} == {1.0}
    assert {"sum", "three", "times", "sum-cascade-all", "times-levels-2"} <= {r.slice for r in rows}


def test_how_far_carries_run():
    assert terms(2, 3).cascade(terms(2, 3).parse("97+5")).tolist() == [2]
    assert terms(2, 3).cascade(terms(2, 3).parse("333+333+334")).tolist() == [3]
    assert made().cascade(made().parse("6*7")) is None


@pytest.mark.parametrize(
    ("of", "problem"),
    [
        ({"a": "addition", "b": "modular-addition"}, r'"a" and "b" are both of 2 numbers with \+'),
        (
            {"a": "addition", "b": {"name": "addition", "base": 2}},
            '"b" counts in base 2, others in 10',
        ),
        ({"a": "successor", "b": "addition"}, '"a" is of one number, so no operator'),
        ({"a": "adition"}, 'unknown task "adition"; did you mean "addition"'),
    ],
)
def test_parts_that_do_not_go_together(of, problem):
    with pytest.raises(TenfoldError, match=problem):
        made(of)


def test_shares_of_parts_that_are_there():
    with pytest.raises(TenfoldError, match='unknown part "sums"; did you mean "sum"'):
        made(shares={"sums": 2})
    with pytest.raises(TenfoldError, match="greater than 0"):
        made(shares={"sum": 0})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("12", r'"12" is none of sum, product; write it as "\d+\+\d+" or "\d\*\d+"'),
        ("1+2+3", "is none of sum, product"),
        ("12*345", "the multiplier 12 has 2 digits"),
        ("1+x", "is not a sum of 2 numbers"),
    ],
)
def test_what_is_no_problem(text, problem):
    with pytest.raises(TenfoldError, match=problem):
        Several().parse(text)


def test_without_a_machine():
    """Certifying says so: what a column needs, the operator tells, and no window sees it."""
    assert Several().transducer() is None
