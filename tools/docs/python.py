"""The public names with their signatures and docstrings, and the events of a run."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any, get_args

from msgspec import Struct

import prosa
import prosa.plugins
from prosa.app.options import spelled
from prosa.render.events import name_of
from prosa.runtime import events
from tools.docs.writing import Made, code, documentation, page, table

MODULES = ("mdh", "schema", "template", "testing")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_WIDE = 88


def python_pages() -> Iterator[Made]:
    """Yield `prosa` itself, its modules, `prosa.plugins`; and their list."""
    names = [name for name in prosa.__all__ if name not in MODULES and name != "__version__"]
    groups: dict[str, list[str]] = {"Functions": [], "Coroutines": [], "Classes": [], "Errors": []}
    for name in names:
        groups[_group(getattr(prosa, name))].append(name)
    for title, some in groups.items():
        told = f"What `import prosa` gives: {len(some)} {title.lower()}."
        yield Made(f"python/{title.lower()}.md", page(f"{title} of prosa", told, _all(prosa, some)))
    modules = [*(getattr(prosa, name) for name in MODULES), prosa.plugins]
    for module in modules:
        yield Made(f"python/{_short(module)}.md", _module(module))
    about = "What Python code may import. [From Python](../../python.md) shows how it is used."
    rows = [(f"`prosa`: [{title.lower()}]({title.lower()}.md)", _names(some)) for title, some in groups.items()]
    rows += [(f"[`{each.__name__}`]({_short(each)}.md)", _first(each)) for each in modules]
    yield Made("python/README.md", page("Python", about, table(("module", "what it has"), rows)))


def _names(some: list[str]) -> str:
    return ", ".join(map(code, some[:6])) + (" …" if len(some) > 6 else "")


def event_page() -> Made:
    """Return every event with its fields."""
    about = (
        "The events of a run in their usual order: as JSON with `--events jsonl`, as values to a `listener`. "
        "[Runs and recordings](../runs.md#events) has the keys that all lines share."
    )
    parts: list[str] = []
    for each in get_args(events.Event):
        fields = [(code(name), code(kind)) for name, kind in _fields(each) if name not in ("scope", "path")]
        told = documentation(inspect.getdoc(each))
        parts.append(f"## {_name(each)}\n\n{told}\n\n{table(('key', 'type'), fields)}")
    return Made("events.md", page("Every event", about, *parts))


def _name(event: type[Struct]) -> str:
    return name_of(event(*("" for _ in event.__struct_fields__)))


def _short(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def _first(module: ModuleType) -> str:
    """Return the first sentence of what a module says of itself."""
    return re.split(r"(?<=[.:;]) ", _told(module))[0].rstrip(".:;")


def _group(member: Any) -> str:
    if not isinstance(member, type):
        return "Coroutines" if inspect.iscoroutinefunction(member) else "Functions"
    return "Errors" if issubclass(member, Exception) else "Classes"


def _module(module: ModuleType) -> str:
    return page(module.__name__, documentation(inspect.getdoc(module)), _all(module, module.__all__))


def _all(module: ModuleType, names: list[str], level: int = 2) -> str:
    return "\n\n".join(_member(name, getattr(module, name), level) for name in sorted(names, key=str.lower))


def _member(name: str, member: Any, level: int) -> str:
    head = f"{'#' * level} {name}"
    if isinstance(member, type) or inspect.isroutine(member):
        parts = [head, f"```python\n{_signature(name, member)}\n```", documentation(inspect.getdoc(member))]
        if isinstance(member, type):
            parts += _inside(member)
        return "\n\n".join(filter(None, parts))
    return f"{head}\n\n```python\n{name} = {_ADDRESS.sub('', str(member))}\n```"


def _inside(member: type) -> Iterator[str]:
    """Yield the methods and properties of a class that it defines itself."""
    rows: list[tuple[str, str]] = []
    for name, each in vars(member).items():
        if name.startswith("_") and name not in ("__call__", "__enter__", "__iter__", "__len__"):
            continue
        function = each.__func__ if isinstance(each, classmethod | staticmethod) else each
        if isinstance(function, property):
            rows.append((code(name), _told(function)))
        elif isinstance(function, FunctionType):
            rows.append((code(_signature(name, function, method=True)), _told(function)))
    yield table(("member", "what it gives"), rows)


def _told(member: Any) -> str:
    return " ".join(documentation(inspect.getdoc(member)).split("\n\n")[0].split())


def _fields(struct: type[Struct]) -> list[tuple[str, str]]:
    """Return the fields of a value with their types, inherited ones first."""
    kinds: dict[str, str] = {}
    for each in reversed(struct.__mro__):
        kinds |= {name: spelled(kind) for name, kind in getattr(each, "__annotations__", {}).items()}
    return [(name, kinds.get(name, "")) for name in struct.__struct_fields__]


def _signature(name: str, member: Any, *, method: bool = False) -> str:
    """Return the signature as it is written, over several lines where it is long."""
    if isinstance(member, type) and issubclass(member, Struct):
        parts, returns = [f"{field}: {kind}" for field, kind in _fields(member)], ""
    else:
        try:
            found = inspect.signature(member)
        except ValueError:
            return f"{name}(…)"
        parts = list(_parameters(found))
        parts = parts[1:] if method and parts[:1] in (["self"], ["cls"]) else parts
        returns = (
            ""
            if found.return_annotation in (inspect.Signature.empty, None) or isinstance(member, type)
            else f" -> {_kind(found.return_annotation)}"
        )
    before = (
        "async def "
        if inspect.iscoroutinefunction(member)
        else "class "
        if isinstance(member, type)
        else ""
        if method
        else "def "
    )
    line = f"{before}{name}({', '.join(parts)}){returns}"
    if method or len(line) <= _WIDE:
        return line
    inner = "".join(f"    {part},\n" for part in parts)
    return f"{before}{name}(\n{inner}){returns}"


def _parameters(found: inspect.Signature) -> Iterator[str]:
    """Yield the parameters as they are written, with the marks between them."""
    starred, positional = False, False
    for each in found.parameters.values():
        if positional and each.kind is not each.POSITIONAL_ONLY:
            yield "/"
        positional = each.kind is each.POSITIONAL_ONLY
        if each.kind is each.KEYWORD_ONLY and not starred:
            yield "*"
        starred = starred or each.kind in (each.VAR_POSITIONAL, each.KEYWORD_ONLY)
        stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        kind = f": {_kind(each.annotation)}" if each.annotation is not each.empty else ""
        given = "" if each.default is each.empty else f"{' = ' if kind else '='}{_default(each.default)}"
        yield f"{stars}{each.name}{kind}{given}"
    if positional:
        yield "/"


def _default(value: Any) -> str:
    return value.__name__ if isinstance(value, FunctionType) else _ADDRESS.sub("", repr(value))


def _kind(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
