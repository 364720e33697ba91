"""Requests over HTTP as ASGI hands them to an application, and what this sends: the keys that are used here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Literal, NotRequired, Required, TypeAlias, TypedDict


class Scope(TypedDict):
    """One request without its body."""

    type: Literal["http", "websocket", "lifespan"]
    method: str
    path: str
    query_string: bytes
    headers: Iterable[tuple[bytes, bytes]]
    raw_path: NotRequired[bytes]
    client: NotRequired[tuple[str, int] | None]


class RequestEvent(TypedDict, total=False):
    """A piece of the body of a request, or word that the client left."""

    type: Required[Literal["http.request", "http.disconnect"]]
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


Receive: TypeAlias = Callable[[], Awaitable[RequestEvent]]
Send: TypeAlias = Callable[[ResponseStart | ResponseBody], Awaitable[None]]
