"""Training: a readable loop, an optimizer, checkpoints that are whole or not there."""
