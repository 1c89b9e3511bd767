"""Experiments about proofs without a window."""
