"""Relations: which pairs of tokens do the same work, and so share a vector (the `symmetry` paper).

A relation maps places (B|1, T), (B|1, S) to class numbers (B|1, T, S); class 0 is "unrelated".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import torch
from pydantic import NonNegativeInt, PositiveInt
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Checked, Registry, Spec
from tenfold.data.places import Places, distance
from tenfold.encodings.fading import Fading
from tenfold.encodings.learned_maps import MapGroup, Pairs, role_word

FIRST = 3  # the role of operand 0


class Relation(Checked, ABC):
    """The base class of relations: a class number for each pair of tokens."""

    name: ClassVar[str]
    axes: frozenset[str]
    invariant: frozenset[str] = frozenset()  # the axes that it reads, but only by differences
    digits_of: frozenset[int] = frozenset()  # roles whose digits it distinguishes by significance
    classes: int  # how many, "unrelated" included
    limit: int | None = None  # the first difference that it has no class for

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        """Options worth trying, with room for this many places."""
        return [{}]

    @abstractmethod
    def __call__(self, q_at: Places, k_at: Places) -> Tensor: ...

    def fading(self, axis: str) -> Fading | None:
        """From which distance on its classes depend on roles alone; None where they never do."""
        return None if axis in self.axes else Fading()

    def groups(self) -> list[MapGroup]:
        """The classes in words, for maps of their vectors."""
        numbers = tuple(range(self.classes))
        return [MapGroup("", "class of pairs", numbers, numbers)]

    def occurring(self, pairs: Pairs) -> Tensor:
        """The class of every pair that meets, (pairs,)."""
        classes = self(pairs.q_at, pairs.k_at)
        classes, allowed = torch.broadcast_tensors(classes, pairs.allowed)
        return classes[allowed]

    def check(self, q_at: Places, k_at: Places) -> None:
        """Raise one clear error where a pair has no class."""


class Relative(Relation):
    """By difference: p_ij = p_(i-j). With `clip`, all differences beyond `reach` share a class (Shaw et al. 2018).

    >>> at = Places(index=torch.arange(3)[None])
    >>> Relative(reach=1, clip=True)(at, at)[0].tolist()
    [[2, 1, 1], [3, 2, 1], [3, 3, 2]]
    """

    name = "relative"

    def __init__(self, reach: PositiveInt = 64, clip: bool = False, axis: str = "index") -> None:
        self.reach, self.clip, self.axis = reach, clip, axis
        self.axes = self.invariant = frozenset({axis})
        self.classes = 2 * reach + 2
        self.limit = None if clip else reach + 1

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{"reach": room}, {"reach": 3, "clip": True}]

    def __call__(self, q_at: Places, k_at: Places) -> Tensor:
        behind, related = distance(q_at[self.axis], k_at[self.axis])
        clipped = behind.clamp(-self.reach, self.reach)
        return torch.where(related, clipped + self.reach + 1, 0)

    def fading(self, axis: str) -> Fading | None:
        return Fading(self.reach) if self.clip and axis == self.axis else super().fading(axis)

    def groups(self) -> list[MapGroup]:
        return [MapGroup.offsets(self.axis, self.reach, 1, self.clip), UNRELATED]

    def check(self, q_at: Places, k_at: Places) -> None:
        q, k = q_at[self.axis], k_at[self.axis]
        far = int(torch.maximum(q.amax(-1) - _lowest(k), k.amax(-1) - _lowest(q)).max())
        if far > self.reach and not self.clip:
            raise TenfoldError(
                f"relative positions reach {self.reach}, the input spans {far} on the axis "
                f'"{self.axis}"; raise their reach, or set clip'
            )


class Significance(Relative):
    """By difference of significance, among number tokens; text and operators are unrelated to everything.

    `12+34`: the 2 and the 4 are 0 apart, the 1 and the 4 are 1 apart; the + is apart from all.

    >>> at = Places(significance=torch.tensor([[1, 0, -1]]))
    >>> Significance(reach=1)(at, at)[0].tolist()
    [[2, 3, 0], [1, 2, 0], [0, 0, 0]]
    """

    name = "significance"

    def __init__(
        self, reach: PositiveInt = 64, clip: bool = False, axis: str = "significance"
    ) -> None:
        super().__init__(reach, clip, axis)


class Uniform(Relative):
    """A digit of a multiplier has one vector for all queries (UPE): p_ij = c_s for a key of significance s.

    Keys of the operand `operand` (from 0), to any other token with a place; all other pairs by difference. Among text,
    `axis: column` relates number tokens alone: those of one integer's frame to those of another's.

    >>> at = Places(
    ...     index=torch.arange(3)[None],
    ...     role=torch.tensor([[3, 4, 4]]),
    ...     significance=torch.tensor([[0, 1, 0]]),
    ... )
    >>> Uniform(reach=2, digits=2)(at, at)[0].tolist()  # the first key: 6, but to itself
    [[3, 2, 1], [6, 3, 2], [6, 4, 3]]
    """

    name = "uniform"

    def __init__(
        self,
        reach: PositiveInt = 64,
        digits: PositiveInt = 3,
        operand: NonNegativeInt = 0,
        clip: bool = False,
        axis: str = "index",
    ) -> None:
        super().__init__(reach, clip, axis)
        self.digits, self.role, self.first = digits, FIRST + operand, self.classes
        self.axes = frozenset({"index", "role", "significance", axis})
        self.invariant = frozenset({"index", axis}) - {"significance"}
        self.classes += digits
        self.limit = digits if self.limit is None else min(self.limit, digits)

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{"reach": room, "digits": room}]

    def __call__(self, q_at: Places, k_at: Places) -> Tensor:
        apart, _ = distance(q_at["index"], k_at["index"])
        related = (q_at[self.axis] >= 0).unsqueeze(-1)  # its digits are, wherever they stand
        itself = (apart == 0) & (q_at["role"] == self.role).unsqueeze(-1)
        digit = k_at["significance"].clamp(max=self.digits - 1)
        multiplier = ((k_at["role"] == self.role) & (digit >= 0)).unsqueeze(-2)
        by_digit = self.first + digit.unsqueeze(-2)
        others = super().__call__(q_at, k_at)
        return torch.where(multiplier & related & ~itself, by_digit, others)

    def groups(self) -> list[MapGroup]:
        return [*super().groups(), _digits(self.role, self.first, self.digits)]

    def check(self, q_at: Places, k_at: Places) -> None:
        super().check(q_at, k_at)
        top = int(torch.where(k_at["role"] == self.role, k_at["significance"], -1).max())
        if top >= self.digits:
            raise TenfoldError(
                f"uniform positions of {self.digits} digits, the input reaches {top + 1}; raise "
                "their digits"
            )


class Joint(Relative):
    """By the roles of both tokens and their difference: (role, role, difference), on `column` by default.

    Pairs without a difference are distinguished by their roles alone. With `hub`, keys of that operand are
    distinguished by the role of the query and by which of its `digits` they are.

    >>> at = Places(column=torch.tensor([[1, 0]]), role=torch.tensor([[3, 4]]))
    >>> Joint(reach=1, roles=5)(at, at)[0].tolist()
    [[75, 80], [94, 99]]
    """

    name = "joint"

    def __init__(
        self,
        reach: PositiveInt = 64,
        roles: PositiveInt = 5,
        clip: bool = False,
        axis: str = "column",
        hub: NonNegativeInt | None = None,
        digits: PositiveInt = 1,
    ) -> None:
        super().__init__(reach, clip, axis)
        self.roles, self.differences = roles, self.classes
        self.axes = frozenset({"role", axis})
        self.classes = self.first = roles * roles * self.differences + 1
        self.hub, self.digits = None if hub is None else FIRST + hub, digits
        if hub is not None:
            self.axes |= {"significance"}
            self.digits_of = frozenset({FIRST + hub})
            self.classes += roles * digits
            self.limit = digits if self.limit is None else min(self.limit, digits)

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        clipped = {"reach": 1, "clip": True}
        return [{"reach": room}, clipped, {**clipped, "hub": 1, "digits": room}]

    def __call__(self, q_at: Places, k_at: Places) -> Tensor:
        q_role, k_role = q_at["role"].unsqueeze(-1), k_at["role"].unsqueeze(-2)
        pair = (q_role * self.roles + k_role) * self.differences
        both = (q_role >= 0) & (k_role >= 0)
        classes = torch.where(both, 1 + pair + super().__call__(q_at, k_at), 0)
        if self.hub is None:
            return classes
        digit = k_at["significance"].clamp(0, self.digits - 1).unsqueeze(-2)
        by_digit = self.first + q_role.clamp(min=0) * self.digits + digit
        return torch.where(both & (k_role == self.hub), by_digit, classes)

    def groups(self) -> list[MapGroup]:
        groups = [UNRELATED]
        for pair in range(self.roles * self.roles):
            query, key = (role_word(role) for role in divmod(pair, self.roles))
            title, first = f"{query} asks {key}", 1 + pair * self.differences
            groups.append(MapGroup.offsets(self.axis, self.reach, first + 1, self.clip, title))
            groups.append(MapGroup(title, "no difference", (0,), (first,), ("none",)))
        for role in range(self.roles if self.hub is not None else 0):
            digits = _digits(self.hub or 0, self.first + role * self.digits, self.digits)
            groups.append(replace(digits, title=f"{role_word(role)} asks {digits.title}"))
        return groups

    def check(self, q_at: Places, k_at: Places) -> None:
        super().check(q_at, k_at)
        top = int(torch.maximum(q_at["role"].max(), k_at["role"].max()))
        if top >= self.roles:
            raise TenfoldError(
                f"joint positions of {self.roles} roles, the input has the role {top}; raise "
                "their roles"
            )
        if self.hub is not None:
            digits = 1 + int(torch.where(k_at["role"] == self.hub, k_at["significance"], -1).max())
            if digits > self.digits:
                raise TenfoldError(
                    f"joint positions of {self.digits} digits of a hub, the input reaches {digits}; "
                    "raise their digits"
                )


UNRELATED = MapGroup("unrelated pairs", "class", (0,), (0,), ("unrelated",))


def _digits(role: int, first: int, count: int) -> MapGroup:
    """The digits of an operand, whose classes count from `first` on."""
    places = tuple(range(count))
    names = tuple(f"digit {place}" for place in places)
    along = "its digit, 0: the units"
    return MapGroup(role_word(role), along, places, tuple(first + place for place in places), names)


def _lowest(place: Tensor) -> Tensor:
    """The lowest place of each row, missing ones left out: (B|1, T) -> (B|1,)."""
    return place.masked_fill(place < 0, torch.iinfo(place.dtype).max).amin(-1)


RELATIONS: Registry[Relation] = Registry(
    "relation", "tenfold.relations", of=(Relative, Significance, Uniform, Joint), base=Relation
)

Related = Relation | dict[str, Any] | str  # as an option: a relation, or its name with its options


def relation_of(given: Related) -> Relation:
    """A relation as such, by name, or by options (of "relative", unless they name another)."""
    if isinstance(given, Relation):
        return given
    named = given if isinstance(given, str) else {"name": "relative", **given}
    return RELATIONS.build(Spec.of(named))


def relation_examples(room: int) -> list[dict[str, Any]]:
    """The examples of every relation, the plainest first."""
    examples: list[dict[str, Any]] = []
    for name in sorted(RELATIONS.names(), key=lambda name: name != Relative.name):
        kind: Any = RELATIONS[name]
        examples += [{"name": name, **options} for options in kind.examples(room)]
    return examples
