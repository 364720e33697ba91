"""Startup and shutdown of the user's own application (the lifespan protocol of ASGI).

An application without support, which raises or returns, is still served; one that reports a failure is not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from prosa.web.answer import Scope

Asgi = Callable[[Scope, Any, Any], Awaitable[None]]

END_SECONDS = 5.0
"""How long an application may take to end."""


class ApiLife:
    """The life of one application."""

    def __init__(self, api: Asgi, scope: Scope) -> None:
        self._api, self._scope = api, dict(scope)
        self._told: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        self._said: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> str:
        """Start the application. Return why it failed, or an empty text."""
        self._task = asyncio.create_task(self._run())
        await self._told.put({"type": "lifespan.startup"})
        said = await self._said.get()
        return str(said.get("message") or "it failed") if said["type"] == "lifespan.startup.failed" else ""

    async def end(self) -> None:
        """Stop the application, and wait until it has stopped."""
        if self._task is None or self._task.done():
            return
        await self._told.put({"type": "lifespan.shutdown"})
        await asyncio.wait([self._task], timeout=END_SECONDS)
        self._task.cancel()

    async def _run(self) -> None:
        with suppress(Exception):
            await self._api(self._scope, self._told.get, self._said.put)
        await self._said.put({"type": "unknown"})
