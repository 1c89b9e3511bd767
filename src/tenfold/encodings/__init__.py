"""Positional encodings, each usable alone: `ALiBi(heads=8).bias(q_at, k_at)`."""

from tenfold.encodings.alibi import ALiBi
from tenfold.encodings.bam import BAM
from tenfold.encodings.calibrated import AttentionLine, Calibrated
from tenfold.encodings.compose import Compose
from tenfold.encodings.cope import CoPE
from tenfold.encodings.dape import DAPE
from tenfold.encodings.encoding import ENCODINGS, SIZES, Attends, PositionalEncoding
from tenfold.encodings.entmax import Entmax
from tenfold.encodings.fine_sinusoidal import FineSinusoidal
from tenfold.encodings.fire import FIRE
from tenfold.encodings.fox import FoX
from tenfold.encodings.gated_decay import GatedDecay
from tenfold.encodings.grape_additive import GrapeAP
from tenfold.encodings.grape_multiplicative import GrapeM
from tenfold.encodings.hard_alibi import HardALiBi
from tenfold.encodings.inverse import Inverse
from tenfold.encodings.inverse_log import InverseLog
from tenfold.encodings.kerple_log import KerpleLog
from tenfold.encodings.kerple_power import KerplePower
from tenfold.encodings.learned import Learned
from tenfold.encodings.log_length import LogLength
from tenfold.encodings.nope import NoPE
from tenfold.encodings.pairwise import Pairwise
from tenfold.encodings.path import PaTH
from tenfold.encodings.per_head import PerHead
from tenfold.encodings.per_layer import PerLayer
from tenfold.encodings.pope import PoPE
from tenfold.encodings.power import Power
from tenfold.encodings.relations import RELATIONS, Joint, Relation, Relative, Significance, Uniform
from tenfold.encodings.rotary import Rotary
from tenfold.encodings.rotary_linear import RotaryLinear
from tenfold.encodings.rotary_ntk import RotaryNTK
from tenfold.encodings.rotary_yarn import RotaryYaRN
from tenfold.encodings.sandwich import Sandwich
from tenfold.encodings.scalable_softmax import ScalableSoftmax
from tenfold.encodings.scalar import Scalar
from tenfold.encodings.selective import Selective
from tenfold.encodings.sinusoidal import Sinusoidal
from tenfold.encodings.soft_window import SoftWindow
from tenfold.encodings.stick_breaking import StickBreaking
from tenfold.encodings.t5 import T5
from tenfold.encodings.type_1 import Type1
from tenfold.encodings.type_2 import Type2
from tenfold.encodings.window import Window
from tenfold.encodings.xpos import XPos

__all__ = [
    "BAM",
    "DAPE",
    "ENCODINGS",
    "FIRE",
    "RELATIONS",
    "SIZES",
    "T5",
    "ALiBi",
    "Attends",
    "AttentionLine",
    "Calibrated",
    "CoPE",
    "Compose",
    "Entmax",
    "FineSinusoidal",
    "FoX",
    "GatedDecay",
    "GrapeAP",
    "GrapeM",
    "HardALiBi",
    "Inverse",
    "InverseLog",
    "Joint",
    "KerpleLog",
    "KerplePower",
    "Learned",
    "LogLength",
    "NoPE",
    "PaTH",
    "Pairwise",
    "PerHead",
    "PerLayer",
    "PoPE",
    "PositionalEncoding",
    "Power",
    "Relation",
    "Relative",
    "Rotary",
    "RotaryLinear",
    "RotaryNTK",
    "RotaryYaRN",
    "Sandwich",
    "ScalableSoftmax",
    "Scalar",
    "Selective",
    "Significance",
    "Sinusoidal",
    "SoftWindow",
    "StickBreaking",
    "Type1",
    "Type2",
    "Uniform",
    "Window",
    "XPos",
]
