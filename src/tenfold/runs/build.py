"""From a recipe to the objects it names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from tenfold.core.errors import Misfit, TenfoldError, unknown
from tenfold.core.registry import Spec, options_of
from tenfold.data.batch import Batch, Batcher
from tenfold.data.corpora import CORPORA
from tenfold.data.formats import FORMATS
from tenfold.data.schemes import SCHEMES
from tenfold.data.tasks import SAMPLERS, TASKS
from tenfold.data.tasks.wrappers.label_noise import Noise
from tenfold.encodings import ENCODINGS, SIZES
from tenfold.evals.exact_match import Examiner
from tenfold.models import MODELS, AttentionModel, Model, Shape
from tenfold.models.model import SUPPLIED
from tenfold.models.usable_device import usable_device
from tenfold.models.weightless import weightless
from tenfold.runs.own_components import require
from tenfold.runs.recipe import ModelSize, Recipe
from tenfold.runs.source import Problems, Source
from tenfold.runs.text_source import Text
from tenfold.training.options import LENGTHS, stream
from tenfold.training.penalties import PENALTIES, Penalty

SEEN = 1000  # problems, to see which symbols answers are made of


@dataclass(frozen=True)
class TrainingStage:
    """Some steps of training, and where their batches come from."""

    steps: int
    source: Source
    length: int
    length_at: Callable[..., int]


@dataclass(frozen=True)
class Built:
    """A recipe's parts, all checked. `source` is what the last stage of training draws from, and what is measured."""

    recipe: Recipe
    source: Source
    make_model: Callable[[], Model]
    stages: tuple[TrainingStage, ...]  # one, unless the recipe has a curriculum

    def model(self) -> Model:
        """A new model with the recipe's seed; the global random state is left as it was."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(stream(self.recipe.seed, -1))  # steps count from 0
            return self.make_model()

    def batch_at(self, number: int, generator: torch.Generator | None = None) -> Batch:
        """The training batch with this number: a function of the seed and the number alone."""
        stage, length, rng = self._drawing(number)
        return stage.source.batch(self.recipe.train.batch, length, rng, generator)

    def like_batch_at(
        self, number: int, generator: torch.Generator | None = None, rows: int | None = None
    ) -> Batch:
        """A batch of its shape, or of so many rows, for which no text needs to be at hand."""
        stage, length, rng = self._drawing(number)
        rows = self.recipe.train.batch if rows is None else rows
        return stage.source.like_batch(rows, length, rng, generator)

    def _drawing(self, number: int) -> tuple[TrainingStage, int, np.random.Generator]:
        rng = np.random.default_rng((self.recipe.seed, number))
        stage = self.stage_at(number // self.recipe.train.accumulate)
        return stage, stage.length_at(rng, stage.length), rng

    def stage_at(self, step: int) -> TrainingStage:
        """The stage that this step belongs to; the last one goes on for as long as is asked."""
        for stage in self.stages:
            if step < stage.steps:
                return stage
            step -= stage.steps
        return self.stages[-1]

    @property
    def length_at(self) -> Callable[..., int]:
        return self.stages[-1].length_at

    @property
    def batcher(self) -> Batcher:
        """What writes the problems of a task."""
        return self.source.problems().batcher

    @property
    def draw(self) -> Callable[..., Any]:
        return self.source.problems().draw

    @property
    def noise(self) -> Noise | None:
        return self.source.problems().noise

    def examiner(self, seed: int = 0) -> Examiner:
        return self.source.problems().examiner(seed)


FEW = 16  # blocks of a model that are counted one by one


@dataclass(frozen=True)
class Parts:
    """What a recipe names, checked by names and options; nothing of the model's size is made yet."""

    source: Source
    make: Callable[..., Model]
    options: dict[str, Any]  # that `make` takes


def build(recipe: Recipe) -> Built:
    """Check every name and option of a recipe and make what they name; the model is made on demand.

    Where two parts do not fit each other, the error names a recipe in which the part in question does.
    """
    with _suggesting(recipe):
        return build_alone(recipe)


@contextmanager
def _suggesting(recipe: Recipe) -> Iterator[None]:
    try:
        yield
    except Misfit as misfit:
        from tenfold.runs.fitting_recipe import suggested

        raise TenfoldError(suggested(recipe, misfit, build_alone)) from None


def build_alone(recipe: Recipe) -> Built:
    """As `build`, without looking for another recipe where parts do not fit."""
    parts = _parts(recipe)
    penalty_of(recipe)
    source, make, options = parts.source, parts.make, parts.options
    with weightless():
        hollow = make(**options)
    for length in {*recipe.eval.lengths, *recipe.eval.validation}:
        hollow.check(source.one(length))
    stages = _stages(recipe, source, hollow.layout)
    for stage in stages:
        _check_stage(stage, source, hollow)
    return Built(recipe, source, lambda: make(**options), stages)


def _stages(recipe: Recipe, source: Source, layout: str) -> tuple[TrainingStage, ...]:
    """The stages of the recipe, and the rest of the steps with its own problems."""
    stages = []
    for stage in recipe.data.stages:
        changed = recipe.replace(**stage.changes())
        stages.append(_stage(changed, _source(changed, layout), stage.steps))
    rest = recipe.train.steps - sum(stage.steps for stage in stages)
    if rest < 1:
        raise TenfoldError(
            f"data.stages take {recipe.train.steps - rest:,} steps and leave none of the {recipe.train.steps:,} of "
            "train.steps to the recipe's own problems; raise train.steps, or shorten a stage"
        )
    return (*stages, _stage(recipe, source, rest))


