"""Lines found in attention that is made up: what a head looks at is known."""

import math

import numpy as np
import pytest
import torch

from tenfold.data.batch import IGNORED
from tenfold.data.tasks import samplers
from tenfold.data.tasks.arithmetic.multiplication import Multiplication
from tenfold.features.calibration.line_selection import Rules, find
from tenfold.features.calibration.mean_attention import Average, Track, average, tracks
from tenfold.models.layers import Attention


@pytest.fixture
def looks(make_batcher, make_model, task, monkeypatch):
    """`looks(kind, score)`: heads found in a model whose logits are score(q, k), facts of a query and a key.

    Operands have different lengths, and rows are padded.
    """

    def found(kind, score, rules=None, **options):
        batcher = make_batcher("seq2seq" if kind == "seq2seq" else "causal", **options)
        examples = batcher.task.sample(40, 5, np.random.default_rng(0), samplers.lengths)
        batch = batcher(examples)
        model = make_model(kind, "none", layers=1, encoder_layers=0 if kind == "seq2seq" else None)

        def facts(tokens, row, place):
            axes = {a: tokens.places[a] for a in tokens.places}
            return {a: int(axis[row % len(axis), place]) for a, axis in axes.items()}

        def asking(row, place):
            """With whether its token is graded; of the answer alone."""
            number = place - batch.sequence.tokens.shape[1]
            graded = -number <= batch.read and batch.target[row, number] != IGNORED
            return {**facts(batch.sequence, row, place), "graded": bool(graded)}

        rows, queries = batch.sequence.tokens.shape
        given = {}
        for name, source in (("causal", batch.sequence), ("cross", batch.source)):
            if source is not None:
                keys = range(source.tokens.shape[1])
                told = [
                    [
                        [score(name, asking(b, t), facts(source, b, s)) for s in keys]
                        for t in range(queries)
                    ]
                    for b in range(rows)
                ]
                given[name] = torch.tensor(told).double()

        def replaced(name):
            def hook(_module, _inputs, logits):
                whole = given[name][:, None, -logits.shape[2] :, : logits.shape[3]]
                return whole.expand_as(logits).masked_fill(logits == -math.inf, -math.inf)

            return hook

        for module in model.stack.modules():
            if isinstance(module, Attention):
                name = "cross" if module.crossing else "causal"
                module.logits.register_forward_hook(replaced(name))
        monkeypatch.setattr(model, "answer", lambda batch: batch.target.clamp(min=0))
        heads, notes = find(average(model, [batch]), rules or Rules())
        assert len(heads) == 2 * len(given)
        return {head.attention: [str(line.track) for line in head.kept] for head in heads}, notes

    return found


def test_one_diagonal(looks):
    def score(where, q, k):
        return 5.0 if where == "causal" and q["index"] - k["index"] == 1 else 0.0

    kept, _ = looks("seq2seq", score)
    assert kept == {"causal": ["answer, column 1 back"], "cross": []}


@pytest.mark.parametrize("kind", ["seq2seq", "decoder"])
def test_two_anti_diagonals_of_operands_of_different_lengths(looks, kind):
    """Anchored at each operand's right end, they are two lines, whatever the lengths."""

    def score(where, q, k):
        asks = where == "cross" or kind == "decoder"
        behind = q["column"] - k["column"]
        if asks and min(q["column"], k["column"]) >= 0:
            return 6.0 * (k["role"] == 3 and behind == 1) + 5.0 * (k["role"] == 4 and behind == 0)
        return 0.0

    kept, _ = looks(kind, score)
    found = ["operand 1, column 1 back", "operand 2, same column"]
    assert kept == ({"causal": [], "cross": found} if kind == "seq2seq" else {"causal": found})


@pytest.mark.parametrize(
    ("role", "column", "word"), [(1, -1, "operator"), (1, 0, "start")], ids=["operator", "start"]
)
def test_vertical_to_a_named_token(looks, role, column, word):
    def score(where, q, k):
        return 4.0 if (k["role"], k["column"]) == (role, column) else 0.0

    kept, _ = looks("decoder", score)
    assert kept == {"causal": [word]}


