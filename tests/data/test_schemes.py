import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.data.schemes import (
    SCHEMES,
    abacus,
    across,
    coupled,
    cyclic,
    down,
    floats,
    interpolated,
    randomized,
    shifted,
    stretched,
)
from tenfold.encodings import ALiBi, Power, Rotary, RotaryLinear


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def ragged_index():
    """Three rows of 9, 6 and 2 tokens, padded on the left."""
    index = torch.arange(9).repeat(3, 1) - torch.tensor([[0], [3], [7]])
    return Places(index=index.clamp(min=-1))


TOKENS = torch.zeros(3, 9)


def test_shifted_starts_anywhere_within_reach(ragged_index):
    starts = set()
    for seed in range(40):
        axis = shifted(TOKENS, ragged_index, generator(seed), reach=3)["shifted"]
        index = ragged_index["index"]
        assert torch.equal(axis < 0, index < 0)
        for row in range(3):
            moved = (axis - index)[row][index[row] >= 0].unique()
            assert len(moved) == 1  # a whole row moves together
            starts.add(int(moved))
    assert starts == {0, 1, 2, 3}


def test_stretched_is_the_length_of_each_row_as_a_multiple_of_the_limit(ragged_index):
    axis, index = stretched(TOKENS, ragged_index, limit=4)["stretched"], ragged_index["index"]
    assert torch.equal(axis < 0, index < 0)
    rows = [set(axis[row][index[row] >= 0].tolist()) for row in range(3)]
    assert rows == [{225}, {150}, {100}]  # 9, 6 and 2 tokens


def test_rows_are_shifted_independently(ragged_index):
    axis = shifted(TOKENS, ragged_index, generator(), reach=1000)["shifted"]
    assert len(set(axis[:, -1].tolist())) == 3


@pytest.mark.parametrize("random", [False, True])
def test_randomized_is_sorted_distinct_and_below_the_limit(ragged_index, random):
    places = randomized(TOKENS, ragged_index, generator() if random else None, limit=20)
    axis, index = places["randomized"], ragged_index["index"]
    assert torch.equal(axis < 0, index < 0)
    for row, own in zip(axis, index, strict=True):
        own_places = row[own >= 0]
        assert (own_places.diff() > 0).all()
        assert own_places.min() >= 0
        assert own_places.max() < 20


def test_randomized_is_uniform_over_subsets():
    at = Places(index=torch.arange(2)[None])
    drawn = randomized(torch.zeros(6000, 2), at, generator(), limit=4)["randomized"]
    pairs, counts = drawn.unique(dim=0, return_counts=True)
    assert pairs.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    assert (counts - 1000).abs().max() < 120  # four standard deviations


def test_randomized_beyond_its_limit(ragged_index):
    with pytest.raises(TenfoldError, match="limit of 8, the input has 9 tokens"):
        randomized(TOKENS, ragged_index, limit=8)


@pytest.mark.parametrize("random", [False, True])
def test_floats_are_sorted_and_within_the_limit_at_any_length(ragged_index, random):
    """Nine tokens within two positions: there is room for any number."""
    places = floats(TOKENS, ragged_index, generator() if random else None, limit=2, parts=1000)
    axis, index = places["floats"], ragged_index["index"]
    assert torch.equal(axis < 0, index < 0)
    for row, own in zip(axis, index, strict=True):
        own_places = row[own >= 0]
        assert (own_places.diff() > 0).all()
        assert own_places.min() >= 0
        assert own_places.max() < 2000
        assert own_places.max() > 2000 * (0.3 if random else 0.49)


def test_floats_are_order_statistics_of_uniform_draws():
    """The k-th of n is at k / (n + 1) of the range on average, whatever stands beside it in the batch."""
    index = torch.cat([torch.arange(3).repeat(4000, 1), torch.tensor([[-1, 0, 1]]).repeat(4000, 1)])
    drawn = floats(torch.zeros(8000, 3), Places(index=index), generator(), limit=10, parts=100)["floats"]  # fmt: skip
    means = drawn.double()[:4000].mean(0)
    assert (means - torch.tensor([250.0, 500.0, 750.0])).abs().max() < 15
    means = drawn.double()[4000:, 1:].mean(0)
    assert (means - torch.tensor([1000 / 3, 2000 / 3])).abs().max() < 15


def test_floats_are_not_whole_positions():
    drawn = floats(torch.zeros(100, 5), Places(index=torch.arange(5)[None]), generator(), limit=8, parts=64)["floats"]  # fmt: skip
    assert 0.9 < (drawn % 64 != 0).double().mean() < 1


