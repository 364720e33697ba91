"""MCP servers for the runtime: started, listed, called and ended together with all their processes.

In: a program's declarations of its servers (L18) and the user's environment. Out: a `ServerSession` (see
`prosa.runtime.ports`). Refuses to inherit the user's environment (X18) and to wait for ever. Importing this package
loads neither `mcp` nor `anyio`; the first `connect` does.
"""

from __future__ import annotations

from prosa.adapters.mcp.servers import McpServers

__all__ = ["McpServers"]