def _stage(recipe: Recipe, source: Source, steps: int) -> TrainingStage:
    return TrainingStage(steps, source, recipe.data.length, LENGTHS.bind(recipe.data.lengths))


def _check_stage(stage: TrainingStage, source: Source, model: Model) -> None:
    """Raise where the problems of a stage do not fit the model, or have other tokens than those of the recipe."""
    if (stage.source.vocabulary, stage.source.end) != (source.vocabulary, source.end):
        raise TenfoldError(
            f"a stage of data.stages has {stage.source.vocabulary} tokens, the recipe {source.vocabulary}; "
            "task and format must have the same ones throughout"
        )
    model.check(stage.source.one(stage.length))
    rng = np.random.default_rng(0)
    for length in {stage.length_at(rng, stage.length) for _ in range(100)}:
        stage.source.check_length(length)


def penalty_of(recipe: Recipe) -> Penalty | None:
    """What training minimises besides the loss, if the recipe names something."""
    given = recipe.train.penalty
    return None if given is None else PENALTIES.build(given)


def parameter_count(recipe: Recipe) -> float:
    """How many parameters the model would have; infinite if torch cannot even describe its tensors.

    A model of many layers is not made: the parameters of one and of two layers tell those of all.
    """
    with _suggesting(recipe):
        return _parameter_count(recipe)


def _parameter_count(recipe: Recipe) -> float:
    parts = _parts(recipe)

    def counted(layers: int) -> int:
        shape = replace(parts.options["shape"], layers=layers)
        with weightless():
            return parts.make(**{**parts.options, "shape": shape}).parameter_count()

    layers = recipe.model.layers
    try:
        if layers <= FEW:
            return counted(layers)
        return counted(1) + (layers - 1) * (counted(2) - counted(1))
    except (RuntimeError, OverflowError, TypeError):
        return math.inf


def _parts(recipe: Recipe) -> Parts:
    if recipe.include:
        require(recipe.include)
    kind: Any = MODELS[recipe.model.kind]
    source = _source(recipe, kind.layout)
    if kind.layout not in source.layouts:
        raise TenfoldError(
            f'a model of the kind "{recipe.model.kind}" does not continue text; a decoder does'
        )
    size = recipe.model
    shape = Shape(
        size.layers, size.width, size.heads, size.feedforward, size.dropout, size.norm,
        size.embedding_dropout, size.mixer,
    )  # fmt: skip
    if size.mixer != Shape.mixer and not issubclass(kind, AttentionModel):
        raise TenfoldError(f'a model of the kind "{size.kind}" has no mixer; leave it out')
    wanted: dict[str, Spec | None] = {
        "pe": recipe.pe,
        "encoder_pe": recipe.encoder_pe,
        "cross_pe": recipe.cross_pe,
    }
    make = MODELS.factory(Spec(name=size.kind, options=size.options), SUPPLIED)
    encodings = {
        name: ENCODINGS.factory(spec, SIZES) for name, spec in wanted.items() if spec is not None
    }
    for name in encodings.keys() - options_of(kind):
        _check_unused(size, name, encodings[name])
    source.check_slices(recipe.eval.slices)
    options: dict[str, Any] = {
        "vocabulary": source.vocabulary,
        "end": source.end,
        "shape": shape,
        **encodings,
    }
    usable_device(recipe.train.device)
    return Parts(source, make, options)


def _check_unused(size: ModelSize, name: str, make: Callable[..., Any]) -> None:
    """Refuse an encoding that the model does not take; one that does nothing is nobody's loss."""
    if name != "pe":
        raise TenfoldError(f'a model of the kind "{size.kind}" has no {name}; leave it out')
    pe = make(width=size.width, heads=size.heads, head_size=size.width // size.heads)
    if pe.ways:
        raise TenfoldError(
            f'a model of the kind "{size.kind}" takes no positional encoding; "{pe.name}" would do nothing: '
            "pe: none is right"
        )


def counted(task: Spec | str) -> str:
    """What a length counts.

    >>> counted("addition"), counted("python-code")
    ('digits of the longer operand', 'tokens')
    """
    named = Spec.of(task)
    if named.name in CORPORA.names():
        corpus: Any = CORPORA[named.name]
        return str(corpus.counted)
    if named.name not in TASKS.names():  # of a run whose own file is not at hand
        return "length"
    return TASKS.build(named).counted


def _source(recipe: Recipe, layout: str) -> Source:
    """A recipe's `task` names a corpus or a task; the two have no name in common."""
    if recipe.task.name in CORPORA.names():
        if recipe.stop is not None:
            raise TenfoldError(f"stop: {recipe.stop} proves answers; text has none to prove")
        return Text(recipe)
    if recipe.task.name not in TASKS.names():
        raise unknown("task", recipe.task.name, [*TASKS.names(), *CORPORA.names()])
    task, written = TASKS.build(recipe.task), FORMATS.build(recipe.format)
    batcher = Batcher(task, written, layout, [SCHEMES.bind(spec) for spec in recipe.schemes])
    draw, noise = SAMPLERS.bind(recipe.data.sampler), None
    if recipe.data.noise:
        drawn = task.sample(SEEN, recipe.data.length, np.random.default_rng(0), draw)
        noise = Noise.among(drawn, recipe.data.noise)
    return Problems(recipe, batcher, draw, noise)
