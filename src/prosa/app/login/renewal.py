"""The credential of a login while it is used: sent to its origin, renewed in time, by one process at once (X18, X8).

Two processes that find the same token about to end renew it one after the other, and the second takes what the first
got: a refresh token may be good for one use.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime

from prosa.adapters.files.lock import Locked
from prosa.adapters.files.login_store import LoginStore
from prosa.adapters.http.exchange import Bounds, Exchange
from prosa.adapters.mcp.credential import Credential
from prosa.app.client.requests import on_this_machine
from prosa.runtime.errors import LoginError
from prosa.runtime.login import Login
from prosa.site.problems import HttpProblem
from prosa.source.url import origin_of

LOCK_SECONDS = 40.0
"""How long another process may take to renew a login: one exchange, and a little."""

EXCHANGE_SECONDS = 30.0
"""How long one answer may take."""

_BYTES = 256 * 1024
"""Bytes of an answer: metadata and tokens have some thousand."""


def logins(environ: Mapping[str, str]) -> tuple[Login, ...]:
    """Return every login, by the URL of its server. Raises `RunError` for a record that cannot be used."""
    return LoginStore(environ).listed()


def login_for(url: str, environ: Mapping[str, str]) -> Login | None:
    """Return the login for requests to a URL. Raises as `logins` does."""
    return LoginStore(environ).covering(url)


def login_words(login: Login) -> str:
    """Return a login in one line, without its tokens."""
    scope = f", for {login.scope}" if login.scope else ""
    until = end_of(login)
    end = "renewed as it is used" if login.refresh_token else f"until {until}" if until else "without an end"
    return f"{login.server} at {login.issuer}{scope}, {end}"


def end_of(login: Login) -> str | None:
    """Return when the token ends, in UTC; None if it does not, or in a year that no calendar has."""
    if login.expires is None:
        return None
    try:
        return datetime.fromtimestamp(login.expires, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):
        return None


def login_credential(url: str, environ: Mapping[str, str]) -> Credential | None:
    """Return the credential of the login for a URL, renewed as long as it is used. Raises as `logins` does."""
    login = login_for(url, environ)
    return _Renewal(LoginStore(environ), login).credential if login is not None else None


class _Renewal:
    """Meets `prosa.adapters.mcp.credential.Renewal`."""

    def __init__(self, store: LoginStore, login: Login) -> None:
        self._store = store
        self._login = login
        self._is_over = False
        self._headers: dict[str, str] = {}
        self._secrets: dict[str, str] = {}
        self._take(login)
        self.credential = Credential(origin_of(login.server), self._headers, self._secrets, self)

    @property
    def scope(self) -> str:
        return self._login.scope or ""

    async def before(self) -> None:
        if self._login.is_stale(time.time()) and not self._is_over:
            await self._renew()

    async def refused(self) -> bool:
        before = self._login.access_token
        if not self._is_over:
            await self._renew()
        return self._login.access_token != before

    async def _renew(self) -> None:
        """Take what another process renewed meanwhile, else renew it. A refresh token may be good for one use."""
        try:
            async with held(self._store, self._login.server):
                stored = self._store.at(self._login.server)
                if stored is None or stored.access_token == self._login.access_token or stored.is_stale(time.time()):
                    stored = await self._renewed(stored)
                if stored is not None:
                    self._take(stored)
        except LoginError:
            return  # the server has the last word

    async def _renewed(self, stored: Login | None) -> Login | None:
        from prosa.adapters.mcp import oauth

        fresh = None
        if stored is not None:
            with exchange_for(stored.server, allow_private=stored.allow_private) as exchange:
                fresh = await oauth.renew(stored, exchange.send)
        self._is_over = fresh is None
        if fresh is not None:
            self._store.put(fresh)
        return fresh

    def _take(self, login: Login) -> None:
        self._login = login
        self._headers["Authorization"] = f"Bearer {login.access_token}"
        # Earlier tokens stay hidden too: a server may repeat any of them.
        self._secrets[f"login {len(self._secrets)}"] = login.access_token


@contextmanager
def exchange_for(server: str, *, allow_private: bool, seconds: float = EXCHANGE_SECONDS) -> Iterator[Exchange]:
    """Open the way to a server and its authorization server, in bounded time and size, to checked addresses (X8)."""
    bounds = Bounds(
        seconds=seconds,
        size=_BYTES,
        attempts=1,
        allow_private=allow_private,
        named=on_this_machine(server),
        follow=False,
    )
    try:
        with Exchange(bounds) as exchange:
            yield exchange
    except HttpProblem as problem:
        known = "--max-size" not in problem.hint and "--timeout" not in problem.hint
        raise LoginError(problem.message, hint=problem.hint if known else "") from None


@asynccontextmanager
async def held(store: LoginStore, server: str) -> AsyncIterator[None]:
    """Let no other process change a login for the length of a block. Raises `LoginError` where one does for too
    long."""
    until = time.monotonic() + LOCK_SECONDS
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(store.held(server))
                break
            except Locked:
                if time.monotonic() > until:
                    raise LoginError(f"another process is at work on the login at {server}") from None
                await asyncio.sleep(0.05)
        yield
