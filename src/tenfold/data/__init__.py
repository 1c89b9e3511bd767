"""Data: where tokens are, tasks and how they are written, text corpora, and batches made of them."""
