"""A causal language model of transformers that is read in chunks with its cache, by the model's own code.

Where a layer returns its attention weights, they are seen chunk by chunk as they are made, and are kept nowhere. Nothing
of a family of models is written here: layers and attention are found in a forward pass over a few tokens.

Shapes: B rows, H heads, T tokens of a chunk, S tokens up to its end, V vocabulary.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from transformers import DynamicCache, PreTrainedModel

from tenfold.core.errors import TenfoldError

TRIED = 12  # tokens of the forward pass in which parts are found
CHUNK = 512  # tokens that are read at a time
WEIGHTS = 2**25  # bytes of one layer's attention weights that are made at a time
GRAPH = (
    2**27
)  # bytes of all layers' weights that a backward pass holds at a time, if the model itself is not large
CLOSE = {torch.float64: 1e-6, torch.float32: 1e-3}  # of logits, relative to the largest
ROUGH = 0.1  # the same, in half precision
EQUAL = 100  # logits of which no token changed are so many times as close
Seen = Callable[[int, Tensor], None]  # the number of a layer, and weights (B, H, T, S)


class ChunkedModel:
    """Reads tokens (B, S) in chunks. `layers` is empty, and `attention` None, where they cannot be found."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.model = model
        model.train(False)
        self.config = model.config.get_text_config()
        self.own: str = model.config._attn_implementation
        rows = torch.arange(2 * TRIED, device=model.device).reshape(2, TRIED)
        self.trial = rows % int(self.config.vocab_size)
        check_causal(model, self.trial)
        self.chunks = self._can_be_chunked()
        self.layers = self._find_layers()
        self.weighing = self.own  # the implementation of attention that returns weights
        self.attention = self._find_attention()

    @property
    def heads(self) -> int:
        return int(getattr(self.config, "num_attention_heads", 0))

    @property
    def size(self) -> int:
        """Bytes of the weights."""
        return sum(each.numel() * each.element_size() for each in self.model.parameters())

    def weighed_chunk(self, length: int) -> int:
        """Tokens at a time whose attention weights are made, one layer after another."""
        return max(16, min(CHUNK, WEIGHTS // (4 * self.heads * length)))

    def graph_chunk(self, length: int) -> int:
        """Tokens at a time whose attention weights are kept in all layers, for a backward pass."""
        room = max(GRAPH, self.size // 4)
        return max(4, min(CHUNK, room // (16 * len(self.layers) * self.heads * length)))

    def parts(self, length: int, chunk: int) -> list[slice]:
        """The chunks of so many tokens; all in one where the model has no cache that grows."""
        chunk = chunk if self.chunks else length
        return [slice(start, min(start + chunk, length)) for start in range(0, length, chunk)]

    def call(self, tokens: Tensor, cache: DynamicCache | None, *, head: bool = True) -> Any:
        """Read a chunk after what the cache holds. Without `head` no logits are made."""
        reader: Any = self.model if head else self.model.base_model
        if cache is None:
            return reader(input_ids=tokens, use_cache=False)
        return reader(input_ids=tokens, past_key_values=cache, use_cache=True)

    def cache(self) -> DynamicCache | None:
        """An empty cache that forgets nothing, also where the model attends within a window."""
        return DynamicCache() if self.chunks else None

    @torch.inference_mode()
    def logits(self, tokens: Tensor, chunk: int = CHUNK) -> Iterator[Tensor]:
        """The logits of all tokens, a chunk at a time: (B, T, V)."""
        cache = self.cache()
        for part in self.parts(tokens.shape[1], chunk):
            yield self.call(tokens[:, part], cache).logits

    @contextlib.contextmanager
    def watched(self, seen: Seen) -> Iterator[None]:
        """Show the attention weights of each layer to `seen` as they are made."""
        assert self.attention is not None
        with contextlib.ExitStack() as hooks:
            hooks.enter_context(self.implemented(self.weighing))
            for number, (module, index) in enumerate(self.attention):

                def show(_m: nn.Module, _a: Any, out: Any, n: int = number, i: int = index) -> None:
                    seen(n, out[i])

                hooks.callback(module.register_forward_hook(show).remove)
            yield

    @contextlib.contextmanager
    def implemented(self, name: str) -> Iterator[None]:
        """Use another of the library's implementations of attention for a while."""
        if name == self.own:
            yield
            return
        self.model.set_attn_implementation(name)
        try:
            yield
        finally:
            self.model.set_attn_implementation(self.own)

    def _can_be_chunked(self) -> bool:
        """Whether two chunks with the cache give the logits of one without it."""
        whole = next(self._read([TRIED], None))
        try:
            parts = list(self._read([5, TRIED - 5], DynamicCache()))
        except (AttributeError, IndexError, NotImplementedError, RuntimeError, TypeError, ValueError):  # fmt: skip
            return False  # another kind of cache, or none
        return close(torch.cat(parts, 1), whole)

    @torch.inference_mode()
    def _read(self, sizes: list[int], cache: DynamicCache | None) -> Iterator[Tensor]:
        for part in self.trial.split(sizes, 1):
            yield self.call(part, cache).logits

    @torch.inference_mode()
    def _find_layers(self) -> list[nn.Module]:
        """The list of blocks that is called block by block in a forward pass."""
        count, called = int(self.config.num_hidden_layers), set()
        lists = [
            list(each)
            for each in self.model.base_model.modules()
            if isinstance(each, nn.ModuleList) and len(each) == count
        ]
        with contextlib.ExitStack() as hooks:
            for module in {id(module): module for each in lists for module in each}.values():

                def note(module: nn.Module, _: Any) -> None:
                    called.add(id(module))

                hooks.callback(module.register_forward_pre_hook(note).remove)
            self.call(self.trial, None, head=False)
        return next((each for each in lists if {id(m) for m in each} <= called), [])

    def _find_attention(self) -> list[tuple[nn.Module, int]] | None:
        """For each layer the module that returns its weights, and where in its output they are."""
        for name in (self.own, "eager"):
            try:
                with self.implemented(name):
                    found = [self._weights_in(layer) for layer in self.layers]
            except (ValueError, TenfoldError):  # the model has no such implementation
                continue
            where = [each for each in found if each is not None]
            if where and len(where) == len(found):
                self.weighing = name
                return where
        return None

    @torch.inference_mode()
    def _weights_in(self, layer: nn.Module) -> tuple[nn.Module, int] | None:
        """The first module of a layer whose output has attention weights."""
        found: list[tuple[nn.Module, int]] = []
        shape = (len(self.trial), self.heads, TRIED, TRIED)

        def look(module: nn.Module, _: Any, out: Any) -> None:
            for index, value in enumerate(out if isinstance(out, tuple) else ()):
                if isinstance(value, Tensor) and value.shape == shape:
                    rows = value.float().sum(-1)
                    if bool((value >= 0).all()) and bool((rows <= 1 + 2e-2).all()):
                        found.append((module, index))

        with contextlib.ExitStack() as hooks:
            for module in layer.modules():
                hooks.callback(module.register_forward_hook(look).remove)
            self.call(self.trial, None, head=False)
        return found[0] if found else None


@torch.inference_mode()
def check_causal(model: PreTrainedModel, tokens: Tensor) -> None:
    """An error unless the model predicts each token from those before it alone."""
    what = f"{type(model).__name__} is no causal language model"
    try:
        before = model(input_ids=tokens, use_cache=False).logits
    except (AttributeError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:120]
        raise TenfoldError(f"{what}: {reason}; LlamaForCausalLM is one") from None
    if before.shape[:2] != tokens.shape or before.shape[2] < int(tokens.max()):
        raise TenfoldError(f"{what}: its output has no logits for each token of its input")
    changed = tokens.clone()
    changed[:, -1] = (changed[:, -1] + 1) % before.shape[2]
    after = model(input_ids=changed, use_cache=False).logits
    if not close(after[:, :-1], before[:, :-1], EQUAL):
        raise TenfoldError(f"{what}: what it predicts depends on later tokens")


def close(one: Tensor, other: Tensor, times: float = 1) -> bool:
    """Whether logits are equal up to the precision of their numbers, or so many times as close."""
    largest = float(other.abs().max())
    away = float((one.float() - other.float()).abs().max())
    return away * times <= CLOSE.get(other.dtype, ROUGH) * max(largest, 1e-6)
