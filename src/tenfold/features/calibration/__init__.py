"""Attention bias calibration (ABC of the bias paper, 2310.11984): a trained model's attention in, lines out."""
