"""The symmetry paper's theory: linear attention on a ring, in closed form and by descent."""
