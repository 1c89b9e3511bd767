"""Four thin models over one stack, one block, one attention."""

from tenfold.core.registry import Registry
from tenfold.models.decoder import Decoder
from tenfold.models.encoder import Encoder
from tenfold.models.looped import Looped
from tenfold.models.model import Model
from tenfold.models.seq2seq import Seq2Seq
from tenfold.models.stack import Shape, Stack
from tenfold.models.trace import activations, trace

MODELS: Registry[Model] = Registry(
    "model", "tenfold.models", of=(Decoder, Encoder, Looped, Seq2Seq)
)

__all__ = [
    "MODELS",
    "Decoder",
    "Encoder",
    "Looped",
    "Model",
    "Seq2Seq",
    "Shape",
    "Stack",
    "activations",
    "trace",
]
