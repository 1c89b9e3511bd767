"""What relations and encodings say of the tables that they learned."""

import pytest
import torch
from torch.testing import assert_close

from tenfold.data.places import Places
from tenfold.encodings import (
    RELATIONS,
    T5,
    ALiBi,
    Compose,
    Learned,
    Pairwise,
    PerHead,
    Rotary,
)
from tenfold.encodings.learned_maps import Map, Pairs, maps_of
from tenfold.encodings.relations import (
    Joint,
    Relation,
    Relative,
    Uniform,
    relation_examples,
    relation_of,
)


def pairs_of(at, allowed=None):
    count = at.count
    allowed = torch.ones(1, count, count, dtype=torch.bool) if allowed is None else allowed
    return Pairs(at, at, allowed)


@pytest.fixture
def product():
    """`6*47`, most significant digit first: a multiplier, an operator, two digits."""
    return Places(
        index=torch.arange(4)[None],
        role=torch.tensor([[3, 1, 4, 4]]),
        significance=torch.tensor([[0, -1, 1, 0]]),
        column=torch.tensor([[-1, 2, 1, 0]]),
    )


@pytest.mark.parametrize("given", relation_examples(6), ids=str)
def test_the_groups_of_a_relation_hold_every_class_once(given):
    relation = relation_of(given)
    classes = [each for group in relation.groups() for each in group.classes]
    assert sorted(classes) == list(range(relation.classes))
    for group in relation.groups():
        assert len(group.places) == len(group.classes) == len(group.names or group.places)


def test_a_relation_that_says_nothing_has_numbers():
    class Parity(Relation):
        name, axes, classes = "parity", frozenset({"index"}), 2

        def __call__(self, q_at, k_at):
            return (q_at["index"].unsqueeze(-1) - k_at["index"].unsqueeze(-2)) % 2

    (group,) = Parity().groups()
    assert group.places == (0, 1)


def test_rows_are_the_vectors_of_their_offsets(line):
    pe, at = Pairwise(head_size=3, relation=Relative(reach=5)), line(0, 1, 2)
    (result,) = maps_of(pe, pairs_of(at))
    assert result.places == tuple(range(-5, 6))
    assert result.axis == "index"
    assert result.occurring.names == ("-2", "-1", "0", "1", "2")
    for q in range(3):
        for k in range(3):  # the class of each pair, by the relation itself
            vector = pe.table[pe.relation(at, at)[0, q, k]]
            assert_close(result.values[result.places.index(q - k)], vector.detach().double())


def test_pairs_that_do_not_meet_do_not_occur(line):
    pe, at = Pairwise(head_size=3, relation=Relative(reach=5)), line(0, 1, 2)
    causal = torch.tril(torch.ones(3, 3)).bool()[None]
    assert maps_of(pe, pairs_of(at, causal))[0].occurring.places == (0, 1, 2)
    windowed = Compose([{"name": "window", "behind": 1}, pe], heads=2)
    (result,) = maps_of(windowed, pairs_of(at, causal))
    assert result.occurring.places == (0, 1)
    assert result.title == "pairwise: keys"


def test_lengths_lead(line):
    pe = Pairwise(head_size=2, relation=Relative(reach=2), values=True)
    with torch.no_grad():
        pe.table.zero_()
        pe.table[1 + 1] = torch.tensor([3.0, 4.0])  # offset -1
        pe.table[1 + 2 + 2] = torch.tensor([0.0, 2.0])  # offset 2
    keys, values = maps_of(pe, pairs_of(line(0, 1, 2)))
    assert keys.strongest(2) == [("-1", 5.0), ("2", 2.0)]
    assert (keys.title, values.title) == ("keys", "values")


def test_a_multiplier_has_a_table_of_its_own(product):
    pe = Pairwise(head_size=2, relation=Uniform(reach=3, digits=3))
    offsets, digits = maps_of(pe, pairs_of(product))
    assert digits.title == "keys, operand 1"
    assert digits.axis is None
    assert digits.names == ("digit 0", "digit 1", "digit 2")
    assert digits.occurring.names == ("digit 0",)
    assert 3 not in offsets.occurring.places  # only the multiplier is so far behind
    assert_close(
        digits.values[0], pe.table[pe.relation(product, product)[0, 3, 0]].detach().double()
    )


def test_pairs_of_roles_have_tables_of_their_own(product):
    pe = Pairwise(head_size=2, relation=Joint(reach=1, clip=True, hub=0))
    result = {each.title: each for each in pe.maps(pairs_of(product)) if each.axis}
    table = result["keys, operand 2 asks operand 2"]
    assert table.names == ("-1 or less", "0", "1 or more")
    own = pe.relation(product, product)[0, 2, 3]  # the 4 asks the 7
    assert_close(table.values[2], pe.table[own].detach().double())


def test_buckets_are_shown_by_offset(line):
    pe = T5(heads=2, buckets=8, furthest=16, ahead=False)
    at = line(*range(6))
    (result,) = maps_of(pe, pairs_of(at, torch.tril(torch.ones(6, 6)).bool()[None]))
    assert result.across == "head"
    assert not result.fixed
    for offset in range(6):
        row = pe.table[pe.bucket(torch.tensor(offset))].detach().double()
        assert_close(result.values[result.places.index(offset)], row)


def test_what_is_fixed_says_so(line):
    (result,) = maps_of(ALiBi(heads=2), pairs_of(line(0, 1, 2)))
    assert result.fixed
    assert result.values[result.places.index(0)].tolist() == [0, 0]
    assert maps_of(Rotary(head_size=4), pairs_of(line(0, 1))) == []


def test_places_that_nobody_has_are_left_out(line):
    (result,) = Learned(width=4, limit=9).maps(pairs_of(line(-1, 0, 1)))
    assert result.occurring.places == (0, 1)


def test_heads_are_named(line):
    pe = PerHead(
        [{"name": "pairwise", "relation": {"reach": 3}}, "t5"], heads=4, head_size=2, split=[1, 3]
    )
    first, second = maps_of(pe, pairs_of(line(0, 1, 2)))
    assert first.title == "head 1, pairwise: keys"
    assert second.title == "heads 2 to 4, t5: bias"
    assert second.values.shape[1] == 3


def test_a_shared_part_is_shown_in_the_first_layer_alone(line):
    first, later = (
        Compose(["t5", {"name": "pairwise", "relation": {"reach": 3}}], heads=2, head_size=2)
        for _ in range(2)
    )
    later.borrow(first)
    titles = [[each.title for each in pe.maps(pairs_of(line(0, 1)))] for pe in (first, later)]
    assert titles == [["t5: bias", "pairwise: keys"], ["pairwise: keys"]]


@pytest.mark.parametrize(("axis", "step"), [("index", -1), ("column", 1)])
def test_the_next_lower_digit(product, axis, step):
    assert pairs_of(product).step_back(axis) == step
    alone = pairs_of(product.slice(0, 2))
    assert alone.step_back(axis) is None


def test_every_relation_was_tried():
    assert {each["name"] for each in relation_examples(6)} == set(RELATIONS.names())


def test_the_highest_number_of_a_head():
    table = Map(
        "",
        "",
        ("0", "1"),
        (0, 1),
        torch.tensor([[1.0, -9.0], [2.0, 0.0]]),
        torch.ones(2).bool(),
        across="head",
    )
    assert table.strongest(1) == [("1", 2.0)]
