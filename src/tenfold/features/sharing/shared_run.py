"""A run that somebody shared: opened from a folder or from the hub, after its hashes were checked."""

from __future__ import annotations

from pathlib import Path

from tenfold.core.errors import TenfoldError
from tenfold.core.stored_files import MANIFEST, read_checked, read_manifest
from tenfold.features.sharing.hub_transfer import fetch
from tenfold.runs.run import WEIGHTS, Run, open_run

PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


def load(name: Path | str, *, revision: str | None = None) -> Run:
    """The run in a folder, or by its name on the Hugging Face hub: `load("owner/adder")`.

    Every file that the manifest names must be there with the size and the hash that it states. Only safetensors
    are read as weights. Names without a slash are those of runs in runs/ and of shipped models, as everywhere.
    """
    folder = Path(name)
    if not folder.is_dir():
        if "/" not in str(name):
            return open_run(name)
        if not _may_be_on_the_hub(str(name)):
            raise TenfoldError(f"there is no folder {name}; a name on the hub is owner/name")
        folder = fetch(str(name), revision)
    return checked_run(folder)


def checked_run(folder: Path) -> Run:
    """The run in a folder; every file of an exported one is compared with its manifest."""
    if not (folder / WEIGHTS).exists() and not (folder / "checkpoints").is_dir():
        for pickled in sorted(path for pattern in PICKLES for path in folder.glob(pattern)):
            raise TenfoldError(
                f"{pickled} is a pickle, which can run code when it is read; a shared run has {WEIGHTS}"
            )
        raise TenfoldError(
            f"{folder} is no shared run: it has no {WEIGHTS} (tenfold export writes it)"
        )
    run = Run.open(folder)
    if not run.published:
        return run  # a whole run, whose checkpoints have hashes of their own
    try:
        files = read_manifest(folder)
    except FileNotFoundError:
        raise TenfoldError(
            f"{folder} has no {MANIFEST}, so its weights cannot be checked; tenfold export writes one"
        ) from None
    for wanted in (WEIGHTS, "recipe.yaml"):
        if wanted not in files:
            raise TenfoldError(f"{folder / MANIFEST} is damaged: it does not name {wanted}")
    for each, stated in files.items():
        try:
            read_checked(folder, each, stated)
        except FileNotFoundError:
            raise TenfoldError(f"{folder / each} is missing; {MANIFEST} names it") from None
    return run


def _may_be_on_the_hub(name: str) -> bool:
    owner, _, rest = name.partition("/")
    return bool(owner) and bool(rest) and "/" not in rest and not name.startswith((".", "~"))
