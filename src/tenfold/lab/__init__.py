"""The laboratory: recipes, runs."""
