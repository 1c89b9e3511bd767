"""Components by name, collected from a package, from entry points and from a user's own files, built from validated options.

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
import sys
import traceback
import typing
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, ClassVar, Generic, TypeVar

import pydantic

from tenfold.core.errors import TenfoldError, unknown


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

    @classmethod
    def of(cls, value: Any) -> Spec:
        """A spec from whatever names a component, or one clear error."""
        try:
            return cls.model_validate(value)
        except pydantic.ValidationError:
            raise TenfoldError(
                f"{value!r} names no component; a name does, or a name with options"
            ) from None

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
    """Everything of one kind: what `of` lists, the components of `package`, what entry points of `group` add, and `own`.

    A class of the kind has the base class `base`. A function of the kind takes the positional parameters `takes`.
    """

    every: ClassVar[list[Registry[Any]]] = []

    def __init__(
        self,
        kind: str,
        group: str,
        *,
        of: Iterable[Callable[..., T]] = (),
        package: str | None = None,
        base: type | None = None,
        takes: tuple[str, ...] = (),
    ) -> None:
        self.kind, self.group, self.of, self.package, self.base = kind, group, of, package, base
        self.takes = takes
        self.own: dict[
            str, Callable[..., T]
        ] = {}  # of a user's own files; `runs/own_components.py`
        Registry.every.append(self)

    def accepts(self, thing: Any) -> bool:
        """Whether a class or a function is a component of this kind."""
        if self.base is not None:
            return inspect.isclass(thing) and issubclass(thing, self.base)
        return bool(self.takes) and inspect.isfunction(thing) and _taken(thing) == self.takes

    @functools.cached_property
    def _components(self) -> dict[str, Callable[..., T]]:
        known: dict[str, Callable[..., Any]] = {
            name_of(component): component for component in self.of
        }
        for module in _modules(self.package) if self.package else ():
            for thing in vars(module).values():
                if inspect.isclass(thing) and issubclass(thing, self.base or object):
                    if "name" in vars(thing) and thing.__module__ == module.__name__:
                        known[name_of(thing)] = thing
        for point in entry_points(group=self.group):
            problem = self._problem(point, known)
            if problem is None:
                known[point.name] = point.load()
            else:
                message = f'{self.kind} "{point.name}" of {point.value} is left out: {problem}'
                warnings.warn(message, stacklevel=2)
        return dict(sorted(known.items()))

    def _problem(self, point: EntryPoint, known: Mapping[str, Any]) -> str | None:
        """Why another package's component cannot be taken; it does not take the others along."""
        if point.name in known:
            return "there is one of that name"
        try:
            thing = point.load()
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        if self.base is None:
            return None if callable(thing) else "it cannot be called"
        if not (inspect.isclass(thing) and issubclass(thing, self.base)):
            return f"it is no {self.base.__name__}"
        stated = getattr(thing, "name", None)
        return None if stated == point.name else f'its name is "{stated}"'

    def names(self) -> list[str]:
        return sorted([*self._components, *self.own])

    def __getitem__(self, name: str) -> Callable[..., T]:
        if name in self.own:
            return self.own[name]
        if name not in self._components:
            raise self.unknown(name)
        return self._components[name]

    def unknown(self, name: str) -> TenfoldError:
        """The error for a name that is not known; one that papers use is answered with the name here."""
        for other in Registry.every:
            if name in other.own:
                return TenfoldError(f'"{name}" is of the kind {other.kind}, not {self.kind}')
        for known, component in {**self._components, **self.own}.items():
            others = (other.casefold() for other in getattr(component, "known_as", ()))
            if name.casefold() in others:
                return TenfoldError(f'{self.kind} "{name}" is called "{known}" here')
        if name.endswith(".py"):
            return TenfoldError(f"{name} is a file; name the {self.kind} in it: {name}:CLASS")
        return unknown(self.kind, name, self.names())

    def check(self, spec: Spec, given: tuple[str, ...] = ()) -> dict[str, Any]:
        """The options of `spec`, validated; parameters in `given` belong to the caller."""
        component = self[spec.name]
        schema = _schema(component.__init__ if inspect.isclass(component) else component, given)
        for key in spec.options:
            if key not in schema.model_fields:
                raise unknown(f'option of {self.kind} "{spec.name}"', key, schema.model_fields)
        return _validated(schema, spec.options, f'{self.kind} "{spec.name}"')

    def factory(self, spec: Spec, given: tuple[str, ...] = ()) -> Callable[..., T]:
        """A callable that makes the component; it takes every name of `given` and passes on what the component takes."""
        component, options = self[spec.name], self.check(spec, given)
        wanted = options_of(component)

        def make(**supplied: Any) -> T:
            own = copy.deepcopy(options)  # a module among them belongs to one component alone
            try:
                return component(**{k: v for k, v in supplied.items() if k in wanted}, **own)
            except (TenfoldError, KeyboardInterrupt):
                raise
            except BaseException as error:
                if component.__module__.startswith("tenfold."):
                    raise  # our own fault, which needs its traceback
                what = f'{self.kind} "{spec.name}" of {component.__module__}'
                raise TenfoldError(
                    f"{what} cannot be built: {described(error, component)}"
                ) from error

        return make

    def build(self, spec: Spec | str, **supplied: Any) -> T:
        spec = Spec.of(spec)
        return self.factory(spec, tuple(supplied))(**supplied)

    def bind(self, spec: Spec | str) -> Callable[..., Any]:
        """For functions: the function with its options set."""
        spec = Spec.of(spec)
        return functools.partial(self[spec.name], **self.check(spec))


