"""Startup and shutdown of the user's own application (the lifespan protocol of ASGI).

An application without support, which raises or returns, is still served; one that reports a failure is not.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from prosa.asgi import Asgi, RequestEvent, Scope, Sent

END_SECONDS = 5.0
"""How long an application may take to end."""


class ApiLife:
    """The life of one application."""

    def __init__(self, api: Asgi, scope: Scope) -> None:
        self._api, self._scope = api, scope.copy()
        self._events: asyncio.Queue[RequestEvent] = asyncio.Queue()
        self._answers: asyncio.Queue[Sent | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> str:
        """Start the application. Return why it failed, or an empty text."""
        self._task = asyncio.create_task(self._run())
        await self._events.put({"type": "lifespan.startup"})
        answer = await self._answers.get()
        if answer is None or answer["type"] != "lifespan.startup.failed":
            return ""
        return str(answer.get("message") or "it failed")

    async def end(self) -> None:
        """Stop the application, and wait until it has stopped."""
        if self._task is None or self._task.done():
            return
        await self._events.put({"type": "lifespan.shutdown"})
        await asyncio.wait([self._task], timeout=END_SECONDS)
        self._task.cancel()

    async def _run(self) -> None:
        with suppress(Exception):
            await self._api(self._scope, self._events.get, self._answers.put)
        await self._answers.put(None)  # it ended without an answer
