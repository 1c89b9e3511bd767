"""Stop training once the model is proved right at every length: `stop: certified` in a recipe."""

from __future__ import annotations

import functools
from dataclasses import replace

from tenfold.core.errors import TenfoldError
from tenfold.features.proofs.certify import (
    EXACTLY,
    IF,
    PROVED,
    Certificate,
    about,
    certify,
    own_files,
    prove,
    write_certificate,
)
from tenfold.features.proofs.prover import Prover
from tenfold.features.proofs.soft_prover import check_provable, prover_of
from tenfold.features.proofs.soft_view import Diverging
from tenfold.models import Model
from tenfold.runs.build import Built
from tenfold.runs.run import Run

EVERY = 25  # steps between two attempts at a proof


class Certified:
    """Stop when the model is proved right at every length; with `exactly`, in exact arithmetic only.

    A proof that holds if declarations of own components do ends the training, too: more steps would not change that.
    Contexts are enumerated once. Each attempt first tries those that failed last time and a sample. This saves time
    and never changes the step at which training ends.
    """

    def __init__(self, built: Built, exactly: bool = False) -> None:
        if built.recipe.train.average:
            raise TenfoldError(
                f"stop: {built.recipe.stop} proves the trained weights, not their average; train.average is "
                f"{built.recipe.train.average}, it must be 0"
            )
        check_provable(built.model(), built.batcher)
        self.built, self.exactly = built, exactly
        self.prover: Prover | None = None
        self.certificate: Certificate | None = None  # set when training has ended with a proof

    def __call__(self, model: Model, step: int) -> str | None:
        if self.prover is None:
            self.prover = prover_of(model, self.built.batcher)
        if step % EVERY:
            return None
        try:
            if self.prover.refuted(model, seed=step):
                return None
            own = own_files(self.built.recipe)
            certificate = prove(self.prover, model, rounding=not self.exactly, own=own)
        except (
            Diverging
        ):  # a learned decay may leave the range in which its series converges, and come back
            return None
        enough = (PROVED, EXACTLY) if self.exactly else (PROVED,)
        if certificate.verdict.removesuffix(IF) in enough:
            self.certificate = certificate
            return self.built.recipe.stop
        return None

    def write(self, run: Run) -> None:
        """Write the certificate. If a killed process had made it, prove again."""
        certificate = self.certificate or certify(run, which="final")
        write_certificate(run, replace(certificate, about=about(run, "final")))


CertifiedExactly = functools.partial(Certified, exactly=True)
