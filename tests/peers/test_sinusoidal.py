"""Sinusoidal positions, in DistilBERT of transformers."""

import torch
from torch.testing import assert_close
from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings

from tenfold.encodings import Sinusoidal


def test_distilbert(line):
    tokens, width = 600, 24
    wanted = torch.empty(tokens, width, dtype=torch.float64)
    create_sinusoidal_embeddings(tokens, width, wanted)
    zeros = torch.zeros(1, tokens, width, dtype=torch.float64)
    ours = Sinusoidal(width).embed(zeros, line(tokens))[0]
    assert_close(ours, wanted, rtol=0, atol=1e-6)
