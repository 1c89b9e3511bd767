"""Stop training once the model is proved right at every length: `stop: certified` in a recipe."""

from __future__ import annotations

import functools
from dataclasses import replace

from tenfold.core.errors import TenfoldError
from tenfold.features.proofs.certificate import Certificate, Prover
from tenfold.features.proofs.certify import about, certify, keep
from tenfold.models import Model
from tenfold.runs.build import Built
from tenfold.runs.run import Run

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
        self.certificate: Certificate | None = None  # once training ended on it

    def __call__(self, model: Model, step: int) -> str | None:
        if self.prover is None:
            self.prover = Prover(
                model, self.built.batcher
            )  # not certifiable: told after the first step
        if step % EVERY or self.prover.refuted(model, seed=step):
            return None
        certificate = self.prover.certify(model, rounding=not self.exactly)
        if certificate.proved if self.exactly else certificate.in_float32:
            self.certificate = certificate
            return self.built.recipe.stop
        return None

    def write(self, run: Run) -> None:
        """Write the certificate. Where there is none, a process that was killed had found it: prove again."""
        certificate = self.certificate or certify(run, which="final")
        keep(run, replace(certificate, about=about(run, "final")))


CertifiedExactly = functools.partial(Certified, exactly=True)
