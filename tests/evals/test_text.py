"""Numbers among text, through the evaluator: integers read from the facts alone score 1, and samples tell what was asked."""

import numpy as np
import pytest
import torch

from tenfold.data.batch import IGNORED, Batcher
from tenfold.data.formats import FORMATS
from tenfold.data.roles import Role
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.multiplication import Multiplication
from tenfold.evals.exact_match import Examiner
from tenfold.models.decoding import Swift
from tenfold.runs.build import build
from tenfold.runs.recipe_files import recipe
from tenfold.runs.sample_log import describe

CASES = [
    (Addition(), {"name": "in-text", "frame": 7, "most": 5}, "in_place"),
    (Multiplication(1), {"name": "in-text", "frame": 7, "most": 5}, "in_place"),
    (Multiplication(3), {"name": "in-text", "frame": 7, "most": 5}, "in_place"),
    (Addition(), {"name": "sentences-in-place", "frame": 7}, "in_place"),
    (Multiplication(2), {"name": "sentences-in-place", "frame": 7}, "in_place"),
    (Addition(), {"name": "sentences"}, "causal"),
    (Multiplication(2), {"name": "sentences"}, "seq2seq"),
]


class ByFacts:
    """Reads two numbers by role and significance, computes with Python integers, writes by column."""

    def __init__(self, batcher):
        self.batcher = batcher

    def answer(self, batch):
        assert (batch.target == IGNORED).all()
        side = batch.source or batch.sequence
        rows = range(len(batch))
        return torch.stack([self.row(batch, side, row) for row in rows])

    def row(self, batch, side, row):
        task, v = self.batcher.task, self.batcher.vocabulary
        role, power = (side.places[axis].expand(len(batch), -1)[row] for axis in ("role", "significance"))  # fmt: skip
        numbers = [
            sum(int(token) * task.base ** int(p) for token, p in zip(*self.of(side, role, power, row, m), strict=True))
            for m in (0, 1)
        ]  # fmt: skip
        total = numbers[0] + numbers[1] if task.operator == "+" else numbers[0] * numbers[1]
        digits = str(total)[::-1]
        column = batch.sequence.places["column"].expand(len(batch), -1)[row, -batch.read :]
        after = v.pad if batch.source is None and batch.given == len(batch.sequence.places) else v.end  # fmt: skip
        return torch.tensor([int(digits[c]) if 0 <= c < len(digits) else after for c in column])

    def of(self, side, role, power, row, operand):
        here = (role == Role.OPERAND + operand) & (power >= 0)
        return side.tokens[row, here], power[here]


@pytest.mark.parametrize(
    ("task", "spec", "layout"), CASES, ids=lambda each: getattr(each, "name", str(each))
)
def test_integers_by_facts_alone_score_1(task, spec, layout):
    batcher = Batcher(task, FORMATS.build(spec), layout)
    logged = []
    log = describe(logged.extend, batcher, "run", 0, ["best"])
    slices = ("uniform", "nines", "sentences")
    rows = Examiner(batcher).rows(ByFacts(batcher), [1, 5, 7], slices, n=20, log=log)
    assert {row.value for row in rows} == {1.0}
    questions = {row.slice for row in rows}
    assert ("unseen-3" in questions) == ("sentences" in spec["name"])
    assert len(logged) == 20 * len(rows) / 2
    for sample in logged:
        assert sample["right"]
        assert sample["answer"] == sample["truth"]
        assert task.truth(batcher.parse(sample["prompt"]), 0) == sample["truth"]
    labels = batcher.format.phrasings(task)
    for sample in logged:
        wording = labels.get(sample["slice"])
        assert wording is None or batcher.parse(sample["prompt"]).wording == wording


@pytest.mark.parametrize(
    "name",
    ["text-addition", "text-multiplication", "sentences-addition", "sentences-addition-window"],
)
def test_an_answer_does_not_depend_on_what_else_is_asked(name, rng):
    """Rows of a batch have different amounts of text; each is answered as it is alone."""
    built = build(recipe(f"symmetry/{name}", "smoke"))
    model, batcher = built.model().double().eval(), built.batcher
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    examples = batcher.task.sample(12, 4, rng)
    together = model.answer(batcher(examples).without_answer(batcher.vocabulary.pad)).numpy()
    read = batcher.format.read
    texts = set()
    for row in range(12):
        one = examples.rows([row])
        alone = model.answer(batcher(one).without_answer(batcher.vocabulary.pad)).numpy()[0]
        ours = read(together[row], batcher.vocabulary, examples, row)
        assert ours == read(alone, batcher.vocabulary, one)
        texts.add(ours)
    assert len(texts) > 1


def test_batches_of_training_are_a_function_of_the_seed_and_the_step():
    built, other = (build(recipe("symmetry/text-addition", "smoke")) for _ in range(2))
    for step in (0, 7):
        ours, theirs = built.batch_at(step), other.batch_at(step)
        assert torch.equal(ours.sequence.tokens, theirs.sequence.tokens)
        assert torch.equal(ours.target, theirs.target)
    before = np.random.get_state()[1].copy()  # noqa: NPY002 (that it is left alone is the point)
    built.batch_at(1)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


@pytest.mark.parametrize("task", [Addition(), Multiplication(1)], ids=lambda task: task.name)
def test_the_fast_way_to_answer_gives_the_same(task, rng):
    """Decoders with a window on columns are answered by neighbours, which no word is."""
    chosen = recipe("symmetry/sentences-addition-window", "smoke", task=task.name)
    built = build(chosen)
    model = built.model().double().eval()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    examples = built.batcher.task.sample(12, 6, rng)
    questions = built.batcher(examples).without_answer(built.batcher.vocabulary.pad)
    swift = Swift(model, built.batcher)
    assert swift.linear
    assert torch.equal(swift.answer(questions), model.answer(questions))
