"""Result rows of a proof, for experiments."""

from __future__ import annotations

from collections.abc import Iterator

from tenfold.features.proofs.certificate import weights_hash
from tenfold.features.proofs.certify import CERTIFICATE, certify, keep, read_certificate
from tenfold.ledger.experiments import Lab
from tenfold.results.row_schema import Row
from tenfold.runs.run import Run


def proof(lab: Lab, run: Run) -> Iterator[Row]:
    """Rows of the certificate that ended a training, or, where none did, of its last weights.

    `proved` (be it in exact arithmetic alone), `in-float32`, `contexts`, how many of them are `wrong`, and the least `margin`.
    """
    path = run.folder / CERTIFICATE
    if not path.exists() or read_certificate(path)["weights"] != weights_hash(run.model("final")):
        keep(run, certify(run, which="final"))
    found = read_certificate(path)
    for metric in ("proved", "in_float32", "contexts", "wrong", "margin"):
        if found[metric] is not None:
            value = float(found[metric])
            yield {**lab.about(run), "metric": metric.replace("_", "-"), "value": value}
