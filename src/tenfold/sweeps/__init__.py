"""Sweeps: many runs on one machine or on a Ray cluster."""
