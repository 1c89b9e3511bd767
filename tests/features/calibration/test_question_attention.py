"""Where heads look: by hand for two heads and two digits, and by plain loops for whole models."""

from dataclasses import replace
from itertools import permutations, product

import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import IGNORED
from tenfold.data.places import Places
from tenfold.features.calibration.mean_attention import answered
from tenfold.features.calibration.question_attention import Looks, looks
from tenfold.models.model import trace

COLUMNS = torch.tensor([[1, 0, -1, 1, 0]])  # of 12+34


def made(weights, asked=(True, True), columns=COLUMNS):
    """One problem, one layer: weights (H, T, S) of the answer digits of columns 0 and 1."""
    back = torch.arange(2)[None, :, None] - columns[:, None]
    digits = (columns >= 0)[:, None].expand_as(back)
    at = Places(index=torch.arange(5)[None], column=columns)
    q_at = Places(index=torch.arange(2)[None], column=torch.arange(2)[None])
    return Looks(torch.tensor(weights)[None, None], back, digits, torch.tensor([asked]), q_at, at)


@pytest.fixture
def two_heads():
    """The first leads at the units of operand 1, then of operand 2; the second at `+`, then at the tens of operand 2."""
    return made([
        [[0.0, 0.6, 0.0, 0.1, 0.3], [0.0, 0.0, 0.2, 0.3, 0.5]],
        [[0.1, 0.2, 0.5, 0.1, 0.1], [0.0, 0.0, 0.0, 1.0, 0.0]],
    ])  # fmt: skip


def test_shares_of_leading_tokens(two_heads):
    assert two_heads.leads[0, 0].tolist() == [[1, 4], [2, 3]]
    assert two_heads.led[:, 0].tolist() == [[True, False], [False, True]]  # digits by heads
    assert two_heads.each_head.tolist() == [[0.5, 0.5]]
    assert two_heads.some_head == 1.0


def test_some_head_by_chance(two_heads):
    """The first head's leads are units twice, the second's are tens once: digit 0 is met, digit 1 in half of the orders."""
    assert two_heads.some_head_by_chance == pytest.approx((1 + 0.5) / 2)


@pytest.mark.parametrize("seed", range(6))
def test_by_chance_agrees_with_all_orders(seed):
    generator = torch.Generator().manual_seed(seed)
    found = made(torch.rand(3, 2, 5, generator=generator).tolist())
    shares = []
    for orders in product(permutations(range(2)), repeat=3):
        mixed = torch.stack([found.weights[0, 0, h, list(o)] for h, o in enumerate(orders)])
        shares.append(made(mixed.tolist()).some_head)
    assert found.some_head_by_chance == pytest.approx(sum(shares) / len(shares))


def test_weight_on_columns(two_heads):
    own = (0.9 + 0.3 + 0.3 + 1.0) / 4  # head by head, digit by digit
    assert two_heads.weight() == pytest.approx(own)
    assert two_heads.weight((0, 1)) == pytest.approx((0.9 + 0.8 + 0.3 + 1.0) / 4)
    assert two_heads.even_weight() == pytest.approx(2 / 5)
    assert two_heads.even_weight((0, 1)) == pytest.approx((2 / 5 + 4 / 5) / 2)


def test_digits_that_are_not_asked_do_not_count(two_heads):
    units = replace(two_heads, graded=torch.tensor([[True, False]]))
    assert units.each_head.tolist() == [[1.0, 0.0]]
    assert units.some_head_by_chance == 1.0
    assert units.weight() == pytest.approx((0.9 + 0.3) / 2)


def test_where_it_led_in_training(two_heads):
    assert two_heads.where(two_heads).tolist() == [[1.0, 1.0]]
    moved = two_heads.weights.clone()
    moved[0, 0, 0, 1] = torch.tensor([1.0, 0, 0, 0, 0])  # the first head, at its second digit
    other = replace(two_heads, weights=moved)
    assert two_heads.where(other).tolist() == [[0.5, 1.0]]


@pytest.mark.parametrize("kind", ["seq2seq", "decoder"])
@pytest.mark.parametrize(("own", "width"), [(True, {}), (False, {}), (True, {"width": 8})])
def test_a_whole_model_by_plain_loops(kind, own, width, make_model, make_batcher, ragged):
    """Written in a width, operands have zeros above their digits, which are not asked about."""
    model = make_model(kind, "sinusoidal")
    batch = make_batcher("seq2seq" if kind == "seq2seq" else "causal", **width)(ragged)
    longest = torch.from_numpy(ragged.longest)
    found = looks(model, batch, upto=longest, own=own)
    read = answered(model, batch) if own else batch
    with trace(model) as seen:
        model(read)
    name = "cross" if kind == "seq2seq" else "attention"
    question = batch.source or batch.sequence
    keys = question.tokens.shape[1] if kind == "seq2seq" else batch.given
    places = {axis: question.places[axis].expand_as(question.tokens) for axis in question.places}
    column = batch.sequence.places["column"].expand_as(batch.sequence.tokens)[:, -batch.read :]
    hits, digits = torch.zeros(2, 2), 0
    for b in range(len(batch)):
        for t in range(batch.read):
            here = int(column[b, t])
            own_keys = {
                s for s in range(keys) if places["role"][b, s] >= 3 and places["column"][b, s] == here
            }  # fmt: skip
            graded = batch.target[b, t] != IGNORED and here < longest[b]
            assert bool(found.graded[b, t]) == bool(graded and own_keys)
            if not found.graded[b, t]:
                continue
            digits += 1
            for layer in range(2):
                given = seen[f"stack.blocks.{layer}.{name}.weights"][0][b, :, -batch.read :, :keys]
                for head in range(2):
                    hits[layer, head] += int(given[head, t].argmax()) in own_keys
    assert digits == int(ragged.longest.sum())
    torch.testing.assert_close(found.each_head, (hits / digits).double())


def test_a_model_that_answers_in_place_is_refused(make_model, make_batcher, ragged):
    batch = make_batcher("in_place", frame=6)(ragged)
    with pytest.raises(TenfoldError, match='kind "encoder" reads its answer in place'):
        looks(make_model("encoder"), batch)
