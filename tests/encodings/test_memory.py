"""No encoding builds a vector for each pair of tokens when a long input is read, counted and not timed."""

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from tenfold.core.registry import Spec
from tenfold.data.batch import Tokens
from tenfold.data.places import Places
from tenfold.encodings import ENCODINGS, SIZES
from tenfold.encodings.fire import ROOM
from tenfold.models import Decoder, Shape

TOKENS, HEADS, SIZE = 512, 2, 64


class Largest(TorchDispatchMode):
    """The elements of the largest tensor that any operation makes; a view has those of its base."""

    elements = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for made in tree_leaves(out):
            if isinstance(made, Tensor):
                count = made.untyped_storage().nbytes() // made.element_size()
                self.elements = max(self.elements, count)
        return out


EXAMPLES = [
    {"name": name, **options}
    for name in ENCODINGS.names()
    for options in ENCODINGS[name].examples(TOKENS)
]


@pytest.fixture
def sequence():
    """`123...+456...`: half of the tokens are of each operand, the columns fall within each."""
    half = torch.arange(TOKENS // 2 - 1, -1, -1).repeat(2)[None]
    role = torch.arange(3, 5).repeat_interleave(TOKENS // 2)[None]
    at = Places(index=torch.arange(TOKENS)[None], role=role, significance=half, column=half)
    return Tokens(torch.zeros(1, TOKENS, dtype=torch.long), at)


@pytest.mark.parametrize("spec", EXAMPLES, ids=str)
def test_no_vector_for_each_pair(spec, sequence):
    make = ENCODINGS.factory(Spec.model_validate(spec), SIZES)
    model = Decoder(4, 0, Shape(1, HEADS * SIZE, HEADS, feedforward=SIZE), make)
    with torch.no_grad(), Largest() as seen:
        model.stack(sequence)
    distances = 2 * TOKENS + 2  # a relative table may hold as many rows
    assert seen.elements <= max(HEADS * TOKENS * distances, ROOM) < TOKENS * TOKENS * SIZE
