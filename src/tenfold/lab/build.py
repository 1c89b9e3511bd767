"""From a recipe to the objects it names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tenfold.batch import Batch, Batcher
from tenfold.errors import TenfoldError, unknown
from tenfold.evals.exact import Examiner
from tenfold.evals.slices import SLICES
from tenfold.lab.recipe import Recipe
from tenfold.models import MODELS, Model, Shape
from tenfold.pe import ENCODINGS, SIZES
from tenfold.places import SCHEMES
from tenfold.registry import Spec
from tenfold.tasks import FORMATS, SAMPLERS, TASKS
from tenfold.tasks.noise import Noise
from tenfold.tasks.samplers import exact
from tenfold.training.lengths import LENGTHS
from tenfold.training.loop import stream

SEEN = 1000  # problems, to see which symbols answers are made of


@dataclass(frozen=True)
class Built:
    """A recipe's parts, all checked."""

    recipe: Recipe
    batcher: Batcher
    make_model: Callable[[], Model]
    draw: Callable[..., Any]
    length_at: Callable[..., int]
    noise: Noise | None = None  # in the answers that training sees

    def model(self) -> Model:
        """A new model with the recipe's seed; the global random state is left as it was."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(stream(self.recipe.seed, -1))  # steps count from 0
            return self.make_model()

    def batch_at(self, number: int, generator: torch.Generator | None = None) -> Batch:
        """The training batch with this number: a function of the seed and the number alone."""
        recipe = self.recipe
        rng = np.random.default_rng((recipe.seed, number))
        length = self.length_at(rng, recipe.data.length)
        examples = self.batcher.task.sample(recipe.train.batch, length, rng, self.draw)
        if self.noise is not None:
            examples = self.noise(examples, rng)
        return self.batcher(examples, generator)

    def examiner(self, seed: int = 0) -> Examiner:
        size = self.recipe.model
        if seed < 0:
            raise TenfoldError(f"a seed of {seed}; at least 0")
        return Examiner(self.batcher, seed, size.heads, size.width, self.recipe.train.device)


def build(recipe: Recipe) -> Built:
    """Check every name and option of a recipe and make what they name; the model is made on demand."""
    task = TASKS.build(recipe.task)
    written = FORMATS.build(recipe.format)
    kind: Any = MODELS[recipe.model.kind]
    schemes = [SCHEMES.bind(spec) for spec in recipe.schemes]
    batcher = Batcher(task, written, kind.layout, schemes)
    size = recipe.model
    shape = Shape(size.layers, size.width, size.heads, size.feedforward, size.dropout, size.norm)
    wanted: dict[str, Spec | None] = {
        "pe": recipe.pe,
        "encoder_pe": recipe.encoder_pe,
        "cross_pe": recipe.cross_pe,
    }
    own, parameters = size.own(), inspect.signature(kind).parameters
    for name, value in {**wanted, **own}.items():
        if value is not None and name not in parameters:
            raise TenfoldError(f'a model of the kind "{size.kind}" has no {name}; leave it out')
    encodings = {
        name: ENCODINGS.factory(spec, SIZES) for name, spec in wanted.items() if spec is not None
    }
    for name in recipe.eval.slices:
        if name not in SLICES:
            raise unknown("slice", name, SLICES)
    options: dict[str, Any] = {
        "vocabulary": len(batcher.vocabulary),
        "end": batcher.vocabulary.end,
        "shape": shape,
        **encodings,
        **own,
    }
    make = MODELS.factory(Spec(name=size.kind), (*options, *parameters))
    _check_device(recipe.train.device)
    with torch.device("meta"):
        hollow = make(**options)
    for length in {recipe.data.length, *recipe.eval.lengths, *recipe.eval.validation}:
        examples = task.sample(1, length, np.random.default_rng(0), exact)
        hollow.check(batcher(examples))
    draw, length_at = SAMPLERS.bind(recipe.data.sampler), LENGTHS.bind(recipe.data.lengths)
    rng = np.random.default_rng(0)
    for length in {length_at(rng, recipe.data.length) for _ in range(100)}:
        task.sample(1, length, rng, draw)
    share, noise = recipe.data.noise, None
    if share:
        noise = Noise.among(task.sample(SEEN, recipe.data.length, rng, draw), share)
    return Built(recipe, batcher, lambda: make(**options), draw, length_at, noise)


def _check_device(name: str) -> None:
    try:
        if torch.empty(1, device=name).is_meta:
            raise RuntimeError("it holds no numbers")
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise TenfoldError(f'device "{name}" cannot be used here: {reason}') from None
