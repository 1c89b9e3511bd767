import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.places import Places
from tenfold.encodings import ENCODINGS, Pairwise, Relative


def by_loops(pe, q, q_at, k_at, reach, clip):
    """q_i . p_(i-j) for every pair; unrelated pairs have a vector of their own."""
    b, h, t, _ = q.shape
    scores = q.new_zeros(b, h, t, k_at.shape[1])
    for row in range(b):
        for i in range(t):
            for j in range(k_at.shape[1]):
                a, c = (int(x[row if len(x) > 1 else 0, n]) for x, n in ((q_at, i), (k_at, j)))
                difference = a - c
                if clip:
                    difference = max(-reach, min(reach, difference))
                place = 0 if min(a, c) < 0 else reach + 1 + difference
                for head in range(h):
                    scores[row, head, i, j] = (q[row, head, i] * pe.table[place]).sum()
    return scores


PLACES = {
    "alike": (torch.tensor([[3, 4, 5]]), torch.tensor([[0, 1, 5, -1, 7]])),
    "ragged": (
        torch.tensor([[3, 4, 5], [-1, 0, 1]]).repeat(5, 1),
        torch.tensor([[0, 1, 5, -1, 7], [6, -1, 0, 1, 2]]).repeat(5, 1),
    ),
}


@pytest.mark.parametrize(("reach", "clip"), [(8, False), (8, True), (2, True), (1, True)])
@pytest.mark.parametrize("rows", PLACES)
def test_by_loops(normal, rows, reach, clip):
    pe = Pairwise(head_size=6, relation=Relative(reach=reach, clip=clip)).double()
    q_at, k_at = PLACES[rows]
    q, k = normal(10, 2, 3, 6), normal(10, 2, 5, 6)
    pe.check(Places(index=q_at), Places(index=k_at))
    expected = by_loops(pe, q, q_at, k_at, reach, clip)
    assert_close(pe.scores(q, k, Places(index=q_at), Places(index=k_at)), expected)
    classes = pe.relation(Places(index=q_at), Places(index=k_at))
    assert_close(pe._gathered(q, classes), expected)
    if rows == "alike":
        assert_close(pe._shared(q, classes[0]), expected)


@pytest.mark.parametrize("rows", [1, 7, 8, 9])
def test_both_forms_agree_at_any_batch_size(normal, rows, line):
    pe, at = Pairwise(head_size=6, relation=Relative(reach=3)).double(), line(0, 1, 2, 3)
    q = normal(rows, 2, 4, 6)
    scores = pe.scores(q, q, at, at)
    classes = pe.relation(at, at)
    assert_close(scores, pe._gathered(q, classes))
    assert_close(scores, pe._shared(q, classes[0]))


@pytest.mark.parametrize("rows", PLACES)
def test_values_by_loops(normal, rows):
    """Shaw et al. 2018: z_i = sum_j w_ij (v_j + a_ij); this is the part with a."""
    pe = Pairwise(head_size=6, relation=Relative(reach=3, clip=True), values=True).double()
    with torch.no_grad():
        pe.value_table.copy_(normal(8, 6))
    q_at, k_at = PLACES[rows]
    weights = normal(10, 2, 3, 5).softmax(-1)
    expected = torch.zeros(10, 2, 3, 6, dtype=torch.float64)
    for b in range(10):
        for i in range(3):
            for j in range(5):
                a, c = int(q_at[b % len(q_at), i]), int(k_at[b % len(k_at), j])
                row = 0 if min(a, c) < 0 else 4 + max(-3, min(3, a - c))
                for h in range(2):
                    expected[b, h, i] += weights[b, h, i, j] * pe.value_table[row].detach()
    assert_close(pe.values(weights, Places(index=q_at), Places(index=k_at)), expected)


def test_values_start_at_nothing_and_learn(normal, line):
    pe, at = Pairwise(head_size=6, relation=Relative(reach=2), values=True).double(), line(0, 1, 2)
    extra = pe.values(normal(1, 2, 3, 3).softmax(-1), at, at)
    assert (extra == 0).all()
    extra.sum().backward()
    assert (pe.value_table.grad[1:].abs().sum(-1) > 0).all()
    assert (pe.value_table.grad[0] == 0).all()


@pytest.mark.parametrize("rows", PLACES)
def test_unrelated_pairs_without_a_vector(normal, rows):
    """The paper's form among text: no vector at all, not one that is learned; the others are as they were."""
    relation = Relative(reach=8)
    usual = Pairwise(head_size=6, relation=relation, values=True).double()
    pe = Pairwise(head_size=6, relation=relation, values=True, unrelated=False).double()
    with torch.no_grad():
        usual.value_table.copy_(normal(18, 6))
        pe.table.copy_(usual.table[1:])
        pe.value_table.copy_(usual.value_table[1:])
        usual.table[0] = usual.value_table[0] = 0.0
    q_at, k_at = (Places(index=at) for at in PLACES[rows])
    q, k, weights = normal(10, 2, 3, 6), normal(10, 2, 5, 6), normal(10, 2, 3, 5).softmax(-1)
    scores, unrelated = pe.scores(q, k, q_at, k_at), pe.relation(q_at, k_at) == 0
    assert unrelated.any()
    assert (scores[unrelated[:, None].expand_as(scores)] == 0).all()
    assert_close(scores, usual.scores(q, k, q_at, k_at))
    assert_close(pe.values(weights, q_at, k_at), usual.values(weights, q_at, k_at))


def test_no_values_unless_asked(normal, line):
    pe, at = Pairwise(head_size=6), line(0, 1, 2)
    assert pe.values(normal(1, 2, 3, 3), at, at) is None
    assert list(pe.state_dict()) == ["table"]


def test_unrelated_pairs_share_a_vector_of_their_own(line):
    relation = Relative(reach=2, clip=True)
    classes = relation(line(5, -1), line(0, 3, 5, 6, 9, -1))
    assert classes.tolist() == [[[5, 5, 3, 2, 1, 0], [0] * 6]]
    assert relation.classes == 6


def test_reach(line):
    relation = Relative(reach=3)
    relation.check(line(0, 3), line(0, 3))
    relation.check(line(7, 4), line(7, 4))
    for q_at, k_at in ((line(4), line(0, 4)), (line(0, 4), line(4)), (line(0, 1), line(0, 4))):
        with pytest.raises(TenfoldError, match=r'reach 3, the input spans 4 on the axis "index"'):
            relation.check(q_at, k_at)
    Relative(reach=3, clip=True).check(line(0, 100), line(0, 100))


def test_missing_places_and_other_rows_do_not_count_towards_the_reach():
    """Rows with starts of their own, as a random shift gives them, and pads before them."""
    at = Places(index=torch.tensor([[-1, 50, 51], [0, 1, 2], [-1, -1, -1]]))
    Relative(reach=2).check(at, at)
    with pytest.raises(TenfoldError, match="spans 2"):
        Relative(reach=1).check(at, at)


def test_no_reach():
    with pytest.raises(TenfoldError, match="reach is 0; input should be greater than 0"):
        Relative(reach=0)


def test_relation_by_name():
    spec = {"name": "pairwise", "relation": {"name": "relative", "reach": 5, "axis": "column"}}
    pe = ENCODINGS.build(Spec.model_validate(spec), head_size=4)
    assert pe.axes == {"column"}
    assert pe.table.shape == (12, 4)


def test_unknown_relation():
    with pytest.raises(TenfoldError, match='unknown relation "relativ"; did you mean "relative"'):
        Pairwise(head_size=4, relation="relativ")
