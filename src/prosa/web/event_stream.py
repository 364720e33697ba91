"""Server-sent events: how a stream of them begins, what one looks like, and when its reader is gone.

An event is JSON on one line, so that no text of a model can be a line of the stream.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

from prosa.asgi import Receive, Send
from prosa.data import Plain
from prosa.web.answer import NEVER, answer

EVENTS = "text/event-stream"
HEARTBEAT = 15.0
"""Seconds of silence after which a comment is sent, so that intermediaries keep the connection."""

SEND_SECONDS = 60.0
"""How long a client may stop reading."""


def written(name: str, data: Mapping[str, Plain]) -> bytes:
    """Return one event. JSON in ASCII contains no line ends."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode("ascii")


async def begin_events(send: Send) -> None:
    """Send the head of a stream."""
    head = answer(b"", f"{EVENTS}; charset=utf-8", cache=NEVER, headers=[("x-accel-buffering", "no")])
    headers = [header for header in head.headers if header[0] != b"content-length"]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


async def send_event(send: Send, body: bytes, *, more: bool = True) -> None:
    """Send events. Raises `TimeoutError` for a client that does not read."""
    if body or not more:
        async with asyncio.timeout(SEND_SECONDS):
            await send({"type": "http.response.body", "body": body, "more_body": more})


async def gone(receive: Receive) -> None:
    """End when the client has gone away. The body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass
