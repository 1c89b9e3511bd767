"""Certify a run: the whole path of a proof, from a run to the certificate in its folder.

    run -> every context that the task can produce (`prover.py`, `contexts.py`)
        -> the margin of the correct token in each, in float32 and in float64
        -> bounds on what float64 and float32 rounding can change (`rounding.py`)
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
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tenfold.core.errors import TenfoldError
from tenfold.core.files import write_atomically
from tenfold.data.batch import Batcher
from tenfold.features.proofs.contexts import LIMIT, TooMany
from tenfold.features.proofs.declarations import trusted, violations
from tenfold.features.proofs.prover import METERED, Overflow, Progress, Prover, weights_hash
from tenfold.features.proofs.rounding import FLOAT64, Meter
from tenfold.models.locality import NotCertifiable
from tenfold.models.model import Model
from tenfold.runs.environment import environment
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import Run, Which, open_run

CERTIFICATE = "certificate.json"
MADE = ("tenfold", "commit", "date", "torch")  # the part of the environment in a certificate
ABOUT = ("task", "format", "schemes", "pe", "encoder_pe", "cross_pe", "model")  # of the recipe
SLACK = 1e-6  # by which a bound may differ between machines, relative
# What older certificates do not have: nothing was bounded or tested then.
SINCE: dict[str, Any] = {"bound64": None, "declared": [], "violations": []}

PROVED = "proved"
EXACTLY = "proved in exact arithmetic"
IN_FLOAT64 = "right on every context in float64"  # and nothing more is known: no proof
IF = " if its declarations hold"  # after PROVED or EXACTLY


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
        rounding: whether to bound float32 rounding; by default, for up to a million contexts. Float64 rounding is
            always bounded, by a coarser bound where float32 is not.
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
    """Check these weights on every context of the prover and state the verdict.

    Raises `NotCertifiable` for weights that are not float32 numbers.
    """
    began = time.monotonic()
    _check_precision(model)
    margins, bound, bound64 = prover.margins(model, progress=progress), None, None
    if (
        margins > 0
    ).all():  # float32 shows no error, so repeat in float64, and bound what it rounds
        bounded = len(margins) <= METERED if rounding is None else rounding
        exact = copy.deepcopy(model).double()
        with Meter(exact, coarse=not bounded) as meter, Overflow(exact) as sizes:
            margins = prover.margins(exact, progress=progress)
        bound = _margin_bound(meter.bound()) if bounded and sizes.fits() else None
        bound64 = _margin_bound(meter.bound(FLOAT64))
    wrong = np.flatnonzero(~(margins > 0))  # a margin may be NaN
    margin, counterexamples = float(margins.min()), prover.counterexamples(model, wrong)
    verdict, broken, declared = IN_FLOAT64, list[str](), list[str]()
    if len(wrong):
        verdict = "refuted" if counterexamples else "undecided"
    elif bound64 is not None and margin > bound64:
        verdict = PROVED if bound is not None and margin > bound + bound64 else EXACTLY
    if verdict in (PROVED, EXACTLY, IN_FLOAT64):
        broken = violations(model, prover.batcher, prover.local)
        declared = trusted(model, prover.batcher)
        verdict = "refuted" if broken else verdict
        verdict += IF if declared and verdict in (PROVED, EXACTLY) else ""
    return Certificate(
        verdict=verdict,
        contexts=len(prover.contexts),
        columns=prover.contexts.view.columns + 1,
        margin=margin,
        bound=bound,
        bound64=bound64,
        wrong=len(wrong),
        counterexamples=counterexamples,
        declared=declared,
        violations=broken,
        weights=weights_hash(model),
        seconds=time.monotonic() - began,
    )


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


@dataclass(frozen=True)
class Certificate:
    """The result of a proof. A verdict of "proved" includes float32: the margin exceeds both rounding bounds.

    Other verdicts: "proved in exact arithmetic"; either of the two with "if its declarations hold"; "right on every
    context in float64", which is no proof; "refuted"; "undecided" (a tie).
    """

    verdict: str
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
    bound64: float | None = None  # how much float64 rounding can change a margin; None: not bounded
    declared: list[str] = field(default_factory=list)  # components that are taken at their word
    violations: list[str] = field(default_factory=list)  # declarations that a test refuted

    @property
    def proved(self) -> bool:
        """In float32, or at least in exact arithmetic; without a condition."""
        return self.verdict in (PROVED, EXACTLY)

    @property
    def in_float32(self) -> bool:
        return self.verdict == PROVED

    @property
    def conditional(self) -> bool:
        """Proved if what some components declare is true."""
        return self.verdict in (PROVED + IF, EXACTLY + IF)

    def as_json(self) -> dict[str, Any]:
        """The content of certificate.json; it also states the version and the date."""
        margin = self.margin if math.isfinite(self.margin) else None
        verdicts = {name: getattr(self, name) for name in VERDICTS}
        made = {key: value for key, value in environment().items() if key in MADE}
        return {**verdicts, **asdict(self), "margin": margin, "about": {**self.about, **made}}

    def summary(self) -> str:
        """The verdict and its evidence, as lines for a terminal."""
        depends = f"every answer digit depends on {self.columns} column" + "s" * (self.columns != 1)
        if not self.wrong:
            return "\n".join([self._headline(), self._evidence(depends), *self._doubts()])
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

    def _headline(self) -> str:
        if self.violations:
            return f"{self.verdict}: a declaration on which the proof rests does not hold"
        if self.proved or self.conditional:
            return f"{self.verdict}: right at every length"
        return f"{self.verdict}: no proof, since nothing bounds the rounding of float64 below the margin"

    def _evidence(self, depends: str) -> str:
        def said(bound: float | None) -> str:
            return "not bounded" if bound is None else f"at most {bound:.3g}"

        return (
            f"{self.contexts:,} contexts, all right; {depends}; the least margin of a right digit is {self.margin:.3g}, "
            f"what rounding may take from it {said(self.bound)} (float64: {said(self.bound64)}); {self.seconds:.1f} s"
        )

    def _doubts(self) -> list[str]:
        return [
            *(f"  refuted: {sentence}" for sentence in self.violations),
            *(f"  taken at its word: {component}" for component in self.declared),
        ]

    def differences(self, stored: dict[str, Any]) -> list[str]:
        """Where a stored certificate disagrees with this one: one sentence for each disagreement.

        Not compared: counterexamples, seconds, and when and by which version it was made. A margin may differ by what
        float64 rounding can change, a bound by a millionth.
        """
        ours = self.as_json()
        lines = [
            f"{name} is {ours[name]}, the certificate says {stored.get(name)}"
            for name in COMPARED
            if ours[name] != stored.get(name)
        ]
        lines += _other_model(self.about, stored.get("about") or {})
        rounding = 2 * (self.bound64 or 0.0) + SLACK**2
        for name, allowed in (("margin", rounding), ("bound", None), ("bound64", None)):
            if not _alike(getattr(self, name), stored.get(name), allowed):
                lines.append(
                    f"the {name} is {getattr(self, name)}, the certificate says {stored.get(name)}"
                )
        known = {*ours, *VERDICTS}
        return lines + [f"nothing is known of {name}" for name in sorted(set(stored) - known)]


VERDICTS = ("proved", "in_float32", "conditional")
COMPARED = ("weights", "verdict", *VERDICTS, "contexts", "columns", "wrong", "declared", "violations")  # fmt: skip


def _alike(ours: float | None, theirs: Any, allowed: float | None) -> bool:
    """Whether two numbers are alike: within what is allowed, or within a millionth."""
    if isinstance(theirs, bool) or not isinstance(theirs, float | int) or ours is None:
        return ours is theirs or (theirs is None and not math.isfinite(ours or 0.0))
    return abs(theirs - ours) <= (SLACK * abs(ours) if allowed is None else allowed)


def _other_model(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """Where two certificates are about different models."""
    return [
        f"{name} is {ours.get(name)}, the certificate says {theirs.get(name)}"
        for name in sorted((set(ours) | set(theirs)) - set(MADE))
        if _as_now(name, ours.get(name)) != _as_now(name, theirs.get(name))
    ]


def other_statement(run: Run) -> str:
    """Where the certificate in a run's folder is about another task or model than its recipe; empty if nowhere."""
    stored = read_certificate(run.folder / CERTIFICATE)["about"]
    ours = {name: value for name, value in about(run, "best").items() if name in ABOUT}
    return "; ".join(_other_model(ours, {name: stored.get(name) for name in ABOUT}))


def _as_now(name: str, value: Any) -> Any:
    """A setting of a recipe as this version writes it; an earlier one may have had other options and defaults."""
    try:
        return Recipe.of({name: value}).as_json()[name]
    except TenfoldError:
        return value


def about(run: Run, which: Which) -> dict[str, Any]:
    """The part of a certificate that describes the model."""
    recipe = run.recipe.as_json()
    model = {key: recipe[key] for key in ABOUT}
    return {**model, "checkpoint": which, "recipe": run.recipe.fingerprint}


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
    keys = {each.name for each in fields(Certificate)} - set(SINCE)
    if not (isinstance(values, dict) and keys <= set(values) and isinstance(values["about"], dict)):
        raise TenfoldError(f"{path} is not a certificate")
    return {**SINCE, **values}


def export_certified(run: Run, folder: Path | str, *, which: Which = "best") -> dict[str, Path]:
    """Export a run, with its certificate where the model is certifiable; returns the files written."""
    written = run.export(folder, which=which)
    with suppress(NotCertifiable, TooMany):
        written["certificate"] = write_certificate(run, certify(run, which=which), Path(folder))
    return written
