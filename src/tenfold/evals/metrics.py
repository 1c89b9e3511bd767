"""What each metric of a result row is: which lie between 0 and 1, and of which less is better."""

SHARES = ("exact", "digit")  # between 0 and 1
LOWER = ("perplexity", "loss", "bits-per-byte")  # less is better
