"""How complex sums and products of uniform numbers are, counted exactly."""
