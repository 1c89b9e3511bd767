"""Tasks made of other tasks: several in one, the last digits alone, noise in the labels."""
