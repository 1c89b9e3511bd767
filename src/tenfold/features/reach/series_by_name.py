"""The series of weights by distance of an encoding, a formula, or a file of numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from tenfold.core.errors import TenfoldError, unknown
from tenfold.core.registry import Spec, options_of
from tenfold.encodings.decay_bias import Decaying
from tenfold.encodings.decay_series import CONSTANT, Decay, Series
from tenfold.encodings.encoding import ENCODINGS, SIZES, PositionalEncoding
from tenfold.features.reach.bias_formula import exact
from tenfold.features.reach.bias_tables import table
from tenfold.features.reach.series_from_formula import written
from tenfold.features.reach.stated_series import stated_series, why_no_series

HEAD_SIZE = 64
FILE = re.compile(r".*\.(txt|csv|tsv|dat)$", re.IGNORECASE)
NAME = re.compile(r"[a-zA-Z_][\w-]*$")
UNWEIGHTED = Decay(
    "0",
    CONSTANT.log_b,
    CONSTANT.tail,
    CONSTANT.sums,
    "diverges: no bias falls with distance, every weight is 1 (places only enter with the queries and keys, or at the input)",
)


@dataclass(frozen=True)
class NamedSeries:
    """A series with its name, or the reason why there is none. `learned`: it has learned parameters, at initial values."""

    name: str
    series: Series | None
    why_not: str = ""
    learned: bool = False


def series_of(pe: PositionalEncoding) -> Series | None:
    """The series of an encoding. An encoding that adds nothing to the logits has weights of 1.

    >>> from tenfold.encodings import FIRE, Rotary
    >>> series_of(Rotary(head_size=8)).verdicts[0].converges, series_of(FIRE(heads=2))
    (False, None)
    """
    stated = stated_series(pe)
    if stated is None and not pe.ways & {"scores", "bias", "state", "visible", "normalise"}:
        return Series(UNWEIGHTED, (torch.zeros(1, 1, dtype=torch.float64),))
    return stated


def given(
    text: str,
    heads: int = 8,
    parameters: Mapping[str, Sequence[str | float]] | None = None,
    *,
    weights: bool = False,
) -> NamedSeries:
    """The series of an encoding with these parameters, of a formula, or of a file with a table.

    >>> [verdict.converges for verdict in given("kerple-log", 2, {"p": [2, 0.5]}).series.verdicts]
    [True, False]
    """
    parameters = parameters or {}
    if heads < 1:
        raise TenfoldError(f"{heads} heads; at least 1")
    if text in ENCODINGS.names():
        return _encoding(text, heads, parameters)
    if FILE.match(text) or (not NAME.match(text) and len(text) < 256 and Path(text).is_file()):
        if parameters:
            raise TenfoldError(f"a table has no parameters; {', '.join(parameters)} was given")
        return NamedSeries(text, table(text, weights=weights))
    if NAME.match(text) and text != "n":
        raise ENCODINGS.unknown(text)
    return NamedSeries(text, written(text, parameters))


def several(
    texts: Sequence[str],
    heads: int = 8,
    parameters: Mapping[str, Sequence[str | float]] | None = None,
    *,
    weights: bool = False,
) -> list[NamedSeries]:
    """Several series. Each uses the parameters that it has. A parameter that none has raises an error."""
    if not texts:
        raise TenfoldError("there is nothing to compare; name encodings, formulas or files")
    parameters, taken = parameters or {}, set[str]()
    named = []
    for text in texts:
        own = {name: values for name, values in parameters.items() if _has(text, heads, name)}
        taken |= own.keys()
        named.append(given(text, heads, own, weights=weights))
    for name in parameters.keys() - taken:
        raise TenfoldError(f'a parameter "{name}"; none of {", ".join(texts)} has it')
    return named


def _has(text: str, heads: int, name: str) -> bool:
    if text not in ENCODINGS.names():
        return re.search(rf"\b{re.escape(name)}\b", text) is not None and not FILE.match(text)
    return name in options_of(ENCODINGS[text]) or name in dict(
        _made(Spec(name=text), heads).named_parameters()
    )


def _made(spec: Spec, heads: int) -> PositionalEncoding:
    """Construct an encoding, with the same initial parameters every time."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        make = ENCODINGS.factory(spec, SIZES)
        return make(width=heads * HEAD_SIZE, heads=heads, head_size=HEAD_SIZE)


def _encoding(
    name: str, heads: int, parameters: Mapping[str, Sequence[str | float]]
) -> NamedSeries:
    """An encoding with these parameters. Options take one value; learned parameters take one value, or one per head."""
    options = {
        key: values for key, values in parameters.items() if key in options_of(ENCODINGS[name])
    }
    for key, values in options.items():
        if len(values) != 1:
            raise TenfoldError(f'{len(values)} values of {key}; an option of "{name}" takes one')
    spec = Spec(name=name, options={key: values[0] for key, values in options.items()})
    pe = _made(spec, heads).double()  # in single precision p = 1.00000001 would be 1
    own = dict(pe.named_parameters())
    by_head = {key for key, learned in own.items() if learned.shape == (heads,)}
    for key in parameters.keys() - options.keys():
        if key not in by_head:
            raise unknown(f'parameter of "{name}"', key, {*options_of(ENCODINGS[name]), *by_head})
        _fill(pe, key, own[key].detach(), parameters[key])
    free = own.keys() - parameters.keys()
    return NamedSeries(
        name, series_of(pe), why_no_series(pe), learned=bool(free) and stated_series(pe) is not None
    )


def _fill(
    pe: PositionalEncoding, key: str, learned: torch.Tensor, values: Sequence[str | float]
) -> None:
    """Set a learned parameter. Raises an error for values that training excludes or that floats cannot tell from 1."""
    ranges = pe.ranges if isinstance(pe, Decaying) else {}
    low, high = ranges.get(key, (-math.inf, math.inf))
    numbers = [exact(key, value) for value in values]
    for number, value in zip(numbers, values, strict=True):
        if not low <= number <= high:
            right = f"at least {low:g}" if high == math.inf else f"{low:g} to {high:g}"
            raise TenfoldError(f'{key} = {value}; in "{pe.name}" {right} is right')
        if number != 1 and float(number) == 1:
            raise TenfoldError(
                f"{key} = {value}; this is too near to 1; write a formula, which is exact"
            )
    if len(numbers) not in (1, len(learned)):
        raise TenfoldError(
            f'{len(numbers)} values of {key} of "{pe.name}"; one, or one for each of {len(learned)} heads'
        )
    learned.copy_(torch.tensor(list(map(float, numbers)), dtype=learned.dtype).expand_as(learned))
