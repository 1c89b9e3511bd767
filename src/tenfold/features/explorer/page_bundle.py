"""One HTML file from the sources in `web`: modules joined in the order of their imports, a strict content policy.

The modules share one scope, so every top-level name occurs once and imports are not renamed. Both are checked here.
The same script is the page and its worker: a worker has no document.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from tenfold.core.errors import TenfoldError
from tenfold.drawing.palette import css

WEB = Path(__file__).with_name("web")
ENTRY = "main.js"
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([a-z_]+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)
TOP = re.compile(r"^(?:async )?(?:function\*?|class|const|let) (\{[^}]*\}|[\w$]+(?: = [^,;{(]*, [\w$]+)*)", re.MULTILINE)  # fmt: skip
EXPORTED = re.compile(
    r"^export (?:async )?(?:function\*?|class|const|let) ([^=({;]+)", re.MULTILINE
)


def bundled(models: str, title: str) -> str:
    """The page: `models` is JSON that is safe inside a script element, `title` plain text."""
    script, style = joined_modules(), css() + _read("page.css")
    policy = (
        f"default-src 'none'; script-src '{digest(script)}'; style-src '{digest(style)}'; worker-src blob:; "
        "img-src blob: data:; base-uri 'none'; form-action 'none'"
    )
    parts = {"policy": policy, "title": _escaped(title), "style": style, "models": models, "script": script}  # fmt: skip
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _read("page.htm"))


def digest(text: str) -> str:
    """The source expression by which a content policy allows one inline script or style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def joined_modules() -> str:
    """Every module that the entry imports, each after those that it imports itself, in one function."""
    order: list[str] = []
    _visit(ENTRY, order, ())
    names: dict[str, str] = {}
    parts = []
    for module in order:
        text = EXPORT.sub("", IMPORT.sub("", _read(module)))
        if re.search(r"^(?:import|export)\b", text, re.MULTILINE):
            raise TenfoldError(f"web/{module}: only plain named imports and exports can be joined")
        for name in _top_names(text):
            if name in names:
                raise TenfoldError(
                    f'web/{module}: the name "{name}" stands in {names[name]}, too; joined modules share one scope'
                )
            names[name] = module
        parts.append(f"// {module}\n{text}")
    script = '(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();\n"
    if "</script" in script.lower():
        raise TenfoldError(
            "a module contains the end of a script element, which would end the page's"
        )
    return script


def _visit(module: str, order: list[str], path: tuple[str, ...]) -> None:
    if module in path:
        raise TenfoldError(f"web modules import each other: {' -> '.join([*path, module])}")
    if module in order:
        return
    text = _read(module)
    for match in IMPORT.finditer(text):
        _visit(match[2], order, (*path, module))
        provided = {
            name.strip() for found in EXPORTED.findall(_read(match[2])) for name in found.split(",")
        }
        for name in filter(None, (each.strip() for each in match[1].split(","))):
            if name not in provided and not _also_exported(match[2], name):
                raise TenfoldError(f'web/{module}: {match[2]} does not export "{name}"')
    order.append(module)


def _also_exported(module: str, name: str) -> bool:
    """Whether it is a later name of an exported list: `export const A = 1, B = 2`."""
    lists = re.findall(r"^export (?:const|let) ([^;]*);", _read(module), re.MULTILINE)
    return any(re.search(rf"(?:^|, ){re.escape(name)} =", each) for each in lists)


def _top_names(text: str) -> list[str]:
    found = []
    for match in TOP.finditer(text):
        for part in match[1].strip("{}").split(","):
            found.append(part.split("=")[0].strip())
    return [name for name in found if re.fullmatch(r"[\w$]+", name)]


def _read(name: str) -> str:
    return (WEB / name).read_text(encoding="utf-8")


def _escaped(text: str) -> str:
    for letter, name in (("&", "amp"), ("<", "lt"), (">", "gt"), ('"', "quot")):
        text = text.replace(letter, f"&{name};")
    return text
