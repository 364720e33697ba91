"""A tool of an MCP server under its mangled name (L20). The own name is kept, never parsed back (LA12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from prosa.runtime.messages import ToolSpec
from prosa.runtime.ports import ServerSession, ServerTool, ToolResult


@dataclass(frozen=True, slots=True)
class McpTool:
    """One tool of a running server."""

    session: ServerSession
    tool: ServerTool
    spec: ToolSpec
    kind: ClassVar[Literal["mcp"]] = "mcp"

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls the server; a crash or timeout is an error result (X18)."""
        return await self.session.call(self.tool.server, self.tool.name, arguments)
