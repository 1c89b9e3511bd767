"""Formats: how a problem is written as tokens, alone or among words."""

from tenfold.core.registry import Registry
from tenfold.data.formats.hinted import Hinted
from tenfold.data.formats.in_order import InOrder
from tenfold.data.formats.interleaved import Interleaved
from tenfold.data.formats.numeric import Format, InPlace, Line, Reversed, Written
from tenfold.data.formats.random_words import InText
from tenfold.data.formats.sentences import Sentences, SentencesInPlace
from tenfold.data.formats.spaced import Spaced

FORMATS: Registry[Format] = Registry(
    "format",
    "tenfold.formats",
    of=(
        InPlace,
        InOrder,
        Reversed,
        Interleaved,
        Hinted,
        Spaced,
        InText,
        Sentences,
        SentencesInPlace,
    ),
    base=Format,
)

__all__ = [
    "FORMATS",
    "Format",
    "Hinted",
    "InOrder",
    "InPlace",
    "Interleaved",
    "Line",
    "Reversed",
    "Spaced",
    "Written",
]
