"""Runs by name: in `runs/`, and the proved models that come with the package."""

from __future__ import annotations

from pathlib import Path

from tenfold.core.errors import TenfoldError, unknown
from tenfold.runs.run import Run

SHELF = Path(__file__).resolve().parents[1] / "proved"


def names() -> list[str]:
    """Every model that is there, the plainest first."""
    found = [path.parent.name for path in SHELF.glob("*/recipe.yaml")]
    return sorted(found, key=lambda name: (name.count("-"), name))


def shipped(name: str) -> Run | None:
    return Run.open(SHELF / name) if name in names() else None


def holds(run: Run) -> bool:
    """Whether a run is one of these: the package's own, where nobody writes."""
    return run.folder.resolve().is_relative_to(SHELF)


def open_run(name: str | Path) -> Run:
    """A run by its folder, by the beginning of its name in runs/, or a shipped model by its name."""
    if Path(name).is_dir() or "/" in str(name):
        return Run.open(name)
    found = sorted(path.parent for path in Path("runs").glob(f"{name}*/recipe.yaml"))
    if len(found) == 1:
        return Run.open(found[0])
    if found:
        raise TenfoldError(
            f'"{name}" is the beginning of {len(found)} runs; name one: {found[0]}, ...'
        )
    run = shipped(str(name))
    if run is not None:
        return run
    known = [path.parent.name for path in Path("runs").glob("*/recipe.yaml")]
    raise unknown("run", str(name), [*known, *names()])
