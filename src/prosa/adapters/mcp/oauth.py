"""OAuth 2.1 for MCP servers on the client of the `mcp` library: discovery, registration, PKCE, step-up and refresh are
its own. In: what is wanted, and how a request is sent. Out: a `Login`, or `LoginError`.

Added here is what X8 asks for: every request goes to the server, or to an authorization server that the user approved;
nothing secret over plain http to another machine; no redirect to another origin. And the device grant (RFC 8628).
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, TypeAlias
from urllib.parse import parse_qsl, urljoin, urlsplit

import anyio
import httpx2
from anyio import to_thread
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.client.auth.utils import is_valid_client_metadata_url
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)
from mcp_types import LATEST_PROTOCOL_VERSION
from msgspec import Struct
from pydantic import AnyHttpUrl, AnyUrl

from prosa import __version__
from prosa.adapters.mcp.callback import listening
from prosa.data import JsonError, Value, parse_json
from prosa.regex import regex
from prosa.runtime.errors import LoginError
from prosa.runtime.login import Login, LoginRequest, LoginUser, OAuthClient
from prosa.site.answer import MOVED, Answer
from prosa.site.problems import HttpProblem
from prosa.site.request import Request
from prosa.source.secrets import HIDDEN, forms_of
from prosa.source.url import Origin, origin_of

# The words of the library about a failed flow hold what the server sent; ours are without secrets.
_log = logging.getLogger("mcp.client.auth")
_log.addHandler(logging.NullHandler())
_log.propagate = False

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"

PUBLIC: Literal["none"] = "none"
"""How a client on a user's machine proves itself: with PKCE, and without a secret that others could read there."""

LEAST_INTERVAL = 1.0
"""Seconds between two questions whether a device code was entered, whatever a server says."""

MAX_REDIRECTS = 5
"""Redirects of one request within its origin."""

_LENGTH = 300
"""Maximum length of quoted words of a server."""

_SECRET_FIELDS = ("code", "code_verifier", "refresh_token", "access_token", "client_secret", "device_code", "token")

_CLIENT: dict[str, Value] = {"name": "prosa", "version": __version__}
_HELLO: tuple[dict[str, Value], ...] = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": LATEST_PROTOCOL_VERSION, "capabilities": {}, "clientInfo": _CLIENT},
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)
"""What a server is asked until it wants a login: some let everyone in, and close the tools alone."""

_VERSION = regex(r'"protocolVersion"\s*:\s*"([0-9-]{10})"')

Send: TypeAlias = Callable[[Request], Answer]
"""Sends one request to a checked address, in bounded time and size. Raises `HttpProblem`."""


async def log_in(wanted: LoginRequest, user: LoginUser, send: Send) -> Login:
    """Return a new login. Raises `LoginError`, `HttpProblem`, and what ``user`` raises."""
    try:
        with anyio.fail_after(wanted.seconds):
            async with listening(wanted.port) as callback:
                flow = _Flow(wanted, user, send, [] if wanted.device else [callback.url])

                async def visit(url: str) -> None:
                    flow.require_endpoint(url.partition("?")[0])
                    callback.state = dict(parse_qsl(urlsplit(url).query))["state"]
                    await user.visit(url, "")

                flow.context.redirect_handler, flow.context.callback_handler = visit, callback.result
                return await flow.begin()
    except TimeoutError:
        raise LoginError(
            f"no login arrived within {wanted.seconds:g} s; nothing was stored", hint="raise it with --timeout"
        ) from None


async def renew(login: Login, send: Send) -> Login | None:
    """Return a login with a new token; None where it has ended for good. Raises `HttpProblem` and `LoginError` where
    the server gives no answer that says so."""
    flow = _of(login, send)
    if not flow.context.can_refresh_token():
        return None
    return await flow.renew(login)


async def revoke(login: Login, send: Send) -> bool:
    """Revoke the tokens of a login (RFC 7009); False where the server has no such endpoint. Raises `HttpProblem` and
    `LoginError`."""
    if login.revocation_endpoint is None:
        return False
    flow = _of(login, send)
    for kind in ("refresh_token", "access_token"):
        token = getattr(login, kind)
        if token is not None:
            await flow.revoke(login.revocation_endpoint, token, kind)
    return True


