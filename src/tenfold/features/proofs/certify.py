"""Certify a run: the whole path of a proof, from a run to the certificate in its folder.

    run -> prover (every context that the task can bring before the model) -> certificate -> certificate.json

>>> import tenfold
>>> tenfold.certify("addition").verdict  # doctest: +SKIP
'proved'
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import torch

from tenfold.core.errors import TenfoldError
from tenfold.core.files import write_atomically
from tenfold.features.proofs.certificate import Certificate, Prover
from tenfold.features.proofs.context_search import LIMIT, TooMany
from tenfold.models.locality import NotCertifiable
from tenfold.runs.environment import environment
from tenfold.runs.run import Run, Which
from tenfold.runs.shipped import open_run

CERTIFICATE = "certificate.json"
CERTIFIED = {field.name for field in fields(Certificate)}  # the keys of a certificate
MADE = ("tenfold", "commit", "date", "torch")  # the environment, as far as a certificate states it


def certify(
    run: Run | Path | str,
    *,
    which: Which = "best",
    limit: int = LIMIT,
    prover: Prover | None = None,
    rounding: bool | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> Certificate:
    """Prove a run's model right at every length, or find the shortest inputs on which it fails.

    `run` is a run, its folder, or the name of a shipped model. `limit` is the largest number of contexts
    to check. `rounding` decides whether float32 rounding is bounded; by default, up to a million contexts.
    """
    run = run if isinstance(run, Run) else open_run(run)
    torch.set_num_threads(run.recipe.train.threads)
    prover = prover or prover_of(run, which=which, limit=limit)
    certificate = prover.certify(run.model(which), tell, rounding)
    return replace(certificate, about=about(run, which))


def prover_of(run: Run, *, which: Which = "best", limit: int = LIMIT) -> Prover:
    """Every context of the run's model; raises `NotCertifiable` where the hypotheses do not hold."""
    return Prover(run.model(which), run.built.batcher, limit)


def about(run: Run, which: Which) -> dict[str, Any]:
    """What a certificate states about the model that it is for."""
    recipe = run.recipe.as_json()
    known = {key: recipe[key] for key in ("task", "format", "schemes", "pe", "model")}
    made = {key: value for key, value in environment().items() if key in MADE}
    return {**known, "checkpoint": which, "recipe": run.recipe.fingerprint, **made}


def keep(run: Run, certificate: Certificate, folder: Path | None = None) -> Path:
    """Write a certificate into the run's folder, or into another one."""
    path = (folder or run.folder) / CERTIFICATE
    write_atomically(path, json.dumps(certificate.as_json(), indent=1).encode())
    return path


def export_certified(run: Run, folder: Path | str, *, which: Which = "best") -> dict[str, Path]:
    """Export a run, with its certificate where the model is certifiable; returns the files written."""
    written = run.export(folder, which=which)
    with suppress(NotCertifiable, TooMany):
        written["certificate"] = keep(run, certify(run, which=which), Path(folder))
    return written


def read_certificate(path: Path) -> dict[str, Any]:
    """Read a certificate from its file."""
    try:
        values = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise TenfoldError(f"{path} cannot be read: {error}") from None
    if (
        not isinstance(values, dict)
        or not set(values) >= CERTIFIED
        or not isinstance(values["about"], dict)
    ):
        raise TenfoldError(f"{path} is not a certificate")
    return values
