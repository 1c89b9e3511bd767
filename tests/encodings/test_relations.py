"""Which pairs share a class: pairs that must be distinguished are, and no others."""

import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.places import Places
from tenfold.data.roles import Role
from tenfold.encodings import RELATIONS, Joint, Relative, Significance, Uniform

TEXT, OPERATOR, ANSWER, FIRST, SECOND = *Role, Role.OPERAND + 1


@pytest.fixture
def product():
    """Text, then `_12x305=` with a pad that belongs to the first number; in the other row `7x9=` after padding."""
    padding = [-1, -1, -1, -1, -1]
    return Places(
        index=torch.tensor([[0, 1, 2, 3, 4, 5, 6, 7, 8], [*padding, 0, 1, 2, 3]]),
        significance=torch.tensor([[-1, -1, 1, 0, -1, 2, 1, 0, -1], [*padding, 0, -1, 0, -1]]),
        column=torch.tensor([[-1, -1, 1, 0, -1, 2, 1, 0, 0], [*padding, 0, -1, 0, 0]]),
        role=torch.tensor([
            [TEXT, FIRST, FIRST, FIRST, OPERATOR, SECOND, SECOND, SECOND, OPERATOR],
            [*padding, FIRST, OPERATOR, SECOND, OPERATOR],
        ]),
    )  # fmt: skip


def assert_told_apart(relation, q_at, k_at, describe):
    """Two pairs have one class exactly if they have one description; no description is class 0."""
    classes, meaning = relation(q_at, k_at).tolist(), {}
    for row, queries in enumerate(classes):
        q, k = (
            [{axis: int(at[axis][row % len(at[axis]), t]) for axis in at} for t in range(len(at))]
            for at in (q_at, k_at)
        )
        for i, keys in enumerate(queries):
            for j, number in enumerate(keys):
                described = describe(q[i], k[j])
                assert (number == 0) == (described is None)
                assert number in range(relation.classes)
                assert meaning.setdefault(number, described) == described
    assert len(set(meaning.values())) == len(meaning) > 3


def by_difference(axis, q, k):
    return None if min(q[axis], k[axis]) < 0 else q[axis] - k[axis]


def test_relative(product):
    assert_told_apart(
        Relative(reach=8), product, product, lambda q, k: by_difference("index", q, k)
    )


def test_significance(product):
    """By difference of significance among digits, also across operands; all else is unrelated."""
    assert_told_apart(
        Significance(reach=2), product, product, lambda q, k: by_difference("significance", q, k)
    )


@pytest.mark.parametrize(("operand", "role"), [(0, FIRST), (1, SECOND)])
@pytest.mark.parametrize("axis", ["index", "column"])
def test_uniform(product, operand, role, axis):
    """p_(j, i) = c_i for each digit i of the multiplier and every j but itself; by difference for the rest."""

    def describe(q, k):
        multiplier = k["role"] == role and k["significance"] >= 0
        related = min(q[axis], k[axis]) >= 0
        if multiplier and related and q["index"] != k["index"]:
            return "c", k["significance"]
        return by_difference(axis, q, k)

    relation = Uniform(reach=8, digits=3, operand=operand, axis=axis)
    assert relation.classes == 2 * 8 + 2 + 3
    assert_told_apart(relation, product, product, describe)


def test_joint(product):
    """(role, role, difference); without a difference the roles alone; without roles unrelated."""

    def describe(q, k):
        if min(q["role"], k["role"]) < 0:
            return None
        return q["role"], k["role"], by_difference("column", q, k)

    relation = Joint(reach=2, roles=5)
    assert relation.classes == 5 * 5 * (2 * 2 + 2) + 1
    assert_told_apart(relation, product, product, describe)


def test_uniform_from_another_sequence():
    """A decoder's tokens have indices of their own: one at the multiplier's index is still another token."""
    question = Places(index=torch.arange(2)[None], role=torch.tensor([[FIRST, SECOND]]),
        significance=torch.zeros(1, 2).long())  # fmt: skip
    answer = question.add(role=torch.full((1, 2), ANSWER))
    by_digit = 2 * 8 + 2
    assert Uniform(reach=8)(answer, question)[0, :, 0].tolist() == [by_digit, by_digit]


@pytest.mark.parametrize("relation", [Significance, Uniform, Joint])
def test_other_queries_than_keys_and_rows_that_share_them(product, relation):
    """Of the answer in a decoder, alike in all rows, to the question in an encoder."""
    answer = Places(
        index=torch.tensor([[0, 1]]), role=torch.tensor([[OPERATOR, ANSWER]]),
        significance=torch.tensor([[-1, 0]]), column=torch.tensor([[0, 1]]),
    )  # fmt: skip
    both = Places(**{axis: answer[axis].expand(2, -1) for axis in answer})
    relation = relation(reach=9)
    assert relation(answer, product).shape == (2, 2, 9)
    assert torch.equal(relation(answer, product), relation(both, product))
    assert torch.equal(relation(product, answer), relation(product, both))


@pytest.mark.parametrize("relation", [Relative, Significance, Uniform, Joint])
def test_clipped_differences_share_a_class(product, relation):
    far = product.add(**{axis: product[axis] * 10**6 for axis in ("index", "column")})
    far = far.add(
        **{axis: torch.where(product[axis] < 0, -1, far[axis]) for axis in ("index", "column")}
    )
    options = {"axis": "index"} if relation is Significance else {}
    near, clipped = (relation(reach=1, clip=True, **options) for _ in range(2))
    clipped.check(far, far)
    assert torch.equal(clipped(far, far), near(product, product))


def test_what_they_read():
    assert (Significance().axes, Significance().invariant) == ({"significance"}, {"significance"})
    assert (Joint().axes, Joint().invariant) == ({"role", "column"}, {"column"})
    assert (Uniform().axes, Uniform().invariant) == ({"index", "role", "significance"}, {"index"})


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        (Significance(reach=1), 'reach 1, the input spans 2 on the axis "significance"'),
        (Uniform(reach=7), 'reach 7, the input spans 8 on the axis "index"'),
        (Uniform(digits=1), "uniform positions of 1 digits, the input reaches 2"),
        (Uniform(digits=2, operand=1), "uniform positions of 2 digits, the input reaches 3"),
        (Joint(reach=1), 'reach 1, the input spans 2 on the axis "column"'),
        (Joint(roles=4), "joint positions of 4 roles, the input has the role 4"),
    ],
)
def test_limits(product, relation, message):
    with pytest.raises(TenfoldError, match=message):
        relation.check(product, product)


def test_within_the_limits(product):
    for relation in (Significance(reach=2), Uniform(reach=8, digits=2), Joint(reach=2, roles=5)):
        relation.check(product, product)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "significance", "reach": 0}, 'relation "significance": reach is 0'),
        ({"name": "uniform", "digits": 0}, 'relation "uniform": digits is 0'),
        ({"name": "uniform", "operand": -1}, 'relation "uniform": operand is -1'),
        ({"name": "joint", "role": 5}, 'unknown option of relation "joint" "role"; did you mean "roles"'),
    ],
)  # fmt: skip
def test_options(options, message):
    with pytest.raises(TenfoldError, match=message):
        RELATIONS.build(Spec.model_validate(options))