def described(error: BaseException, component: Any) -> str:
    """An error of somebody else's component in one line: its type, its text, and the last line of that file on its way."""
    file = getattr(sys.modules.get(component.__module__), "__file__", None)
    frames = traceback.extract_tb(error.__traceback__)
    last = next((frame for frame in reversed(frames) if frame.filename == file), frames[-1])
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text} ({last.filename}, line {last.lineno})"


def _modules(package: str) -> list[ModuleType]:
    root = importlib.import_module(package)
    names = [info.name for info in pkgutil.walk_packages(root.__path__, f"{package}.")]
    return [importlib.import_module(name) for name in names]


def name_of(component: Any) -> str:
    """`Rotary.name` where a class states it, else the function's own name with dashes."""
    stated = getattr(component, "name", None)
    return stated if isinstance(stated, str) else component.__name__.replace("_", "-")


def _taken(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's positional parameters; one that it does not use may start with an underscore."""
    positional = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    given = inspect.signature(function).parameters.values()
    return tuple(each.name.lstrip("_") for each in given if each.kind in positional)


def options_of(component: Any) -> dict[str, inspect.Parameter]:
    """The keyword parameters: all of a class's constructor, the keyword-only ones of a function."""
    made = component.__init__ if inspect.isclass(component) else component
    return {name: parameter for name, (parameter, _) in _parameters(made).items()}


def _parameters(made: Callable[..., Any]) -> dict[str, tuple[inspect.Parameter, Any]]:
    """Of a constructor or a function: the keyword parameters and their annotations."""
    given = inspect.signature(made).parameters
    kinds = [inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD]
    kinds = kinds if "self" in given else kinds[:1]
    hints = typing.get_type_hints(made, include_extras=True)
    return {
        name: (parameter, hints.get(name, Any))
        for name, parameter in given.items()
        if parameter.kind in kinds and name != "self"
    }


@functools.cache
def _schema(made: Callable[..., Any], given: tuple[str, ...] = ()) -> type[pydantic.BaseModel]:
    """The parameters of a constructor or a function, but for those given, as a model that checks them."""
    fields: dict[str, Any] = {
        name: (hint, ... if parameter.default is parameter.empty else parameter.default)
        for name, (parameter, hint) in _parameters(made).items()
        if name not in given
    }
    how = pydantic.ConfigDict(arbitrary_types_allowed=True, allow_inf_nan=False)
    return pydantic.create_model("Options", __config__=how, **fields)


def _validated(
    schema: type[pydantic.BaseModel], options: Mapping[str, Any], what: str
) -> dict[str, Any]:
    try:
        checked = schema.model_validate(options)
    except pydantic.ValidationError as error:
        raise TenfoldError(f"{what}: {first_problem(error)}") from None
    return {name: getattr(checked, name) for name in schema.model_fields}


class Checked:
    """A base whose subclasses check what they are constructed with, as a recipe's options are checked.

    >>> class Window(Checked):
    ...     name = "window"
    ...
    ...     def __init__(self, behind: pydantic.NonNegativeInt) -> None: ...
    >>> Window(behind=-1)
    Traceback (most recent call last):
    tenfold.core.errors.TenfoldError: "window": behind is -1; input should be greater than or equal to 0
    """

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "__init__" in vars(cls) and not _any_number(cls.__init__):
            cls.__init__ = _checking(cls.__init__)  # type: ignore[method-assign]


def _any_number(construct: Callable[..., None]) -> bool:
    """Whether it takes any number of arguments, as a base class may: there is nothing to check them by."""
    kinds = {parameter.kind for parameter in inspect.signature(construct).parameters.values()}
    return inspect.Parameter.VAR_POSITIONAL in kinds


def _checking(construct: Callable[..., None]) -> Callable[..., None]:
    """A constructor that checks first."""
    signature = inspect.signature(construct)

    @functools.wraps(construct)
    def checking(self: Any, *args: Any, **kwargs: Any) -> None:
        what = f'"{getattr(self, "name", type(self).__name__)}"'
        try:
            given = signature.bind_partial(self, *args, **kwargs).arguments
        except TypeError as error:
            raise TenfoldError(f"{what}: {error}") from None
        options = {name: value for name, value in given.items() if name != "self"}
        construct(self, **_validated(_schema(construct), options, what))

    return checking


def first_problem(error: pydantic.ValidationError) -> str:
    """The first problem of a validation error, on one line: where, which value, what would be right."""
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"])
    message = problem["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:] if message else message
    if not where:  # of the whole, which is long
        return message
    if problem["type"] == "missing":
        return f"{where} is missing"
    if problem["type"] in ("tuple_type", "list_type"):
        message = f"a list is wanted, such as [{problem['input']}]"
    return f"{where} is {problem['input']!r}; {message}"
