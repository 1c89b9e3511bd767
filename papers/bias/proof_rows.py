"""Result rows of a proof, for experiments."""

from __future__ import annotations

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


def proof(lab: Lab, run: Run) -> Iterator[Row]:
    """Rows of the certificate of a run's final weights, which is made where it does not exist.

    The metrics are `proved` (in float32 or in exact arithmetic), `in-float32`, `contexts`, `wrong` and `margin`.
    """
    path = run.folder / CERTIFICATE
    if not path.exists() or read_certificate(path)["weights"] != weights_hash(run.model("final")):
        write_certificate(run, certify(run, which="final"))
    certificate = read_certificate(path)
    for metric in ("proved", "in_float32", "contexts", "wrong", "margin"):
        if certificate[metric] is not None:
            value = float(certificate[metric])
            yield {**lab.about(run), "metric": metric.replace("_", "-"), "value": value}
