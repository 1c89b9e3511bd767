"""The demo: two adders that differ only in how they see positions, side by side."""

from __future__ import annotations

from pathlib import Path

from tenfold.lab.recipes import recipe
from tenfold.lab.together import train_together
from tenfold.report import write_report
from tenfold.report.progress import Watch

RECIPES = ("symmetry/addition-absolute", "symmetry/addition-relative")


def demo(out: Path, scale: str = "demo", fresh: bool = False) -> dict[str, Path]:
    """Train both on 1-5 digits, measure them up to 20, write a figure and a page; say where they are."""
    recipes = [recipe(name, scale) for name in RECIPES]
    with Watch([r.name for r in recipes], [r.train.steps for r in recipes]) as watch:
        runs = train_together(recipes, fresh=fresh, tell=watch)
    length = recipes[0].data.length
    return write_report(runs, out, f"Addition, trained on up to {length} digits")
