"""Runs: recipes, building and training them, and reading a finished run."""
