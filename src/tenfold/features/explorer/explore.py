"""The explorer: runs as one HTML file that answers, shows its attention, and proves, without a network."""

from __future__ import annotations

import webbrowser
from pathlib import Path

from tenfold.core.errors import TenfoldError
from tenfold.core.files import write_atomically
from tenfold.features.explorer.encoding_export import Exported
from tenfold.features.explorer.model_export import as_text, exported
from tenfold.features.explorer.page_bundle import bundled
from tenfold.features.explorer.shipped_models import ABOUT, TITLES, measured, shipped
from tenfold.runs.run import Run, Which, open_run

PAGE = Path("explorer.html")
MOST_MODELS = 6  # side by side


def explore(
    *runs: Run | Path | str,
    out: Path | str = PAGE,
    which: Which = "best",
    show: bool = False,
) -> Path:
    """Write the explorer's page for these runs and return its path.

    Arguments:
        runs: runs, their folders, or the names of shipped models. Without any, three adders that come with the package:
            a proved one, one with absolute positions, and a calibrated one.
        out: the HTML file to write.
        which: the checkpoint, "best" or "final".
        show: open the page in the browser.

    Raises `TenfoldError` where the page cannot run a model, and names the part that it cannot run.
    """
    models = [_described(run, which) for run in runs] if runs else default_models()
    _check_together(models)
    path = Path(out)
    if path.is_dir():
        raise TenfoldError(f"{path} is a folder; name a file, such as {path / PAGE}")
    if not path.parent.is_dir():
        raise TenfoldError(f"there is no folder {path.parent} to write {path.name} to")
    write_atomically(path, bundled(as_text(models), "tenfold explorer").encode())
    if show:
        webbrowser.open(path.resolve().as_uri())
    return path


def default_models() -> list[Exported]:
    """The three adders of the package, with the curves that were measured of them."""
    return [
        exported(shipped(name), name=title, measurement=measured(name)) | {"about": ABOUT[name]}
        for name, title in TITLES.items()
    ]


def _described(run: Run | Path | str, which: Which) -> Exported:
    return exported(run if isinstance(run, Run) else open_run(run), which)


def _check_together(models: list[Exported]) -> None:
    """Raise for models that cannot be asked the same problems."""
    if len(models) > MOST_MODELS:
        raise TenfoldError(f"{len(models)} runs; a page shows at most {MOST_MODELS} side by side")
    first = models[0]
    for model in models[1:]:
        if model["task"] != first["task"]:
            tasks = [
                f'"{each["task"]["name"]}" in base {each["task"]["base"]}'
                for each in (first, model)
            ]
            raise TenfoldError(
                f"{first['name']} has the task {tasks[0]}, {model['name']} {tasks[1]}; runs in one page have the same task"
            )
