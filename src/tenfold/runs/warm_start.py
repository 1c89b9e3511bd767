"""Warm start: training that begins with the weights of a finished run, `train.from` in a recipe.

The tensors of the model must have the same names and shapes in both runs. The tensors of positional encodings are
copied where both recipes have the same encodings; where the encodings differ, they start fresh. Tokens are matched by
their number, so both tasks should number them alike. The optimizer starts fresh.
"""

from __future__ import annotations

import hashlib
import warnings

import torch

from tenfold.core.errors import TenfoldError
from tenfold.encodings import PositionalEncoding
from tenfold.models import Model
from tenfold.models.weightless import weightless
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import Run, open_run
from tenfold.training.checkpoint import Tensors
from tenfold.training.options import WarmStart

SHOWN = 3  # names in a message


def with_hash(start: WarmStart) -> WarmStart:
    """The same start with the hash of its weights."""
    weights = open_source(start).weights(start.checkpoint)
    return start.model_copy(update={"weights": hash_of(weights)})


def open_source(start: WarmStart) -> Run:
    """The run to start from; one clear error where there is none, or it has not finished."""
    try:
        run = open_run(start.name)
    except TenfoldError as error:
        raise TenfoldError(f"train.from: {error}") from None
    if not (run.finished or run.published):
        raise TenfoldError(f"train.from: {run.folder} has not finished; train it first")
    return run


def hash_of(weights: Tensors) -> str:
    """A hash of the names, types, shapes and bytes of tensors."""
    digest = hashlib.sha256()
    for name, tensor in sorted(weights.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        flat = tensor.detach().cpu().contiguous().flatten()
        digest.update(flat.view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:16]


def start_from(model: Model, recipe: Recipe, *, warn: bool = True) -> None:
    """Copy the weights that `recipe.train.from` names into a new model of the recipe."""
    start = recipe.train.from_
    if start is None:
        return
    source = open_source(start)
    weights = source.weights(start.checkpoint)
    if hash_of(weights) != start.weights:
        raise TenfoldError(
            f"train.from: the weights of {source.folder} are {hash_of(weights)}, and the recipe names "
            f"{start.weights}; the run was trained again since"
        )
    with weightless():
        theirs = source.built.make_model()
    fresh: list[str] = []
    if _encodings(recipe) != _encodings(source.recipe):
        fresh = sorted(_encoding_tensors(model))
        weights = {k: v for k, v in weights.items() if k not in _encoding_tensors(theirs)}
    own = model.state_dict()
    _check_fit(f"{recipe.name} cannot start from {source.folder}", own, weights, set(fresh))
    model.load_state_dict({**own, **weights})
    if fresh and warn:
        names = _some(fresh)
        warnings.warn(
            f"{recipe.name} starts from {source.folder}; its encoding starts fresh: {names}",
            stacklevel=2,
        )


def _check_fit(what: str, own: Tensors, weights: Tensors, fresh: set[str]) -> None:
    """Raise on the first tensor that one model lacks, or that has another shape."""
    for name, tensor in own.items():
        shape = tuple(tensor.shape)
        if name in fresh:
            continue
        if name not in weights:
            raise TenfoldError(f"{what}, which has no tensor {name} {shape}")
        if tuple(weights[name].shape) != shape:
            raise TenfoldError(
                f"{what}: {name} has the shape {shape}, and {tuple(weights[name].shape)} there"
            )
    for name in weights:
        if name not in own:
            shape = tuple(weights[name].shape)
            raise TenfoldError(f"{what}: there is no place for its tensor {name} {shape}")


def _encodings(recipe: Recipe) -> tuple[object, ...]:
    return recipe.pe, recipe.encoder_pe, recipe.cross_pe


def _encoding_tensors(model: Model) -> set[str]:
    """Names of the tensors that positional encodings own."""
    modules = model.named_modules(remove_duplicate=False)
    prefixes = tuple(f"{name}." for name, each in modules if isinstance(each, PositionalEncoding))
    return {name for name in model.state_dict() if name.startswith(prefixes)}


def _some(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
