"""A trained model with attention cut at its theoretical receptive field: what does it lose? Nothing is trained.

Every head sees only the nearest tokens that hold all but a share eps of its weight: a window for each head beside the
run's own encoding, with the numbers that came out of training. If the field says what a model uses, perplexity stays.
"""

from __future__ import annotations

from typing import Any

from tenfold.core.errors import TenfoldError
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.features.reach.receptive_field import FARTHEST, reach
from tenfold.features.reach.series_by_name import series_of
from tenfold.features.reach.stated_series import why_no_series
from tenfold.models import attention_in
from tenfold.runs.run import Run, Which


def cut_at_reach(
    run: Run, eps: float = 0.05, within: int | None = None, *, which: Which = "best"
) -> dict[str, Any]:
    """The encodings that `Run.evaluate` takes: the run's own, cut at the field of each head.

        run.evaluate(**cut_at_reach(run, eps=0.05))

    Arguments:
        eps: the share of the weight that is cut off.
        within: count only the nearest so many tokens, such as the training length; then what diverges has a field too.
        which: the checkpoint whose learned numbers count.
    """
    fields = reach_by_head(run, eps, within, which=which)
    encodings = attention_in(run.model(which), "a cut at the receptive field").stack.encodings
    axes = sorted(encodings[0].axes) or ["index"]
    if len(axes) > 1:
        raise TenfoldError(
            f'encoding "{encodings[0].name}" reads the axes {" and ".join(axes)}; a field is cut on one'
        )
    windows = [
        {"name": "window", "behind": min(field, FARTHEST) - 1, "axis": axes[0]} for field in fields
    ]
    own = run.recipe.pe.model_dump(mode="json")
    return {"pe": {"name": "compose", "parts": [own, {"name": "per-head", "parts": windows}]}}


def reach_by_head(
    run: Run, eps: float = 0.05, within: int | None = None, *, which: Which = "best"
) -> list[int]:
    """For each head the nearest tokens that hold all but a share `eps` of its weight; the upper bound of a pair of bounds."""
    stack = attention_in(run.model(which), "a receptive field").stack
    encodings = [stack.encodings[layer] for layer in range(len(stack.blocks))]
    every = {tuple(_reach_of(pe, run.recipe.model.heads, eps, within)) for pe in encodings}
    if len(every) > 1:
        raise TenfoldError(
            f'encoding "{encodings[0].name}" has another field in every layer; one cut for all layers would not be theirs'
        )
    return list(every.pop())


def _reach_of(pe: PositionalEncoding, heads: int, eps: float, within: int | None) -> list[int]:
    series = series_of(pe)
    if series is None:
        raise TenfoldError(
            f'encoding "{pe.name}" has no receptive field to cut at: {why_no_series(pe)}'
        )
    fields = []
    for head, field in enumerate(reach(series, eps, within), 1):
        if field is None:
            raise TenfoldError(
                f'the series of "{pe.name}" diverges in head {head}, so there is no receptive field to cut at; '
                "name the tokens that count, such as the training length: --trf-within 128"
            )
        fields.append(FARTHEST if field.high is None else field.high)
    return fields * (heads // len(fields))
