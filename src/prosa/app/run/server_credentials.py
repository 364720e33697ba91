"""Credentials for MCP servers over HTTP, from the user's own settings (X18, X7). In: the settings. Out: what belongs to
the origin of a server, and the same in words without a secret. A document names none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from prosa.adapters.mcp.credential import Credential, Credentials
from prosa.app.login.renewal import login_credential, login_for
from prosa.app.run.service import WithStoredKeys
from prosa.regex import regex
from prosa.runtime.errors import LoginError, RunError
from prosa.runtime.login import OAuthClient
from prosa.runtime.program import Program, reachable
from prosa.settings.model import ServerSettings
from prosa.site.request import FRAMING, wrong_token
from prosa.source.url import Origin, origin_of, secret_origin

if TYPE_CHECKING:
    from prosa.settings import Settings

_NAME = regex(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z")
_OWN = FRAMING | {"mcp-session-id", "mcp-protocol-version", "last-event-id"}
"""Headers that the protocol itself sets."""


def server_credentials(settings: Settings, environ: Mapping[str, str]) -> Credentials:
    """Return what gives the credential for a URL. Raises `RunError` for settings that are wrong, or too open."""
    known, stored = _by_origin(settings), WithStoredKeys(environ)

    def credential(url: str) -> Credential | None:
        try:
            origin = origin_of(url)
        except ValueError:
            return None
        server_settings = known.get(origin)
        if server_settings is None or not any(_variables(server_settings)):
            return login_credential(url, environ)
        return _credential(origin, server_settings, stored)

    return credential


def credential_words(program: Program, settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    """Return what a run would send to the servers of a program and its imports, by URL, for a plan: the names of
    variables, and never a value. Raises `RunError` for settings that are wrong."""
    urls = {server.url for reached in reachable(program) for server in reached.servers if server.url is not None}
    if not urls:
        return {}
    known, stored = _by_origin(settings), WithStoredKeys(environ)
    return {url: _words(known, stored, url) for url in urls}


def own_client(server: str, settings: Settings, environ: Mapping[str, str]) -> OAuthClient | None:
    """Return the client that the user's settings name for logins at a server; None where they name none. Raises
    `LoginError`, and `RunError` for settings that are wrong."""
    origin = origin_of(server)
    server_settings = _by_origin(settings).get(origin, ServerSettings())
    if any(_variables(server_settings)):
        hint = "to use a login, remove `token-env` and `header-env` of that server"
        raise LoginError(f"your settings send a credential to {origin} already", hint=hint)
    if server_settings.client_id is None:
        return None
    name = server_settings.client_secret_env
    secret = WithStoredKeys(environ).get(name, "") if name is not None else None
    if secret == "":
        raise LoginError(
            f"{name}: there is no such variable, or it is empty", hint=f"your settings name it for {origin}"
        )
    return OAuthClient(server_settings.client_id, secret)


def _words(known: Mapping[Origin, ServerSettings], environ: WithStoredKeys, url: str) -> str:
    try:
        settings = known.get(origin_of(url))
    except ValueError:
        settings = None
    if settings is None or not any(_variables(settings)):
        login = login_for(url, environ.environ)
        return f"with your login at {login.issuer}" if login is not None else "without a credential"
    names = [name if environ.get(name) else f"{name}, which is not set" for _, _, name in _variables(settings)]
    return f"with the credential in {' and '.join(names)}"


def configured(
    settings: Settings, environ: Mapping[str, str]
) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Yield each origin that has a credential, with the variables of it that are set, and those that are not. Raises
    `RunError` for settings that are wrong."""
    stored = WithStoredKeys(environ)
    for origin, server in _by_origin(settings).items():
        names = [name for _, _, name in _variables(server)]
        names += [server.client_secret_env] if server.client_secret_env is not None else []
        here = tuple(name for name in names if stored.get(name))
        yield str(origin), here, tuple(name for name in names if name not in here)


def _credential(origin: Origin, settings: ServerSettings, environ: Mapping[str, str]) -> Credential:
    headers, secrets = dict[str, str](), dict[str, str]()
    for header, scheme, name in _variables(settings):
        value = environ.get(name, "")
        if not value:
            raise RunError(
                f"{name}: there is no such variable, or it is empty", hint=f"your settings name it for {origin}"
            )
        if wrong := wrong_token(value):
            raise RunError(f"the value of {name} {wrong}", hint=f"your settings name it for {origin}")
        headers[header], secrets[name] = f"{scheme}{value}", value
    return Credential(origin, headers, secrets)


def _variables(settings: ServerSettings) -> Iterator[tuple[str, str, str]]:
    """Yield the headers that are sent, each with what stands in front of its value, and its variable."""
    if settings.token_env is not None:
        yield "Authorization", "Bearer ", settings.token_env
    yield from ((header, "", name) for header, name in settings.header_env.items())


def _by_origin(settings: Settings) -> dict[Origin, ServerSettings]:
    servers: dict[Origin, ServerSettings] = {}
    for written, server in settings.servers.items():
        try:
            origin = secret_origin(written)
        except ValueError as error:
            raise _refused(written, str(error)) from None
        for name in server.header_env:
            if not _NAME.match(name) or name.lower() in _OWN:
                raise _refused(written, f"names {name[:64]!r}, a header that no credential can be sent in")
            if name.lower() == "authorization" and server.token_env is not None:
                raise _refused(written, "has both `token-env` and a header `Authorization`; one of them is enough")
        servers[origin] = server
    return servers


def _refused(written: str, why: str) -> RunError:
    return RunError(f'the setting `servers."{written}"` {why}', hint='as in: [servers."https://mcp.example.org"]')
