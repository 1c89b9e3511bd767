"""Reasons to end a training before its last step; `training` knows none of them."""

from __future__ import annotations

from collections.abc import Callable

from tenfold.certify import Prover
from tenfold.errors import TenfoldError
from tenfold.lab.build import Built
from tenfold.models import Model

EVERY = 25  # steps between two attempts at a proof


class Certified:
    """Ends when the model is proved right at every length.

    The contexts are found once. What was wrong at the last attempt and a sample are tried first, so that an
    attempt costs little until it succeeds; that saves time and never changes when training ends.
    """

    def __init__(self, built: Built) -> None:
        if built.recipe.train.average:
            raise TenfoldError(
                f"stop: certified proves the weights as they are trained; train.average is "
                f"{built.recipe.train.average}, 0 is needed"
            )
        self.built = built
        self.prover: Prover | None = None

    def __call__(self, model: Model, step: int) -> str | None:
        if self.prover is None:
            self.prover = Prover(
                model, self.built.batcher
            )  # not certifiable: told before the second step
        if step % EVERY or self.prover.refuted(model, seed=step):
            return None
        found = self.prover.certify(model)
        return "certified" if found.settled else None


STOPS: dict[str, Callable[[Built], Callable[[Model, int], str | None]]] = {"certified": Certified}
