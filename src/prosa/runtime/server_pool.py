"""MCP servers of a run: each program's are started once, at its first call, and end with the run (L21)."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from msgspec import Struct, field

from prosa.runtime.ports import ServerConfig, ServerSession, ToolServers


class ServerPool(Struct):
    """Running servers by what was declared. ``stack`` belongs to the run and ends them."""

    servers: ToolServers
    stack: AsyncExitStack
    _open: dict[tuple[tuple[str, ...], str], ServerSession] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def session(self, declared: tuple[ServerConfig, ...], folder: str) -> ServerSession:
        """The session of a program's servers. Raises `ToolServerError` when one does not start (LA11)."""
        key = (tuple(repr(server) for server in declared), folder)
        async with self._lock:
            if key not in self._open:
                self._open[key] = await self.stack.enter_async_context(self.servers.connect(declared, cwd=folder))
            return self._open[key]
