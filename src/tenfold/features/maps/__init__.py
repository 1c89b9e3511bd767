"""What the positional encodings of a trained model learned."""
