"""BERT of transformers 4.57.6 with relative keys: what we compare with, and proof that it computes the same.

`relative_key` is Shaw et al. 2018, keys only, as is `pairwise` with the relation "relative". Later versions
of transformers ignore the option without a word, so the version is checked.
"""

from __future__ import annotations

import torch
import transformers
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import BertConfig, BertForTokenClassification

from tenfold.data.batch import IGNORED, Batch
from tenfold.data.places import Places
from tenfold.encodings import Pairwise
from tenfold.encodings.relations import Relative
from tenfold.models import Encoder, Shape
from tenfold.models.layers import Attention, Seen

VERSION = "4.57.6"
REACH = 64  # the longest distance that either model has a vector for


class Bert(nn.Module):
    """BertForTokenClassification as its users call it; the answer is read at the last tokens."""

    def __init__(self, vocabulary: int, shape: Shape) -> None:
        super().__init__()
        if transformers.__version__ != VERSION:
            raise SystemExit(f"transformers {transformers.__version__}; {VERSION} is wanted")
        config = BertConfig(
            vocab_size=vocabulary,
            num_labels=vocabulary,
            hidden_size=shape.width,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            intermediate_size=shape.feedforward or 4 * shape.width,
            hidden_dropout_prob=shape.dropout,
            attention_probs_dropout_prob=shape.dropout,
            max_position_embeddings=REACH + 1,
            type_vocab_size=1,
            pad_token_id=None,  # the default, 0, would keep the digit 0 from learning an embedding
            position_embedding_type="relative_key",
            attn_implementation="eager",
        )
        self.model = BertForTokenClassification(config)

    def loss(self, batch: Batch) -> Tensor:
        """The mean over graded tokens, computed by BERT itself from labels at every token."""
        tokens = batch.sequence.tokens
        labels = torch.full_like(tokens, IGNORED)
        labels[:, -batch.read :] = batch.target
        return self.model(input_ids=tokens, labels=labels).loss

    @torch.inference_mode()
    def answer(self, batch: Batch) -> Tensor:
        logits = self.model(input_ids=batch.sequence.tokens).logits
        return logits[:, -batch.read :].argmax(-1)


class Ours(nn.Module):
    """Our encoder with the same keys; `read_all` computes the last layer at every token, as BERT does."""

    def __init__(self, vocabulary: int, shape: Shape, read_all: bool = False) -> None:
        super().__init__()
        self.read_all = read_all
        self.model = Encoder(vocabulary, 0, shape, keys)

    def logits(self, batch: Batch) -> Tensor:
        if self.read_all:
            return self.model.head(self.model.stack(batch.sequence))[:, -batch.read :]
        return self.model(batch)

    def loss(self, batch: Batch) -> Tensor:
        logits = self.logits(batch)
        return F.cross_entropy(logits.flatten(0, 1), batch.target.flatten(), ignore_index=IGNORED)

    def answer(self, batch: Batch) -> Tensor:
        return self.model.answer(batch)


def keys(width: int, heads: int, head_size: int) -> Pairwise:
    return Pairwise(head_size=head_size, relation=Relative(reach=REACH))


def attention_difference(batch: Batch, shape: Shape) -> float:
    """The largest difference between our attention's output and BERT's, for equal weights and inputs."""
    generator = torch.Generator().manual_seed(0)
    peer = Bert(1, shape).model.bert.encoder.layer[0].attention.eval()
    _randomize(peer, generator)
    ours, pe = Attention(shape.width, shape.heads), keys(**_sizes(shape))
    _copy_attention(peer, ours, pe)
    tokens = batch.sequence.tokens.shape[1]
    x = torch.randn(len(batch), tokens, shape.width, generator=generator)
    at = Places(index=torch.arange(tokens)[None])
    with torch.no_grad():
        wanted = peer.output.dense(peer.self(x)[0])
        got = ours(x, x, Seen(pe, at, at, None))
    return float((wanted - got).abs().max())


@torch.no_grad()
def model_difference(batch: Batch, shape: Shape, vocabulary: int) -> float:
    """The same for the logits of the whole models; ours with BERT's order of norms, `norm="post"`.

    Without absolute positions BERT's norm of the embeddings is a function of the token alone, so it goes
    into our table of embeddings.
    """
    generator = torch.Generator().manual_seed(0)
    shape = Shape(shape.layers, shape.width, shape.heads, shape.feedforward, norm="post")
    peer, ours = Bert(vocabulary, shape).eval(), Ours(vocabulary, shape).eval()
    _randomize(peer, generator)
    bert, stack = peer.model.bert, ours.model.stack
    for module in peer.modules():
        if isinstance(module, nn.LayerNorm):
            module.eps = 1e-5  # as ours
    stack.embedding.weight.copy_(bert.embeddings(torch.arange(vocabulary)[:, None])[:, 0])
    for layer, block, pe in zip(
        bert.encoder.layer, stack.blocks, stack.encodings.each, strict=True
    ):
        _copy_attention(layer.attention, block.attention, pe)
        pairs = {
            layer.attention.output.LayerNorm: block.attention_norm,
            layer.intermediate.dense: block.expand,
            layer.output.dense: block.contract,
            layer.output.LayerNorm: block.feedforward_norm,
        }
        for theirs, own in pairs.items():
            own.load_state_dict(theirs.state_dict())
    ours.model.head.load_state_dict(peer.model.classifier.state_dict())
    wanted = peer.model(input_ids=batch.sequence.tokens).logits[:, -batch.read :]
    return float((wanted - ours.logits(batch)).abs().max())


def _sizes(shape: Shape) -> dict[str, int]:
    return {
        "width": shape.width,
        "heads": shape.heads,
        "head_size": shape.width // shape.heads,
    }


@torch.no_grad()
def _randomize(module: nn.Module, generator: torch.Generator) -> None:
    """Weights large enough that every part of the result depends on them."""
    for weights in module.parameters():
        nn.init.normal_(weights, std=weights.shape[-1] ** -0.5, generator=generator)


@torch.no_grad()
def _copy_attention(peer: nn.Module, ours: Attention, pe: nn.Module) -> None:
    """Give our attention and its encoding the weights of a BertAttention, without its norm."""
    theirs, out = peer.self, peer.output.dense
    ours.load_state_dict(
        {
            "query.weight": theirs.query.weight,
            "query.bias": theirs.query.bias,
            "key_value.weight": torch.cat([theirs.key.weight, theirs.value.weight]),
            "key_value.bias": torch.cat([theirs.key.bias, theirs.value.bias]),
            "out.weight": out.weight,
            "out.bias": out.bias,
        }
    )
    pe.table[1:].copy_(theirs.distance_embedding.weight)  # class 0 of ours is "unrelated"
