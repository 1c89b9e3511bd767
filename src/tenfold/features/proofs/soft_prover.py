"""Prove a model that has no window: near keys are enumerated, far keys are bounded.

Shapes: C contexts, B of them in a batch, V vocabulary, H heads, K head size.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from tenfold.data.batch import Batch, Batcher
from tenfold.data.places import Places
from tenfold.data.roles import Role
from tenfold.data.tasks.task import Ints
from tenfold.data.tasks.transducer import END
from tenfold.encodings.compose import Compose
from tenfold.encodings.decay_bias import Decaying
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.steady import Steady, steady_of
from tenfold.features.proofs.contexts import LIMIT, Contexts, View, reachable
from tenfold.features.proofs.declarations import other_machine, shift_dependence, wrong_answer
from tenfold.features.proofs.failing_length import failing_problem
from tenfold.features.proofs.far_bound import Attended, Far, FarBound, FarInfluence
from tenfold.features.proofs.far_keys import (
    HERE,
    FarKeys,
    bias_at,
    far_places,
    far_replaced,
    possible_places,
    rest_of,
)
from tenfold.features.proofs.prover import (
    SAMPLES,
    Floats,
    Progress,
    Prover,
    explain_conflict,
    machine_of,
    problem_batch,
    view_of,
)
from tenfold.features.proofs.rounding_steps import LIBRARY, Beyond
from tenfold.features.proofs.soft_layers import (
    check_answers_cover,
    check_source_is_near,
    far_of_layers,
)
from tenfold.features.proofs.soft_view import OneLayer, soft_layers
from tenfold.models.locality import AXIS, Local, NotCertifiable
from tenfold.models.locality_check import logits_at, long_batches, tested_places
from tenfold.models.model import Model
from tenfold.models.near import Near, near_only

SMALL = 1024  # contexts in a batch: what far keys do takes memory
WIDEST = 3  # columns behind the query that may be near
FADED = -1.0  # the bias of the nearest far key, at most
AGREE = 1e-6  # relative, between the margins of the model and those of the bound
UNDERFLOW = -106.0  # the exponential of a lower number is exactly 0 in float32
COUNTED = 4096  # columns up to which keys are looked for that have a weight in float32
KEYS = 16  # near keys besides: of the query's own column, operators, a hub


def prover_of(model: Model, batcher: Batcher, limit: int = LIMIT) -> Prover:
    """A prover for a model with windows, or for one whose far keys have a bounded influence."""
    try:
        view_of(model, batcher)
    except NotCertifiable as hard:
        return _soft(model, batcher, limit, hard)
    return Prover(model, batcher, limit)


def check_provable(model: Model, batcher: Batcher) -> None:
    """Raise `NotCertifiable` for a model that can never be proved, whatever its weights."""
    try:
        view_of(model, batcher)
    except NotCertifiable as hard:
        try:
            soft_layers(model, batcher)
        except NotCertifiable as soft:
            raise _neither(hard, soft) from None


def _soft(model: Model, batcher: Batcher, limit: int, hard: NotCertifiable) -> Prover:
    try:
        layers = soft_layers(model, batcher)
        several = len(layers) > 1 or layers[0].crossing is not None
        return (LayeredProver if several else SoftProver)(model, batcher, limit)
    except NotCertifiable as soft:
        raise _neither(hard, soft) from None


def _neither(hard: NotCertifiable, soft: NotCertifiable) -> NotCertifiable:
    return type(soft)(f"{hard}. Nor is there a proof without a window: {soft}")


class SoftProver(Prover):
    """Every near context of a task, for a decoder of one layer whose far keys decay."""

    def __init__(self, model: Model, batcher: Batcher, limit: int = LIMIT) -> None:
        layers = soft_layers(model, batcher)
        self.near, contexts = _nearest(layers, batcher, limit)
        view = contexts.view
        self.sight = Near(view.columns, view.answers - 1)  # of all layers together
        self._hold(batcher, contexts, Local(view.columns, view.answers, view.columns))
        self._written = np.unique(contexts.written[contexts.written >= 0])

    def margins(
        self, model: Model, rows: Ints | None = None, progress: Progress | None = None
    ) -> Floats:
        """Without far keys."""
        with near_only(model, self.near):
            return super().margins(model, rows, progress)

    def steady(self, pe: PositionalEncoding) -> Steady | None:
        """Bounds on what an encoding adds for near pairs; a decay is computed anew for each pair."""
        if isinstance(pe, Compose):
            parts = [self.steady(part) for part in pe.parts]
            known = [part for part in parts if part is not None]
            return Steady(*map(sum, zip(*known, strict=True))) if len(known) == len(parts) else None
        if not isinstance(pe, Decaying):
            return steady_of(pe)
        distances = torch.arange(max(self.near) + 1)
        roles = torch.arange(Role.OPERAND + 1)[:, None].expand(-1, len(distances)).reshape(1, -1)
        column = (HERE - distances).repeat(Role.OPERAND + 1)[None]
        at = Places(**{AXIS: column, "role": roles, "significance": column})
        here = Places(**{name: torch.full((1, 1), HERE) for name in (AXIS, "significance")})
        bias = pe.bias(here.add(role=torch.full((1, 1), int(Role.ANSWER))), at)
        kept = self.near.keys(here, at)[0, 0]
        return Steady(bias=bias[..., kept].abs().max().item(), terms=4 * LIBRARY)

    def far(self, model: Model, error: float) -> Far:
        """What far keys can do to these weights; `error` bounds the rounding of an attention logit in float64."""
        worst: dict[str, float] = {"left": math.inf, "first": math.nan, "remainder": math.nan}
        most = dict.fromkeys(("attention", "moved", "last", "most", "content"), -math.inf)
        refined = 0
        for _, found in self._each_influence(model, error):
            loss = found.first + found.remainder
            here = (found.mass, found.moved, found.last, loss, found.content)
            for name, values in zip(most, here, strict=True):
                most[name] = max(most[name], values.nan_to_num(math.inf).max().item())
            refined += int(found.refined.sum())
            left = found.left
            at = int(left.nan_to_num(-math.inf).argmin())
            if not left.flatten()[at] >= worst["left"]:
                worst = {name: getattr(found, name).flatten()[at].item() for name in worst}
        numbers: dict[str, Any] = {**most, **worst, "refined": refined}
        return Far(*self.near, **numbers)

    def beyond(self, model: Model, far: Far | None) -> Beyond | None:
        """Far keys whose computed weight is not exactly 0 in float32 have a bounded number, or nothing is known."""
        assert far is not None
        layer = soft_layers(model, self.batcher)[0]
        groups = far_places(self.near, self.batcher, layer.fading, self._written)
        sights = self.near.columns * self.batcher.task.terms + self.near.answers + KEYS
        level = UNDERFLOW - far.content - math.log(sights)
        keys, bias = 0, 0.0
        for group in groups:
            distances = np.arange(group.first, group.last + 1 if group.last else COUNTED)
            by_head = bias_at(layer, group, distances, Role.ANSWER)  # (H, distances)
            there = (by_head > level).any(0)
            if group.last is None and there[-1]:
                return None
            keys += int(there.sum())
            bias = max(bias, by_head[:, there].abs().max().item() if there.any() else 0.0)
        lost = len(groups) * COUNTED * math.exp(UNDERFLOW)
        lost += len(groups) * rest_of(layer.fading, COUNTED).max().item() * math.exp(far.content)
        return Beyond(far.attention, far.moved, far.last, keys, bias, lost)

    def violations(self, model: Model, far: Far | None) -> list[str]:
        """As for models with windows; without `far`, where float64 has no bound, nothing is said of far tokens."""
        exact = copy.deepcopy(model).double().eval()
        training = model.training
        model.eval()
        tests = (
            None if far is None else self._too_much(exact, far),
            shift_dependence(exact, self.batcher),
            other_machine(self.batcher),
            wrong_answer(model, self.batcher),
        )
        model.train(training)
        return [sentence for sentence in tests if sentence is not None]

    def _too_much(self, model: Model, far: Far) -> str | None:
        """Where far tokens, as they are or drawn at random, do more to the right digit than the bound allows."""
        rng = np.random.default_rng(0)
        for columns, batch in long_batches(model, self.batcher):
            for place in tested_places(columns, batch.read):
                target = batch.target[:, place]
                there = target >= 0
                if not there.any():
                    continue
                with near_only(model, self.near):
                    alone = logits_at(model, batch, place)
                for some in self.far_variants(batch, place, rng):
                    less = lead(alone, target, there) - lead(
                        logits_at(model, some, place), target, there
                    )
                    if not bool((less <= far.most + 1e-6).all()):
                        return (
                            f"at {columns} columns far tokens take {less.max().item():.3g} of the lead of the right digit at "
                            f"column {place}, more than the bound of {far.most:.3g}"
                        )
        return None

    def far_variants(self, batch: Batch, place: int, rng: np.random.Generator) -> list[Batch]:
        """The batch as it is, and with other far tokens."""
        return [batch, self.far_replaced(batch, place, rng)]

    def far_replaced(self, batch: Batch, place: int, rng: np.random.Generator) -> Batch:
        """The batch with other digits wherever a token is far from the digit at this place."""
        base = self.contexts.transducer.base
        return far_replaced(batch, place, self.sight, base, self._written, rng)

    def _each_influence(self, model: Model, error: float) -> Iterator[tuple[Ints, FarInfluence]]:
        """What far keys can do in all contexts; where it is too much, only those that the context leaves possible."""
        for rows, found in self.influences(model, None, error):
            enough = (found.left > 0).all(1)
            if enough.all():
                yield rows, found
                continue
            if enough.any():
                yield rows[enough.numpy()], found.of(enough)
            for some, closer in self.influences(model, rows[~enough.numpy()], error, closer=True):
                yield some, closer._replace(refined=torch.ones_like(closer.refined))

    def influences(
        self,
        model: Model,
        rows: Ints | None = None,
        error: float = 0.0,
        *,
        closer: bool = False,
    ) -> Iterator[tuple[Ints, FarInfluence]]:
        """What far keys can do in these contexts or in all, batch by batch: their numbers, and the influence.

        With `closer`, groups of far places that a context excludes are left out.
        """
        rows = np.arange(len(self.contexts)) if rows is None else rows
        exact = copy.deepcopy(model).double().eval()
        layer = soft_layers(exact, self.batcher)[0]
        bound, depths = FarBound(layer), self.depths[rows]
        groups = far_places(self.near, self.batcher, layer.fading, self._written)
        with torch.inference_mode(), near_only(exact, self.near), Captured(layer) as captured:
            for depth in np.unique(depths):
                query = Role.ANSWER if depth > 1 else Role.OPERATOR  # the first is predicted by =
                keys = FarKeys(layer, groups, query)
                alike = rows[depths == depth]
                for some in np.array_split(alike, max(1, -(-len(alike) // SMALL))):
                    batch, place = problem_batch(self.batcher, self.contexts, some), int(depth) - 1
                    logits, seen = logits_at(exact, batch, place), captured.attended()
                    known = possible_places(self.contexts, some, place, self.near, groups)
                    possible = known if closer else None
                    found = bound.influence(seen, keys, self._targets(some), error, possible)
                    yield some, self._confirmed(logits, found)

    def _targets(self, rows: Ints) -> Tensor:
        output = self.contexts.output[rows]
        return torch.from_numpy(np.where(output == END, self.batcher.task.vocabulary.end, output))

    def _confirmed(self, logits: Tensor, found: FarInfluence) -> FarInfluence:
        """Nothing is left where the model and the bound find different margins: large numbers cancel, or it is another model."""
        lead = logits.gather(1, found.margin.argmax(1)[:, None]) - logits
        other = found.margin.isfinite()
        apart = torch.where(other, lead - found.margin, 0.0).abs().amax(1, keepdim=True)
        agree = apart <= AGREE * (1 + lead.abs().amax(1, keepdim=True))
        return found._replace(first=torch.where(agree | ~other, found.first, math.inf))

    def failing(self, model: Model) -> dict[str, str] | None:
        return failing_problem(model, self.batcher)

    def refuted(self, model: Model, seed: int) -> bool:
        """Also where far keys outweigh the margin in a sample of contexts."""
        if super().refuted(model, seed):
            return True
        count = min(SAMPLES[0], len(self.contexts))
        rows = np.random.default_rng(seed).choice(len(self.contexts), count, replace=False)
        rows = np.unique(np.concatenate([self._suspects, rows]))
        for some, found in self.influences(model, rows):
            bad = ~(found.left > 0).all(1).numpy()
            if bad.any():
                self._suspects = np.concatenate([some[bad], self._suspects])[: SAMPLES[0]]
                return True
        return False


class LayeredProver(SoftProver):
    """Every near context of a task, for a decoder of several layers, or with a source, whose far keys decay."""

    def __init__(self, model: Model, batcher: Batcher, limit: int = LIMIT) -> None:
        super().__init__(model, batcher, limit)
        layers = soft_layers(model, batcher)
        self._alone = len(layers) == 1
        if not self._alone:
            check_answers_cover(self.contexts)
        if layers[0].crossing is not None:
            check_source_is_near(self, model, self.near)

    def far(self, model: Model, error: float) -> Far:
        """What far keys can do to these weights, and float32 rounding of what is near."""
        return far_of_layers(self, model, self.near, self._written)

    def beyond(self, model: Model, far: Far | None) -> Beyond | None:
        return None  # float32 rounding of far keys is not bounded

    def far_variants(self, batch: Batch, place: int, rng: np.random.Generator) -> list[Batch]:
        """With several layers as it is: what far tokens of no problem become may be of kinds that no node is."""
        return super().far_variants(batch, place, rng) if self._alone else [batch]

    def refuted(self, model: Model, seed: int) -> bool:
        return Prover.refuted(self, model, seed)


def _nearest(layers: list[OneLayer], batcher: Batcher, limit: int) -> tuple[Near, Contexts]:
    """The least that must be near: it determines the answer, and every other key has begun to fade."""
    machine, reason = machine_of(batcher), ""
    for columns in range(WIDEST + 1):
        for answers in range(columns + 1):
            near = Near(columns, answers)
            if not all(_faded(each, near) for layer in layers for each in layer.attentions()):
                reason = reason or "keys fade only beyond the columns that may be near"
                continue
            wide, long = columns * len(layers), answers * len(layers) + 1
            contexts = reachable(machine, View(wide, long, wide), limit)
            if contexts.conflict is None:
                return near, contexts
            reason = explain_conflict(batcher, contexts)
    raise NotCertifiable(
        f"up to {WIDEST} columns behind a digit may be near, and they do not decide: {reason}"
    )


def _faded(layer: OneLayer, near: Near) -> bool:
    """Whether the bias of the nearest far keys behind the query is low in every head."""
    behind = torch.tensor([[near.columns + 1, near.answers + 1]])
    at = Places(
        **{AXIS: HERE - behind, "significance": HERE - behind},
        role=torch.tensor([[int(Role.OPERAND), int(Role.ANSWER)]]),
    )
    here = Places(
        **{name: torch.full((1, 1), HERE) for name in (AXIS, "significance")},
        role=torch.full((1, 1), int(Role.ANSWER)),
    )
    bias = layer.pe.bias(here, at)
    return bias is not None and bool((bias <= FADED).all())


def lead(logits: Tensor, target: Tensor, there: Tensor) -> Tensor:
    """The lead of the right logit over each other, where there is a digit to predict."""
    logits, target = logits[there], target[there]
    return logits.gather(1, target[:, None]) - logits


class Captured:
    """What the attention of one layer computed last, by hooks on its named activations."""

    def __init__(self, layer: OneLayer) -> None:
        self.layer, self._hooks = layer, list[RemovableHandle]()
        self._latest: dict[str, Tensor] = {}

    def __enter__(self) -> Captured:
        attention, block = self.layer.attention, self.layer.block

        def keep(name: str) -> Any:
            def out(_: nn.Module, __: Any, value: Tensor) -> None:
                self._latest[name] = value

            return out

        def given(name: str) -> Any:
            def first(_: nn.Module, value: tuple[Tensor, ...]) -> None:
                self._latest[name] = value[0]

            return first

        self._hooks = [
            attention.query.register_forward_hook(keep("q")),
            attention.logits.register_forward_hook(keep("logits")),
            attention.out.register_forward_pre_hook(given("mixed")),
            block.feedforward_norm.register_forward_pre_hook(given("x")),
        ]
        return self

    def __exit__(self, *_: object) -> None:
        while self._hooks:
            self._hooks.pop().remove()

    def attended(self) -> Attended:
        heads, latest = self.layer.attention.heads, self._latest
        q = latest["q"][:, -1].unflatten(-1, (heads, -1))  # (B, H, K)
        mixed = latest["mixed"][:, -1].unflatten(-1, (heads, -1))
        total = latest["logits"][:, :, -1].logsumexp(-1)
        return Attended(q.unsqueeze(2), total, mixed, latest["x"][:, -1])
