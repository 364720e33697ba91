"""Requests over HTTP as ASGI hands them to an application, and what this sends: the types of the keys that are used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Literal, NotRequired, Required, TypeAlias, TypedDict


class Scope(TypedDict):
    """One request without its body, or the life of a server."""

    type: Literal["http", "websocket", "lifespan"]
    method: str
    path: str
    query_string: bytes
    headers: Iterable[tuple[bytes, bytes]]
    raw_path: NotRequired[bytes]
    root_path: NotRequired[str]
    client: NotRequired[tuple[str, int] | None]
    server: NotRequired[tuple[str, int | None] | None]
    scheme: NotRequired[str]
    http_version: NotRequired[str]
    asgi: NotRequired[Mapping[str, str]]


class RequestEvent(TypedDict, total=False):
    """A piece of the body of a request, the end of its connection, or the start and the end of the server."""

    type: Required[Literal["http.request", "http.disconnect", "lifespan.startup", "lifespan.shutdown"]]
    body: bytes
    more_body: bool


class ResponseStart(TypedDict):
    """The head of an answer."""

    type: Literal["http.response.start"]
    status: int
    headers: list[tuple[bytes, bytes]]


class ResponseBody(TypedDict):
    """A piece of its body."""

    type: Literal["http.response.body"]
    body: bytes
    more_body: NotRequired[bool]


class LifespanResult(TypedDict):
    """Whether an application has started or ended, and why it failed."""

    type: Literal[
        "lifespan.startup.complete",
        "lifespan.startup.failed",
        "lifespan.shutdown.complete",
        "lifespan.shutdown.failed",
    ]
    message: NotRequired[str]


class WebsocketClose(TypedDict):
    """The refusal of a websocket."""

    type: Literal["websocket.close"]
    code: int


Sent: TypeAlias = ResponseStart | ResponseBody | LifespanResult | WebsocketClose
Receive: TypeAlias = Callable[[], Awaitable[RequestEvent]]
Send: TypeAlias = Callable[[Sent], Awaitable[None]]
Asgi: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An application."""
