"""Logins at MCP servers (X18): made and ended. A door gives the URL of the server and what asks the user; no document
names a login or begins one.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urldefrag

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files.login_store import LoginStore
from prosa.app.login.renewal import EXCHANGE_SECONDS, exchange_for, held
from prosa.app.run.server_credentials import own_client
from prosa.app.settings import settings_for
from prosa.runtime.errors import LoginError
from prosa.runtime.login import Login, LoginRequest, LoginUser
from prosa.source.url import origin_of


class LoggedOut(Struct, frozen=True):
    """A login that ended. ``revoked`` is false where the server cannot revoke; ``problem`` is why it did not."""

    login: Login
    revoked: bool
    problem: str = ""


def server_url(written: str) -> str:
    """Return the URL of a server in the form in which logins have it. Raises `LoginError`."""
    try:
        origin = origin_of(written)
    except ValueError as error:
        raise LoginError(
            f"{written!r}: the URL of a server {error}", hint="as in https://mcp.example.org/mcp"
        ) from None
    if not origin.keeps_secrets:
        raise LoginError(f"{origin} is refused: nothing secret is sent over plain http to another machine")
    return f"{origin}/{urldefrag(written)[0].partition('://')[2].partition('/')[2]}"


async def log_in(wanted: LoginRequest, user: LoginUser, environ: Mapping[str, str]) -> Login:
    """Return a login that was made and stored. Raises `LoginError`, `RunError` for settings that are wrong, and what
    ``user`` raises; then nothing was stored."""
    from prosa.adapters.mcp import oauth

    asked = replace(wanted, client=own_client(wanted.server, settings_for(None, environ), environ))
    store = LoginStore(environ)
    store.listed()  # a record that cannot be used is reported before the user is sent away
    seconds = min(wanted.seconds, EXCHANGE_SECONDS)
    with exchange_for(wanted.server, allow_private=wanted.allow_private, seconds=seconds) as exchange:
        login = await oauth.log_in(asked, user, exchange.send)
    async with held(store, login.server):
        store.put(login)
    return login


async def log_out(server: str, environ: Mapping[str, str]) -> LoggedOut:
    """End a login: revoke its tokens where the server can do that, and delete them here in any case. Raises
    `LoginError` where there is none."""
    from prosa.adapters.mcp import oauth

    store = LoginStore(environ)
    async with held(store, server):
        login = store.at(server)
        if login is None:
            raise LoginError(f"there is no login at {server}", hint="to list them: prosa login")
        revoked, problem = False, ""
        try:
            with exchange_for(server, allow_private=login.allow_private) as exchange:
                revoked = await oauth.revoke(login, exchange.send)
        except LoginError as error:
            problem = error.message
        store.remove(server)
    return LoggedOut(login, revoked, problem)
