"""What an encoding can be known to do before anything is trained."""

from tenfold.theory.advice import Advice, advise
from tenfold.theory.depth import Deep, deep
from tenfold.theory.formula import Formula
from tenfold.theory.given import Given, given, series_of
from tenfold.theory.partial import growth
from tenfold.theory.profile import profile
from tenfold.theory.reach import Reach, over_heads, reach, reaches
from tenfold.theory.tables import table, tabled
from tenfold.theory.written import written

__all__ = [
    "Advice",
    "Deep",
    "Formula",
    "Given",
    "Reach",
    "advise",
    "deep",
    "given",
    "growth",
    "over_heads",
    "profile",
    "reach",
    "reaches",
    "series_of",
    "table",
    "tabled",
    "written",
]
