"""The result of a proof: verdict, evidence, and the comparison with one that was stored."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.task import shortened
from tenfold.runs.environment import environment
from tenfold.runs.recipe import Recipe

CERTIFICATE = "certificate.json"
MADE = ("tenfold", "commit", "date", "torch")  # the part of the environment in a certificate
SLACK = 1e-6  # by which a bound may differ between machines, relative
# What older certificates do not have: nothing was bounded or tested then.
SINCE: dict[str, Any] = {"bound64": None, "declared": [], "violations": [], "far": None}
NORMS, ADJOINT = "norms", "adjoints"  # how float32 rounding was bounded

PROVED = "proved"
EXACTLY = "proved in exact arithmetic"
IN_FLOAT64 = "right on every context in float64"  # and nothing more is known: no proof
IF = " if its declarations hold"  # after PROVED or EXACTLY


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
    far: dict[str, Any] | None = None  # what far tokens can do, of a model without a window
    bound_by: str | None = None  # NORMS or ADJOINT: how `bound` was found

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
        far = None if self.far is None else {k: _number(value) for k, value in self.far.items()}
        verdicts = {name: getattr(self, name) for name in VERDICTS}
        made = {key: value for key, value in environment().items() if key in MADE}
        return {
            **verdicts,
            **asdict(self),
            "margin": margin,
            "far": far,
            "about": {**self.about, **made},
        }

    def summary(self) -> str:
        """The verdict and its evidence, as lines for a terminal."""
        depends = self._depends()
        if not (self.wrong or self.counterexamples):
            return "\n".join([self._headline(), self._evidence(depends), *self._doubts()])
        told = f"{self.verdict}: wrong on {self.wrong:,} of {self.contexts:,} contexts; {depends}"
        if not self.wrong:
            told = f"{self.verdict}: {self._without_window() if self.far else self.violations[0]}"
        cases = [
            f"  {shortened(case['question'])} = {shortened(case['answer']) or '(nothing)'}, "
            f"truly {shortened(case['truth'])}"
            for case in self.counterexamples
        ]
        shown = "the shortest inputs on which it fails, answered whole:"
        return "\n".join([told, *([shown, *cases] if cases else [])])

    def _headline(self) -> str:
        if self.violations:
            return f"{self.verdict}: a declaration on which the proof rests does not hold"
        if self.far is not None:
            return f"{self.verdict}{' at every length' * self._holds}, {self._without_window()}"
        if self._holds:
            return f"{self.verdict}: right at every length"
        return f"{self.verdict}: no proof, since nothing bounds the rounding of float64 below the margin"

    def _depends(self) -> str:
        """What a context is; without a window, what is near, and what far tokens take where the least is left."""
        columns = f"{self.columns} column" + "s" * (self.columns != 1)
        if self.far is None:
            return f"every answer digit depends on {columns}"
        near = f"R = {self.far['columns']} column" + "s" * (self.far["columns"] != 1)
        return (
            f"a context has {columns}, near are keys up to {near} behind; far tokens take at most {self.far['first']:.2g} to "
            f"first order and {self.far['remainder']:.2g} beyond, where the least is left"
        )

    @property
    def _holds(self) -> bool:
        return self.proved or self.conditional

    def _without_window(self) -> str:
        """What far tokens can do, in words."""
        assert self.far is not None
        loss = self.far["first"] + self.far["remainder"]
        return (
            f"without a window: far attention at most {self.far['attention']:.2g}, margin {self.margin:.3g}, "
            f"bound {loss:.2g}"
        )

    def _evidence(self, depends: str) -> str:
        def said(bound: float | None) -> str:
            return "not bounded" if bound is None else f"at most {bound:.3g}"

        by = "" if self.bound_by is None else f" by {self.bound_by}"
        return (
            f"{self.contexts:,} contexts, all right; {depends}; the least margin of a right digit is {self.margin:.3g}, "
            f"what rounding may take from it {said(self.bound)}{by} (float64: {said(self.bound64)}); {self.seconds:.1f} s"
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
        lines += other_model(self.about, stored.get("about") or {})
        rounding = 2 * (self.bound64 or 0.0) + SLACK**2
        for name, allowed in (("margin", rounding), ("bound", None), ("bound64", None)):
            if not _alike(getattr(self, name), stored.get(name), allowed):
                lines.append(
                    f"the {name} is {getattr(self, name)}, the certificate says {stored.get(name)}"
                )
        lines += _other_far(self.far, stored.get("far"))
        known = {*ours, *VERDICTS}
        return lines + [f"nothing is known of {name}" for name in sorted(set(stored) - known)]


VERDICTS = ("proved", "in_float32", "conditional")
COMPARED = ("weights", "verdict", *VERDICTS, "contexts", "columns", "wrong", "declared", "violations", "bound_by")  # fmt: skip


def _number(value: float) -> float | None:
    """JSON has neither infinity nor NaN."""
    return value if math.isfinite(value) else None


def _alike(ours: float | None, theirs: Any, allowed: float | None) -> bool:
    """Whether two numbers are alike: within what is allowed, or within a millionth."""
    if isinstance(theirs, bool) or not isinstance(theirs, float | int) or ours is None:
        return ours is theirs or (theirs is None and not math.isfinite(ours or 0.0))
    return abs(theirs - ours) <= (SLACK * abs(ours) if allowed is None else allowed)


def _other_far(ours: dict[str, Any] | None, theirs: Any) -> list[str]:
    """Where a stored statement on far tokens differs."""
    if ours is None or not isinstance(theirs, dict) or set(ours) != set(theirs):
        return [] if ours == theirs else [f"far is {ours}, the certificate says {theirs}"]
    return [
        f"far {name} is {value}, the certificate says {theirs[name]}"
        for name, value in ours.items()
        if not _alike(value, theirs[name], None)
    ]


def other_model(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """Where two certificates are about different models."""
    return [
        f"{name} is {ours.get(name)}, the certificate says {theirs.get(name)}"
        for name in sorted((set(ours) | set(theirs)) - set(MADE))
        if _as_now(name, ours.get(name)) != _as_now(name, theirs.get(name))
    ]


def _as_now(name: str, value: Any) -> Any:
    """A setting of a recipe as this version writes it; an earlier one may have had other options and defaults."""
    try:
        return Recipe.of({name: value}).as_json()[name]
    except TenfoldError:
        return value


def read_certificate(path: Path) -> dict[str, Any]:
    """Read a certificate from its file."""
    if path.exists() and not path.is_file():  # a pipe would wait for ever
        raise TenfoldError(f"{path} cannot be read: it is not a file")
    try:
        values = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise TenfoldError(f"{path} cannot be read: {error}") from None
    keys = {each.name for each in fields(Certificate)} - {*SINCE, "bound_by"}
    if not (isinstance(values, dict) and keys <= set(values) and isinstance(values["about"], dict)):
        raise TenfoldError(f"{path} is not a certificate")
    bounded_by = None if values["bound"] is None else NORMS  # there was nothing else then
    return {**SINCE, "bound_by": bounded_by, **values}
