"""Length extrapolation of language models by the series of their positional biases (`extrapolation`)."""
