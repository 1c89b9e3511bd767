"""Runs: recipes, building and training them, and what a finished run can be asked."""
