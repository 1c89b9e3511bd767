"""Evaluation: exact match by length, on slices, with intervals."""

from tenfold.evals.exact_match import Examiner, grade
from tenfold.evals.metrics import Measurement
from tenfold.evals.slices import SLICES
from tenfold.evals.statistics import wilson

__all__ = ["SLICES", "Examiner", "Measurement", "grade", "wilson"]
