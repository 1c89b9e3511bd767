"""Attention bias calibration (ABC of the `bias` paper, 2310.11984): a trained model's attention in, lines out.

averages (what each head looks at) -> thresholds (what stands out) -> finding (lines) -> calibration (a file, an encoding)
"""

from tenfold.calibration.averages import Average, average
from tenfold.calibration.calibration import Accuracy, Calibration
from tenfold.calibration.finding import Head, Rules, find
from tenfold.calibration.thresholds import automatic, by_kappa, highest_z

__all__ = [
    "Accuracy",
    "Average",
    "Calibration",
    "Head",
    "Rules",
    "automatic",
    "average",
    "by_kappa",
    "find",
    "highest_z",
]
