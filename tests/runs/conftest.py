"""Own components of a test are forgotten after it."""

import pytest

from tenfold.runs import own_components, own_files


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Writes own files into the working folder; `own()` is one with a component of every kind."""
    monkeypatch.chdir(tmp_path)

    def write(name="my.py", text=EVERY_KIND):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    yield write
    for name in list(own_components.OWN):
        own_components._forget(name)
    own_files.NAMED.clear()


EVERY_KIND = '''
"""Components of every kind."""

import dataclasses

import torch
from torch import nn

from tenfold.data.corpora.text_files import Files
from tenfold.data.formats import Reversed
from tenfold.data.places import Places, distance
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.samplers import exact
from tenfold.data.tasks.symbolic.sorting import Sorting
from tenfold.encodings import PositionalEncoding
from tenfold.encodings.relations import Relative
from tenfold.models.decoder import Decoder
from tenfold.models.gated_linear import GatedLinear


class LogBias(PositionalEncoding):
    """bias(i, j) = -w log(1 + |i - j|)."""

    name = "log-bias"
    shift_invariant = True

    def __init__(self, heads: int, start: float = 1.0, axis: str = "index") -> None:
        super().__init__(axis)
        self.axis = axis
        self.weight = nn.Parameter(torch.full((heads,), start))

    def bias(self, q_at: Places, k_at: Places) -> torch.Tensor:
        behind, related = distance(q_at[self.axis], k_at[self.axis])
        return -(behind.abs().log1p() * related).unsqueeze(1) * self.weight[:, None, None]


class Nameless(LogBias):
    """It has no name of its own."""


class Descending(Sorting):
    name = "descending"


class Sums(Addition):
    """Addition under another name."""

    name = "sums"


class Backwards(Reversed):
    name = "backwards"


class Near(Relative):
    name = "near"


class MyDecoder(Decoder):
    name = "my-decoder"


class MyMixer(GatedLinear):
    name = "my-mixer"


class Notes(Files):
    name = "notes"


def full_length(rng, n, length, terms, base):
    """Numbers of exactly this length."""
    return exact(rng, n, length, terms, base)


def halved(rng, length, *, share: float = 0.5):
    return max(1, int(length * share))


def doubled(tokens, places, generator=None):
    return places.add(doubled=torch.where(places["index"] >= 0, 2 * places["index"], -1))


def helper(anything):
    return anything


class Plain:
    """No component."""
'''