class _Memory:
    """The storage that the library asks for: nothing is written before a login is whole."""

    def __init__(self, client: OAuthClientInformationFull | None = None) -> None:
        self.client = client
        self.tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class _Poll(Struct):
    """How long to ask whether a device code was entered, and how often."""

    until: float
    interval: float


class _Flow(OAuthClientProvider):
    """The flow of the library for one login."""

    def __init__(self, wanted: LoginRequest, user: LoginUser, send: Send, redirects: list[str]) -> None:
        grants = [DEVICE_GRANT] if wanted.device else ["authorization_code"]
        own = wanted.client
        by_url = own.id if own is not None and is_valid_client_metadata_url(own.id) else None
        known = (
            None
            if own is None or by_url
            else OAuthClientInformationFull(
                client_id=own.id, client_secret=own.secret, token_endpoint_auth_method=own.method
            )
        )
        metadata = OAuthClientMetadata(
            client_name="Prosa",
            software_version=__version__,
            redirect_uris=[AnyUrl(redirect) for redirect in redirects] or None,
            grant_types=[*grants, "refresh_token"],
            response_types=[] if wanted.device else ["code"],
            token_endpoint_auth_method=PUBLIC,
        )
        self.storage = _Memory(known)
        super().__init__(wanted.server, metadata, self.storage, client_metadata_url=by_url)
        self.wanted = wanted
        self._user = user
        self._transport = _Transport(self, send)
        self._origin = origin_of(wanted.server)
        self._server_url = httpx2.URL(wanted.server)
        self._approved = {self._origin}

    async def begin(self) -> Login:
        """Ask the server, which starts the flow when it answers that it wants a login."""
        headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": LATEST_PROTOCOL_VERSION}
        async with httpx2.AsyncClient(transport=self._transport, trust_env=False, timeout=None) as client:
            for message in _HELLO:
                response = await self._explained(
                    client.post(self.wanted.server, json=message, headers=headers, auth=self)
                )
                if session := response.headers.get("mcp-session-id"):
                    headers["mcp-session-id"] = session
                if version := _VERSION.search(response.text):
                    headers["mcp-protocol-version"] = version[1]
                if self.storage.tokens is not None or not response.is_success:
                    break
            if "mcp-session-id" in headers:
                auth = (
                    self if self.storage.tokens is not None else httpx2.USE_CLIENT_DEFAULT
                )  # ending a session is no reason for a login
                with contextlib.suppress(HttpProblem, LoginError):
                    await client.delete(self.wanted.server, headers=headers, auth=auth)
        if self.storage.tokens is None:
            raise self._no_login(response.status_code)
        if response.status_code in (401, 403):
            raise self._not_accepted(response)
        return self._login()

    async def renew(self, login: Login) -> Login | None:
        """Return the login with the answer of its token endpoint."""
        response = await self._explained(self._transport.handle_async_request(await self._refresh_token()))
        if response.status_code in (400, 401):
            return None
        if not await self._handle_refresh_response(response):
            raise LoginError(f"{login.issuer} did not renew the login: it answered with status {response.status_code}")
        return self._login()

    async def revoke(self, endpoint: str, token: str, kind: str) -> None:
        """Revoke one token."""
        form = {"token": token, "token_type_hint": kind, "client_id": self.context.client_info.client_id}  # type: ignore[union-attr]  # `_of` sets it
        form, headers = self.context.prepare_token_auth(form, {})
        request = httpx2.Request("POST", endpoint, data=form, headers=headers)
        response = await self._explained(self._transport.handle_async_request(request))
        if response.status_code != 200:
            raise LoginError(f"{origin_of(endpoint)} did not revoke it: status {response.status_code}")

    # ---- what the library leaves to a client ----

    async def _perform_authorization(self) -> httpx2.Request:
        self._use_known_method()
        if self.wanted.device:
            return await self._device_request()
        metadata = self.context.oauth_metadata
        if metadata is not None and "S256" not in (metadata.code_challenge_methods_supported or ()):
            raise LoginError(
                f"{metadata.issuer} does not say that it supports PKCE with S256, and nothing was sent to it"
            )
        return await super()._perform_authorization()

    def _use_known_method(self) -> None:
        """Choose how a client with a secret that the user was given proves itself."""
        own, metadata = self.context.client_info, self.context.oauth_metadata
        if own is None or own.client_secret is None or own.token_endpoint_auth_method is not None:
            return
        known = (metadata.token_endpoint_auth_methods_supported if metadata else None) or ["client_secret_basic"]
        own.token_endpoint_auth_method = "client_secret_basic" if "client_secret_basic" in known else known[0]

    async def _device_request(self) -> httpx2.Request:
        """Return the request for a token, which is repeated until the code was entered (RFC 8628, section 3.4)."""
        client, endpoint = self.context.client_info, self._transport.device_endpoint
        assert client is not None
        if endpoint is None:
            raise LoginError(f"{self._issuer} has no login by code", hint="leave --device out")
        common = {"client_id": client.client_id, "resource": self.context.get_resource_url()}
        form, headers = self.context.prepare_token_auth(dict(common), {})
        if self.context.client_metadata.scope:
            form["scope"] = self.context.client_metadata.scope
        response = await self._transport.handle_async_request(
            httpx2.Request("POST", endpoint, data=form, headers=headers)
        )
        body = _object(response)
        device, code, place = body.get("device_code"), body.get("user_code"), body.get("verification_uri")
        if response.status_code != 200 or not (isinstance(device, str) and isinstance(code, str)):
            raise LoginError(f"{self._issuer} gave no code: {self._transport.words(response)}")
        if not isinstance(place, str) or not _keeps_secrets(place):
            raise LoginError(f"{self._issuer} names no safe address to enter the code at")
        await self._user.visit(place, code)
        seconds = _number(body.get("expires_in"), self.wanted.seconds)
        poll = _Poll(time.monotonic() + seconds, max(LEAST_INTERVAL, _number(body.get("interval"), 5.0)))
        form, headers = self.context.prepare_token_auth(
            {"grant_type": DEVICE_GRANT, "device_code": device, **common}, {}
        )
        request = httpx2.Request("POST", self._get_token_endpoint(), data=form, headers=headers)
        request.extensions["prosa.poll"] = poll
        return request

    # ---- where requests go (X8) ----

    def admit(self, request: httpx2.Request) -> None:
        """Refuse a request that leads to an origin which neither the user named nor approved. Raises `LoginError`."""
        url = str(request.url)
        if request.method == "POST" and request.url != self._server_url:
            self.require_endpoint(url)
        try:
            origin = origin_of(url)
        except ValueError as error:
            raise LoginError(f"{self._origin} names an address that {error}") from None
        if not origin.keeps_secrets:
            raise LoginError(f"{origin} is refused: nothing secret is sent over plain http to another machine")
        if origin in self._approved:
            return
        advertised = self.context.auth_server_url
        if advertised is None or origin_of(advertised) != origin:
            raise LoginError(
                f"{self._origin} names {origin} for its metadata, which is another origin; no request is sent there"
            )
        self._user.approve(self._origin, origin)
        self._approved.add(origin)

    def require_endpoint(self, url: str) -> None:
        """Refuse an endpoint that is not at the origin of its authorization server: the code of one server must not go
        to another (RFC 9700, section 4.4). Raises `LoginError`."""
        metadata = self.context.oauth_metadata
        base = str(metadata.issuer) if metadata is not None else self.wanted.server
        if metadata is not None and metadata.registration_endpoint is None:
            self._require_registration(url)
        origin = origin_of(url)
        if origin != origin_of(base) and origin not in self.wanted.origins:
            raise LoginError(
                f"the authorization server {base} names an endpoint at {origin}, which is another origin",
                hint=f"if both belong together, allow it: --allow-origin {origin}",
            )
        if not origin.keeps_secrets:
            raise LoginError(f"{origin} is refused: nothing secret is sent over plain http to another machine")
        self._approved.add(origin)

    def _require_registration(self, url: str) -> None:
        if url == urljoin(self.wanted.server, "/register") and self.context.client_info is None:
            raise LoginError(
                f"{self._issuer} registers no clients by itself",
                hint=f'register one there, and write its id in your settings: [servers."{self._origin}"], and below it '
                'client-id = "…"',
            )

    # ---- words and results ----

    @property
    def _issuer(self) -> str:
        metadata = self.context.oauth_metadata
        return str(metadata.issuer) if metadata is not None else str(self._origin)

    async def _explained(self, work: Awaitable[httpx2.Response]) -> httpx2.Response:
        """Return the response; errors of the library become ours, without a secret."""
        try:
            return await work
        except OAuthFlowError as error:
            raise LoginError(f"the login at {self._origin} failed: {self._transport.hide(str(error))}") from None
        except (ValueError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            reason = self._transport.hide(str(error).partition("\n")[0])
            raise LoginError(f"the login at {self._origin} failed, for an answer cannot be read: {reason}") from None

    def _no_login(self, status: int) -> LoginError:
        if status in (404, 405):
            return LoginError(f"there is no MCP server at {self.wanted.server}: status {status}", hint="check the URL")
        return LoginError(f"{self.wanted.server} asks for no login: it answered with status {status}")

    def _not_accepted(self, response: httpx2.Response) -> LoginError:
        challenge = self._transport.hide(response.headers.get("www-authenticate", ""))
        status = response.status_code
        hint = "name the scopes that it wants with --scope" if status == 403 else ""
        return LoginError(
            f"{self.wanted.server} did not accept the token it led to: status {status} {challenge}", hint=hint
        )

    def _login(self) -> Login:
        context, tokens = self.context, self.context.current_tokens
        client, metadata = context.client_info, context.oauth_metadata
        assert client is not None and tokens is not None
        revocation = metadata.revocation_endpoint if metadata is not None else None
        return Login(
            server=self.wanted.server,
            resource=context.get_resource_url(),
            issuer=self._issuer,
            token_endpoint=self._get_token_endpoint(),
            client=OAuthClient(client.client_id, client.client_secret, client.token_endpoint_auth_method),
            access_token=tokens.access_token,
            refresh_token=tokens.refresh_token,
            expires=context.token_expiry_time,
            scope=tokens.scope,
            revocation_endpoint=str(revocation) if revocation is not None else None,
            allow_private=self.wanted.allow_private,
        )


def _of(login: Login, send: Send) -> _Flow:
    """Return the flow of a login that was made before, to the endpoints that were approved then."""
    places = {origin_of(url) for url in (login.token_endpoint, login.revocation_endpoint) if url is not None}
    wanted = LoginRequest(login.server, client=None, origins=frozenset(places), allow_private=login.allow_private)
    flow = _Flow(wanted, LoginUser(_no_one_asked, _no_visit), send, [])
    own, endpoint = login.client, AnyHttpUrl(login.token_endpoint)
    context = flow.context
    context.server_url, context.protocol_version = login.resource, LATEST_PROTOCOL_VERSION
    context.client_info = OAuthClientInformationFull(
        client_id=own.id, client_secret=own.secret, token_endpoint_auth_method=own.method
    )
    context.oauth_metadata = OAuthMetadata(
        issuer=AnyHttpUrl(login.issuer), authorization_endpoint=endpoint, token_endpoint=endpoint
    )
    if login.revocation_endpoint is not None:
        context.oauth_metadata.revocation_endpoint = AnyHttpUrl(login.revocation_endpoint)
    context.current_tokens = OAuthToken(
        access_token=login.access_token, refresh_token=login.refresh_token, scope=login.scope
    )
    return flow


def _no_one_asked(server: Origin, place: Origin) -> None:
    raise LoginError(f"{server} leads to {place}, which was not approved")


async def _no_visit(_url: str, _code: str) -> None:
    raise LoginError("a login needs a person")


class _Transport(httpx2.AsyncBaseTransport):
    """Sends what the flow wants to send, after `_Flow.admit`, and remembers what is secret in it."""

    def __init__(self, flow: _Flow, send: Send) -> None:
        self.device_endpoint: str | None = None
        self._flow = flow
        self._send = send
        self._secrets: set[str] = set()
        self._redirects = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return one exchange; a question that is to be repeated, after its last repetition."""
        poll: _Poll | None = request.extensions.get("prosa.poll")
        while True:
            response = await self._once(request)
            error = _object(response).get("error") if poll is not None and response.status_code == 400 else None
            if poll is None or error not in ("authorization_pending", "slow_down"):
                return response
            poll.interval += 5.0 if error == "slow_down" else 0.0
            if time.monotonic() + poll.interval > poll.until:
                raise LoginError("the code was not entered in time; nothing was stored")
            await anyio.sleep(poll.interval)

    async def _once(self, request: httpx2.Request) -> httpx2.Response:
        self._flow.admit(request)
        asked = _house(request, await request.aread())
        self._note(dict(parse_qsl(asked.body)) if isinstance(asked.body, str) else {})
        answer = await to_thread.run_sync(self._send, asked, abandon_on_cancel=True)
        response = _response(answer, request)
        self._watch(response)
        return response

    def _watch(self, response: httpx2.Response) -> None:
        """Note secrets and the endpoint that the library does not know, and refuse redirects."""
        body = _object(response)
        self._note(body)
        device = body.get("device_authorization_endpoint")
        if isinstance(body.get("token_endpoint"), str):
            self.device_endpoint = device if isinstance(device, str) else None
            methods = body.get("token_endpoint_auth_methods_supported")
            public = not isinstance(methods, list) or PUBLIC in methods
            self._flow.context.client_metadata.token_endpoint_auth_method = PUBLIC if public else None
        if response.status_code in MOVED:
            self._refuse_redirect(response)
        elif response.status_code == 401 and self._flow.wanted.scope is not None:
            # The library takes the first scope of a challenge, before that of any metadata.
            challenge = response.headers.get("www-authenticate", "")[: _LENGTH * 10]
            rest = challenge.partition(" ")[2]
            response.headers["www-authenticate"] = f'Bearer scope="{self._flow.wanted.scope}"' + (rest and f", {rest}")

    def _refuse_redirect(self, response: httpx2.Response) -> None:
        self._redirects += 1
        here = str(response.request.url)
        try:
            place = origin_of(urljoin(here, response.headers.get("location", "")))
        except ValueError:
            raise LoginError(f"{origin_of(here)} redirects to an address that is not an http URL") from None
        if place != origin_of(here):
            raise LoginError(
                f"{origin_of(here)} redirects to {place}, which is another origin; no request is sent there"
            )
        if self._redirects > MAX_REDIRECTS:
            raise LoginError(f"{place} redirects more than {MAX_REDIRECTS} times")

    def _note(self, values: Mapping[str, Value]) -> None:
        self._secrets.update(text for name in _SECRET_FIELDS if isinstance(text := values.get(name), str) and text)

    def hide(self, text: str) -> str:
        """Return words of a server, short and without a secret: it may repeat what it was sent."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            for form in forms_of(secret):
                text = text.replace(form, HIDDEN)
        text = " ".join(text.split())
        return text if len(text) <= _LENGTH else f"{text[:_LENGTH]}…"

    def words(self, response: httpx2.Response) -> str:
        """Return what an answer says of an error."""
        body = _object(response)
        return self.hide(f"status {response.status_code} {body.get('error', '')} {body.get('error_description', '')}")


def _house(request: httpx2.Request, body: bytes) -> Request:
    """Return a request of the library as the ports of the house send it."""
    parts = request.url
    headers = {
        name: value for name, value in request.headers.items() if name not in _FRAMING and not name.startswith(":")
    }
    kind = headers.pop("content-type", "")
    content: Value = None
    if body:
        headers["Content-Type"] = kind
        content = parse_json(body.decode()) if kind.startswith("application/json") else body.decode()
    query = tuple(parse_qsl(parts.query.decode(), keep_blank_values=True))
    return Request(request.method, str(parts.copy_with(query=None, fragment=None)), query, headers, content)


_FRAMING = frozenset(
    {"host", "content-length", "accept-encoding", "connection", "user-agent", "transfer-encoding", "content-encoding"}
)


def _response(answer: Answer, request: httpx2.Request) -> httpx2.Response:
    headers = {name: value for name, value in answer.headers.items() if name not in _FRAMING}
    return httpx2.Response(answer.status, headers=headers, content=answer.body, request=request)


def _object(response: httpx2.Response) -> Mapping[str, Value]:
    """Return the JSON object of an answer; empty for any other."""
    try:
        body = parse_json(response.content.decode("utf-8-sig"))
    except (UnicodeDecodeError, JsonError):
        return {}
    return body if isinstance(body, dict) else {}


def _number(value: Value, default: float) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else default


def _keeps_secrets(url: str) -> bool:
    try:
        return origin_of(url).keeps_secrets
    except ValueError:
        return False
