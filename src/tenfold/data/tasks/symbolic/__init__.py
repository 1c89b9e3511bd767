"""Tasks on bits, words and graphs."""
