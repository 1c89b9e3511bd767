"""What each encoding costs: a training step, and inference on a long input, beside the same without positions.

An arm is an encoding with plain options. Arms are timed in groups, each beside "none" and its twin (A/A): all at
once would need long rounds, in which the machine does not stay the same. For inference the memory is counted as
well: the peak, and the largest single tensor, which must not grow to a vector for each pair of tokens.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.memory import Watch
from benchmarks.paired import TWIN, measure
from benchmarks.step import stepper
from tenfold.core.registry import Spec
from tenfold.data.batch import IGNORED, Batch, Tokens
from tenfold.encodings import ENCODINGS, SIZES, Attends
from tenfold.models import Decoder, Encoder, Shape
from tenfold.models.model import Model
from tenfold.runs.build import build
from tenfold.runs.recipe import Recipe

NONE = "none"
TARGET = 1.6  # times a training step without positions, at the most
DEAR = ("cope",)  # may cost more: it counts over all pairs, for every head
GROUPS = 4  # of arms timed together


@dataclass(frozen=True)
class Setting:
    """Where the arms are timed: `in-place` problems, or `ragged` ones of many lengths, each row with its own index."""

    title: str
    batch: int
    tokens: int
    layers: int
    width: int
    heads: int
    rounds: int
    model: type[Model] = Decoder
    ragged: bool = False
    training: bool = True

    @property
    def shape(self) -> Shape:
        return Shape(self.layers, self.width, self.heads)

    @property
    def kind(self) -> Attends:
        return Attends.TWO_WAY if self.model is Encoder else Attends.CAUSAL


SETTINGS = (
    Setting("encoder", batch=64, tokens=41, layers=4, width=64, heads=4, rounds=8, model=Encoder),
    Setting("ragged", batch=64, tokens=41, layers=4, width=64, heads=4, rounds=8, ragged=True),
    Setting("longer", batch=8, tokens=256, layers=2, width=128, heads=8, rounds=5),
    Setting(
        "inference", batch=1, tokens=2048, layers=1, width=512, heads=8, rounds=3, training=False
    ),
)


def specs(room: int) -> dict[str, dict[str, Any]]:
    """A name and options for every arm, with room for this many tokens; columns number half as many."""
    named = {
        name: {"name": name, **ENCODINGS[name].examples(room)[0]} for name in ENCODINGS.names()
    }
    relative = {"name": "relative", "reach": room}
    uniform = {"name": "uniform", "reach": room, "digits": room // 2 + 1}
    joint = {"name": "joint", "reach": room // 2 + 1}
    return named | {
        "pairwise": {"name": "pairwise", "relation": relative},
        "pairwise, values": {"name": "pairwise", "relation": relative, "values": True},
        "pairwise, uniform": {"name": "pairwise", "relation": uniform},
        "pairwise, joint": {"name": "pairwise", "relation": joint},
        "scalar": {"name": "scalar", "relation": relative},
        "scalar, joint": {"name": "scalar", "relation": joint},
    }


def run(quick: bool = False, full: bool = False) -> dict[str, Any]:
    parts = {}
    for setting in SETTINGS:
        if full:
            setting = replace(setting, rounds=4 * setting.rounds)
        if quick:
            setting = replace(setting, batch=min(setting.batch, 2), tokens=64, layers=1, rounds=1)
        parts[setting.title] = _timed(setting, attempts=1 if quick else 2)
    return {"parts": parts}


def _timed(setting: Setting, attempts: int) -> dict[str, Any]:
    batch = problems(setting)
    given = {
        name: spec
        for name, spec in sorted(specs(setting.tokens + 1).items())
        if name != NONE and setting.kind in factory(spec)(**sizes(setting.shape)).kinds
    }
    names = list(given)
    groups = []
    for number in range(GROUPS):
        some = {NONE: {"name": NONE}} | {name: given[name] for name in names[number::GROUPS]}
        arms = {name: arm(setting, spec, batch) for name, spec in some.items()}
        measured = measure(arms, setting.rounds, warmup=1, attempts=attempts)
        groups.append(
            {
                "slower": {  # time of the arm / time of none
                    clock: {
                        name: asdict(measured.ratio(NONE, base=name, clock=clock))
                        for name in (*names[number::GROUPS], TWIN)
                    }
                    for clock in ("wall", "cpu")
                },
                "quiet": measured.quiet,
                "median_seconds_of_none": measured.median(NONE, "cpu"),
            }
        )
        print(f"{setting.title}: {', '.join(arms)}", file=sys.stderr, flush=True)
    described = {k: v for k, v in asdict(setting).items() if k != "model"}
    result = {"setting": {**described, "model": setting.model.name}, "groups": groups}
    if not setting.training:
        every = {NONE: {"name": NONE}} | given
        result["memory"] = {n: memory(arm(setting, spec, batch)) for n, spec in every.items()}
    return result


def problems(setting: Setting) -> Batch:
    """Sums in place, in a frame that makes this many tokens; or ragged ones, the longest about this long."""
    frame = setting.tokens // 2
    recipe: dict[str, Any] = {"train": {"batch": setting.batch}, "pe": NONE}
    if setting.ragged:
        digits = frame * 2 // 3
        recipe |= {
            "format": "reversed",
            "model": {"kind": "decoder"},
            "data": {"length": digits, "sampler": "lengths"},
            "eval": {"lengths": (digits,)},
        }
        return build(Recipe.of(recipe)).batch_at(0)
    recipe |= {
        "format": {"name": "in-place", "frame": frame},
        "data": {"length": frame},
        "eval": {"lengths": (frame,)},
    }
    batch = build(Recipe.of(recipe)).batch_at(0)
    sequence = batch.sequence
    cut = Tokens(sequence.tokens[:, -setting.tokens :], sequence.places.last(setting.tokens))
    return replace(batch, sequence=cut)


class Learner(nn.Module):
    """A model with its loss, as the trainer computes it."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model

    def loss(self, batch: Batch) -> Tensor:
        logits = self.model(batch)
        return F.cross_entropy(logits.flatten(0, 1), batch.target.flatten(), ignore_index=IGNORED)


