"""What a model's config says of its positions, and what the theory says of them.

Read from the config and the modules that were made from it: rotary base, scaling and turned components; ALiBi's slopes;
T5's buckets; the number of learned positions; the encoding that `tenfold.hf.swap` put in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from tenfold.core.registry import Spec
from tenfold.encodings.decay_series import GEOMETRIC, Series, slopes
from tenfold.features.probe.rope_scalings import RopeScaling, rates, rotary_modules, scaled

TRAINED = ("max_position_embeddings", "n_positions", "seq_length", "max_seq_len")  # in a config


@dataclass(frozen=True)
class StatedEncoding:
    """The positions of a model: their name, what the config states, and what follows, in sentences."""

    name: str
    facts: dict[str, Any] = field(default_factory=dict)
    theory: Sequence[str] = ()
    limit: int | None = None  # the number of positions, where there are no more

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, **self.facts, "theory": list(self.theory)}


def trained_length(model: PreTrainedModel) -> int | None:
    """The training length that a config states: before a scaling, where it has one."""
    config = model.config.get_text_config()
    rope = getattr(config, "rope_parameters", None) or {}
    before = rope.get("original_max_position_embeddings")
    stated = before or next((v for key in TRAINED if (v := getattr(config, key, None))), None)
    return int(stated) if isinstance(stated, int | float) else None


def stated_encoding(
    model: PreTrainedModel,
    trained: int | None,
    eps: float = 0.05,
    scaling: RopeScaling | None = None,
) -> StatedEncoding:
    """What is stated and what follows, for the model as it is or with another rotary scaling."""
    if scaling is not None:
        plain = rates(model)
        with scaled(model, scaling, trained):
            return _rotary(model, trained, eps, plain) or NOT_FOUND
    readers: Sequence[Callable[..., StatedEncoding | None]] = (
        _swapped, _buckets, _alibi, _rotary, _learned,
    )  # fmt: skip
    return next((found for read in readers if (found := read(model, trained, eps))), NOT_FOUND)


NOT_FOUND = StatedEncoding(
    "not stated", {}, ["The config states no positions that the theory knows; a causal mask alone can count tokens."]
)  # fmt: skip


def _swapped(model: PreTrainedModel, trained: int | None, eps: float) -> StatedEncoding | None:
    stated = getattr(model.config, "tenfold", None)
    if stated is None:
        return None
    spec = Spec.model_validate(stated)
    encodings: Any = model.base_model.encodings
    pe = encodings[0]
    series = pe.series() if hasattr(pe, "series") else None
    facts: dict[str, Any] = {"options": dict(spec.options) or None, "swapped_in": True}
    if not isinstance(series, Series):
        words = f"Nothing that depends on distance alone is added to the logits; see `tenfold theory advise {spec.name}`."
        return StatedEncoding(spec.name, facts, [words])
    return StatedEncoding(spec.name, facts | _reach(series, eps), _sentences(series, eps))


def _alibi(model: PreTrainedModel, trained: int | None, eps: float) -> StatedEncoding | None:
    config = model.config.get_text_config()
    inner = getattr(config, "attn_config", None)
    stated = getattr(config, "alibi", False) or getattr(inner, "alibi", False)
    if not stated and not hasattr(model.base_model, "build_alibi_tensor"):
        return None
    series = Series(GEOMETRIC, (slopes(int(config.num_attention_heads))[:, None],))
    slope = [float(each) for each in series.parameters[0][:, 0]]
    return StatedEncoding("alibi", {"slopes": slope} | _reach(series, eps), _sentences(series, eps))


def _reach(series: Series, eps: float) -> dict[str, Any]:
    """The theoretical receptive field of each head, where the form has one in closed form."""
    if series.decay.closed is None or not all(series.converges):
        return {"converges": [verdict.converges for verdict in series.verdicts]}
    share = torch.tensor(eps, dtype=torch.float64)
    reach = series.decay.closed(share, *series.parameters)[:, 0].ceil()
    return {"converges": True, "theoretical_fields": [int(each) for each in reach]}


def _sentences(series: Series, eps: float) -> list[str]:
    verdicts = list(dict.fromkeys(verdict.why for verdict in series.verdicts))
    lines = [f"The bias at distance n is {series.decay.text}. Its series {'; '.join(verdicts)}."]
    fields = _reach(series, eps).get("theoretical_fields")
    if fields:
        lines.append(
            f"One layer's heads look {min(fields):,} to {max(fields):,} tokens far by the bias alone (all but {eps:g} of the "
            "weight), at any length: perplexity should not rise."
        )
    elif not any(series.converges):
        lines.append("A series that diverges gives no bound: perplexity may rise beyond the training length.")  # fmt: skip
    return lines


def _buckets(model: PreTrainedModel, trained: int | None, eps: float) -> StatedEncoding | None:
    config = model.config.get_text_config()
    count = getattr(config, "relative_attention_num_buckets", None)
    if count is None:
        return None
    furthest = getattr(config, "relative_attention_max_distance", 128)
    lines = [
        f"{count} buckets hold all distances; those from {furthest} on share the last, so that every far token has the same "
        "bias. The series diverges: nothing bounds how far a head looks."
    ]
    return StatedEncoding("t5", {"buckets": count, "furthest": furthest}, lines)


def _learned(model: PreTrainedModel, trained: int | None, eps: float) -> StatedEncoding | None:
    tables = [
        name
        for name, module in model.base_model.named_modules()
        if isinstance(module, nn.Embedding) and ("pos" in name or name.endswith("wpe"))
    ]
    limit = next((v for key in TRAINED if (v := getattr(model.config, key, None))), None)
    if not tables or limit is None:
        return None
    lines = [f"A vector is learned for each of {limit:,} positions. There is none beyond, so no longer text can be read."]  # fmt: skip
    return StatedEncoding("learned", {"positions": int(limit)}, lines, int(limit))


def _rotary(
    model: PreTrainedModel, trained: int | None, eps: float, plain: Tensor | None = None
) -> StatedEncoding | None:
    """`plain` are the rates that the model was trained with, where it is scaled now."""
    turning = rates(model)
    if turning is None:
        return None
    module = next(iter(rotary_modules(model).values()))
    rope = dict(module.config.rope_parameters)
    waves = (2 * math.pi / turning).tolist()
    facts: dict[str, Any] = {
        "base": rope.get("rope_theta"),
        "scaling": rope.get("rope_type", "default"),
        "factor": rope.get("factor"),
        "turned_components": 2 * len(waves),
        "longest_wavelength": max(waves),
        "attention_scaling": float(getattr(module, "attention_scaling", 1.0)),
    }
    lines = ["Rotary positions add nothing to the logits, so the series of weights diverges: nothing bounds how far a head looks."]  # fmt: skip
    if trained is not None:
        slow, first = unseen_from(turning, turning if plain is None else plain, trained)
        facts |= {"pairs_without_full_turn": slow, "new_angles_from": first}
        lines.append(
            f"Of {len(waves)} pairs of components, {slow} do not complete a turn within the {trained:,} tokens of training"
            + (f"; they meet angles that were never trained from token {first:,} on, and perplexity may rise there." if first else ".")
        )  # fmt: skip
    return StatedEncoding("rotary", facts, lines)


def unseen_from(turning: Tensor, plain: Tensor, trained: int) -> tuple[int, int | None]:
    """How many pairs completed no turn in training, and the first token at which one of them has a new angle.

    >>> rate = torch.tensor([1.0, 0.01], dtype=torch.float64)
    >>> unseen_from(rate, rate, 128), unseen_from(rate / 4, rate, 128), unseen_from(rate, rate, 700)
    ((1, 128), (1, 512), (0, None))
    """
    slow = plain * trained < 2 * math.pi
    if not bool(slow.any()):
        return 0, None
    return int(slow.sum()), int((trained * plain[slow] / turning[slow]).min().round())