def test_what_follows_the_end_of_an_answer_does_not_count(looks):
    """Attention there is nobody's, however strong."""

    def score(where, q, k):
        operator = (k["role"], k["column"]) == (1, -1)
        return 4.0 * operator if q["graded"] else -400.0 * operator

    assert looks("decoder", score)[0] == {"causal": ["operator"]}


def test_the_units_of_an_operand_are_no_line_that_extends(looks):
    kept, _ = looks("decoder", lambda where, q, k: 4.0 * (k["role"] == 3 and k["column"] == 0))
    assert kept == {"causal": []}


def test_a_multiplier_is_seen_from_every_column(looks):
    def score(where, q, k):
        same = k["role"] == 4 and q["column"] == k["column"]
        return 4.0 * (where == "cross" and (k["role"] == 3 or same))

    kept, _ = looks("seq2seq", score, task=Multiplication())
    assert sorted(kept["cross"]) == ["operand 1, digit 0", "operand 2, same column"]


def test_flat_attention_keeps_nothing(looks):
    assert looks("seq2seq", lambda *_: 1.0)[0] == {"causal": [], "cross": []}


def test_directions_that_are_left_out_keep_nothing(looks):
    def score(where, q, k):
        return 5.0 * (q["index"] == k["index"]) + 4.0 * (k["role"] == 1 and k["column"] == -1)

    rules = Rules(directions=("vertical",))
    assert looks("decoder", score, rules)[0] == {"causal": ["operator"]}


def test_a_kappa_that_no_line_can_pass_is_told(looks):
    rules = Rules(kappa_self=9.0)
    kept, notes = looks("seq2seq", lambda where, q, k: 5.0 * (q["index"] == k["index"]), rules)
    assert kept["causal"] == []
    assert any(
        "self-attention has 4 diagonal lines" in note and "1.73 sigma" in note for note in notes
    )


@pytest.fixture
def made_up():
    """Averages of three lines with means 3, 2 and 0 over five tokens, in each of two layers."""
    cells = torch.tensor([3.0, 2.0, 0.0]).expand(1, 5, 3).double()
    names = tuple(Track("answer", "diagonal", "column", offset) for offset in range(3))
    return [Average("causal", layer, names, cells) for layer in (1, 2)]


def test_values_are_relative_to_the_best_line(made_up):
    heads, _ = find(made_up, Rules(kappa_self=0.0, source="last"))
    (head,) = heads
    assert [(line.offset, line.value) for line in head.lines(None, soft=False)] == [(0, 0), (1, -1)]
    floor = list(head.lines(None, soft=True))[-1]
    assert (floor.keys, floor.axis, floor.value) == ("all", None, -3.0)


def test_each_layer_or_the_last_for_all(made_up):
    assert [head.layer for head in find(made_up, Rules(source="last"))[0]] == [2]
    assert [head.layer for head in find(made_up, Rules())[0]] == [1, 2]


def test_every_pair_has_the_track_that_plain_loops_give(make_batcher, ragged):
    batch = make_batcher("causal")(ragged)
    at, read = batch.sequence.places, batch.read
    asked = batch.target != IGNORED
    held = batch.sequence.valid
    found = tracks(at.last(read), at, asked, held)
    for b in range(len(ragged)):
        for t in range(read):
            query = int(at["column"].expand_as(held)[b, -read + t])
            for s in range(held.shape[1]):
                role, column = (
                    int(at["role"].expand_as(held)[b, s]),
                    int(at["column"].expand_as(held)[b, s]),
                )
                number = int(found.moving_of[b, t, s])
                if not held[b, s] or column < 0 or not asked[b, t]:
                    assert number == -1
                    continue
                keys = "answer" if role in (1, 2) else f"operand {role - 2}"
                track = found.moving[number]
                assert (track.keys, track.axis, track.offset) == (keys, "column", query - column)
                assert track.direction == ("diagonal" if keys == "answer" else "anti-diagonal")
