"""Attention bias for length generalization: calibration (ABC) and scaffolding (ABS) of an encoder-decoder (`bias`)."""
