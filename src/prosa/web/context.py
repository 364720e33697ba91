"""What the endpoints of a site share: the live site, what the user chose, and the reader of a request (X23).

The token comes in `Authorization: Bearer`, or once in a form, which then gives a cookie: HttpOnly, SameSite=Strict, and
made of a random number and a signature, never of the token. A token in a URL is ignored. Forms of a signed-in reader
carry a second signature, so that no other site can fill them in (H20).
"""

from __future__ import annotations

import hmac
import math
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from msgspec import Struct, field

from prosa.app.site.discovery import links_of
from prosa.asgi import Scope
from prosa.render.page.model import Frame
from prosa.site.discovery import Link
from prosa.source.values import PartlyShown
from prosa.web.answer import header_of
from prosa.web.limits import network_of
from prosa.web.run.problem import MINUTE, too_many

if TYPE_CHECKING:
    from prosa.app.site.live import LiveSite
    from prosa.web.run.runner import Runner


class SignIn(Protocol):
    """What signing in needs of an application: its sessions, the wrong tokens, its path, and what its pages share."""

    @property
    def sessions(self) -> Sessions:
        """The sessions, which know the token."""
        ...

    @property
    def attempts(self) -> Attempts:
        """Wrong tokens by client."""
        ...

    @property
    def prefix(self) -> str:
        """The path of the application, without a slash at the end."""
        ...

    def frame(self, reader: Reader, /) -> Frame:
        """Return what all pages for a reader share."""
        ...


MAX_CLIENTS = 10_000
"""Maximum number of clients whose wrong tokens are counted."""


class Attempts(Struct):
    """Wrong tokens by client: after ``most`` of them in a minute no further one is checked."""

    most: int = 5
    now: Callable[[], float] = time.monotonic
    _failed: OrderedDict[str, deque[float]] = field(default_factory=OrderedDict)

    def require(self, client: str) -> None:
        """Raise `Refused` for a client that has guessed too often."""
        now, failed = self.now(), self._failed.get(network_of(client))
        while failed and now - failed[0] >= MINUTE:
            failed.popleft()
        if failed and len(failed) >= self.most:
            wait = math.ceil(MINUTE - (now - failed[0]))
            raise too_many("That was the wrong token too often.", wait)

    def failed(self, client: str) -> None:
        """Note a wrong token."""
        name = network_of(client)
        self._failed.setdefault(name, deque()).append(self.now())
        self._failed.move_to_end(name)
        while len(self._failed) > MAX_CLIENTS:
            self._failed.popitem(last=False)


class Web(Struct, frozen=True):
    """One site over HTTP.

    ``prefix`` is its path, without a slash at the end; ``origin`` its `https://host`, empty if unknown. ``closed``
    requires the token for every request. ``runner`` is None if nothing runs (X6); ``attempts`` are wrong tokens.
    ``mcp`` is the address of the MCP server over the same documents, empty without one.
    """

    site: LiveSite
    sessions: Sessions
    prefix: str = ""
    origin: str = ""
    closed: bool = False
    runner: Runner | None = None
    attempts: Attempts = field(default_factory=Attempts)
    mcp: str = ""

    @property
    def links(self) -> tuple[Link, ...]:
        """The links to the files by which agents find what there is."""
        return links_of(self.site, self.mcp)

    def frame(self, reader: Reader) -> Frame:
        """Return what all pages for a reader share."""
        return Frame(
            name=self.site.options.name,
            prefix=self.prefix,
            origin=self.origin,
            can_run=self.runner is not None,
            signed_in=reader.signed_in,
            csrf=reader.csrf,
            links=self.links,
        )


COOKIE = "prosa-session"
LIFETIME = 12 * 3600
"""Seconds after which a reader signs in again: a working day."""

MAX_ENDED = 10_000
"""Sessions that were ended before their time, and are remembered as such."""


