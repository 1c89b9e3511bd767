"""The tracks of the league, and their rules: what is trained, with which budget, and what is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from tenfold.core.errors import TenfoldError, unknown
from tenfold.runs.recipe import Recipe, merge

FIT = 0.99  # share of right answers at trained lengths that makes an entry a rival
LEVELS = (0.99, 0.90)  # what is held at a length
ABOVE_MEDIAN = (
    1.1  # the perplexity at the trained length that still fits, over the median of all entries
)
TRIED = 0.1  # share of the budget that each learning rate is tried with
ROUNDED = 10  # steps are a multiple of it
SCALES = ("smoke", "laptop", "paper")
DEFAULT_SCALE = "laptop"


@dataclass(frozen=True)
class LeagueTrack:
    """One competition. `values` are those of every recipe, before an entry changes them."""

    name: str
    about: str
    values: Mapping[str, Any]
    trained: int  # the longest length in training
    ladder: tuple[int, ...]  # lengths that are measured after training, until answers end
    slices: tuple[str, ...]  # of the ladder; the first decides the score
    n: int  # problems of each length and slice
    budget: float  # operations of training, without the trial of rates
    rates: tuple[float, ...]  # learning rates that are tried at trained lengths
    metric: str = "exact"
    tried_by: str = (
        "digit"  # the metric of the trial of rates, which differs before whole answers are right
    )
    counts: str = "digits"
    layers: tuple[int, ...] = (3, 1)  # sizes; the first is that of the table
    suits: frozenset[str] = frozenset()  # the groups of entries that take part

    def recipe(self, entry: str, changes: Mapping[str, Any], layers: int | None = None) -> Recipe:
        """The recipe of an entry before its budget is counted."""
        size = self.layers[0] if layers is None else layers
        if size not in self.layers:
            known = " or ".join(map(str, self.layers))
            raise TenfoldError(f'{size} layers; the track "{self.name}" has models of {known}')
        suffix = "" if size == self.layers[0] else f"-{size}-layer"
        values = merge(self.values, {"model": {"layers": size}}, changes)
        return Recipe(**{**values, "name": f"league/{self.name}/{entry}{suffix}"})


def _eval(lengths: list[int], every: int, validation: list[int], **more: Any) -> dict[str, Any]:
    return {
        "lengths": lengths, "slices": ["uniform"], "n": 200, "every": every,
        "validation": validation, "validation_n": 100, "checkpoints": ["best"], **more,
    }  # fmt: skip


DECODER: dict[str, Any] = {"kind": "decoder", "layers": 3, "width": 64, "heads": 4}
TRAIN: dict[str, Any] = {
    "steps": 1000, "batch": 64, "lr": 0.001, "warmup": 100, "weight_decay": 0.01,
    "checkpoint_every": 1000, "log_every": 100,
}  # fmt: skip
TRAINED = list(range(1, 11))
LADDER = (10, 11, 12, 13, 15, 17, 20, 25, 30, 40, 50, 75, 100, 150, 200)
EXACT: dict[str, Any] = {
    "data": {"length": 10, "sampler": "lengths", "lengths": "bucketed"},
    "model": DECODER,
}
EXACT |= {"train": TRAIN, "eval": _eval(TRAINED, 500, [3, 6, 8, 10])}
NUMBERS = frozenset({"encoding", "positions", "columns", "in-place", "recurrent"})
SEQUENCES = frozenset({"encoding", "positions", "columns", "recurrent"})

TRACKS: Mapping[str, LeagueTrack] = MappingProxyType(
    {
        track.name: track
        for track in (
            LeagueTrack(
                name="addition",
                about="sums of two numbers of 1 to 10 digits, columns side by side, the answer from its units on",
                values=merge(EXACT, {"task": "addition", "format": "interleaved"}),
                trained=10,
                ladder=LADDER,
                slices=("uniform", "full", "unequal", "nines"),
                n=200,
                budget=2e13,
                rates=(0.001, 0.003),
                suits=NUMBERS | {"addition"},
            ),
            LeagueTrack(
                name="multiplication",
                about="a number of 1 to 10 digits times one digit, which stands in every column, the answer from its units on",
                values=merge(EXACT, {"task": "multiplication", "format": "interleaved"}),
                trained=10,
                ladder=LADDER,
                slices=("uniform", "full", "nines"),
                n=200,
                budget=2e13,
                rates=(0.001, 0.003),
                suits=NUMBERS | {"multiplication"},
            ),
            LeagueTrack(
                name="parity",
                about="the running parity of 1 to 10 bits, from the units on",
                values=merge(EXACT, {"task": "parity", "format": "reversed"}),
                trained=10,
                ladder=LADDER,
                slices=("uniform",),
                n=200,
                budget=5e12,
                rates=(0.001, 0.003),
                counts="bits",
                suits=NUMBERS | {"parity"},
            ),
            LeagueTrack(
                name="copying",
                about="a sequence of 1 to 10 letters, repeated",
                values=merge(EXACT, {"task": "copying", "format": "in-order"}),
                trained=10,
                ladder=LADDER,
                slices=("uniform",),
                n=200,
                budget=5e12,
                rates=(0.001, 0.003),
                counts="letters",
                suits=SEQUENCES | {"copying"},
            ),
            LeagueTrack(
                name="text",
                about="source code of Python's standard library, byte by byte, 128 bytes at a time",
                values={
                    "task": "python-code",
                    "format": "bytes",
                    "data": {"length": 128},
                    "model": {**DECODER, "width": 96},
                    "train": {**TRAIN, "batch": 16, "lr": 0.002},
                    "eval": _eval([128, 256, 512, 1152, 2304, 4608], 500, [128], n=46080, validation_n=8192),
                },
                trained=128,
                ladder=(),
                slices=("uniform",),
                n=46080,
                budget=1e13,
                rates=(0.001, 0.003),
                metric="perplexity",
                tried_by="loss",
                counts="bytes",
                suits=frozenset({"encoding", "positions", "recurrent", "text"}),
            ),
        )
    }
)  # fmt: skip


# A scale changes the budget, the problems measured, and the values of every recipe.
SMALL = {
    "model": {"width": 16, "heads": 2},
    "train": {"batch": 8, "warmup": 5, "checkpoint_every": 10, "log_every": 5},
}
LARGE = {
    "model": {"layers": 6, "width": 384, "heads": 6},
    "train": {"batch": 256, "precision": "bfloat16"},
}


def track_at(name: str, scale: str = DEFAULT_SCALE) -> LeagueTrack:
    """A track by its name, at a scale: `smoke` takes seconds, `laptop` is the table, `paper` takes days."""
    if name not in TRACKS:
        raise unknown("track", name, TRACKS)
    if scale not in SCALES:
        raise unknown("scale of the league", scale, SCALES)
    track = TRACKS[name]
    if scale == "smoke":
        return _smoke(track)
    if scale == "paper":
        values = merge(track.values, LARGE)
        layers = (6, 1)
        return replace(track, values=values, layers=layers, budget=2000 * track.budget, n=1000)
    return track


def _smoke(track: LeagueTrack) -> LeagueTrack:
    trained = 16 if track.metric == "perplexity" else 2
    longer = [trained, 2 * trained]
    lengths = longer if track.metric == "perplexity" else [1, 2]
    few = {
        "lengths": lengths,
        "n": 8 * lengths[-1],
        "every": 10,
        "validation": [trained],
        "validation_n": 16,
    }
    values = merge(track.values, SMALL, {"data": {"length": trained}, "eval": few})
    return replace(
        track, values=values, trained=trained, ladder=(2, 3, 4, 5) if track.ladder else (), n=10,
        budget=30 * track.budget / 1e6, layers=(1, 2), rates=track.rates[:1],
    )  # fmt: skip