def arm(setting: Setting, spec: dict[str, Any], batch: Batch) -> Callable[[], object]:
    """A training step, or the hidden vectors of every token."""
    torch.manual_seed(0)
    model: Any = setting.model(16, 0, setting.shape, factory(spec))
    if setting.training:
        return stepper(Learner(model), batch)
    model.eval()

    def infer() -> Tensor:
        with torch.no_grad():
            return model.stack(batch.sequence)

    return infer


def factory(spec: dict[str, Any]) -> Callable[..., Any]:
    return ENCODINGS.factory(Spec.model_validate(spec), SIZES)


def sizes(shape: Shape) -> dict[str, int]:
    return dict(zip(SIZES, (shape.width, shape.heads, shape.width // shape.heads), strict=True))


def memory(call: Callable[[], object]) -> dict[str, int]:
    with Watch() as watch:
        call()
    return {"peak": watch.peak, "largest": watch.largest}


def table(result: dict[str, Any]) -> list[str]:
    """What was measured, in Markdown: how many times as long as without positions, in CPU time."""
    parts = result["parts"]
    of = {title: _joined(part) for title, part in parts.items()}
    counted, setting = parts["inference"]["memory"], parts["inference"]["setting"]
    lines = [
        "Time with the encoding / time without positions, by the CPU's clock: **above 1 is slower**, unlike in "
        "the tables above. One thread.",
        "",
        *(f"- {title}: {_described(part)}" for title, part in parts.items()),
        "",
        f"| encoding | {' | '.join(parts)} | peak memory over none's | largest tensor |",
        "|---" * (len(parts) + 3) + "|",
    ]
    for name in sorted(counted):
        if name == NONE:
            continue
        ratios = [_shown(of[title].get(name)) for title in parts]
        more = counted[name]["peak"] - counted[NONE]["peak"]
        lines.append(
            f"| {name} | {' | '.join(ratios)} | {more / 2**20:+.0f} MiB "
            f"| {counted[name]['largest'] / _pairs(setting):.2f} |"
        )
    least = counted[NONE]
    lines += [
        "",
        f"Memory is that of inference; without positions its peak is {least['peak'] / 2**20:.0f} MiB. The largest "
        "tensor is given in times the weights of attention, a number for each head and pair of tokens; a vector "
        f"for each pair would be {_vectors(setting):.0f} times that. A `~` marks a group "
        "whose A/A arm left 0.97-1.03.",
        "",
        *broken(parts),
    ]
    return lines


def broken(parts: dict[str, Any]) -> list[str]:
    """Which encodings miss a target, in words; what is allowed to is named too."""
    slow = [
        f"{name} ({ratio['median']:.2f}, {title})"
        for title, part in parts.items()
        for name, ratio in _joined(part).items()
        if part["setting"]["tokens"] == 41 and ratio["median"] > TARGET and name not in DEAR
    ]
    inference = parts["inference"]
    limit = _vectors(inference["setting"]) * _pairs(inference["setting"])
    large = [name for name, found in inference["memory"].items() if found["largest"] >= limit]
    dear = [
        f"{name} {_joined(part)[name]['median']:.2f} ({title})"
        for name in DEAR
        for title, part in parts.items()
        if name in _joined(part)
    ]
    return [
        f"Slower than {TARGET} when training on 41 tokens: {', '.join(slow) or 'nothing'}. A vector for each pair "
        f"of tokens in inference, or more: {', '.join(large) or 'nothing'}. Allowed to be dear: {', '.join(dear)}."
    ]


def _joined(part: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The ratios of all groups; whether its group was quiet is noted with each."""
    return {
        name: {**ratio, "quiet": group["quiet"]}
        for group in part["groups"]
        for name, ratio in group["slower"]["cpu"].items()
        if name != TWIN
    }


def _shown(ratio: dict[str, Any] | None) -> str:
    if ratio is None:
        return "-"
    mark = "" if ratio["quiet"] else "~"
    return f"{mark}{ratio['median']:.2f} [{ratio['low']:.2f}, {ratio['high']:.2f}]"


def _described(part: dict[str, Any]) -> str:
    """`training, decoder, batch 64, 42 tokens, ...`; and what the A/A arms said."""
    setting, groups = part["setting"], part["groups"]
    twins = [group["slower"]["cpu"][TWIN]["median"] for group in groups]
    return (
        f"{'a training step' if setting['training'] else 'inference'} of the {setting['model']}, batch "
        f"{setting['batch']}, {setting['tokens']} tokens"
        f"{' at the most, each row with its own index' if setting['ragged'] else ''}, d={setting['width']}, "
        f"{setting['heads']} heads, {setting['layers']} layer(s); A/A {min(twins):.2f} to {max(twins):.2f}"
    )


def _pairs(setting: dict[str, Any]) -> int:
    return setting["batch"] * setting["heads"] * setting["tokens"] ** 2


def _vectors(setting: dict[str, Any]) -> float:
    """A vector for each pair of tokens, in times a number for each head and pair."""
    return setting["width"] / setting["heads"] / setting["heads"] / setting["batch"]
