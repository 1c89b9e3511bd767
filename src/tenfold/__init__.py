"""tenfold: train short, test long, and know why.

>>> import tenfold
>>> recipe = tenfold.recipe("symmetry/addition-relative", scale="smoke")
>>> recipe.pe.name
'pairwise'

Names are imported when they are first used, so that `tenfold --help` need not wait for torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names as in _WHERE, for editors and type checkers
    from tenfold.core.errors import TenfoldError as TenfoldError
    from tenfold.data.places import Places as Places
    from tenfold.data.tasks.arithmetic.addition import Addition as Addition
    from tenfold.drawing.report_page import write_report as write_report
    from tenfold.encodings import BAM as BAM
    from tenfold.encodings import DAPE as DAPE
    from tenfold.encodings import FIRE as FIRE
    from tenfold.encodings import T5 as T5
    from tenfold.encodings import ALiBi as ALiBi
    from tenfold.encodings import Calibrated as Calibrated
    from tenfold.encodings import Compose as Compose
    from tenfold.encodings import CoPE as CoPE
    from tenfold.encodings import Entmax as Entmax
    from tenfold.encodings import FoX as FoX
    from tenfold.encodings import GatedDecay as GatedDecay
    from tenfold.encodings import GrapeAP as GrapeAP
    from tenfold.encodings import GrapeM as GrapeM
    from tenfold.encodings import HardALiBi as HardALiBi
    from tenfold.encodings import Inverse as Inverse
    from tenfold.encodings import InverseLog as InverseLog
    from tenfold.encodings import Joint as Joint
    from tenfold.encodings import KerpleLog as KerpleLog
    from tenfold.encodings import KerplePower as KerplePower
    from tenfold.encodings import Learned as Learned
    from tenfold.encodings import LogLength as LogLength
    from tenfold.encodings import NoPE as NoPE
    from tenfold.encodings import Pairwise as Pairwise
    from tenfold.encodings import PaTH as PaTH
    from tenfold.encodings import PerHead as PerHead
    from tenfold.encodings import PerLayer as PerLayer
    from tenfold.encodings import PoPE as PoPE
    from tenfold.encodings import PositionalEncoding as PositionalEncoding
    from tenfold.encodings import Power as Power
    from tenfold.encodings import Relative as Relative
    from tenfold.encodings import Rotary as Rotary
    from tenfold.encodings import RotaryLinear as RotaryLinear
    from tenfold.encodings import RotaryNTK as RotaryNTK
    from tenfold.encodings import RotaryYaRN as RotaryYaRN
    from tenfold.encodings import Sandwich as Sandwich
    from tenfold.encodings import ScalableSoftmax as ScalableSoftmax
    from tenfold.encodings import Scalar as Scalar
    from tenfold.encodings import Selective as Selective
    from tenfold.encodings import Significance as Significance
    from tenfold.encodings import Sinusoidal as Sinusoidal
    from tenfold.encodings import StickBreaking as StickBreaking
    from tenfold.encodings import Type1 as Type1
    from tenfold.encodings import Type2 as Type2
    from tenfold.encodings import Uniform as Uniform
    from tenfold.encodings import Window as Window
    from tenfold.encodings import XPos as XPos
    from tenfold.features.calibration.calibrate import calibrate as calibrate
    from tenfold.features.explorer.explore import explore as explore
    from tenfold.features.probe.probe import probe as probe
    from tenfold.features.proofs.certify import certify as certify
    from tenfold.features.proofs.shipped_answers import ask as ask
    from tenfold.features.reach.receptive_field import reach as reach
    from tenfold.features.sharing.hub_folder import share as share
    from tenfold.features.sharing.shared_run import load as load
    from tenfold.ledger.redraw import redraw as redraw
    from tenfold.ledger.reproduce import reproduce as reproduce
    from tenfold.results.collect import collect as collect
    from tenfold.results.ranking import rank as rank
    from tenfold.runs.own_components import include as include
    from tenfold.runs.own_components import register as register
    from tenfold.runs.recipe import Recipe as Recipe
    from tenfold.runs.recipe_files import recipe as recipe
    from tenfold.runs.run import Run as Run
    from tenfold.runs.run import open_run as open_run
    from tenfold.runs.train import train as train
    from tenfold.sweeps.sweep import sweep as sweep

__version__ = "0.2.0"

_ENCODINGS = (
    "ALiBi", "BAM", "Calibrated", "CoPE", "Compose", "DAPE", "Entmax", "FIRE", "FoX", "GatedDecay", "GrapeAP",
    "GrapeM", "HardALiBi", "Inverse", "InverseLog", "Joint", "KerpleLog", "KerplePower", "Learned", "LogLength",
    "NoPE", "PaTH", "Pairwise", "PerHead", "PerLayer", "PoPE", "PositionalEncoding", "Power", "Relative", "Rotary",
    "RotaryLinear", "RotaryNTK", "RotaryYaRN", "Sandwich", "ScalableSoftmax", "Scalar", "Selective", "Significance",
    "Sinusoidal", "StickBreaking", "T5", "Type1", "Type2", "Uniform", "Window", "XPos",
)  # fmt: skip
_WHERE = {
    "Addition": "tenfold.data.tasks.arithmetic.addition",
    "Places": "tenfold.data.places",
    "Recipe": "tenfold.runs.recipe",
    "Run": "tenfold.runs.run",
    "TenfoldError": "tenfold.core.errors",
    "ask": "tenfold.features.proofs.shipped_answers",
    "calibrate": "tenfold.features.calibration.calibrate",
    "certify": "tenfold.features.proofs.certify",
    "collect": "tenfold.results.collect",
    "explore": "tenfold.features.explorer.explore",
    "include": "tenfold.runs.own_components",
    "load": "tenfold.features.sharing.shared_run",
    "open_run": "tenfold.runs.run",
    "probe": "tenfold.features.probe.probe",
    "rank": "tenfold.results.ranking",
    "reach": "tenfold.features.reach.receptive_field",
    "recipe": "tenfold.runs.recipe_files",
    "register": "tenfold.runs.own_components",
    "redraw": "tenfold.ledger.redraw",
    "reproduce": "tenfold.ledger.reproduce",
    "share": "tenfold.features.sharing.hub_folder",
    "sweep": "tenfold.sweeps.sweep",
    "train": "tenfold.runs.train",
    "write_report": "tenfold.drawing.report_page",
    **dict.fromkeys(_ENCODINGS, "tenfold.encodings"),
}

__all__ = [*_WHERE, "__version__"]  # pyright: ignore


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'tenfold' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
