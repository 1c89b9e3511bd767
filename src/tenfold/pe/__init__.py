"""Positional encodings, each usable alone: `ALiBi(heads=8).bias(q_at, k_at)`."""

from tenfold.pe.alibi import ALiBi
from tenfold.pe.base import ENCODINGS, SIZES, Attends, PositionalEncoding
from tenfold.pe.calibrated import Calibrated, Line
from tenfold.pe.compose import Compose
from tenfold.pe.cope import CoPE
from tenfold.pe.fine_sinusoidal import FineSinusoidal
from tenfold.pe.fire import FIRE
from tenfold.pe.hard_alibi import HardALiBi
from tenfold.pe.inverse import Inverse
from tenfold.pe.inverse_log import InverseLog
from tenfold.pe.kerple_log import KerpleLog
from tenfold.pe.kerple_power import KerplePower
from tenfold.pe.learned import Learned
from tenfold.pe.nope import NoPE
from tenfold.pe.pairwise import Pairwise
from tenfold.pe.per_head import PerHead
from tenfold.pe.power import Power
from tenfold.pe.relations import RELATIONS, Joint, Relation, Relative, Significance, Uniform
from tenfold.pe.rotary import Rotary
from tenfold.pe.rotary_linear import RotaryLinear
from tenfold.pe.rotary_ntk import RotaryNTK
from tenfold.pe.rotary_yarn import RotaryYaRN
from tenfold.pe.sandwich import Sandwich
from tenfold.pe.scalar import Scalar
from tenfold.pe.sinusoidal import Sinusoidal
from tenfold.pe.t5 import T5
from tenfold.pe.type_1 import Type1
from tenfold.pe.type_2 import Type2
from tenfold.pe.window import Window
from tenfold.pe.xpos import XPos

__all__ = [
    "ENCODINGS",
    "FIRE",
    "RELATIONS",
    "SIZES",
    "T5",
    "ALiBi",
    "Attends",
    "Calibrated",
    "CoPE",
    "Compose",
    "FineSinusoidal",
    "HardALiBi",
    "Inverse",
    "InverseLog",
    "Joint",
    "KerpleLog",
    "KerplePower",
    "Learned",
    "Line",
    "NoPE",
    "Pairwise",
    "PerHead",
    "PositionalEncoding",
    "Power",
    "Relation",
    "Relative",
    "Rotary",
    "RotaryLinear",
    "RotaryNTK",
    "RotaryYaRN",
    "Sandwich",
    "Scalar",
    "Significance",
    "Sinusoidal",
    "Type1",
    "Type2",
    "Uniform",
    "Window",
    "XPos",
]
