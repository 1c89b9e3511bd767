"""Compare a model with the function of its numbers' last digits."""
