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
from prosa.dialects.context.model import ContextModel, Named
from prosa.dialects.fields import Field, Owner, read_fields, shown
from prosa.dialects.front import FrontReading
from prosa.source import Span

MAX_PROBLEMS = 100
"""Of one file; more say nothing new."""

_SYNTAX = ("json-syntax", "nested-too-deep")
_COMMENTED = (".vscode/mcp.json", ".gemini/settings.json", ".cursor/mcp.json")
"""Files in which their hosts accept comments, or are not known to refuse them."""

TYPES = ("stdio", "http", "sse", "ws", "streamable-http", "local")
"""How hosts reach a server."""

SERVER: tuple[Field, ...] = (
    Field("type", "text", choices=TYPES, about="how the server is reached"),
    Field("command", "text", about="the program that is started"),
    Field("args", "texts", about="its arguments"),
    Field("env", "mapping", about="its environment"),
    Field("url", "text", about="the address of a server elsewhere"),
    Field("headers", "mapping", about="headers of the requests to it"),
)

_OWNER: tuple[Field, ...] = (
    Field("name", "text", required=True, about="the name of a person or team"),
    Field("email", "text", about="where to write to"),
    Field("url", "text", about="a page about them"),
)
_ABOUT: tuple[Field, ...] = (
    Field("$schema", "text", about="the JSON Schema for editors"),
    Field("displayName", "text", about="the name for people"),
    Field("version", "text", about="the version"),
    Field("description", "text", about="what it is for"),
    Field("author", "mapping", inner=_OWNER, about="who made it"),
    Field("homepage", "text", about="a page about it"),
    Field("repository", "anything", about="where its source is"),
    Field("license", "text", about="the name of a licence"),
    Field("keywords", "texts", about="words by which it is found"),
    Field("metadata", "anything", about="data for other tools"),
    Field("defaultEnabled", "boolean", about="false: it is installed switched off"),
)
_PARTS: tuple[Field, ...] = (
    Field("skills", "anything", about="folders of skills"),
    Field("commands", "anything", about="files or folders of commands"),
    Field("agents", "anything", about="files of agents"),
    Field("workflows", "anything", about="files or folders of workflows"),
    Field("hooks", "anything", about="hooks, or files with them"),
    Field("mcpServers", "anything", about="MCP servers, or files with them"),
    Field("outputStyles", "anything", about="files of output styles"),
    Field("lspServers", "anything", about="language servers, or files with them"),
)
PLUGIN: tuple[Field, ...] = (
    Field("name", "text", required=True, wanted="a name", about="the name of the plugin"),
    *_ABOUT,
    *_PARTS,
    Field("themes", "anything", about="colour themes"),
    Field("monitors", "anything", about="monitors"),
    Field("experimental", "anything", about="parts whose form may change"),
    Field("userConfig", "mapping", about="values that users are asked for"),
    Field("channels", "anything", about="channels of messages"),
    Field("dependencies", "anything", about="other plugins that it needs"),
    Field("settings", "anything", about="settings that it brings"),
)
ENTRY: tuple[Field, ...] = (
    Field("name", "text", required=True, wanted="a name", about="the name of the plugin"),
    Field("source", "anything", required=True, wanted="a path or a source", about="where the plugin is"),
    *_ABOUT,
    *_PARTS,
    Field("category", "text", about="the category"),
    Field("tags", "texts", about="words by which it is found"),
    Field("strict", "boolean", about="false: this entry is the manifest"),
    Field("relevance", "anything", about="when it is suggested"),
    Field("dependencies", "anything", about="other plugins that it needs"),
)
MARKETPLACE: tuple[Field, ...] = (
    Field("$schema", "text", about="the JSON Schema for editors"),
    Field("name", "text", required=True, wanted="a name", about="the name of the marketplace"),
    Field("owner", "mapping", required=True, inner=_OWNER, about="who maintains it"),
    Field("plugins", "mappings", required=True, about="the plugins"),
    Field("description", "text", about="what it is for"),
    Field("version", "text", about="its version"),
    Field("metadata", "anything", about="`pluginRoot` is the folder of the plugins"),
    Field("allowCrossMarketplaceDependenciesOn", "anything", about="marketplaces that its plugins may depend on"),
    Field("forceRemoveDeletedPlugins", "boolean", about="true: deleted plugins are removed from users"),
    Field("renames", "mapping", about="new names of plugins"),
)


def read_manifest(front: FrontReading, model: ContextModel) -> tuple[ContextModel, tuple[Problem, ...]]:
    """Return the model of a JSON file of a host, and its problems."""
    reading = read_json(front.source.text)
    broken = tuple(each for each in reading.problems if each.rule in _SYNTAX)
    if broken or reading.node is None:
        return model, () if model.path.endswith(_COMMENTED) else reading.problems
    top = reading.node
    start = min(top.span.start, len(front.source.text))
    anchor = Span(start, min(start + 1, len(front.source.text)))
    if not isinstance(top, Mapping):
        found = Problem("wrong-type", "the file must hold a mapping", anchor)
        return model, (*reading.problems, found)
    model = replace(model, fields=top, paths=tuple(_paths(model, top)))
    return model, (*reading.problems, *islice(_problems(model, top, anchor), MAX_PROBLEMS))


def _problems(model: ContextModel, top: Mapping, anchor: Span) -> Iterator[Problem]:
    if "plugin" in model.kinds:
        yield from _checked(top, PLUGIN, Owner("a plugin", anchor))
    elif "marketplace" in model.kinds:
        yield from _checked(top, MARKETPLACE, Owner("a marketplace", anchor))
        yield from _entries(top)
    else:
        yield from _servers(model, top)


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
    found = top.entry(key)
    misplaced = top.entry(other)
    if found is None and misplaced is not None and "servers" in model.kinds:
        host = model.uses[0].host.title
        message = f"{host} reads the servers in `{key}`, not in `{other}`"
        yield Problem("unstartable-server", message, misplaced.key.span)
    servers = found.value if found is not None else None
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
    for each in read_fields(mapping, table, owner)[1]:
        if each.rule == "unknown-field" and each.misspelling is None:
            if unknown:
                yield replace(each, severity=Severity.INFO)
        else:
            yield replace(each, severity=Severity.WARNING)


def _paths(model: ContextModel, top: Mapping) -> Iterator[Named]:
    """Yield the paths that must exist, relative to the root of the plugin or the marketplace."""
    if "plugin" in model.kinds:
        for field in _PARTS:
            yield from _local(top.get(field.name))
    elif "marketplace" in model.kinds and top.entry("metadata") is None:
        plugins = top.get("plugins")
        for item in plugins.items if isinstance(plugins, Sequence) else ():
            yield from _local(item.get("source") if isinstance(item, Mapping) else None)


def _local(node: Node | None) -> Iterator[Named]:
    for item in node.items if isinstance(node, Sequence) else (node,):
        if isinstance(item, Scalar) and isinstance(item.value, str) and item.value.startswith("./"):
            yield Named(item.value, item.span)
