"""Schemes: functions that add an axis to places, made from the facts of a task.

Each scheme adds the axis of its own name. With a generator it may be random (training); without one it is deterministic
(evaluation). It reads facts only, never an answer token, so that the places of a whole answer are known before its
first token is decoded.

Shapes: B batch, T tokens. An axis is (B, T), or (1, T) when every row is alike.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

import torch
from pydantic import NonNegativeInt, PositiveInt
from torch import Tensor
from torch.nn import functional

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Registry
from tenfold.data.places import Places
from tenfold.data.roles import ROLES, Role

Scheme = Callable[[Tensor, Places, torch.Generator | None], Places]


def _start(tokens: Tensor, reach: int, generator: torch.Generator | None) -> Tensor | int:
    """A random start for each row, or 0 for all."""
    if generator is None:
        return 0
    return torch.randint(reach + 1, (len(tokens), 1), generator=generator, device=tokens.device)


def _moved(axis: Tensor, by: Tensor | int) -> Tensor:
    return torch.where(axis >= 0, axis + by, -1)


def shifted(
    tokens: Tensor,
    places: Places,
    generator: torch.Generator | None = None,
    *,
    reach: NonNegativeInt = 100,
) -> Places:
    """The index counted from a random start in 0..reach: no position is seen only rarely.

    >>> shifted(torch.zeros(1, 3), Places(index=torch.arange(3)[None]))["shifted"].tolist()
    [[0, 1, 2]]
    """
    return places.add(shifted=_moved(places["index"], _start(tokens, reach, generator)))


def randomized(
    tokens: Tensor,
    places: Places,
    generator: torch.Generator | None = None,
    *,
    limit: PositiveInt = 2048,
) -> Places:
    """Sorted random positions below `limit` (Ruoss et al. 2023); evenly spread ones without a generator.

    >>> randomized(torch.zeros(1, 4), Places(index=torch.arange(4)[None]), limit=100)[
    ...     "randomized"
    ... ].tolist()
    [[0, 25, 50, 75]]
    """
    index = places["index"]
    count = index.amax(-1, keepdim=True) + 1  # (B, 1): tokens in each row
    if index.device.type != "meta" and int(count.max()) > limit:
        raise TenfoldError(
            f"randomized positions have a limit of {limit}, the input has {int(count.max())} tokens; "
            "raise the scheme's limit"
        )
    if generator is None:
        spread = index * limit // count
        return places.add(randomized=torch.where(index >= 0, spread, -1))
    longest = index.shape[-1]
    keys = torch.rand(len(tokens), limit, generator=generator, device=tokens.device)
    drawn = keys.topk(longest, largest=False).indices  # the first n of these are a random n-subset
    drawn = torch.where(torch.arange(longest, device=drawn.device) < count, drawn, limit)
    chosen = drawn.sort().values.gather(1, index.clamp(min=0).expand(len(tokens), -1))
    return places.add(randomized=torch.where(index >= 0, chosen, -1))


def floats(
    tokens: Tensor,
    places: Places,
    generator: torch.Generator | None = None,
    *,
    limit: PositiveInt = 64,
    parts: PositiveInt = 64,
) -> Places:
    """Sorted random positions between 0 and `limit`, not whole ones (RFS, Shimizu et al. 2026, arXiv 2602.14050).

    The range is the same for every length, so a longer input only stands closer. Unlike `randomized`, `limit` is no
    limit to the number of tokens. Without a generator positions are evenly spread; the paper draws them there too.

    Places are whole numbers, of which `parts` make a position. An encoding that reads them divides by `parts`:
    `fine-sinusoidal` has `parts`, `rotary-linear` has `factor`, and `power` with `power: 1` and `factor: 1/parts` is
    ALiBi.

    >>> at = Places(index=torch.arange(4)[None])
    >>> floats(torch.zeros(1, 4), at, limit=2, parts=10)["floats"].tolist()
    [[0, 5, 10, 15]]
    """
    index, room = places["index"], limit * parts
    count = index.amax(-1, keepdim=True) + 1  # (B|1, 1): tokens in each row
    if generator is None:
        return places.add(floats=torch.where(index >= 0, index * room // count.clamp(min=1), -1))
    longest = index.shape[-1]
    drawn = torch.rand(
        len(tokens), longest, generator=generator, device=tokens.device, dtype=torch.float64
    )
    place = (drawn * room).long()
    place = torch.where(torch.arange(longest, device=place.device) < count, place, room)
    chosen = place.sort().values.gather(1, index.clamp(min=0).expand(len(tokens), -1))
    return places.add(floats=torch.where(index >= 0, chosen, -1))


def cyclic(
    tokens: Tensor,
    places: Places,
    generator: torch.Generator | None = None,
    *,
    period: PositiveInt = 3,
    axis: str = "index",
) -> Places:
    """The index modulo a period (CPI of the `bias` paper): no position is ever unseen.

    In a question that is padded to one width a column always has the same phase; where widths differ it keeps it on the
    axis `column`.

    >>> cyclic(torch.zeros(1, 4), Places(index=torch.arange(4)[None]))["cyclic"].tolist()
    [[0, 1, 2, 0]]
    """
    place = places[axis]
    return places.add(cyclic=torch.where(place >= 0, place % period, -1))


def interpolated(
    tokens: Tensor,
    places: Places,
    generator: torch.Generator | None = None,
    *,
    limit: PositiveInt = 64,
    answer_limit: PositiveInt | None = None,
    parts: PositiveInt = 1,
) -> Places:
    """The index, drawn together where there are more than `limit` tokens, so that none lies beyond the trained ones.

    Position interpolation (Chen et al. 2023). Places are whole numbers, of which `parts` make a position: with 64 of them
    `fine-sinusoidal` distinguishes neighbours. How many tokens there are is known from the question and the room for its
    answer. The answer in an encoder-decoder is a sequence of its own, with its own limit.

    >>> at = Places(index=torch.arange(4)[None], role=torch.full((1, 4), 3))
    >>> interpolated(torch.zeros(1, 4), at, limit=2, parts=10)["interpolated"].tolist()
    [[0, 5, 10, 15]]
    """
    index, role = places["index"], places["role"]
    asks = (role >= Role.OPERAND).any(-1, keepdim=True)  # (B|1, 1): the question is in it
    most = torch.where(asks, limit, limit if answer_limit is None else answer_limit)
    count = index.amax(-1, keepdim=True) + 1
    place = index * most * parts // torch.maximum(count, most)
    return places.add(interpolated=torch.where(index >= 0, place, -1))


HUNDREDTHS = 100  # of a factor that an axis holds


def stretched(
    tokens: Tensor,
    places: Places,
    generator: torch.Generator | None = None,
    *,
    limit: PositiveInt = 64,
) -> Places:
    """How many times `limit` the input is long, at least 1 and in hundredths: the same for all of its tokens.

    Dynamic scaling (NTK-aware, YaRN): `rotary-ntk` and `rotary-yarn` take it as their factor, so that a model is trained
    without scaling, and a longer input is scaled by its own length. The room for the answer counts, as for `interpolated`.

    >>> at = Places(index=torch.arange(5)[None])
    >>> stretched(torch.zeros(1, 5), at, limit=2)["stretched"].tolist()
    [[250, 250, 250, 250, 250]]
    """
    index = places["index"]
    count = index.amax(-1, keepdim=True) + 1  # (B|1, 1): tokens in each row
    factor = (count * HUNDREDTHS // limit).clamp(min=HUNDREDTHS)
    return places.add(stretched=torch.where(index >= 0, factor, -1))


def abacus(
    tokens: Tensor,
    places: Places,
    generator: torch.Generator | None = None,
    *,
    reach: NonNegativeInt = 0,
) -> Places:
    """The place of a digit within its number, counted from 1 as written (McLeish et al. 2024).

    `21+543=` (operands reversed) -> 1 2 - 1 2 3 -. In training the count starts anywhere in 1..1+reach.
    """
    role, digit = torch.broadcast_tensors(places["role"], places["significance"] >= 0)
    of_role = functional.one_hot(role.clamp(min=0), ROLES) * digit.unsqueeze(-1)  # (B|1, T, roles)
    before = of_role.cumsum(-2).gather(-1, role.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    count = torch.where(digit, before, -1)
    return places.add(abacus=_moved(count, _start(tokens, reach, generator)))


def coupled(
    tokens: Tensor,
    places: Places,
    generator: torch.Generator | None = None,
    *,
    reach: NonNegativeInt = 0,
) -> Places:
    """One position for all digits of one significance (position coupling, Cho et al. 2024), from a random start."""
    return places.add(coupled=_moved(places["significance"], _start(tokens, reach, generator)))


def down(tokens: Tensor, places: Places, generator: torch.Generator | None = None) -> Places:
    """The row of a patch in an image that is read row by row, the top one 0; the image is the least square that holds all.

    >>> down(torch.zeros(1, 9), Places(index=torch.arange(9)[None]))["down"].tolist()
    [[0, 0, 0, 1, 1, 1, 2, 2, 2]]
    """
    index = places["index"]
    return places.add(down=torch.where(index >= 0, index // _side(index), -1))


def across(tokens: Tensor, places: Places, generator: torch.Generator | None = None) -> Places:
    """The column of a patch in the same image, the left one 0.

    >>> across(torch.zeros(1, 9), Places(index=torch.arange(9)[None]))["across"].tolist()
    [[0, 1, 2, 0, 1, 2, 0, 1, 2]]
    """
    index = places["index"]
    return places.add(across=torch.where(index >= 0, index % _side(index), -1))


def _side(index: Tensor) -> Tensor:
    """How many patches a row of each image has: (B|1, 1)."""
    count = index.amax(-1, keepdim=True) + 1
    return count.clamp(min=1).double().sqrt().ceil().long()


def periods(scheme: Scheme) -> dict[str, int]:
    """The axes on which a scheme repeats its places, and after how many tokens.

    >>> periods(functools.partial(cyclic, period=5)), periods(shifted)
    ({'cyclic': 5}, {})
    """
    bound = scheme if isinstance(scheme, functools.partial) else functools.partial(scheme)
    if bound.func is not cyclic:
        return {}
    default = inspect.signature(cyclic).parameters["period"].default
    return {"cyclic": bound.keywords.get("period", default)}


SCHEMES: Registry[Places] = Registry(
    "scheme",
    "tenfold.schemes",
    of=(
        shifted,
        randomized,
        floats,
        interpolated,
        stretched,
        cyclic,
        abacus,
        coupled,
        down,
        across,
    ),
    takes=("tokens", "places", "generator"),
)
