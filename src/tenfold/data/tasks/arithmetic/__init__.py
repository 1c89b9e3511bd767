"""Tasks on numbers."""
