"""Evaluation: exact match by length, on slices, with intervals."""
