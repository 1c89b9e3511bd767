"""Recipes: everything that decides a run, as one frozen value.

Written in Python (`Recipe(pe="alibi")`), in YAML, or as overrides of either; unknown keys are refused
with a suggestion. A run is named by the hash of its recipe.

`model` names a component with options, as `pe` does: `gru`, or `{name: looped, loops: 8}`. The name is stored as `kind`.
`model.size` is shorthand. It is expanded to `layers`, `heads` and `width` when a recipe is read, before inheritance
and overrides. Later keys override the expanded values.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pydantic
import yaml

from tenfold.core.errors import TenfoldError, unknown
from tenfold.core.registry import Spec, first_problem, options_of
from tenfold.runs.own_components import named, refuse_files, with_include
from tenfold.runs.own_files import Included
from tenfold.training.options import Share, Training

SIZES: dict[str, dict[str, int]] = {
    "nano": {"layers": 3, "heads": 3, "width": 48},  # these three: `principled`, after minGPT
    "micro": {"layers": 4, "heads": 4, "width": 128},
    "mini": {"layers": 6, "heads": 6, "width": 384},
    "gpt2": {"layers": 12, "heads": 12, "width": 768},
    "gpt2-medium": {"layers": 24, "heads": 16, "width": 1024},
}


def spelled(values: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe's values, or changes of them, with the model written as it is stored: its `kind` and its numbers.

    >>> spelled({"seed": 1, "model": {"size": "nano", "heads": 6}})
    {'seed': 1, 'model': {'layers': 3, 'heads': 6, 'width': 48}}
    >>> spelled({"model": "gru"}), spelled({"model": {"name": "looped", "loops": 8}})
    ({'model': {'kind': 'gru'}}, {'model': {'kind': 'looped', 'loops': 8}})
    """
    values = _another_start(values)
    model = values.get("model")
    if isinstance(model, str):
        return {**values, "model": {"kind": model}}
    if not isinstance(model, Mapping):
        return dict(values)
    written = {"kind" if key == "name" else key: model[key] for key in model if key != "size"}
    if "size" in model:
        if model["size"] not in SIZES:
            raise unknown("size of a model", model["size"], SIZES)
        written = {**SIZES[model["size"]], **written}
    return {**values, "model": written}


