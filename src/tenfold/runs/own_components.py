"""A user's own components: `my.py:LogBias`, `Recipe(pe=LogBias)`, `tenfold.register(LogBias)`, `include: [my.py]`.

Once registered, an own component is known by its name, like every other one. A recipe that uses it states the hash of its
source in `include`, which is part of the fingerprint. Building such a recipe needs the same source (`require`).
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from tenfold.core.errors import TenfoldError, unknown
from tenfold.core.files import write_atomically
from tenfold.core.registry import Registry, name_of
from tenfold.runs.own_files import NAMED, SHOWN, Included, OwnSource, execute, read_own, source_of
from tenfold.runs.shipped_examples import located

REFERENCE = re.compile(r"(?P<file>.+\.py):(?P<name>[^:/\\]+)")
COPIES = "own-files"  # the folder of a run with copies of its own files
NO_COMPONENTS = {"name", "about", "claim", "label", "seed", "train", "stop", "eval", "include"}
WITH_REGISTRIES = ("tenfold.data.corpora", "tenfold.data.formats", "tenfold.encodings", "tenfold.models", "tenfold.training.options")  # fmt: skip

C = TypeVar("C")


@dataclass(frozen=True)
class OwnComponent:
    name: str
    component: Any
    registry: Registry[Any]
    source: OwnSource

    def replaces(self, other: OwnComponent) -> bool:
        """Whether this is a later version of another one: a cell that ran again, a file that was changed."""
        return self.source.origin == other.source.origin and self.called == other.called

    @property
    def called(self) -> str:
        return str(self.component.__qualname__)


OWN: dict[str, OwnComponent] = {}  # everything that is registered, by name
_modules: dict[str, ModuleType] = {}  # of files that were executed, by the hash of their source


def register(component: C) -> C:
    """Make an own component known by its name; also a decorator. Returns the component.

    A class says by its base class what it is, a function by its parameters. A later definition in the same notebook or
    file replaces the earlier one. A name that another component has is refused.
    """
    if not (inspect.isclass(component) or inspect.isfunction(component)):
        raise TenfoldError(f"{component!r} is no component; a class or a function is")
    if not _is_known(component):
        _add(_described(component, source_of(component)))
    return component


def include(*paths: Path | str) -> list[str]:
    """Execute own Python files and register every component in them; returns the names of the components."""
    return [each.name for path in paths for each in _load(read_own(path))]


def resolve(reference: str, folder: Path | None = None) -> str:
    """The name of the component that `my.py:LogBias` or `my.py:log-bias` means. The file is executed, once.

    `folder` is where the text stands that has the reference: a file beside it comes before one in the working folder.
    """
    match = REFERENCE.fullmatch(reference)
    assert match is not None, reference
    source = read_own(beside(match["file"], folder))
    known = _load(source)
    names = {name: each.name for each in known for name in (each.name, each.component.__name__)}
    if match["name"] in names:
        return names[match["name"]]
    module = _modules[source.sha256]
    thing = getattr(module, match["name"], None)
    if isinstance(thing, type | FunctionType) and thing.__module__ == module.__name__:
        return _described(thing, source).name  # raises, since it is not among the known ones
    if not names:
        raise TenfoldError(f"{source.file} defines no component; {_kinds()} would be one")
    raise unknown(f"component of {source.file}", match["name"], names)


def beside(file: str, folder: Path | None) -> Path:
    """A file that a text names: beside that text, or else from the working folder, or else an example."""
    near = None if folder is None else folder / file
    return near if near is not None and near.is_file() else located(Path(file))


def _load(source: OwnSource) -> list[OwnComponent]:
    """Every component of a file, registered; what an earlier version of the file had is forgotten."""
    if source.sha256 not in _modules:
        _modules[source.sha256] = execute(source)
    module = _modules[source.sha256]
    before = [own for own in OWN.values() if own.source.origin == source.origin]
    for name in [own.name for own in before if own.source.sha256 != source.sha256]:
        _forget(name)
    things = [thing for name, thing in vars(module).items() if not name.startswith("_")]
    made = [thing for thing in things if getattr(thing, "__module__", None) == module.__name__]
    known = [_described(thing, source) for thing in made if _is_component(thing)]
    for each in known:
        _add(each)
    return known


def _is_component(thing: Any) -> bool:
    """Whether a file means it as a component: a class with a name of its own, or a function of a known kind."""
    if inspect.isclass(thing) and ("name" not in vars(thing) or inspect.isabstract(thing)):
        return False
    return any(registry.accepts(thing) for registry in _registries())


def _is_known(component: Any) -> bool:
    """Whether it is registered, or comes with tenfold or another package."""
    name = name_of(component)
    return any(
        name in registry.names() and registry[name] is component for registry in _registries()
    )


def _described(component: Any, source: OwnSource) -> OwnComponent:
    """A component with its kind and its name, or one clear error."""
    what = f"{component.__qualname__} of {source.file}"
    kinds = [registry for registry in _registries() if registry.accepts(component)]
    if not kinds:
        raise TenfoldError(f"{what} is no component; {_kinds()} would be one")
    if inspect.isclass(component) and not isinstance(vars(component).get("name"), str):
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", component.__name__).lower()
        raise TenfoldError(f'{what} has no name; write `name = "{words}"` in the class')
    return OwnComponent(name_of(component), component, kinds[0], source)


def _add(new: OwnComponent) -> None:
    old = OWN.get(new.name)
    if old is not None and new.replaces(old):
        _forget(new.name)
    elif old is not None and (old.source.sha256, old.called) == (new.source.sha256, new.called):
        return  # the same content in another file
    elif old is not None:
        raise TenfoldError(
            f'there is a component "{new.name}" of {old.source.file} already; '
            f"give {new.called} of {new.source.file} another name"
        )
    for registry in _registries():
        if new.name in registry.names():
            raise TenfoldError(
                f'tenfold has the {registry.kind} "{new.name}" already; '
                f"give {new.called} of {new.source.file} another name"
            )
    new.registry.own[new.name] = new.component
    OWN[new.name] = new


def _forget(name: str) -> None:
    del OWN[name].registry.own[name], OWN[name]


def _registries() -> list[Registry[Any]]:
    for module in WITH_REGISTRIES:
        importlib.import_module(module)
    return [each for each in Registry.every if each.base is not None or each.takes]


def _kinds() -> str:
    bases = [each.base.__name__ for each in _registries() if each.base is not None]
    return f"a subclass of {', '.join(bases)}"


def named(
    values: Mapping[str, Any], folder: Path | None = None, by: Path | None = None
) -> dict[str, Any]:
    """Values of a recipe with every own component by its name: `my.py:LogBias`, `LogBias`, `(LogBias, {...})`.

    Files in `include` are executed, and left out here: `with_include` adds those that are used. `by`, if given, is the
    text that names them without being named itself; it may only name files that a person has named too.
    """
    listed = values.get("include", [])
    listed = [listed] if isinstance(listed, str | Path) else listed
    if not isinstance(listed, list | tuple):
        raise TenfoldError(
            f"include is {listed!r}; a list of Python files is wanted, such as [my.py]"
        )
    for file in listed:
        if isinstance(file, str | Path):
            path = beside(str(file), folder)
            check_named(path, by, "includes")
            include(path)
    stored = [file for file in listed if not isinstance(file, str | Path)]
    if not all(isinstance(file, Mapping | Included) for file in stored):
        raise TenfoldError(
            f"include is {listed!r}; a list of Python files is wanted, such as [my.py]"
        )
    rest = {
        key: value if key in NO_COMPONENTS else _named(value, folder, by)
        for key, value in values.items()
        if key != "include"
    }
    return {**rest, "include": stored} if stored else rest


def _named(value: Any, folder: Path | None, by: Path | None) -> Any:
    if isinstance(value, str) and (match := REFERENCE.fullmatch(value)):
        check_named(beside(match["file"], folder), by, "names a component of")
        return resolve(value, folder)
    if inspect.isclass(value) or inspect.isfunction(value):
        return name_of(register(value))
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], Mapping):
        return {"name": _named(value[0], folder, by), **_named(value[1], folder, by)}
    if isinstance(value, Mapping):
        return {key: _named(inner, folder, by) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_named(inner, folder, by) for inner in value]
    return value


def check_named(path: Path, by: Path | None, how: str) -> None:
    """Raise if a text that nobody named would have Python executed."""
    if by is not None and path.resolve() not in NAMED:
        raise TenfoldError(
            f"{by} {how} {path}, which is Python; it is executed only if you name it: --include {path}"
        )


def refuse_files(values: Mapping[str, Any]) -> None:
    """Raise if a stored recipe names a file to execute; it has names and hashes alone."""
    files = [file for file in values.get("include") or () if isinstance(file, str)]
    files += [text for text in _texts(values) if REFERENCE.fullmatch(text)]
    if files:
        raise TenfoldError(f"{files[0]} is Python, which a stored recipe never executes")


def with_include(values: dict[str, Any]) -> dict[str, Any]:
    """Values of a recipe whose `include` has the sources of the own components that they use. Nothing is executed."""
    used = {OWN[text].source for text in _texts(values) if text in OWN}
    active = {own.source.sha256 for own in OWN.values()}
    stated = [dict(each) for each in values.get("include") or ()]
    stored = [each for each in stated if each.get("sha256") not in active]
    entries = [*stored, *({"file": each.file, "sha256": each.sha256} for each in used)]
    if not entries and "include" not in values:
        return values
    return {**values, "include": sorted(entries, key=lambda each: str(each.get("sha256")))}


def _texts(values: Mapping[str, Any]) -> Iterator[str]:
    """Every text in the values of components: names, and options that may be names."""
    waiting = [value for key, value in values.items() if key not in NO_COMPONENTS]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value


def require(wanted: Iterable[Included], folder: Path | None = None) -> list[OwnSource]:
    """The registered sources that a recipe was made with; one clear error where they are not here.

    `folder` is the run's, where a copy of its own files stands.
    """
    sources = {own.source.sha256: own.source for own in OWN.values()}
    for each in wanted:
        if each.sha256 in sources:
            continue
        name, short = Path(each.file).name, each.sha256[:SHOWN]
        others = [s for s in sources.values() if Path(s.file).name == name]
        copies = sorted((folder / COPIES).glob(f"*-{short}.py")) if folder is not None else []
        what = f"{folder} was made" if folder is not None else "the recipe was made"
        hint = f"; {copies[0]} is a copy of it" if copies else ""
        if others:
            now = others[0].sha256[:SHOWN]
            raise TenfoldError(
                f"{what} with {each.file} of the sha256 {short}..., but that of {others[0].file} is {now}...{hint}"
            )
        raise TenfoldError(
            f"{what} with own components of {each.file} (sha256 {short}...); "
            f"name that file: --include {each.file}{hint}"
        )
    return [sources[each.sha256] for each in wanted]


def for_workers(wanted: Sequence[Included]) -> tuple[OwnSource, ...]:
    """The sources of a recipe, to be sent to another process."""
    sources = tuple(require(wanted))
    for source in sources:
        if not source.whole:
            names = [own.name for own in OWN.values() if own.source == source]
            raise TenfoldError(
                f'"{names[0]}" is defined in a notebook or at a prompt, which workers cannot read; '
                "write it in a file, and name it as my.py:Name"
            )
    return sources


def receive(sources: Iterable[OwnSource]) -> None:
    """In a worker: register what the driver sent."""
    for source in sources:
        _load(source)


def keep_copies(wanted: Sequence[Included], folder: Path) -> list[Path]:
    """Write the sources of a recipe beside its run, to be read and named later; nothing executes them by itself."""
    copies = {folder / COPIES / source.copy_name: source for source in require(wanted)}
    for path, source in copies.items():
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, source.code)
    return list(copies)
