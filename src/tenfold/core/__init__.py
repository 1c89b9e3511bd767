"""What every part of tenfold builds on: errors, the registry of components, files."""
