"""The permissions of a chat: tools granted by the user and selected by the chat, and plugins of third parties (X7,
X15).

In: the grants (`python`, `mcp:NAME=COMMAND`, `mcp:NAME=URL`, `mdh:URL`, a program file, plugins), and the names that
the chat requests. Out: the offered tools, and plugins. A trusted chat grants what it names itself. A plugin is code
that runs with the user's rights: nothing is imported before it is allowed by name.
"""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.diagnostics.nearest import nearest
from prosa.dialects.markdownlang.fields import site_form
from prosa.dialects.prapti.commands import PLUGIN_API, PLUGIN_GROUP, Plugin
from prosa.runtime.errors import RunError
from prosa.runtime.ports import NamedBy, Origin, ServerConfig

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from prosa.runtime.program import Program

PYTHON = "python"
SERVER = "mcp:"
SITE = "mdh:"

WAYS = (
    "a tool is `python`, `mcp:NAME=COMMAND`, `mcp:NAME=URL`, `mdh:URL`, or the file of a program such as `weather.md`"
)


class Tools(Struct, frozen=True):
    """Tools that a chat may call. ``names`` are as they were granted."""

    python: bool = False
    programs: tuple[Program, ...] = ()
    servers: tuple[ServerConfig, ...] = ()
    sites: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def granted(specs: Iterable[str], load: Callable[[str], Program], *, written: Iterable[str] = ()) -> Tools:
    """Return the tools that the user grants, ``specs`` as arguments and ``written`` in a file with the rights of the
    user; ``load`` reads a program. Raises `RunError` for anything but a tool."""
    tools, arguments = Tools(), tuple(specs)
    for spec in dict.fromkeys((*arguments, *written)):
        if spec == PYTHON:
            tools = replace(tools, python=True)
        elif spec.startswith(SERVER):
            by: NamedBy = "argument" if spec in arguments else "trust"
            tools = replace(tools, servers=(*tools.servers, _server(spec, by)))
        elif spec.startswith(SITE):
            tools = replace(tools, sites=(*tools.sites, _site(spec)))
        elif spec.endswith((".md", ".markdown")):
            tools = replace(tools, programs=(*tools.programs, load(spec)))
        else:
            raise RunError(f"there is no tool `{spec[:64]}`", hint=WAYS)
        tools = replace(tools, names=(*tools.names, spec))
    return tools


def chosen(tools: Tools, wanted: Sequence[str] | None) -> tuple[Tools, tuple[str, ...]]:
    """Return the granted tools that a chat requests (None: all of them), and the names of the others it requests."""
    if wanted is None:
        return tools, ()
    named = {*wanted, *(each.partition("=")[0] for each in wanted if each.startswith(SERVER))}
    programs = tuple(each for each in tools.programs if _is_wanted((each.name, each.file, *_paths(each)), wanted))
    servers = tuple(each for each in tools.servers if _is_wanted((each.name, f"{SERVER}{each.name}"), named))
    python = tools.python and PYTHON in wanted
    known = {name for each in programs for name in (each.name, each.file, *_paths(each))}
    known |= {name for each in servers for name in (each.name, f"{SERVER}{each.name}")}
    known |= {PYTHON} if python else set()
    sites = tuple(each for each in tools.sites if f"{SITE}{each}" in wanted)
    beyond = tuple(name for name in wanted if name not in known and name not in tools.names)
    return Tools(python, programs, servers, sites, tuple(name for name in wanted if name not in beyond)), beyond


def _is_wanted(names: Iterable[str], wanted: Collection[str]) -> bool:
    return any(name in wanted for name in names)


def _paths(program: Program) -> tuple[str, ...]:
    return (str(Path(program.folder) / program.file),)


def wanted_by(tools: Sequence[str] | None, sites: Sequence[str] | None, granted: Tools) -> tuple[str, ...] | None:
    """Return the names that a chat wants, None for everything granted. Its `mdh` line names sites, as `mdh:URL` in its
    `tools` line does; without a `tools` line it chooses among sites only."""
    if sites is None:
        return None if tools is None else tuple(tools)
    others = tools if tools is not None else (name for name in granted.names if not name.startswith(SITE))
    return tuple(dict.fromkeys((*others, *(f"{SITE}{url}" for url in sites))))


def _site(spec: str) -> str:
    url = spec.removeprefix(SITE)
    if wrong := site_form(url):
        raise RunError(f"the site `{spec[:200]}` {wrong}", hint=WAYS)
    return url


def _server(spec: str, by: NamedBy) -> ServerConfig:
    name, is_given, target = spec.removeprefix(SERVER).partition("=")
    if not name or not is_given or not target.strip():
        raise RunError(f"the MCP server `{spec[:64]}` needs a name and a command", hint=WAYS)
    if target.startswith(("http://", "https://")):
        return ServerConfig(name, url=target, origin=Origin(by))
    try:
        words = shlex.split(target)
    except ValueError as error:
        raise RunError(f"the command of the MCP server `{name}` cannot be read: {error}", hint=WAYS) from None
    return ServerConfig(name, command=words[0], args=tuple(words[1:]), origin=Origin(by))


def load_plugins(names: Iterable[str]) -> Mapping[str, Plugin]:
    """Return the plugins of these names. Raises `RunError` for one that is not installed, or that cannot be used."""
    wanted = tuple(dict.fromkeys(names))
    if not wanted:
        return {}
    installed = _installed()
    return {name: _load(name, installed) for name in wanted}


def without_output() -> contextlib.AbstractContextManager[object]:
    """Return what plugins print meanwhile goes to stderr: on stdout is nothing but the result."""
    return contextlib.redirect_stdout(sys.stderr)


def _installed() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return list(entry_points(group=PLUGIN_GROUP))


def _load(name: str, installed: list[EntryPoint]) -> Plugin:
    found = {point.value: point for point in installed if point.name == name}
    if not found:
        names = sorted({point.name for point in installed})
        near = nearest(name, names)
        hint = f"did you mean `{near}`?" if near else f"installed are {', '.join(names) or 'none'}"
        raise RunError(f"the plugin `{name[:64]}` is not installed", hint=hint)
    if len(found) > 1:
        raise RunError(f"several packages offer the plugin `{name}`: {', '.join(sorted(found))}")
    try:
        with without_output():
            plugin = next(iter(found.values())).load()
    except Exception as error:  # plugin code: whatever it raises, it cannot be used
        raise RunError(f"the plugin `{name}` cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(plugin, Plugin):
        raise RunError(f"the plugin `{name}` is of the type `{type(plugin).__name__}`, not a Plugin")
    if plugin.api != PLUGIN_API:
        raise RunError(f"the plugin `{name}` is made for version {plugin.api} of plugins; this is {PLUGIN_API}")
    if plugin.name != name:
        raise RunError(f"the plugin `{name}` calls itself `{plugin.name}`")
    return plugin
