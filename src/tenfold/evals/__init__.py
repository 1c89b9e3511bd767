"""Evaluation: exact match by length, on slices, with intervals."""

from tenfold.evals.exact_match import Examiner, Row, grade
from tenfold.evals.slices import SLICES
from tenfold.evals.statistics import wilson

__all__ = ["SLICES", "Examiner", "Row", "grade", "wilson"]