def _another_start(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """A change of `train.from` that names no weights forgets the hash of those named before."""
    train = values.get("train")
    if not isinstance(train, Mapping) or not isinstance(start := train.get("from"), Mapping):
        return values
    return {**values, "train": {**train, "from": {"weights": None, **start}}}


PROSE = {"name", "about", "claim"}  # keys that decide nothing
STORED = {
    "stored": True
}  # how a recipe is validated that was read from a folder: no file is executed
ENCODING_KEYS = ("pe", "encoder_pe", "cross_pe")
HOUSEKEEPING: dict[str, dict[str, Any]] = {
    "train": {
        "log_every": True,
        "checkpoint_every": True,
        "from_": {"name": True, "checkpoint": True},  # the hash of the weights is what decides
    },
    "eval": {"checkpoints": True},
}


ClaimId = Annotated[str, pydantic.StringConstraints(pattern=r"^[a-z0-9-]+(/[a-z0-9-]+)?$")]


class Strict(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class Stage(Strict):
    """What some steps of training draw, before the recipe's own problems: changes of the recipe, as `Recipe.replace` takes them.

    `{steps: 500, format: {frame: 8}, sampler: lengths}` are 500 steps in a smaller frame, with the task and length of the recipe.
    """

    steps: pydantic.PositiveInt
    task: str | dict[str, Any] | None = None
    format: str | dict[str, Any] | None = None
    length: pydantic.PositiveInt | None = None
    sampler: Spec | None = None

    def changes(self) -> dict[str, Any]:
        given = self.model_dump(mode="json", exclude_none=True, exclude={"steps"})
        data = {key: given.pop(key) for key in ("length", "sampler") if key in given}
        return {**given, "data": {**data, "stages": []}}


class Data(Strict):
    """Which problems are trained on."""

    length: pydantic.PositiveInt = 5  # the longest operand in training
    sampler: Spec = Spec(name="numbers")
    lengths: Spec = Spec(name="longest")  # how a batch's length is chosen
    noise: Share = 0.0  # share of answer digits that training sees wrongly
    stages: tuple[Stage, ...] = ()  # what the first steps draw instead, one stage after the other


class ModelSize(pydantic.BaseModel):
    """A model by its kind, the sizes that models share, and options of its own, such as `loops` of a looped one.

    A model reads the sizes that it has a use for. Its options are the parameters of its constructor.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="allow")

    kind: str = "encoder"  # a name in `tenfold ls models`; `name` is accepted too
    layers: pydantic.PositiveInt = 3
    width: pydantic.PositiveInt = 96
    heads: pydantic.PositiveInt = 4
    feedforward: pydantic.PositiveInt | None = None
    dropout: Annotated[float, pydantic.Field(ge=0, lt=1)] = 0.0
    embedding_dropout: Share | None = None  # of the embedded tokens; default: as `dropout`
    norm: Literal["pre", "post"] = "pre"  # as `models.layers.Norm`
    mixer: Spec = Spec(name="attention")  # of the blocks, where the model has blocks

    @pydantic.model_validator(mode="before")
    @classmethod
    def _options(cls, values: Any) -> Any:
        """Refuse an option that the model does not have, and a wrong value; null leaves an option at its default."""
        if not isinstance(values, dict):
            return values
        own = {key: value for key, value in values.items() if key not in cls.model_fields}
        given = {key: value for key, value in own.items() if value is not None}
        if given:
            _check_options(values.get("kind", cls.model_fields["kind"].default), given)
        return {key: value for key, value in values.items() if key not in own or key in given}

    @property
    def options(self) -> dict[str, Any]:
        """The options of this kind of model, as far as they are given."""
        return dict(self.model_extra or {})


def _check_options(kind: str, given: dict[str, Any]) -> None:
    """Options of a model against its constructor; a kind that nobody knows is refused when it is built."""
    from tenfold.models import MODELS  # which needs torch
    from tenfold.models.model import SUPPLIED

    if kind not in MODELS.names():
        return
    known = [*ModelSize.model_fields, *(set(options_of(MODELS[kind])) - set(SUPPLIED))]
    for key in given:
        if key not in known and any(key in options_of(MODELS[name]) for name in MODELS.names()):
            raise TenfoldError(f'a model of the kind "{kind}" has no {key}; leave it out')
        if key not in known:
            names = [f"model.{name}" for name in known]
            raise unknown(f"option of the {kind} model", f"model.{key}", names)
    MODELS.check(Spec(name=kind, options=given), SUPPLIED)


class Evaluation(Strict):
    """What is measured: at the end on every slice, on the way a little."""

    lengths: Annotated[tuple[pydantic.PositiveInt, ...], pydantic.Field(min_length=1)] = (5, 7, 10)
    slices: Annotated[tuple[str, ...], pydantic.Field(min_length=1)] = (
        "uniform",
        "full",
        "unequal",
        "cascades",
        "nines",
    )
    n: pydantic.PositiveInt = 1000
    every: pydantic.PositiveInt = 500
    # lengths that choose the best checkpoint; by default the training length alone
    validation: tuple[pydantic.PositiveInt, ...] = ()
    validation_n: pydantic.PositiveInt = 200
    # that are measured at the end
    checkpoints: Annotated[tuple[Literal["final", "best"], ...], pydantic.Field(min_length=1)] = (
        "final",
        "best",
    )


class Recipe(Strict):
    """Everything that decides a run.

    >>> recipe = Recipe(pe="alibi")
    >>> recipe.replace(train={"lr": 0.003}).train.lr
    0.003
    >>> recipe.replace(pe="rotary").pe.name
    'rotary'
    """

    name: str = "unnamed"
    about: str = ""
    claim: ClaimId | None = None  # what it is about, in the ledger: symmetry/fig2-rpe-holds
    label: str = "generic"  # what the method was given: generic, significance, window, ...
    seed: pydantic.NonNegativeInt = 0
    include: tuple[Included, ...] = ()  # own Python files whose components are used
    task: Spec = Spec(name="addition")
    format: Spec = Spec(name="in-place")
    data: Data = Data()
    schemes: tuple[Spec, ...] = ()
    pe: Spec = Spec(name="pairwise")
    encoder_pe: Spec | None = None  # of an encoder-decoder; default: as `pe`
    cross_pe: Spec | None = None
    model: ModelSize = ModelSize()
    train: Training = Training()
    stop: Literal["certified", "certified-exactly"] | None = None  # end training once proved
    eval: Evaluation = Evaluation()

    @classmethod
    def of(cls, values: dict[str, Any]) -> Recipe:
        """A recipe from plain values, with one-line errors. No own file is executed, whatever the values name."""
        try:
            return cls.model_validate(values, context=STORED)
        except pydantic.ValidationError as error:
            raise TenfoldError(f"recipe: {first_problem(error)}") from None

    @pydantic.model_validator(mode="before")
    @classmethod
    def _known_keys(cls, values: Any, info: pydantic.ValidationInfo) -> Any:
        if isinstance(values, dict):
            if info.context is STORED:
                refuse_files(values)
            else:
                values = with_include(named(values))
            values = spelled(values)
            _refuse_unknown(cls, values, "")
        return values

    @pydantic.field_validator("claim", mode="before")
    @classmethod
    def _claim_in_words(cls, value: Any) -> Any:
        """Early recipes had a mapping here; the ledger knows its `paper`."""
        if isinstance(value, dict) and "paper" in value:
            return re.sub(r"[^a-z0-9]+", "-", str(value["paper"]).lower()).strip("-") or None
        return value

    @pydantic.field_validator("train", mode="after")
    @classmethod
    def _weights_hash(cls, train: Training) -> Training:
        """Read the hash of the weights to start from, once: the run that they are of may be gone later."""
        if train.from_ is None or train.from_.weights is not None:
            return train
        from tenfold.runs.warm_start import with_hash

        return train.model_copy(update={"from_": with_hash(train.from_)})

    @pydantic.field_validator("schemes", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return [value] if isinstance(value, str | dict) else value

    def replace(self, **changes: Any) -> Recipe:
        """The recipe with changes; a mapping changes only the keys it has, a component is replaced whole."""
        return Recipe.of(with_include(merge(self.as_json(), spelled(named(changes)))))

    def as_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True)

    def as_yaml(self) -> str:
        return yaml.safe_dump(self.as_json(), sort_keys=False)

    @property
    def fingerprint(self) -> str:
        """The hash of what decides the weights and the results, as far as it differs from the defaults.

        So a key that a later version adds leaves the name of a run as it was.
        """
        own = {"include": {"__all__": {"file": True}}}  # the hash decides, wherever the file is
        excluded: Any = {**dict.fromkeys(PROSE, True), **HOUSEKEEPING, **own}
        differs = self.model_dump(
            mode="json", by_alias=True, exclude_defaults=True, exclude=excluded
        )
        decides = {key: value for key, value in differs.items() if value != {}}
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def run_name(self) -> str:
        return f"{self.name.replace('/', '-')}-{self.fingerprint}"

    @property
    def validated(self) -> tuple[int, ...]:
        """The lengths that choose the best checkpoint: by default the training length, so that no test length does."""
        return self.eval.validation or (self.data.length,)

    def difference(self, other: Recipe) -> str | None:
        """The first setting that decides something and is not the same: `train.lr is 0.001, not 0.003`."""
        ours, theirs = _leaves(self.as_json()), _leaves(other.as_json())
        for key in [*ours, *theirs]:
            if ours.get(key) != theirs.get(key) and key.split(".")[0] not in PROSE:
                return f"{key} is {ours.get(key)}, not {theirs.get(key)}"
        return None


def merge(base: Mapping[str, Any], *changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes laid over a recipe's values; a component with a new name keeps no option of the old one.

    >>> merge({"train": {"lr": 1, "steps": 5}}, {"train": {"lr": 2}})
    {'train': {'lr': 2, 'steps': 5}}
    >>> merge({"pe": {"name": "pairwise", "relation": "relative"}}, {"pe": {"name": "alibi"}})
    {'pe': {'name': 'alibi'}}
    >>> merge({"model": {"kind": "looped", "loops": 8, "width": 32}}, {"model": {"kind": "gru"}})
    {'model': {'kind': 'gru', 'width': 32}}
    """
    merged = dict(base)
    for key, value in (item for each in changes for item in each.items()):
        old = merged.get(key)
        if isinstance(value, dict) and isinstance(old, str) and "name" not in value:
            old = {"name": old}
        if key == "model" and isinstance(value, dict) and isinstance(old, dict):
            kinds = old.get("kind", value.get("kind")), value.get("kind", old.get("kind"))
            if kinds[0] != kinds[1]:
                old = {key: size for key, size in old.items() if key in ModelSize.model_fields}
        if isinstance(value, dict) and isinstance(old, dict) and "name" not in value:
            merged[key] = merge(old, value)
        else:
            merged[key] = value
    return merged


def written(value: Any, options: bool = True) -> str:
    """A component as a reader sees it, with its options in brackets.

    >>> written("alibi"), written({"name": "rotary", "axis": "column"})
    ('alibi', 'rotary (axis column)')
    >>> written({"name": "rotary", "axis": "column"}, options=False), written(None), written([])
    ('rotary', 'none', 'none')
    """
    if isinstance(value, list):
        return "+".join(written(part, options) for part in value) or "none"
    if not isinstance(value, dict):
        return "none" if value is None else str(value)
    options_text = [f"{key} {written(part)}" for key, part in value.items() if key != "name"]
    named = str(value.get("name", ""))
    return f"{named} ({', '.join(options_text)})" if options_text and options else named


def _leaves(values: Any, where: str = "") -> dict[str, Any]:
    if not isinstance(values, dict):
        return {where.rstrip("."): values}
    inner = [_leaves(value, f"{where}{key}.") for key, value in values.items()]
    return {key: value for leaves in inner for key, value in leaves.items()}


def _refuse_unknown(kind: type[pydantic.BaseModel], values: dict[str, Any], where: str) -> None:
    """Unknown keys first, so that the message can suggest the right one."""
    fields = {field.alias or name: field for name, field in kind.model_fields.items()}
    for key, value in values.items():
        if key not in fields:
            raise unknown("recipe key", where + str(key), [where + name for name in fields])
        inner = fields[key].annotation
        if isinstance(inner, type) and issubclass(inner, Strict | Training):
            if isinstance(value, dict):
                _refuse_unknown(inner, value, f"{where}{key}.")
