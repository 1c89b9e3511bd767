"""Prove a model right at every length, or find the shortest input on which it fails."""
