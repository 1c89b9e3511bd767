"""Models by name: thin ones over one stack of blocks, and others."""

from tenfold.core.registry import Registry
from tenfold.models.decoder import Decoder
from tenfold.models.encoder import Encoder
from tenfold.models.layers import MIXERS, Mixer
from tenfold.models.looped import Looped
from tenfold.models.model import AttentionModel, Model, activations, attention_in, trace
from tenfold.models.seq2seq import Seq2Seq
from tenfold.models.stack import Shape, Stack

MODELS: Registry[Model] = Registry("model", "tenfold.models", package="tenfold.models", base=Model)

__all__ = [
    "MIXERS",
    "MODELS",
    "AttentionModel",
    "Decoder",
    "Encoder",
    "Looped",
    "Mixer",
    "Model",
    "Seq2Seq",
    "Shape",
    "Stack",
    "activations",
    "attention_in",
    "trace",
]
