"""A login at an MCP server: what is asked for, and what its authorization server gave (X18, X8, RFC 8707).

In: facts that `prosa login` stored. Out: which requests a login covers, and whether it is about to end. Its secrets are
in no representation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar
from urllib.parse import unquote

from msgspec import Struct

from prosa.source.url import Origin, origin_of
from prosa.source.values import PartlyShown

SLACK = 30.0
"""Seconds before its end in which a token is renewed: an answer may take that long."""


class OAuthClient(PartlyShown, Struct, frozen=True, omit_defaults=True):
    """This client as an authorization server knows it; ``method`` is how it proves that to the token endpoint."""

    id: str
    secret: str | None = None
    method: str | None = None

    unshown: ClassVar = frozenset({"secret"})


class LoginUser(Struct, frozen=True):
    """The user at a login. ``approve`` gets the origin of the server and that of an authorization server elsewhere;
    ``visit`` gets the address to open, and with a device the code to enter there. Both may raise."""

    approve: Callable[[Origin, Origin], None]
    visit: Callable[[str, str], Awaitable[None]]


class LoginRequest(Struct, frozen=True):
    """A login that is wanted at the URL ``server``. ``client`` is what the user was given for this server, its id
    perhaps the URL of a metadata document; ``origins`` are further ones where the authorization server may have
    endpoints. ``port`` 0 is any free one."""

    server: str
    scope: str | None = None
    client: OAuthClient | None = None
    device: bool = False
    port: int = 0
    origins: frozenset[Origin] = frozenset()
    allow_private: bool = False
    seconds: float = 300.0


class Login(PartlyShown, Struct, frozen=True, omit_defaults=True):
    """A login: the URL of the server as the user named it, the ``resource`` that the token is for, who issued it, and
    the tokens. ``expires`` is in seconds since 1970. ``allow_private`` is what the user allowed at the login."""

    server: str
    resource: str
    issuer: str
    token_endpoint: str
    client: OAuthClient
    access_token: str
    refresh_token: str | None = None
    expires: float | None = None
    scope: str | None = None
    revocation_endpoint: str | None = None
    allow_private: bool = False

    unshown: ClassVar = frozenset({"access_token", "refresh_token"})

    def covers(self, url: str) -> bool:
        """Return whether the token is for a URL: that of the server, or one at or below the resource."""
        try:
            if origin_of(url) != origin_of(self.server):
                return False
        except ValueError:
            return False
        path = _path(url)
        if ".." in unquote(path).split("/"):
            return False
        return any(path == own or path.startswith(own.rstrip("/") + "/") for own in map(_path, self._places))

    def is_stale(self, now: float) -> bool:
        """Return whether the token has ended, or ends while a request is under way."""
        return self.expires is not None and now > self.expires - SLACK

    @property
    def _places(self) -> tuple[str, ...]:
        same = origin_of(self.resource) == origin_of(self.server)
        return (self.server, self.resource) if same else (self.server,)


def _path(url: str) -> str:
    """Return the path of a URL without a final `/`."""
    return "/" + url.partition("://")[2].partition("?")[0].partition("#")[0].partition("/")[2].rstrip("/")
