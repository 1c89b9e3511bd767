"""How far a causal language model of Hugging Face looks, and what happens beyond its trained length: `tenfold probe`."""
