"""Certify a run: the whole path of a proof, from a run to the certificate in its folder.

    run -> every context that the task can produce (`prover.py`, `contexts.py`)
        -> the margin of the correct token in each, in float32 and in float64
        -> bounds on what float64 and float32 rounding can change, by norms (`rounding.py`), and on what float32 can,
           by adjoints (`adjoint_bound.py`)
        -> declarations tested on the model at hand, and whose they are (`declarations.py`)
        -> verdict, counterexamples, certificate.json

The proof is by induction over columns. A model that is right on every reachable context, given the true answer
digits before it, is right at every length.

>>> import tenfold
>>> tenfold.certify("addition").verdict  # doctest: +SKIP
'proved'
"""

from __future__ import annotations

import copy
import json
import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tenfold.core.errors import TenfoldError
from tenfold.core.files import write_atomically
from tenfold.data.batch import Batcher
from tenfold.features.proofs.adjoint_bound import adjoint_bound
from tenfold.features.proofs.certificate import ADJOINT as ADJOINT
from tenfold.features.proofs.certificate import CERTIFICATE as CERTIFICATE
from tenfold.features.proofs.certificate import EXACTLY as EXACTLY
from tenfold.features.proofs.certificate import IF as IF
from tenfold.features.proofs.certificate import IN_FLOAT64 as IN_FLOAT64
from tenfold.features.proofs.certificate import NORMS as NORMS
from tenfold.features.proofs.certificate import PROVED as PROVED
from tenfold.features.proofs.certificate import SINCE as SINCE
from tenfold.features.proofs.certificate import Certificate as Certificate
from tenfold.features.proofs.certificate import other_model
from tenfold.features.proofs.certificate import read_certificate as read_certificate
from tenfold.features.proofs.contexts import LIMIT, TooMany
from tenfold.features.proofs.declarations import trusted
from tenfold.features.proofs.failing_length import LENGTHS, failing_problem
from tenfold.features.proofs.prover import METERED, Overflow, Progress, Prover, weights_hash
from tenfold.features.proofs.rounding import FLOAT64, Meter
from tenfold.features.proofs.soft_prover import prover_of
from tenfold.features.proofs.soft_view import Diverging
from tenfold.models.locality import NotCertifiable
from tenfold.models.model import Model
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import Run, Which, open_run

ADJOINTS = (
    50_000  # contexts, above which a proof by norms is enough: adjoints take a minute for 100,000
)
ABOUT = ("task", "format", "schemes", "pe", "encoder_pe", "cross_pe", "model")  # of the recipe


