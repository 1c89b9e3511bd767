"""The demo: two adders that differ only in how they see positions, side by side."""

from __future__ import annotations

from pathlib import Path

from tenfold.lab.recipes import recipe
from tenfold.lab.together import train_together
from tenfold.report import write_report
from tenfold.report.progress import Watch

RECIPES = {"absolute": "symmetry/addition-absolute", "relative": "symmetry/addition-relative"}


def demo(out: Path, scale: str = "demo", fresh: bool = False) -> dict[str, Path]:
    """Train both on 1-5 digits, measure them up to 20, write a figure and a page; say where they are."""
    recipes = [recipe(source, scale, name=name) for name, source in RECIPES.items()]
    folders = [out / name for name in RECIPES]
    with Watch(list(RECIPES), [r.train.steps for r in recipes]) as watch:
        runs = train_together(recipes, folders, fresh=fresh, tell=watch)
    length = recipes[0].data.length
    return write_report(runs, out, f"Addition, trained on up to {length} digits")
