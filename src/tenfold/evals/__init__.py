"""Evaluation: exact match by length, on slices, with intervals."""

from tenfold.evals.exact_match import SLICES, Examiner, grade
from tenfold.evals.statistics import Measurement, wilson

__all__ = ["SLICES", "Examiner", "Measurement", "grade", "wilson"]