def certify(
    run: Run | Path | str,
    *,
    which: Which = "best",
    limit: int = LIMIT,
    rounding: bool | None = None,
    adjoints: bool | None = None,
    message: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> Certificate:
    """Prove a run's model right at every length, or find the shortest inputs on which it fails.

    Arguments:
        run: a run, its folder, or the name of a shipped model.
        which: the checkpoint, "best" or "final".
        limit: the largest number of contexts to check.
        rounding: whether to bound float32 rounding; by default, for up to a million contexts. Float64 rounding is
            always bounded, by a coarser bound where float32 is not.
        adjoints: whether to bound float32 rounding by adjoints, too, where they apply; the smaller bound counts. By
            default, they are left out where norms suffice for a proof and there are more than 50,000 contexts.
        message: called once with the number of contexts and the expected time.
        progress: called with (contexts done, contexts in all) after each batch.

    Raises `NotCertifiable` where the model does not satisfy the hypotheses, `TooMany` above the limit.
    """
    run = run if isinstance(run, Run) else open_run(run)
    torch.set_num_threads(run.recipe.train.threads)
    model = run.model(which)
    try:
        prover = prover_of(model, run.built.batcher, limit)
    except Diverging as reason:
        return replace(diverged(model, run.built.batcher, reason), about=about(run, which))
    if message is not None:
        message(f"{len(prover.contexts):,} contexts, about {prover.seconds(model):.0f} s")
    own = own_files(run.recipe)
    certificate = prove(
        prover, model, rounding=rounding, adjoints=adjoints, own=own, progress=progress
    )
    return replace(certificate, about=about(run, which))


def certify_model(model: Model, batcher: Batcher, *, limit: int = LIMIT) -> Certificate:
    """Certify a model that belongs to no run."""
    return prove(prover_of(model, batcher, limit), model)


def diverged(model: Model, batcher: Batcher, reason: Diverging) -> Certificate:
    """The refutation of a model whose far keys have no bound, by a problem that it answers wrongly.

    Raises the reason where no such problem was found.
    """
    began = time.monotonic()
    case = failing_problem(model, batcher)
    if case is None:
        raise NotCertifiable(f"{reason}. No problem of up to {LENGTHS[-1]:,} digits was found on which it fails")  # fmt: skip
    return Certificate(
        verdict="refuted",
        contexts=0,
        columns=0,
        margin=math.nan,
        bound=None,
        wrong=0,
        counterexamples=[case],
        weights=weights_hash(model),
        seconds=time.monotonic() - began,
        violations=[str(reason)],
    )


def prove(
    prover: Prover,
    model: Model,
    *,
    rounding: bool | None = None,
    adjoints: bool | None = None,
    own: Sequence[str] = (),
    progress: Progress | None = None,
) -> Certificate:
    """Check these weights on every context of the prover and state the verdict.

    `own` names what was executed besides tenfold. Such code can change any class, so a proof rests on it.
    Raises `NotCertifiable` for weights that are not float32 numbers.
    """
    began = time.monotonic()
    _check_precision(model)
    margins, bound, bound64, far = prover.margins(model, progress=progress), None, None, None
    bound_by = None
    if (
        margins > 0
    ).all():  # float32 shows no error, so repeat in float64, and bound what it rounds
        bounded = len(margins) <= METERED if rounding is None else rounding
        exact = copy.deepcopy(model).double()
        with (
            Meter(exact, coarse=not bounded, steady=prover.steady) as meter,
            Overflow(exact) as sizes,
        ):
            margins = prover.margins(exact, progress=progress)
        bound64 = _margin_bound(meter.bound(FLOAT64))
        far = prover.far(exact, meter.logit_error) if bound64 is not None else None
        fits = bounded and bound64 is not None and sizes.fits()
        beyond = prover.beyond(exact, far) if fits else None
        bound = None if beyond is None else _margin_bound(meter.bound(beyond=beyond))
        bound_by = None if bound is None else NORMS
        if adjoints is None:
            enough = bound is not None and bound64 is not None and margins.min() > bound + bound64
            adjoints = len(margins) <= ADJOINTS or not enough
        if fits and far is None and adjoints:
            finer = adjoint_bound(prover, exact, progress)
            if finer is not None and (bound is None or finer < bound):
                bound, bound_by = finer, ADJOINT
    wrong = np.flatnonzero(~(margins > 0))  # a margin may be NaN
    margin, counterexamples = float(margins.min()), prover.counterexamples(model, wrong)
    left = margin if far is None else far.left
    verdict, broken, declared = IN_FLOAT64, list[str](), list[str]()
    if len(wrong) or not left > 0:
        if not counterexamples and (case := prover.failing(model)) is not None:
            counterexamples = [case]
        verdict = "refuted" if counterexamples else "undecided"
    elif bound64 is not None and left > bound64:
        verdict = PROVED if bound is not None and left > bound + bound64 else EXACTLY
    if verdict in (PROVED, EXACTLY, IN_FLOAT64):
        broken = prover.violations(model, far)
        declared = [*trusted(model, prover.batcher), *own]
        verdict = "refuted" if broken else verdict
        verdict += IF if declared and verdict in (PROVED, EXACTLY) else ""
    return Certificate(
        verdict=verdict,
        contexts=len(prover.contexts),
        columns=prover.contexts.view.columns + 1,
        margin=margin,
        bound=bound,
        bound64=bound64,
        bound_by=bound_by,
        wrong=len(wrong),
        counterexamples=counterexamples,
        declared=declared,
        violations=broken,
        far=None if far is None else far.as_json(),
        weights=weights_hash(model),
        seconds=time.monotonic() - began,
    )


def own_files(recipe: Recipe) -> list[str]:
    """The Python files of a recipe that are not of tenfold."""
    return [f"own file {included.file}" for included in recipe.include]


def _check_precision(model: Model) -> None:
    """Refuse weights in another precision: a proof is about float32 numbers, and about rounding them."""
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point() and tensor.dtype != torch.float32:
            kind = str(tensor.dtype).removeprefix("torch.")
            raise NotCertifiable(
                f"the weights {name} are {kind} numbers; a proof is about a model in float32"
            )


def _margin_bound(error: float | None) -> float | None:
    """How much rounding can reduce a margin: each of its two logits is off by at most `error`."""
    return 2 * error if error is not None and math.isfinite(error) else None


def about(run: Run, which: Which) -> dict[str, Any]:
    """The part of a certificate that describes the model."""
    recipe = run.recipe.as_json()
    model = {key: recipe[key] for key in ABOUT}
    return {**model, "checkpoint": which, "recipe": run.recipe.fingerprint}


def other_statement(run: Run) -> str:
    """Where the certificate in a run's folder is about another task or model than its recipe; empty if nowhere."""
    stored = read_certificate(run.folder / CERTIFICATE)["about"]
    ours = {name: value for name, value in about(run, "best").items() if name in ABOUT}
    return "; ".join(other_model(ours, {name: stored.get(name) for name in ABOUT}))


@dataclass(frozen=True)
class ProofCheck:
    """A new certificate, and where a stored one disagrees with it; None if no stored one was given."""

    certificate: Certificate
    differences: list[str] | None
    unwritten: str = ""  # why the certificate could not be written, if so

    @property
    def exit_code(self) -> int:
        """0: proved, and the stored certificate is confirmed. 3: proved if its declarations hold. 1 otherwise."""
        if self.differences:
            return 1
        return 0 if self.certificate.proved else 3 if self.certificate.conditional else 1

    def as_json(self) -> dict[str, Any]:
        extra = {} if self.differences is None else {"differences": self.differences}
        return {**self.certificate.as_json(), **extra}


def certify_or_check(
    run: Run | Path | str, stored: Path | None = None, *, which: Which = "best", **options: Any
) -> ProofCheck:
    """Certify a run and write the certificate into its folder; or compare a stored one and write nothing.

    A stored certificate decides which checkpoint is proved, and how float32 rounding is bounded. Exported models are not written to.
    """
    run = run if isinstance(run, Run) else open_run(run)
    if stored is not None:
        values = read_certificate(stored)
        adjoints = None if values["bound"] is None else values["bound_by"] == ADJOINT
        which = certified_checkpoint(values, which)
        certificate = certify(run, which=which, adjoints=adjoints, **options)
        return ProofCheck(certificate, certificate.differences(values))
    certificate = certify(run, which=which, **options)
    unwritten = ""
    if not run.published:
        try:
            write_certificate(run, certificate)
        except TenfoldError as error:  # a proof that took hours is not lost to a full disk
            unwritten = str(error)
    return ProofCheck(certificate, None, unwritten)


def certified_checkpoint(stored: dict[str, Any], default: Which = "best") -> Which:
    """The checkpoint that a stored certificate is about."""
    return "final" if stored["about"].get("checkpoint") == "final" else default


def write_certificate(run: Run, certificate: Certificate, folder: Path | None = None) -> Path:
    """Write a certificate into the run's folder, or into another one."""
    path = (folder or run.folder) / CERTIFICATE
    write_atomically(path, json.dumps(certificate.as_json(), indent=1).encode())
    return path


def export_certified(run: Run, folder: Path | str, *, which: Which = "best") -> dict[str, Path]:
    """Export a run, with its certificate where the model is certifiable; returns the files written."""
    written = run.export(folder, which=which)
    with suppress(NotCertifiable, TooMany):
        written["certificate"] = write_certificate(run, certify(run, which=which), Path(folder))
    return written
