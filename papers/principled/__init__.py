"""Which lengths a GPT generalizes to, and why: sums and products cut to their last digits (`principled`)."""
