"""Features: each folder answers one question about a model and holds everything that belongs to it."""
