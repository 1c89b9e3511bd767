"""tenfold: train short, test long, and know why.

>>> import tenfold
>>> recipe = tenfold.recipe("symmetry/addition-relative", scale="smoke")
>>> recipe.pe.name
'pairwise'

Names are imported when they are first used, so that `tenfold --help` need not wait for torch.
"""

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

_ENCODINGS = (
    "ALiBi", "Calibrated", "CoPE", "Compose", "FIRE", "HardALiBi", "Inverse", "InverseLog", "Joint", "KerpleLog",
    "KerplePower", "Learned", "NoPE", "Pairwise", "PerHead", "PositionalEncoding", "Power", "Relative",
    "Rotary", "RotaryLinear", "RotaryNTK", "RotaryYaRN", "Sandwich", "Scalar", "Significance",
    "Sinusoidal", "T5", "Type1", "Type2", "Uniform", "Window", "XPos",
)  # fmt: skip
_WHERE = {
    "Recipe": "tenfold.runs.recipe",
    "Run": "tenfold.runs.run",
    "train": "tenfold.runs.train",
    "collect": "tenfold.results.collect",
    "write_report": "tenfold.drawing.report_page",
    "calibrate": "tenfold.features.calibration.calibrate",
    "recipe": "tenfold.runs.recipe_files",
    "TenfoldError": "tenfold.core.errors",
    "Places": "tenfold.data.places",
    "Addition": "tenfold.data.tasks.arithmetic.addition",
    "reach": "tenfold.features.reach.receptive_field",
    **dict.fromkeys(_ENCODINGS, "tenfold.encodings"),
}

__all__ = [*_WHERE, "__version__"]  # pyright: ignore


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'tenfold' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
