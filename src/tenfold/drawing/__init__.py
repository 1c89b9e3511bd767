"""Figures, tables beside published numbers, and HTML pages."""
