"""What a far key can be: a role, a token and a side, each with the sum of its decays over all distances.

A far key's vectors are known numbers. Only its decay depends on the distance. The sum of decays is computed term by term
up to some distance and bounded by the series beyond it.

Shapes: G groups of far places (a role on one side), Y types of far keys (a token in a group), H heads, K head size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tenfold.data.batch import Batch, Batcher, Tokens
from tenfold.data.places import Places
from tenfold.data.roles import Role
from tenfold.data.tasks.task import Ints
from tenfold.encodings.fading import Fading
from tenfold.features.proofs.contexts import Contexts
from tenfold.features.proofs.soft_view import OneLayer
from tenfold.models.locality import AXIS
from tenfold.models.near import Near

SUMMED = 64  # distances whose decays are summed one by one, beyond what is told apart
HERE = 1_000_000  # the query's column; only differences count
LEAST = 1e-290  # in place of what is too small for a float64
SLACK = 1 + 1e-9  # for the sums themselves


@dataclass(frozen=True)
class FarPlaces:
    """A group: places of one role at some distances, each with one of these tokens or with none."""

    role: int
    tokens: Ints
    side: int  # 1: behind the query, -1: ahead of it
    first: int  # the nearest distance
    last: int | None  # the furthest; None: without end
    once: bool = False  # at one distance only


def far_places(near: Near, batcher: Batcher, fading: Fading, written: Ints) -> list[FarPlaces]:
    """Every group of far places; `written` are the tokens that occur in answers.

    Distances up to `fading.beyond` are groups of their own, since their vectors may differ.
    """
    machine, vocabulary = batcher.task.transducer(), batcher.task.vocabulary
    assert machine is not None
    terms = machine.operands + (machine.hub is not None)
    digits: Ints = np.arange(machine.base)
    sides: list[tuple[int, Ints, int, int]] = [(Role.ANSWER, written, 1, near.answers + 1)]
    for role in (Role.OPERAND + m for m in range(terms) if m != machine.hub):
        sides += [(role, digits, 1, near.columns + 1), (role, digits, -1, 1)]
    groups = []
    for role, tokens, side, first in sides:
        rest = max(first, fading.beyond)
        groups += [FarPlaces(role, tokens, side, d, d) for d in range(first, rest)]
        groups.append(FarPlaces(role, tokens, side, rest, None))
    equals, first = np.array([vocabulary.equals]), near.columns + 1
    rest = max(first, fading.beyond)
    told = [FarPlaces(Role.OPERATOR, equals, 1, d, d) for d in range(first, rest)]
    return [*groups, *told, FarPlaces(Role.OPERATOR, equals, 1, rest, None, once=True)]


def possible_places(
    contexts: Contexts, rows: Ints, place: int, near: Near, groups: list[FarPlaces]
) -> Tensor:
    """Which groups of far places there can be in these contexts, whose histories have `place` columns: (B, G).

    An operand without a digit in the query's column has none ahead of it. While the column is at most the number of near
    ones, it is known from the context. Then no digit or = is behind column 0, and no answer token behind column 1.
    """
    machine = contexts.transducer
    here = machine.digits(contexts.paths(rows)[0])[:, -1] != machine.base  # (B, M')
    by_column = [m for m in range(here.shape[1] + (machine.hub is not None)) if m != machine.hub]
    going = {Role.OPERAND + m: here[:, number] for number, m in enumerate(by_column)}

    def there(group: FarPlaces) -> NDArray[np.bool_]:
        if group.side < 0:
            return going[group.role]
        none = place <= near.columns and place - group.first < int(group.role == Role.ANSWER)
        return np.full(len(rows), not none)

    return torch.from_numpy(np.stack([there(group) for group in groups], 1))


def far_replaced(
    batch: Batch, place: int, near: Near, base: int, written: Ints, rng: np.random.Generator
) -> Batch:
    """The batch with other digits below `base`, or other `written` tokens, wherever a token is far from the digit there."""

    def replaced(side: Tokens) -> Tokens:
        column, role = torch.broadcast_tensors(side.places[AXIS], side.places["role"])
        behind, answer = place - column, role == Role.ANSWER
        allowed = torch.where(answer, near.answers, near.columns)
        far = (column >= 0) & ~((behind >= 0) & (behind <= allowed))
        digits = torch.from_numpy(rng.integers(0, base, side.tokens.shape))
        answers = torch.from_numpy(rng.choice(written, side.tokens.shape))
        tokens = torch.where(far & (role >= Role.OPERAND), digits, side.tokens)
        return replace(side, tokens=torch.where(far & answer, answers, tokens))

    source = None if batch.source is None else replaced(batch.source)
    return replace(batch, sequence=replaced(batch.sequence), source=source)


class FarKeys:
    """The types of far keys of a model in float64, for queries of one role."""

    def __init__(self, layer: OneLayer, groups: list[FarPlaces], query: int) -> None:
        model, self.layer = layer.model, layer
        self.query = places_of([0], [query])
        self.groups = len(groups)
        owner = [g for g, group in enumerate(groups) for _ in group.tokens]
        self.group = torch.tensor(owner)  # (Y,)
        tokens = torch.tensor(np.concatenate([group.tokens for group in groups]))
        self.at = places_of(
            [groups[g].side * groups[g].first for g in owner], [groups[g].role for g in owner]
        )
        x = layer.pe.embed(model.stack.embedding(tokens[None]), self.at)
        both = layer.attention.key_value(layer.block.attention_norm(x))  # (1, Y, 2 D)
        both = both.view(len(tokens), 2, layer.attention.heads, -1).permute(1, 2, 0, 3)
        self.k, self.v = both[0], both[1]  # (H, Y, K)
        sums = [decay_of(layer, group, query) for group in groups]
        self.decay = torch.stack([total for total, _ in sums], 1)  # (H, G)
        self.alike = torch.tensor([alike for _, alike in sums])  # (G,): the same in every head

    def content(self, q: Tensor) -> Tensor:
        """The logits without bias of queries (B, H, 1, K) for each type: (B, H, Y)."""
        size = q.shape[-1]
        logits = q @ self.k.mT  # (B, H, 1, Y)
        extra = self.layer.pe.scores(q, self.k[None], self.query, self.at)
        logits = logits if extra is None else logits + extra
        return logits[:, :, 0] / size**0.5


def decay_of(layer: OneLayer, group: FarPlaces, query: int) -> tuple[Tensor, bool]:
    """At least the sum of exp(bias) over the group's distances, (H,), and whether it is the same in each head."""
    last = max(group.first, layer.fading.beyond) + SUMMED
    last = last if group.last is None else group.last
    by_head = bias_at(layer, group, np.arange(group.first, last + 1), query)
    alike = bool((by_head == by_head[:1]).all())
    if group.last is not None:
        return by_head.exp().sum(1) * SLACK, alike
    rest = rest_of(layer.fading, last + 1).expand(layer.attention.heads)
    alike = alike and bool((rest == rest[:1]).all())
    if group.once:  # further away it adds no more than all distances together
        return torch.maximum(by_head.exp().amax(1), rest) * SLACK, alike
    return (by_head.exp().sum(1) + rest) * SLACK, alike


