"""The command `tenfold export`: a run for others, as a folder or on the Hugging Face hub."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tenfold.cli.app import Checkpoint, Json, RunName, app, print_written
from tenfold.core.errors import TenfoldError


@app.command
def export(
    run: RunName,
    /,
    *,
    out: Annotated[
        Path | None,
        Parameter(help="The new folder to write the model to; it must not hold anything."),
    ] = None,
    hub: Annotated[
        Path | None,
        Parameter(help="The same, with a model card and measurements, as the hub expects it."),
    ] = None,
    push: Annotated[
        str | None,
        Parameter(help="Upload the folder of --hub to this name on the Hugging Face hub."),
    ] = None,
    private: Annotated[
        bool, Parameter(help="With --push: only you can see the new model.", negative="")
    ] = False,
    license_: Annotated[
        str | None,
        Parameter(name="--license", help='For the model card, such as "apache-2.0".'),
    ] = None,
    checkpoint: Checkpoint = "best",
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Write a run's weights (safetensors), recipe and certificate into a folder that every command accepts as a run.

    `tenfold export runs/my-run --out my-model`

    `tenfold export runs/my-run --hub my-model --push owner/my-model`
    """
    from tenfold.features.proofs.certify import export_certified
    from tenfold.runs.run import open_run

    if (out is None) == (hub is None):
        raise TenfoldError("name one folder: --out FOLDER, or --hub FOLDER with a model card")
    if out is not None:
        if push or private or license_:
            raise TenfoldError("--push, --private and --license need --hub FOLDER, with a card")
        written = export_certified(open_run(run), out, which=checkpoint)
    else:
        from tenfold.features.sharing.hub_folder import share
        from tenfold.features.sharing.hub_transfer import push as upload

        assert hub is not None
        written = share(
            run, hub, which=checkpoint, name=push, licence=license_, export=export_certified
        )
    if "certificate" not in written:
        print("without a certificate: the model is not certifiable", file=sys.stderr)
    if push is not None and hub is not None:
        print(f"uploaded: {upload(hub, push, private=private)}", file=sys.stderr)
    print_written(written, json_)
