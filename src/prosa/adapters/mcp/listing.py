"""The tools of a server: every page of its list, and the handling of entries that break the protocol.

In: a connected client. Out: `ServerTool`s in the server's order, under their own names. An entry that cannot be used
(no name, a schema that is no object schema) is left out with a notice that names it, so that one bad tool does not
take the others away. Refuses to follow a list that does not end. The keywords inside a schema are not checked here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import mcp_types as types
from mcp import Client, MCPError

from prosa.data import Value
from prosa.runtime.errors import ToolServerError
from prosa.runtime.ports import ServerTool

PAGES = 100
"""Pages of one list. Servers send ten to a hundred tools a page."""
TOOLS = 1000
"""Tools of one server. Model services stop at 128; more is a list that does not end."""

Notice = Callable[[str], None]


async def list_tools(client: Client, server: str) -> list[ServerTool]:
    """Return all pages (L21). Raises `ToolServerError` for a list that does not end; a server without tools has
    none."""
    tools: list[ServerTool] = []
    cursor: str | None = None
    for _ in range(PAGES):
        page = await _page(client, cursor)
        if page is None:
            return tools
        tools += [_tool(server, tool) for tool in page.tools]
        if not page.next_cursor:
            return tools
        if page.next_cursor == cursor or len(tools) > TOOLS:
            break
        cursor = page.next_cursor
    raise ToolServerError(
        f"MCP server '{server}' has a list of tools that does not end",
        hint=f"at most {PAGES} pages and {TOOLS} tools are read",
    )


async def _page(client: Client, cursor: str | None) -> types.ListToolsResult | None:
    try:
        return await client.list_tools(cursor=cursor)
    except MCPError as problem:
        # Servers of prompts and resources only do not know the method.
        if problem.code == types.METHOD_NOT_FOUND and cursor is None:
            return None
        raise


def _tool(server: str, tool: types.Tool) -> ServerTool:
    reads = bool(tool.annotations and tool.annotations.read_only_hint)
    return ServerTool(server, tool.name, tool.description or tool.title or "", tool.input_schema, reads)


def mend(result: dict[str, Value], server: str, notice: Notice) -> None:
    """Make a raw `tools/list` answer readable, in place; other answers stay unchanged.

    The SDK refuses a whole list for one bad entry. Only the used parts of an entry are kept: output schemas are not,
    since the model gets the tool's answer even if it violates its own schema.
    """
    if not isinstance(result.get("tools"), list):
        return
    mended = []
    for number, entry in enumerate(result["tools"], 1):
        problem = _problem(entry)
        if problem:
            notice(f"MCP server '{server}': {_named(entry, number)} is left out: {problem}")
        else:
            mended.append(_kept(entry))
    result["tools"] = mended


def _named(entry: Value, number: int) -> str:
    name = entry.get("name") if isinstance(entry, Mapping) else None
    return f"tool '{name[:100]}'" if isinstance(name, str) and name else f"tool number {number}"


def _kept(entry: Mapping[str, Value]) -> dict[str, Value]:
    kept = {key: entry[key] for key in ("name", "title", "description") if isinstance(entry.get(key), str)}
    return kept | {"inputSchema": {"type": "object"} | (entry.get("inputSchema") or {}), **_annotations(entry)}


def _annotations(entry: Mapping[str, Value]) -> dict[str, Value]:
    """Return whether the tool says that it only reads; a hint in another form is none."""
    annotations = entry.get("annotations")
    reads = isinstance(annotations, Mapping) and annotations.get("readOnlyHint") is True
    return {"annotations": {"readOnlyHint": True}} if reads else {}


def _problem(entry: Value) -> str:
    """Return why an entry cannot be used, or the empty text."""
    if not isinstance(entry, Mapping):
        return "it is not an object"
    if not isinstance(entry.get("name"), str) or not entry["name"]:
        return "it has no name"
    schema = entry.get("inputSchema")
    if schema is None:
        return ""
    if not isinstance(schema, Mapping):
        return "its inputSchema is not an object"
    return _schema_problem(schema)


def _schema_problem(schema: Mapping[str, Value]) -> str:
    if schema.get("type", "object") != "object":
        return f"its inputSchema has type {str(schema['type'])[:40]!r}, and arguments are always an object"
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping) or not all(
        isinstance(value, Mapping | bool) for value in properties.values()
    ):
        return "the properties of its inputSchema are not schemas"
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return "'required' in its inputSchema is not a list of names"
    if not isinstance(schema.get("$schema", ""), str):
        return "'$schema' in its inputSchema is not text"
    return ""