def bias_at(layer: OneLayer, group: FarPlaces, distances: Ints, query: int) -> Tensor:
    """What the encoding adds at these distances to the keys of a group, for a query of this role: (H, distances)."""
    at = places_of([group.side * d for d in distances.tolist()], [group.role] * len(distances))
    bias = layer.pe.bias(places_of([0], [query]), at)
    if bias is None:
        bias = torch.zeros(1, 1, 1, len(distances))
    return bias[0, :, 0].detach().double().expand(layer.attention.heads, -1)


def rest_of(fading: Fading, first: int) -> Tensor:
    """At least the sum of exp(bias) from this distance on, (H,) or (1,)."""
    n = torch.tensor([float(first)], dtype=torch.float64)
    sums = [(series.rest(n)[1], series.log_b(n)) for series in fading.series]
    ways = []
    for number, (total, _) in enumerate(sums):  # one series is summed, the others do not grow
        others = [log_b for other, (_, log_b) in enumerate(sums) if other != number]
        ways.append((total + LEAST) * torch.stack([torch.zeros_like(total), *others]).sum(0).exp())
    shape = torch.broadcast_shapes(*(way.shape for way in ways))
    least = torch.stack([way.expand(shape).nan_to_num(torch.inf) for way in ways]).amin(0)[:, 0]
    return least * torch.as_tensor(fading.most, dtype=torch.float64).exp()


def places_of(behind: list[int], role: list[int]) -> Places:
    column = HERE - torch.tensor([behind])
    return Places(**{AXIS: column, "role": torch.tensor([role]), "significance": column})