class Reader(Struct, frozen=True):
    """``via`` is how the reader sent the token, empty for anonymous. ``csrf`` is required in forms of a reader with a
    cookie; a bearer token is proof in itself."""

    via: Literal["", "bearer", "cookie"] = ""
    csrf: str = ""

    @property
    def signed_in(self) -> bool:
        """Whether the token was shown."""
        return bool(self.via)


ANYBODY = Reader()
"""Who has shown nothing."""


class Sessions(PartlyShown, Struct, frozen=True):
    """The sessions of one server. ``token`` is the secret of the readers; if empty, sign-in is disabled. ``secure`` is
    set if the site is reached over https. ``name`` is that of the cookie: browsers send one to every port of a host."""

    token: str
    secure: bool = False
    name: str = COOKIE
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    _ended: OrderedDict[str, int] = field(default_factory=OrderedDict)

    unshown: ClassVar = frozenset({"token", "_secret", "_ended"})

    def reader(self, scope: Scope) -> Reader:
        """Return who sends this request."""
        authorization = header_of(scope, b"authorization")
        if authorization:
            known = is_bearer(authorization) and self.knows(authorization.partition(" ")[2].strip())
            return Reader("bearer") if known else ANYBODY
        for value in _cookies(scope, self.name):
            if self._holds(value):
                return Reader("cookie", self._signed("csrf", value))
        return ANYBODY

    def end(self, scope: Scope) -> None:
        """End the sessions whose cookies come with a request. A copied cookie stops working."""
        now = int(time.time())
        for value in _cookies(scope, self.name):
            if self._holds(value):
                plain = value.rpartition(".")[0]
                self._ended[plain] = _expiry(plain)
        for plain in [token for token, expires in self._ended.items() if expires <= now]:
            del self._ended[plain]
        while len(self._ended) > MAX_ENDED:
            self._ended.popitem(last=False)

    def knows(self, token: str) -> bool:
        """Return whether this is the token; takes as long for a wrong one."""
        return bool(self.token) and hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode("utf-8"))

    def cookie(self, path: str = "/") -> str:
        """Return the value of `Set-Cookie` for one who has shown the token."""
        plain = f"{secrets.token_urlsafe(18)}.{int(time.time()) + LIFETIME}"
        value = f"{plain}.{self._signed('session', plain)}"
        flags = f"Path={path}; HttpOnly; SameSite=Strict; Max-Age={LIFETIME}" + ("; Secure" if self.secure else "")
        return f"{self.name}={value}; {flags}"

    def no_cookie(self, path: str = "/") -> str:
        """Return the value of `Set-Cookie` that ends a session."""
        return f"{self.name}=; Path={path}; HttpOnly; SameSite=Strict; Max-Age=0"

    def accepts_form(self, reader: Reader, csrf: str) -> bool:
        """Return whether a form may do something for a reader: a cookie alone is no proof of intent."""
        if reader.via == "bearer":
            return True
        return reader.via == "cookie" and hmac.compare_digest(csrf.encode("utf-8", "replace"), reader.csrf.encode())

    def _holds(self, value: str) -> bool:
        plain, _, signature = value.rpartition(".")
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), self._signed("session", plain).encode()):
            return False
        return plain not in self._ended and _expiry(plain) > time.time()

    def _signed(self, purpose: str, value: str) -> str:
        return hmac.new(self._secret, f"{purpose}\0{value}".encode("utf-8", "replace"), sha256).hexdigest()


def is_bearer(authorization: str) -> bool:
    """Return whether a value of `Authorization` shows a token."""
    return authorization.partition(" ")[0].lower() == "bearer"


def _cookies(scope: Scope, ours: str) -> Iterator[str]:
    """Yield the values of our cookies in a request."""
    cookies = header_of(scope, b"cookie")
    for part in cookies.replace(",", ";").split(";") if cookies else ():
        name, _, value = part.strip().partition("=")
        if name == ours:
            yield value


def _expiry(plain: str) -> int:
    """Return when a session ends, in seconds of the epoch; 0 if unlimited."""
    expires = plain.rpartition(".")[2]
    return int(expires) if expires.isdigit() else 0
