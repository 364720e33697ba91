"""The credential of a request (H12, HA14, HA15, X8). In: what the action declares and the token of the caller. Out:
where it is sent and how it is shown; nothing if the action declares no authentication.

Tokens are not verified. OAuth 2 is a bearer token that the caller already has.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import Struct

from prosa.site.contract import DEFAULT_KEY_NAME, Auth
from prosa.site.problems import RequestProblem
from prosa.site.values import unsendable
from prosa.source.secrets import HIDDEN
from prosa.source.url import Origin
from prosa.source.values import PartlyShown

FRAMING = frozenset(
    {"accept", "connection", "content-length", "content-type", "host", "te", "trailer", "transfer-encoding", "upgrade"}
)
"""Headers that say what a request is: a page must not put a key into them."""


class Credential(PartlyShown, Struct, frozen=True):
    """A secret in its place. ``text`` is the header or parameter as sent, ``shown`` the same with `***`."""

    place: Literal["header", "query"]
    name: str
    text: str
    shown: str

    unshown: ClassVar = frozenset({"text"})


def credential_of(auth: Auth, token: str | None, origin: Origin, problems: list[RequestProblem]) -> Credential | None:
    """Return where the token is sent. None without a token, and if the action requires none (HA14)."""
    if token is None or not auth.wants_token:
        return None
    wrong = wrong_token(token) or _unsafe(origin)
    if auth.type == "api_key" and auth.place == "header" and auth.name.lower() in FRAMING:
        problems.append(RequestProblem("action", "auth.name", f"`{auth.name}` is a header that no key can be sent in"))
    if wrong:
        problems.append(RequestProblem("token", "", wrong))
        return None
    if auth.type == "api_key":
        name = auth.name or DEFAULT_KEY_NAME[auth.place]
        return Credential("query" if auth.place == "query" else "header", name, token, HIDDEN)
    if auth.type == "cookie":
        name = f"{auth.name}=" if auth.name else ""
        return Credential("header", "Cookie", f"{name}{token}", f"{name}{HIDDEN}")
    return Credential("header", "Authorization", f"Bearer {token}", f"Bearer {HIDDEN}")


def wrong_token(token: str) -> str | None:
    """Return why a token cannot be sent in a header; None for one that can."""
    if not token.strip():
        return "is empty"
    if wrong := unsendable(token):
        return wrong
    if not all(" " <= character <= "~" for character in token):
        return "must be printable ASCII; a header carries nothing else"
    return "must not begin or end with a space" if token != token.strip() else None


def _unsafe(origin: Origin) -> str | None:
    return None if origin.keeps_secrets else f"is not sent over plain http to {origin.host}; use https"
