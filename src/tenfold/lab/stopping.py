"""Reasons to end a training before its last step; `training` knows none of them."""

from __future__ import annotations

import functools
from collections.abc import Callable

from tenfold.certify import Certificate, Prover
from tenfold.errors import TenfoldError
from tenfold.lab.build import Built
from tenfold.models import Model

EVERY = 25  # steps between two attempts at a proof


class Certified:
    """Ends when the model is proved right at every length; `exactly`: in exact arithmetic, whatever rounding may do.

    The contexts are found once. What was wrong at the last attempt and a sample are tried first, so that an
    attempt costs little until it succeeds; that saves time and never changes when training ends.
    """

    def __init__(self, built: Built, exactly: bool = False) -> None:
        if built.recipe.train.average:
            raise TenfoldError(
                f"stop: {built.recipe.stop} proves the weights as they are trained; train.average is "
                f"{built.recipe.train.average}, 0 is needed"
            )
        self.built, self.exactly = built, exactly
        self.prover: Prover | None = None
        self.found: Certificate | None = None  # once training ended on it

    def __call__(self, model: Model, step: int) -> str | None:
        if self.prover is None:
            self.prover = Prover(
                model, self.built.batcher
            )  # not certifiable: told after the first step
        if step % EVERY or self.prover.refuted(model, seed=step):
            return None
        found = self.prover.certify(model, rounding=not self.exactly)
        if found.proved if self.exactly else found.in_float32:
            self.found = found
            return self.built.recipe.stop
        return None


STOPS: dict[str, Callable[[Built], Certified]] = {
    "certified": Certified,
    "certified-exactly": functools.partial(Certified, exactly=True),
}
