"""Result rows of a proof without a window, for experiments."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tenfold.features.proofs.certify import (
    CERTIFICATE,
    certify,
    read_certificate,
    write_certificate,
)
from tenfold.features.proofs.prover import weights_hash
from tenfold.ledger.experiments import Lab
from tenfold.results.row_schema import Row
from tenfold.runs.run import Run

OF_FAR = {"attention": "far-attention", "first": "first-order", "remainder": "remainder", "left": "left"}  # fmt: skip


def proof(lab: Lab, run: Run) -> Iterator[Row]:
    """Rows of the certificate of a run's final weights, with float32 rounding; it is made where it does not exist."""
    path = run.folder / CERTIFICATE
    stored = read_certificate(path) if path.exists() else None
    if (
        stored is None
        or stored["weights"] != weights_hash(run.model("final"))
        or (stored["proved"] and stored["bound"] is None)
    ):
        write_certificate(run, certify(run, which="final"))
    certificate = read_certificate(path)
    values = {"proved": certificate["proved"], "in-float32": certificate["in_float32"]}
    values |= {name: certificate[name] for name in ("contexts", "margin", "bound")}
    far = certificate["far"] or {}
    values |= {metric: far.get(name) for name, metric in OF_FAR.items()}
    for metric, value in values.items():
        if value is not None and math.isfinite(value):
            yield {**lab.about(run), "metric": metric, "value": float(value)}