def test_encodings_that_divide_read_parts_as_positions():
    """What the docstring names: rotary positions and ALiBi at i / parts."""
    whole, parts = torch.tensor([[0, 3, 8]]), 16
    at, fine = Places(index=whole), Places(floats=whole * parts)
    q = torch.randn(1, 2, 3, 8, generator=generator(), dtype=torch.float64)
    turned = RotaryLinear(head_size=8, factor=parts, axis="floats").rotate(q, q, fine, fine)
    assert_close(turned, Rotary(head_size=8).rotate(q, q, at, at))
    power = Power(heads=4, power=1.0, factor=1 / parts, axis="floats")
    assert_close(power.bias(fine, fine), ALiBi(heads=4).bias(at, at))


def test_cyclic(ragged_index):
    axis = cyclic(TOKENS, ragged_index, period=4)["cyclic"]
    assert axis[0].tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 0]
    assert axis[2].tolist() == [-1] * 7 + [0, 1]


def test_abacus_counts_within_each_number(make_batcher, task):
    batch = make_batcher("causal", abacus, operands="reversed")(task.parse("12+345"))
    # 2 1 + 5 4 3 = 7 5 3 ;
    assert batch.sequence.places["abacus"].tolist() == [[1, 2, -1, 1, 2, 3, -1, 1, 2, 3, 4]]


def test_abacus_starts_anywhere_for_a_whole_row(make_batcher, task):
    batcher = make_batcher("causal", lambda *given: abacus(*given, reach=50))
    examples = task.parse("12+345")
    seen = {
        tuple(batcher(examples, generator(seed)).sequence.places["abacus"][0].tolist())
        for seed in range(5)
    }
    assert len(seen) > 1
    for places in seen:
        begin = places[0]
        assert 1 <= begin <= 51
        expected = [0, 1, None, 0, 1, 2, None, 0, 1, 2, 3]
        assert list(places) == [-1 if e is None else begin + e for e in expected]


def test_coupled_is_the_significance(make_batcher, task):
    batch = make_batcher("causal", coupled)(task.parse("12+345"))
    assert torch.equal(batch.sequence.places["coupled"], batch.sequence.places["significance"])


def test_cyclic_by_column_does_not_know_how_long_the_question_is(make_batcher, task):
    for problem in ("12+345", "9+9", "12345+1"):
        batch = make_batcher("causal", lambda *a: cyclic(*a, period=2, axis="column"))(
            task.parse(problem)
        )
        column = batch.sequence.places["column"]
        expected = [[c if c < 0 else c % 2 for c in row] for row in column.tolist()]
        assert batch.sequence.places["cyclic"].tolist() == expected


@pytest.mark.parametrize(("limit", "parts"), [(4, 1), (6, 64), (9, 64), (20, 3)])
def test_interpolated_by_plain_loops(ragged_index, limit, parts):
    """Rows of 9, 6 and 2 tokens: none is beyond the limit, and short ones are left as they are."""
    at = ragged_index.add(role=torch.full((3, 9), 3))
    axis = interpolated(TOKENS, at, limit=limit, parts=parts)["interpolated"]
    for row, count in enumerate((9, 6, 2)):
        for place in range(9 - count, 9):
            index = place - (9 - count)
            scale = limit / count if count > limit else 1.0
            assert axis[row, place] == int(index * scale * parts + 1e-9)
        assert (axis[row, : 9 - count] == -1).all()
    assert axis.max() < limit * parts


def test_interpolated_answers_of_an_encoder_decoder_have_their_own_limit(make_batcher, task):
    def scheme(*given):
        return interpolated(*given, limit=4, answer_limit=2, parts=8)

    batch = make_batcher("seq2seq", scheme)(task.parse("123+456"))  # 7 tokens, and 5 for the answer
    assert batch.source.places["interpolated"].tolist() == [[i * 32 // 7 for i in range(7)]]
    assert batch.sequence.places["interpolated"].tolist() == [[i * 16 // 5 for i in range(5)]]


def test_names():
    assert SCHEMES.names() == [
        "abacus",
        "across",
        "coupled",
        "cyclic",
        "down",
        "floats",
        "interpolated",
        "randomized",
        "shifted",
        "stretched",
    ]


def test_patches_of_an_image_have_a_row_and_a_column(ragged_index):
    """Nine patches are 3 x 3, six the first of these, two the first of 2 x 2; pads have no place."""
    rows = down(TOKENS, ragged_index)["down"].tolist()
    columns = across(TOKENS, ragged_index)["across"].tolist()
    assert rows[0] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert columns[0] == [0, 1, 2] * 3
    assert (rows[1][3:], columns[1][3:]) == ([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2])
    assert (rows[2][7:], columns[2][7:]) == ([0, 0], [0, 1])
    assert rows[2][:7] == columns[2][:7] == [-1] * 7
    large = Places(index=torch.arange(576)[None])
    assert down(TOKENS, large)["down"].max() == across(TOKENS, large)["across"].max() == 23
