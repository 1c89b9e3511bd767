"""The folder that is uploaded: weights, recipe, certificate, measurements, a model card, and hashes of them all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tenfold.core.files import write_atomically
from tenfold.core.stored_files import MANIFEST, manifest, read_json_mapping, read_stored, sealed
from tenfold.features.sharing.model_card import Row, card_text
from tenfold.results.collect import checked_result
from tenfold.runs.run import Run, Which, open_run

CARD, CERTIFICATE, RESULT = "README.md", "certificate.json", "result.json"
MADE = (
    "tenfold",
    "commit",
    "date",
    "python",
    "torch",
    "numpy",
    "processor",
)  # no paths, no commands
FEW = 100  # problems a length and slice, where a run has no measurements of its own
Exporter = Callable[..., dict[str, Path]]  # called with (run, folder, which=...), as Run.export is


def share(
    run: Run | Path | str,
    folder: Path | str,
    *,
    which: Which = "best",
    name: str | None = None,
    licence: str | None = None,
    export: Exporter = Run.export,
) -> dict[str, Path]:
    """Write a run into a new folder that can be uploaded to the hub; returns the files by what they are.

    Arguments:
        run: a run, its folder, or the name of a shipped model.
        folder: the new folder; `tenfold.load(folder)` gives the run back.
        which: the checkpoint, "best" or "final".
        name: what the card calls the model, such as its name on the hub; default: the name of the folder.
        licence: an identifier such as "apache-2.0", for the card.
        export: writes weights and recipe, and may write a certificate; `tenfold export` proves the model here.
            Without a certificate from it, the one that `tenfold certify` left in the run's folder is taken.
    """
    run, folder = run if isinstance(run, Run) else open_run(run), Path(folder)
    rows = _rows(run, which)
    written = export(run, folder, which=which)
    if "certificate" not in written and (stored := _stored_certificate(run, which)) is not None:
        written["certificate"] = folder / CERTIFICATE
        write_atomically(written["certificate"], stored)
    if run.finished:
        written["result"] = folder / RESULT
        write_atomically(written["result"], sealed(_public(run.result())))
    certificate = None
    if "certificate" in written:
        certificate = read_json_mapping(folder, CERTIFICATE, "a certificate")
    card = card_text(
        run.recipe, rows, certificate, name=name or folder.name, which=which, licence=licence
    )
    names = sorted(
        path.name for path in folder.iterdir() if path.is_file() and path.name != MANIFEST
    )
    write_atomically(
        folder / MANIFEST, manifest({name: read_stored(folder, name) for name in names})
    )
    written["card"] = folder / CARD  # not in the manifest: people edit cards on the hub
    write_atomically(written["card"], card.encode())
    return written


def _rows(run: Run, which: Which) -> list[Row]:
    """The run's own measurements of a checkpoint; an exported model has none, so it is measured."""
    if run.finished:
        return [row for row in checked_result(run)["rows"] if row.get("checkpoint", which) == which]
    few = min(FEW, run.recipe.eval.n)
    return [row.as_json() for row in run.evaluate(which=which, n=few)]


def _public(result: dict[str, Any]) -> dict[str, Any]:
    """A result without what is about the machine and its user: paths, commands, the platform."""
    made = result.get("environment") or {}
    environment = {key: made[key] for key in MADE if key in made}
    return {key: value for key, value in result.items() if key != "seal"} | {
        "environment": environment
    }


def _stored_certificate(run: Run, which: Which) -> bytes | None:
    """The certificate in the run's folder, if it is about this recipe and this checkpoint."""
    try:
        about = read_json_mapping(run.folder, CERTIFICATE, "a certificate").get("about") or {}
    except FileNotFoundError:
        return None
    same = about.get("recipe") == run.recipe.fingerprint
    if not same or (not run.published and about.get("checkpoint") != which):
        return None
    return read_stored(run.folder, CERTIFICATE)
