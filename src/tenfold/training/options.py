"""The options of training: part of every recipe."""

from __future__ import annotations

from typing import Annotated, Literal

import pydantic

Share = Annotated[float, pydantic.Field(ge=0, lt=1)]


class Training(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    steps: pydantic.PositiveInt = 1000
    batch: pydantic.PositiveInt = 64
    accumulate: pydantic.PositiveInt = 1  # batches whose gradients are summed for one step
    lr: Annotated[pydantic.PositiveFloat, pydantic.Field(allow_inf_nan=False)] = 1e-3
    final_lr: pydantic.NonNegativeFloat = 0.1  # share of lr at the end of the cosine
    schedule: Literal["cosine", "constant", "inverse-sqrt"] = "cosine"  # after the warm-up
    warmup: pydantic.NonNegativeInt = 100
    betas: tuple[Share, Share] = (0.9, 0.98)
    weight_decay: pydantic.NonNegativeFloat = 0.01
    clip: pydantic.PositiveFloat = 1.0
    average: Share = 0.0  # decay of a moving average of the weights
    checkpoint_every: pydantic.PositiveInt = 500
    log_every: pydantic.PositiveInt = 20
    threads: pydantic.PositiveInt = 1  # another count gives other bits, so it is part of the recipe
    device: str = "cpu"
