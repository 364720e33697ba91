"""The specifications of tools that are not code: imported programs, and tools of servers. Nothing is started.

In: a program, or a tool as declared by a server or front matter. Out: a `ToolSpec`.
"""

from __future__ import annotations

from collections.abc import Mapping

from prosa.data import Value
from prosa.dialects.markdownlang.fields import server_tool_name
from prosa.runtime.messages import ToolSpec
from prosa.runtime.ports import NamedTool, ServerTool
from prosa.runtime.program import Program
from prosa.schema import lower


def worded(server: str, named: NamedTool, own: ServerTool | None = None) -> ServerTool:
    """Return a tool as the program declares it, with the server's values for undeclared parts."""
    own = own or ServerTool(server, named.name, "", {"type": "object"})
    return ServerTool(
        server,
        named.name,
        own.description if named.description is None else named.description,
        own.parameters if named.parameters is None else named.parameters,
        own.read_only if named.read_only is None else named.read_only,
    )


def server_tool_spec(tool: ServerTool) -> ToolSpec:
    """Return the specification of a server's tool."""
    origin = ("mcp", tool.server, tool.name)
    return ToolSpec(server_tool_name(tool.server, tool.name), tool.description, tool.parameters, origin)


def program_tool_spec(program: Program, name: str) -> tuple[ToolSpec, bool]:
    """Return the specification of an import. An input schema that is not an object's is wrapped, since APIs only
    accept objects; then the second value is True."""
    schema = program.input_schema
    if isinstance(schema, Mapping) and schema.get("type", "object") == "object":
        return ToolSpec(name, program.description, _as_object(schema)), False
    lowered = lower(schema)
    return ToolSpec(name, program.description, lowered.schema), lowered.wrapped


def _as_object(schema: Mapping[str, Value]) -> Mapping[str, Value]:
    return {"type": "object", **schema} if "properties" in schema else {"type": "object", "properties": {}, **schema}
