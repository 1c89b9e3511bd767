"""Whether a recipe can be trained on this machine at all, before anything of it is made or written.

The first bounds are lower ones, which need no model: a batch has at least as many tokens as its length says, a block
keeps at least its input for the backward pass, AdamW keeps four numbers for each parameter. A recipe that comes near the
memory of the machine is then counted closely, by a step on the `meta` device.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tenfold.core.errors import TenfoldError
from tenfold.evals.exact_match import MOST, SPREAD, TOKEN
from tenfold.runs.build import FEW, build, parameter_count
from tenfold.runs.cost import OPTIMIZED, ROWS, YEAR, count, span
from tenfold.runs.machine_memory import total
from tenfold.runs.recipe import Recipe

# Values of a recipe that may be too large.
KEYS = (
    "data.length", "train.batch", "train.steps", "train.accumulate", "model.width", "model.layers", "model.feedforward",
    "eval.lengths", "eval.validation", "eval.n", "eval.validation_n",
)  # fmt: skip
NUMBER = 4  # bytes of a float32
DRAWN = 100  # bytes of a token of a problem: its symbol, its places, the numbers that it is made of
BLOCK = 5e-3  # seconds that it takes to make a block of a model
STEP, PROBLEM = 1e-4, 1e-6  # seconds that a step and a measured problem take at the very least
MINUTE = 60.0  # seconds; nobody waits longer for a cost, or longer than a year for a run
NEAR = 0.005  # share of the memory from which the lower bounds are followed by a close count


@dataclass(frozen=True)
class Bound:
    """What a recipe needs, in bytes or seconds, and the most that there is of it."""

    what: str
    need: Callable[[Recipe], float]
    most: float
    unit: Callable[[float], str]
    has: str

    def broken(self, recipe: Recipe) -> bool:
        return self.need(recipe) > self.most


def check_countable(recipe: Recipe, memory: float | None = None) -> None:
    """Raise for a recipe of which not even the cost can be counted here in a minute or so."""
    _check(recipe, [_to_count], _memory(memory))


def check_size(recipe: Recipe, memory: float | None = None) -> None:
    """Raise for a recipe that cannot be trained here: one line with the key, its value, and a value that would fit.

    `memory` in bytes; by default what this machine has. Other devices than the CPU have a memory of their own, which is
    not checked.
    """
    stages = [_to_count, _to_wait, _to_hold, _to_hold_closely, _to_measure]
    _check(recipe, stages, _memory(memory))


Bounds = Callable[[Recipe, float], Iterator[Bound]]


def _to_count(recipe: Recipe, memory: float) -> Iterator[Bound]:
    """What is made even if a run is only counted, as `--dry-run` does."""
    yield Bound(
        "making the blocks of the model takes",
        lambda r: r.model.layers * BLOCK, MINUTE, span, "a minute is the most",
    )  # fmt: skip
    yield _in_bytes(
        "the problems of a batch need",
        lambda r: min(r.train.batch, ROWS) * r.data.length * DRAWN, memory,
    )  # fmt: skip
    yield _in_bytes("one problem of the evaluation needs", lambda r: _longest(r) * DRAWN, memory)
    yield Bound(
        "the weights need", _weights, sys.float_info.max, _bytes, "torch has no such tensors"
    )


def _to_wait(recipe: Recipe, memory: float) -> Iterator[Bound]:
    def steps(r: Recipe) -> float:
        return r.train.steps * r.train.accumulate * STEP

    def problems(r: Recipe) -> float:
        return r.eval.n * len(r.eval.lengths) * len(r.eval.slices) * PROBLEM

    for what, need in (("training takes", steps), ("the evaluation takes", problems)):
        yield Bound(f"{what} at least", need, YEAR, span, "a year is the most")


def _to_hold(recipe: Recipe, memory: float) -> Iterator[Bound]:
    """Lower bounds of what a training step keeps in memory."""
    if recipe.train.device == "cpu":
        yield _in_bytes("a training step needs at least", _activations, memory)
        yield _in_bytes("the weights and the optimizer need at least", _weights, memory)


def _to_hold_closely(recipe: Recipe, memory: float) -> Iterator[Bound]:
    if any(bound.need(recipe) > NEAR * memory for bound in _to_hold(recipe, memory)):
        yield _in_bytes("a training step needs about", _step, memory)


def _to_measure(recipe: Recipe, memory: float) -> Iterator[Bound]:
    if recipe.train.device == "cpu":
        most = min(MOST, memory)
        yield Bound(
            "one problem of the evaluation needs about", _problem, most, _bytes, f"the most is {_bytes(most)}"
        )  # fmt: skip


def _in_bytes(what: str, need: Callable[[Recipe], float], memory: float) -> Bound:
    return Bound(what, need, memory, _bytes, f"this machine has {_bytes(memory)}")


def _activations(recipe: Recipe) -> float:
    kept = NUMBER * recipe.model.width * recipe.model.layers
    return recipe.train.batch * recipe.data.length * kept


def _step(recipe: Recipe) -> float:
    """Counted on the `meta` device; of a deep model the first two layers stand for the others."""
    layers = recipe.model.layers
    if layers <= FEW:
        return count(build(recipe)).memory_bytes
    one, two = (count(build(recipe.replace(model={"layers": few}))).memory_bytes for few in (1, 2))
    return one + (layers - 1) * (two - one)


def _problem(recipe: Recipe) -> float:
    """With attention between all pairs of tokens, if that fits; otherwise as the model itself answers."""
    length = _longest(recipe)
    if TOKEN * length > MOST:  # whatever the model
        return TOKEN * length
    built = build(recipe)
    need = built.source.row_memory(length)
    if SPREAD * need <= MOST:
        return need
    return built.source.row_memory(length, built.source.answerer(built.model()))


def _weights(recipe: Recipe) -> float:
    return parameter_count(recipe) * OPTIMIZED


def _longest(recipe: Recipe) -> int:
    return max((*recipe.eval.lengths, *recipe.eval.validation))


def _check(recipe: Recipe, stages: Sequence[Bounds], memory: float) -> None:
    for stage in stages:
        for bound in stage(recipe, memory):
            if bound.broken(recipe):
                raise _refusal(recipe, bound, stages, memory)


def _refusal(recipe: Recipe, bound: Bound, stages: Sequence[Bounds], memory: float) -> TenfoldError:
    """Names the value that is to blame: the largest one that, made smaller, lets the recipe fit."""
    values = {key: value for key in KEYS if (value := _value(recipe, key)) is not None}
    by_size = sorted(values, key=lambda key: -values[key])
    fitting = (
        (key, smaller)
        for key in by_size
        for smaller in _round_values(values[key])
        if _fits(recipe, key, smaller, bound, stages, memory)
    )
    key, smaller = next(fitting, (by_size[0], None))
    would = "" if smaller is None else f"; {key} {smaller} would fit"
    return TenfoldError(
        f"{key} is {values[key]}: {bound.what} {bound.unit(bound.need(recipe))}, and {bound.has}{would} (--force goes on)"
    )


def _fits(
    recipe: Recipe, key: str, value: int, bound: Bound, stages: Sequence[Bounds], memory: float
) -> bool:
    """Whether the recipe fits with another value of a key."""
    try:
        changed = _with(recipe, key, value)
        if bound.broken(changed):
            return False
        return not any(each.broken(changed) for stage in stages for each in stage(changed, memory))
    except TenfoldError:  # such as a width that the heads do not divide
        return False


def _round_values(below: int) -> Iterator[int]:
    """Powers of two and three times these, from large to small.

    >>> list(_round_values(10)), list(_round_values(1))
    ([8, 6, 4, 3, 2, 1], [])
    """
    for power in reversed(range(below.bit_length())):
        yield from (value for value in (3 << power >> 1, 1 << power) if power and value < below)
    if below > 1:
        yield 1


def _value(recipe: Recipe, key: str) -> int | None:
    """The value of a dotted key; of several values the largest."""
    part, name = key.split(".")
    value: Any = recipe.as_json()[part][name]
    return max(value, default=None) if isinstance(value, list) else value


def _with(recipe: Recipe, key: str, value: int) -> Recipe:
    part, name = key.split(".")
    several = isinstance(recipe.as_json()[part][name], list)
    return recipe.replace(**{part: {name: [value] if several else value}})


def _memory(given: float | None) -> float:
    known = total() if given is None else given
    return math.inf if known is None else known


def _bytes(size: float) -> str:
    """
    >>> _bytes(3 * 2**30), _bytes(2e16), _bytes(float("inf"))
    ('3.0 GiB', '17.8 PiB', 'more than can be counted')
    """
    for unit, bits in (("GiB", 30), ("TiB", 40), ("PiB", 50), ("EiB", 60)):
        if size < 2.0 ** (bits + 10):
            return f"{size / 2.0**bits:.1f} {unit}"
    return "more than can be counted" if math.isinf(size) else f"{size / 2.0**60:.3g} EiB"
