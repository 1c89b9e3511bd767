"""Positional encodings, each usable alone: `ALiBi(heads=8).bias(q_at, k_at)`."""

from tenfold.pe.alibi import ALiBi
from tenfold.pe.base import PositionalEncoding
from tenfold.pe.learned import Learned
from tenfold.pe.nope import NoPE
from tenfold.pe.pairwise import Pairwise
from tenfold.pe.relations import RELATIONS, Relation, Relative
from tenfold.pe.rotary import Rotary
from tenfold.pe.sinusoidal import Sinusoidal
from tenfold.registry import Registry

ENCODINGS: Registry[PositionalEncoding] = Registry(
    "encoding", "tenfold.pe", package="tenfold.pe", base=PositionalEncoding
)

__all__ = [
    "ENCODINGS",
    "RELATIONS",
    "ALiBi",
    "Learned",
    "NoPE",
    "Pairwise",
    "PositionalEncoding",
    "Relation",
    "Relative",
    "Rotary",
    "Sinusoidal",
]
