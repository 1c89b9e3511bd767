"""Models that are proved right at every length, and rivals of the same size that cannot be."""
