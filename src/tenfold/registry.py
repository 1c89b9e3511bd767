"""Components by name: found by walking a package and by entry points, built from validated options.

A component is a class or a function. Its keyword parameters are its options; those that the caller
supplies (`width`, `heads`, ...) are filled in, the others come from the recipe and are checked against
the annotations, so that a recipe's `pe: {name: alibi, axs: index}` is refused with a suggestion.
"""

from __future__ import annotations

import copy
import functools
import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any, Generic, TypeVar

import pydantic

from tenfold.errors import TenfoldError, unknown


class Spec(pydantic.BaseModel):
    """A component's name and its options. `alibi` and `{name: alibi, axis: index}` are both accepted.

    >>> Spec.model_validate("alibi")
    Spec(name='alibi', options={})
    >>> Spec.model_validate({"name": "cyclic", "period": 3}).options
    {'period': 3}
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")
    name: str
    options: dict[str, Any] = {}

    @pydantic.model_validator(mode="before")
    @classmethod
    def _gather(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"name": value}
        if isinstance(value, Mapping) and "options" not in value:
            return {
                "name": value.get("name"),
                "options": {k: v for k, v in value.items() if k != "name"},
            }
        return value

    @pydantic.model_serializer
    def _flatten(self) -> Any:
        return {"name": self.name, **self.options} if self.options else self.name


T = TypeVar("T")


class Registry(Generic[T]):
    """Everything of one kind: what `of` lists, what is found in `package`, and what entry points of `group` add."""

    def __init__(
        self,
        kind: str,
        group: str,
        *,
        of: Iterable[Callable[..., T]] = (),
        package: str | None = None,
        base: type | None = None,
    ) -> None:
        self.kind, self.group, self.of, self.package, self.base = kind, group, of, package, base

    @functools.cached_property
    def _found(self) -> dict[str, Callable[..., T]]:
        found: dict[str, Callable[..., Any]] = {
            name_of(component): component for component in self.of
        }
        for module in _modules(self.package) if self.package else ():
            for thing in vars(module).values():
                if inspect.isclass(thing) and issubclass(thing, self.base or object):
                    if "name" in vars(thing) and thing.__module__ == module.__name__:
                        found[name_of(thing)] = thing
        for point in entry_points(group=self.group):
            found[point.name] = point.load()
        return dict(sorted(found.items()))

    def names(self) -> list[str]:
        return list(self._found)

    def __getitem__(self, name: str) -> Callable[..., T]:
        if name not in self._found:
            raise unknown(self.kind, name, self._found)
        return self._found[name]

    def check(self, spec: Spec, given: tuple[str, ...] = ()) -> dict[str, Any]:
        """The options of `spec`, validated; parameters in `given` belong to the caller."""
        component = self[spec.name]
        hints = typing.get_type_hints(
            component.__init__ if inspect.isclass(component) else component, include_extras=True
        )
        fields: dict[str, Any] = {}
        for name, parameter in _options(component):
            if name not in given:
                default = ... if parameter.default is parameter.empty else parameter.default
                fields[name] = (hints.get(name, Any), default)
        for key in spec.options:
            if key not in fields:
                raise unknown(f'option of {self.kind} "{spec.name}"', key, fields)
        schema = pydantic.create_model(
            spec.name, __config__=pydantic.ConfigDict(arbitrary_types_allowed=True), **fields
        )
        try:
            checked = schema.model_validate(spec.options)
        except pydantic.ValidationError as error:
            raise TenfoldError(f'{self.kind} "{spec.name}": {first_problem(error)}') from None
        return {name: getattr(checked, name) for name in fields}

    def factory(self, spec: Spec, given: tuple[str, ...] = ()) -> Callable[..., T]:
        """A callable that makes the component; it takes every name of `given` and passes on what is asked for."""
        component, options = self[spec.name], self.check(spec, given)
        wanted = {name for name, _ in _options(component)}

        def make(**supplied: Any) -> T:
            own = copy.deepcopy(options)  # a module among them belongs to one component alone
            return component(**{k: v for k, v in supplied.items() if k in wanted}, **own)

        return make

    def build(self, spec: Spec | str, **supplied: Any) -> T:
        spec = Spec.model_validate(spec) if isinstance(spec, str) else spec
        return self.factory(spec, tuple(supplied))(**supplied)

    def bind(self, spec: Spec | str) -> Callable[..., Any]:
        """For functions: the function with its options set."""
        spec = Spec.model_validate(spec) if isinstance(spec, str) else spec
        return functools.partial(self[spec.name], **self.check(spec))


def _modules(package: str) -> list[ModuleType]:
    root = importlib.import_module(package)
    names = [info.name for info in pkgutil.iter_modules(root.__path__)]
    return [importlib.import_module(f"{package}.{name}") for name in names]


def name_of(component: Any) -> str:
    """`Rotary.name` where a class states it, else the function's own name with dashes."""
    stated = getattr(component, "name", None)
    return stated if isinstance(stated, str) else component.__name__.replace("_", "-")


def _options(component: Any) -> list[tuple[str, inspect.Parameter]]:
    """The keyword parameters: all of a class's constructor, the keyword-only ones of a function."""
    kinds = (
        {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
        if inspect.isclass(component)
        else {inspect.Parameter.KEYWORD_ONLY}
    )
    parameters = inspect.signature(component).parameters.items()
    return [(name, p) for name, p in parameters if p.kind in kinds]


def first_problem(error: pydantic.ValidationError) -> str:
    """The first problem of a validation error, on one line: where, which value, what would be right."""
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"]) or "the recipe"
    message = problem["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:] if message else message
    if problem["type"] == "missing":
        return f"{where} is missing"
    return f"{where} is {problem['input']!r}; {message}"
