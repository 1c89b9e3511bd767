"""Length generalization of arithmetic in place by relative positions, and why absolute ones fail (`symmetry`)."""
