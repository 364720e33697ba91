"""The JSON files of hosts: servers, plugins and marketplaces, by the tables of their documentation (X38).

In: a source. Out: the model with the paths that must exist, and problems. Files that their hosts read with comments are
not judged where they are no JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec.structs import replace

from prosa.data import Mapping, Node, Scalar, Sequence, read_json
from prosa.diagnostics import Problem, Severity
from prosa.dialects.context.fields import ENTRY, HOOKS, MARKETPLACE, PARTS, PERMISSIONS, PLUGIN, SERVER, SETTINGS
from prosa.dialects.context.model import ContextModel, Named
from prosa.dialects.fields import Field, Owner, read_fields, shown
from prosa.dialects.front import FrontReading
from prosa.source import Span

MAX_PROBLEMS = 100
"""Of one file; more say nothing new."""

_SYNTAX = ("json-syntax", "nested-too-deep")
_COMMENTED = (".vscode/mcp.json", ".gemini/settings.json", ".cursor/mcp.json")
"""Files in which their hosts accept comments, or are not known to refuse them."""


def read_manifest(front: FrontReading, model: ContextModel) -> tuple[ContextModel, tuple[Problem, ...]]:
    """Return the model of a JSON file of a host, and its problems."""
    reading = read_json(front.source.text)
    broken = tuple(problem for problem in reading.problems if problem.rule in _SYNTAX)
    if broken or reading.node is None:
        return model, () if model.path.endswith(_COMMENTED) else reading.problems
    top = reading.node
    start = min(top.span.start, len(front.source.text))
    anchor = Span(start, min(start + 1, len(front.source.text)))
    if not isinstance(top, Mapping):
        mistake = Problem("wrong-type", "the file must hold a mapping", anchor)
        return model, (*reading.problems, mistake)
    model = replace(model, fields=top, paths=tuple(_paths(model, top)), tools=tuple(_permitted(model, top)))
    return model, (*reading.problems, *islice(_problems(model, top, anchor), MAX_PROBLEMS))


def _problems(model: ContextModel, top: Mapping, anchor: Span) -> Iterator[Problem]:
    if "plugin" in model.kinds:
        yield from _checked(top, PLUGIN, Owner("a plugin", anchor))
    elif "marketplace" in model.kinds:
        yield from _checked(top, MARKETPLACE, Owner("a marketplace", anchor))
        yield from _entries(top)
    elif _is_settings(model):
        yield from _settings(top, anchor)
    else:
        yield from _servers(model, top)


def _is_settings(model: ContextModel) -> bool:
    return model.path.endswith((".claude/settings.json", ".claude/settings.local.json"))


def _settings(top: Mapping, anchor: Span) -> Iterator[Problem]:
    """Yield the problems of the settings of Claude Code. There are more of them than the table has."""
    yield from (
        problem for problem in _checked(top, SETTINGS, Owner("the settings", anchor)) if problem.rule != "unknown-field"
    )
    for name, table, title in (("permissions", PERMISSIONS, "the permissions"), ("hooks", HOOKS, "the hooks")):
        inner = top.get(name)
        if isinstance(inner, Mapping):
            yield from _checked(inner, table, Owner(title, anchor, f"{name}."))


def _permitted(model: ContextModel, top: Mapping) -> Iterator[Named]:
    """Yield the tools that settings speak of: a rule begins with the name of one."""
    permissions = top.get("permissions") if _is_settings(model) else None
    if not isinstance(permissions, Mapping):
        return
    for name in ("allow", "ask", "deny"):
        rules = permissions.get(name)
        for item in rules.items if isinstance(rules, Sequence) else ():
            if isinstance(item, Scalar) and isinstance(item.value, str):
                yield Named(item.text.strip(), item.span)


def _entries(top: Mapping) -> Iterator[Problem]:
    """Yield the problems of the plugins of a marketplace."""
    names: dict[str, None] = {}
    plugins = top.get("plugins")
    for item in plugins.items if isinstance(plugins, Sequence) else ():
        if not isinstance(item, Mapping):
            continue
        anchor = Span(item.span.start, min(item.span.start + 1, item.span.end))
        yield from _checked(item, ENTRY, Owner("a plugin of a marketplace", anchor))
        name = item.get("name")
        if isinstance(name, Scalar) and name.text in names:
            message = f"two plugins of the marketplace are named `{shown(name.text)}`"
            yield Problem("duplicate-plugin", message, name.span)
        elif isinstance(name, Scalar):
            names[name.text] = None


def _servers(model: ContextModel, top: Mapping) -> Iterator[Problem]:
    vscode = model.path.endswith(".vscode/mcp.json")
    key, other = ("servers", "mcpServers") if vscode else ("mcpServers", "servers")
    server_entry = top.entry(key)
    misplaced = top.entry(other)
    if server_entry is None and misplaced is not None and "servers" in model.kinds:
        host = model.uses[0].host.title
        message = f"{host} reads the servers in `{key}`, not in `{other}`"
        yield Problem("unstartable-server", message, misplaced.key.span)
    servers = server_entry.value if server_entry is not None else None
    for entry in servers if isinstance(servers, Mapping) else ():
        if not isinstance(entry.value, Mapping):
            yield Problem("wrong-type", f"the server `{shown(entry.key.text)}` must be a mapping", entry.value.span)
            continue
        yield from _checked(entry.value, SERVER, Owner("a server", entry.key.span), unknown=False)
        complaint = _unstartable(entry.value)
        if complaint:
            yield Problem("unstartable-server", f"the server `{shown(entry.key.text)}` {complaint}", entry.key.span)


def _unstartable(server: Mapping) -> str:
    """Return why a server cannot be reached, as the rest of a sentence."""
    command, url, how = server.entry("command"), server.entry("url"), server.get("type")
    kind = how.text if isinstance(how, Scalar) else ""
    if command is None and url is None and not server.entry("httpUrl") and not server.entry("tcp"):
        return "has neither `command` nor `url`"
    if kind in ("http", "sse", "ws", "streamable-http") and url is None:
        return f"is of the type `{kind}` and has no `url`"
    return f"is of the type `{kind}` and has no `command`" if kind == "stdio" and command is None else ""


def untyped_servers(model: ContextModel) -> Iterator[Named]:
    """Yield the servers elsewhere whose type is not written down."""
    servers = model.fields.get("mcpServers") if model.fields is not None else None
    for entry in servers if isinstance(servers, Mapping) else ():
        server = entry.value
        if (
            isinstance(server, Mapping)
            and server.entry("url")
            and not (server.entry("command") or server.entry("type"))
        ):
            yield Named(entry.key.text, entry.key.span)


def _checked(mapping: Mapping, table: tuple[Field, ...], owner: Owner, *, unknown: bool = True) -> Iterator[Problem]:
    for problem in read_fields(mapping, table, owner)[1]:
        if problem.rule == "unknown-field" and problem.misspelling is None:
            if unknown:
                yield replace(problem, severity=Severity.INFO)
        else:
            yield replace(problem, severity=Severity.WARNING)


def _paths(model: ContextModel, top: Mapping) -> Iterator[Named]:
    """Yield the paths that must exist, relative to the root of the plugin or the marketplace."""
    if "plugin" in model.kinds:
        for field in PARTS:
            yield from _local(top.get(field.name))
    elif "marketplace" in model.kinds and top.entry("metadata") is None:
        plugins = top.get("plugins")
        for item in plugins.items if isinstance(plugins, Sequence) else ():
            yield from _local(item.get("source") if isinstance(item, Mapping) else None)


def _local(node: Node | None) -> Iterator[Named]:
    for item in node.items if isinstance(node, Sequence) else (node,):
        if isinstance(item, Scalar) and isinstance(item.value, str) and item.value.startswith("./"):
            yield Named(item.value, item.span)
