"""Certify a run: the whole path of a proof, from a run to the certificate in its folder.

    run -> every context that the task can produce (`prover.py`, `contexts.py`)
        -> the margin of the correct token in each, in float32 and in float64
        -> a bound on what float32 rounding can change (`rounding.py`)
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
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from tenfold.core.errors import TenfoldError
from tenfold.core.files import write_atomically
from tenfold.data.batch import Batcher
from tenfold.features.proofs.contexts import LIMIT, TooMany
from tenfold.features.proofs.prover import METERED, Progress, Prover, weights_hash
from tenfold.features.proofs.rounding import Meter
from tenfold.models.locality import NotCertifiable
from tenfold.models.model import Model
from tenfold.runs.environment import environment
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import Run, Which, open_run

CERTIFICATE = "certificate.json"
EXACT = 1e-6  # a margin in float64 above this is not due to float64 rounding, 2^-29 of float32's
MADE = ("tenfold", "commit", "date", "torch")  # the part of the environment in a certificate
SLACK = 1e-3  # how far a margin or a bound may differ between machines

Verdict = Literal["proved", "proved in exact arithmetic", "refuted", "undecided"]


def certify(
    run: Run | Path | str,
    *,
    which: Which = "best",
    limit: int = LIMIT,
    rounding: bool | None = None,
    message: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> Certificate:
    """Prove a run's model right at every length, or find the shortest inputs on which it fails.

    Arguments:
        run: a run, its folder, or the name of a shipped model.
        which: the checkpoint, "best" or "final".
        limit: the largest number of contexts to check.
        rounding: whether to bound float32 rounding; by default, for up to a million contexts.
        message: called once with the number of contexts and the expected time.
        progress: called with (contexts done, contexts in all) after each batch.

    Raises `NotCertifiable` where the model does not satisfy the hypotheses, `TooMany` above the limit.
    """
    run = run if isinstance(run, Run) else open_run(run)
    torch.set_num_threads(run.recipe.train.threads)
    model = run.model(which)
    prover = Prover(model, run.built.batcher, limit)
    if message is not None:
        message(f"{len(prover.contexts):,} contexts, about {prover.seconds(model):.0f} s")
    certificate = prove(prover, model, rounding=rounding, progress=progress)
    return replace(certificate, about=about(run, which))


def certify_model(model: Model, batcher: Batcher, *, limit: int = LIMIT) -> Certificate:
    """Certify a model that belongs to no run."""
    return prove(Prover(model, batcher, limit), model)


def prove(
    prover: Prover,
    model: Model,
    *,
    rounding: bool | None = None,
    progress: Progress | None = None,
) -> Certificate:
    """Check these weights on every context of the prover and state the verdict."""
    began = time.monotonic()
    margins, bound = prover.margins(model, progress=progress), None
    if (margins > 0).all():  # float32 shows no error, so repeat in float64, which is close to exact
        bounded = len(margins) <= METERED if rounding is None else rounding
        exact = copy.deepcopy(model).double()
        meter = Meter(exact)
        with meter if bounded else nullcontext():
            margins = prover.margins(exact, progress=progress)
        bound = _margin_bound(meter.bound()) if bounded else None
    wrong = np.flatnonzero(~(margins > EXACT))  # a margin may be NaN
    margin, counterexamples = float(margins.min()), prover.counterexamples(model, wrong)
    verdict: Verdict = "proved in exact arithmetic"
    if len(wrong):
        verdict = "refuted" if counterexamples else "undecided"
    elif bound is not None and margin > bound:
        verdict = "proved"
    return Certificate(
        verdict=verdict,
        contexts=len(prover.contexts),
        columns=prover.contexts.view.columns + 1,
        margin=margin,
        bound=bound,
        wrong=len(wrong),
        counterexamples=counterexamples,
        weights=weights_hash(model),
        seconds=time.monotonic() - began,
    )


def _margin_bound(error: float | None) -> float | None:
    """How much rounding can reduce a margin: each of its two logits is off by at most `error`."""
    return 2 * error if error is not None and math.isfinite(error) else None


@dataclass(frozen=True)
class Certificate:
    """The result of a proof. A verdict of "proved" includes float32: the margin exceeds the rounding bound."""

    verdict: Verdict
    contexts: int  # that were checked
    columns: int  # on which each answer digit depends
    margin: float  # smallest lead of a correct token's logit over the next, over all contexts
    bound: (
        float | None
    )  # how much float32 rounding can reduce a margin; None where it is not bounded
    wrong: int  # contexts with a wrong token
    counterexamples: list[dict[str, str]]  # question, truth, answer: the shortest, decoded whole
    weights: str  # SHA-256 of the model's weights
    seconds: float
    about: dict[str, Any] = field(default_factory=dict)  # task, format, encoding, ...

    @property
    def proved(self) -> bool:
        """In float32, or at least in exact arithmetic."""
        return self.in_float32 or self.verdict == "proved in exact arithmetic"

    @property
    def in_float32(self) -> bool:
        return self.verdict == "proved"

    def as_json(self) -> dict[str, Any]:
        """The content of certificate.json; it also states the version and the date."""
        margin = self.margin if math.isfinite(self.margin) else None
        verdicts = {"proved": self.proved, "in_float32": self.in_float32}
        made = {key: value for key, value in environment().items() if key in MADE}
        return {**verdicts, **asdict(self), "margin": margin, "about": {**self.about, **made}}

    def summary(self) -> str:
        """The verdict and its evidence, as lines for a terminal."""
        depends = f"every answer digit depends on {self.columns} column" + "s" * (self.columns != 1)
        if self.proved:
            bound = "not bounded" if self.bound is None else f"at most {self.bound:.3g}"
            return (
                f"{self.verdict}: right at every length\n{self.contexts:,} contexts, all right; "
                f"{depends}; the least margin of a right digit is {self.margin:.3g}, what rounding may "
                f"take from it {bound}; {self.seconds:.1f} s"
            )
        cases = (
            f"  {case['question']} = {case['answer'] or '(nothing)'}, truly {case['truth']}"
            for case in self.counterexamples
        )
        return "\n".join(
            [
                f"{self.verdict}: wrong on {self.wrong:,} of {self.contexts:,} contexts; {depends}",
                "the shortest inputs on which it fails, answered whole:",
                *cases,
            ]
        )

    def differences(self, stored: dict[str, Any]) -> list[str]:
        """Where a stored certificate disagrees with this one: one sentence for each disagreement."""
        lines = [
            f"{name} is {getattr(self, name)}, the certificate says {stored.get(name)}"
            for name in ("weights", "verdict", "proved", "contexts", "columns", "wrong")
            if getattr(self, name) != stored.get(name)
        ]
        about = stored.get("about") or {}
        lines += [
            f"{name} is {self.about[name]}, the certificate says {about.get(name)}"
            for name in ("task", "format", "schemes", "pe", "model")
            if name in self.about
            and _as_now(name, self.about[name]) != _as_now(name, about.get(name))
        ]
        for name in ("margin", "bound"):
            ours, theirs = getattr(self, name), stored.get(name)
            both = isinstance(ours, float | int) and isinstance(theirs, float | int)
            if not (abs(theirs - ours) <= SLACK if both else ours is theirs):
                lines.append(f"the {name} is {ours}, the certificate says {theirs}")
        return lines


def _as_now(name: str, value: Any) -> Any:
    """A setting of a recipe as this version writes it; an earlier one may have had other options and defaults."""
    try:
        return Recipe.of({name: value}).as_json()[name]
    except TenfoldError:
        return value


def about(run: Run, which: Which) -> dict[str, Any]:
    """The part of a certificate that describes the model."""
    recipe = run.recipe.as_json()
    model = {key: recipe[key] for key in ("task", "format", "schemes", "pe", "model")}
    return {**model, "checkpoint": which, "recipe": run.recipe.fingerprint}


@dataclass(frozen=True)
class ProofCheck:
    """A new certificate, and where a stored one disagrees with it; None if no stored one was given."""

    certificate: Certificate
    differences: list[str] | None
    unwritten: str = ""  # why the certificate could not be written, if so

    @property
    def exit_code(self) -> int:
        """0: proved, and the stored certificate is confirmed. 1 otherwise."""
        return int(bool(self.differences) or not self.certificate.proved)

    def as_json(self) -> dict[str, Any]:
        extra = {} if self.differences is None else {"differences": self.differences}
        return {**self.certificate.as_json(), **extra}


def certify_or_check(
    run: Run | Path | str, stored: Path | None = None, *, which: Which = "best", **options: Any
) -> ProofCheck:
    """Certify a run and write the certificate into its folder; or compare a stored one and write nothing.

    A stored certificate decides which checkpoint is proved. Exported models are not written to.
    """
    run = run if isinstance(run, Run) else open_run(run)
    if stored is not None:
        values = read_certificate(stored)
        certificate = certify(run, which=certified_checkpoint(values, which), **options)
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


def read_certificate(path: Path) -> dict[str, Any]:
    """Read a certificate from its file."""
    try:
        values = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise TenfoldError(f"{path} cannot be read: {error}") from None
    keys = {each.name for each in fields(Certificate)}
    if not (isinstance(values, dict) and keys <= set(values) and isinstance(values["about"], dict)):
        raise TenfoldError(f"{path} is not a certificate")
    return values


def export_certified(run: Run, folder: Path | str, *, which: Which = "best") -> dict[str, Path]:
    """Export a run, with its certificate where the model is certifiable; returns the files written."""
    written = run.export(folder, which=which)
    with suppress(NotCertifiable, TooMany):
        written["certificate"] = write_certificate(run, certify(run, which=which), Path(folder))
    return written
