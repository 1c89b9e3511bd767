"""Which series converge, and how far encodings look before anything is trained (Theorem 3.4, Sections 3.2 to 3.4).

    tenfold reproduce extrapolation/series

Theory alone, the same at every scale: the verdict of each encoding by analysis of its form, with the slopes of 8 heads
(`converges`: 1 if all heads do); whether the bias falls all the way to 10,000 (`falls`); the theoretical receptive
field at three shares (`trf-0.05`, slices `head-1` to `head-8`; rows without one: there is none) and within 512 and
9,216 tokens, which the paper trains and tests at; what the longer text adds to the weight (`adds`). ALiBi's field is
found twice, by its closed form and by summing with bounds on the rest (`trf-difference`). Some seconds on one core.
"""

from dataclasses import replace

import torch

from tenfold.encodings.decay_series import GEOMETRIC, Series, slopes
from tenfold.features.reach.partial_sums import growth
from tenfold.features.reach.reach_text import draw_compared
from tenfold.features.reach.receptive_field import reach, reaches
from tenfold.features.reach.series_by_name import NamedSeries, given

HEADS = 8
SHORT, LONG = 512, 9216
FURTHEST = 10_000
SHARES = (0.5, 0.05, 0.01)
FINER = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
ENCODINGS = {  # how claims name them: (encoding, its options or learned numbers)
    "alibi": ("alibi", {}),
    "type-1": ("type-1", {}),
    "type-2": ("type-2", {}),
    "inverse": ("inverse", {}),
    "inverse-log": ("inverse-log", {}),
    "power-0.5": ("power", {"power": [0.5]}),
    "power-0.75": ("power", {"power": [0.75], "factor": [0.5]}),
    "power-1.25": ("power", {"power": [1.25]}),
    "power-2": ("power", {"power": [2.0]}),
    "power-4": ("power", {"power": [4.0]}),
    "kerple-power": ("kerple-power", {}),
    "sandwich": ("sandwich", {}),
    "sinusoidal": ("sinusoidal", {}),
    "rotary": ("rotary", {}),
    "nope": ("none", {}),
}
KERPLE_LOG = (0.5, 1.0, 2.0)  # its power; the slope is 1
DRAWN = ("alibi", "type-1", "type-2", "power-0.5", "inverse", "inverse-log", "sandwich")


def measure(_lab):
    for name, about in _named_series().items():
        yield from _rows(name, about, "uniform")
    for p in KERPLE_LOG:
        about = given("kerple-log", HEADS, {"p": [p], "a": [1.0]})
        yield from _rows("kerple-log", about, f"p-{p:g}")
    yield _row("alibi", "trf-difference", _difference())


def draw(drawing):
    series = _named_series()
    draw_compared(
        [replace(series[name], name=name) for name in DRAWN], LONG, drawing.folder / "weights.png"
    )


def _named_series() -> dict[str, NamedSeries]:
    return {name: given(pe, HEADS, options) for name, (pe, options) in ENCODINGS.items()}


def _rows(name, about, slice):
    series = about.series
    yield _row(name, "converges", all(v.converges is True for v in series.verdicts), slice)
    bias = series.log_b(torch.arange(FURTHEST + 1, dtype=torch.float64))
    yield _row(name, "falls", bool((bias.diff(dim=1) < 0).all()), slice)
    yield _row(name, "adds", max(growth(series, SHORT, LONG)), slice)
    only = "" if slice == "uniform" else f"{slice}-"
    for eps, fields in zip(SHARES, reaches(series, SHARES), strict=True):
        for head, field in enumerate(fields, 1):
            if field is not None and field.high is not None:
                middle = (field.low + field.high) / 2
                yield _row(name, f"trf-{eps:g}", middle, f"{only}head-{head}")
    for within in (SHORT, LONG):
        for head, field in enumerate(reach(series, 0.05, within), 1):
            yield _row(name, "trf-0.05-within", field.low, f"{only}head-{head}", length=within)


def _difference():
    """Over 8 heads and nine shares, the most by which the two ways to ALiBi's field differ."""
    slope = slopes(HEADS)[:, None]
    closed = reaches(Series(GEOMETRIC, (slope,)), FINER)
    summed = reaches(Series(replace(GEOMETRIC, closed=None), (slope,)), FINER)
    pairs = [
        (one, other)
        for ones, others in zip(closed, summed, strict=True)
        for one, other in zip(ones, others, strict=True)
    ]
    return max(max(abs(a.low - b.high), abs(a.high - b.low)) for a, b in pairs)


def _row(name, metric, value, slice="uniform", **more):
    about = {"recipe": f"extrapolation/{name}", "encoding": name}
    return {
        **about, "slice": slice, "metric": metric, "value": float(value), **more,
    }  # fmt: skip
