"""An MCP server with a login, and its authorization server, on free ports of the loopback: as strict as the strictest.

PKCE is verified, redirect, resource and scope must be those of the request, a code is good once, refresh tokens rotate
and one that is used twice ends the login. A test changes ``said`` or ``rules`` to make it hostile.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.loopback import answering

JSON = "application/json"


class Place:
    """Both servers, and all that they were asked."""

    def __init__(self) -> None:
        self.server, self.issuer = "", ""
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        """Each request: which of the two, method with path, and the form or the query."""
        self.tokens: list[str] = []
        """The token of each request."""
        self.clients: dict[str, dict[str, Any]] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.access: dict[str, str] = {}
        """Each good token, with its scope."""
        self.refresh: dict[str, dict[str, str]] = {}
        self.used: set[str] = set()
        self.devices: dict[str, dict[str, Any]] = {}
        self.every: set[str] = set()
        """Every secret that was ever issued or received."""
        self.scope = "read"
        self.lifetime = 3600
        self.said: dict[str, Any] = {}
        """What replaces a key of the metadata; None removes it."""
        self.resource_said: dict[str, Any] = {}
        self.rules: dict[str, Callable[[Handler], bool]] = {}
        """What answers a path in place of these servers."""
        self.open: frozenset[str] = frozenset()
        """Methods of the protocol that need no token."""
        self.call_scope = ""
        """A further right that calls of tools need."""
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"{self.server}/mcp"

    def issue(self, scope: str, client: str) -> dict[str, Any]:
        token, refresh = f"at-{secrets.token_urlsafe(12)}", f"rt-{secrets.token_urlsafe(12)}"
        self.access[token] = scope
        self.refresh[refresh] = {"scope": scope, "client": client}
        self.every |= {token, refresh}
        found = {"access_token": token, "token_type": "Bearer", "refresh_token": refresh, "expires_in": self.lifetime}
        return found | {"scope": scope}

    def metadata(self) -> dict[str, Any]:
        found = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "registration_endpoint": f"{self.issuer}/register",
            "revocation_endpoint": f"{self.issuer}/revoke",
            "device_authorization_endpoint": f"{self.issuer}/device",
            "scopes_supported": ["read", "write"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        }
        return {name: value for name, value in (found | self.said).items() if value is not None}

    def paths(self, which: str) -> list[str]:
        return [path for name, path, _ in self.asked if name == which]


class Handler(BaseHTTPRequestHandler):
    """One request to one of the two."""

    place: Place
    which: str
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None: ...

    def do_GET(self) -> None:
        self._take()

    def do_POST(self) -> None:
        self._take()

    def do_DELETE(self) -> None:
        self._take()

    def _take(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        self.body = self.rfile.read(length).decode()
        parts = urlsplit(self.path)
        kind = self.headers.get("content-type", "")
        self.form = dict(parse_qsl(self.body if kind.startswith("application/x-www-form") else parts.query))
        place = self.place
        with place.lock:
            place.tokens.append(self.headers.get("authorization", "").removeprefix("Bearer "))
            place.asked.append((self.which, f"{self.command} {parts.path}", self.form))
            place.every |= {self.form[key] for key in ("code", "code_verifier", "device_code") if key in self.form}
        rule = place.rules.get(parts.path)
        if rule is not None and rule(self):
            return
        name = parts.path.strip("/").replace("/", "_").replace("-", "_").replace(".", "")
        getattr(self, f"at_{self.which}_{name}", self.missing)()

    def say(self, status: int, value: Any = None, **headers: str) -> None:
        data = b"" if value is None else json.dumps(value).encode()
        self.raw(status, data, **headers)

    def raw(self, status: int, data: bytes, kind: str = JSON, **headers: str) -> None:
        self.send_response(status)
        for key, value in {"Content-Type": kind, "Content-Length": str(len(data)), **headers}.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def missing(self) -> None:
        self.say(404)

    def refuse(self, error: str, status: int = 400) -> None:
        self.say(status, {"error": error})

    # ---- the MCP server ----

    def at_server_mcp(self) -> None:
        place = self.place
        token = self.headers.get("authorization", "").removeprefix("Bearer ")
        about = f'resource_metadata="{place.server}/.well-known/oauth-protected-resource/mcp"'
        method = json.loads(self.body)["method"] if self.body else ""
        if method in place.open:
            return self.answer()
        if token not in place.access:
            return self.say(401, WWW_Authenticate=f'Bearer error="invalid_token", {about}')
        needed = f"{place.scope} {place.call_scope if method == 'tools/call' else ''}".split()
        if missing := set(needed) - set(place.access[token].split()):
            wanted = " ".join(sorted(missing))
            said = f'Bearer error="insufficient_scope", scope="{wanted}", {about}'
            return self.say(403, WWW_Authenticate=said)
        if self.command == "DELETE":
            return self.say(200)
        if self.command == "GET":
            return self.say(405)
        return self.answer()

    def answer(self) -> None:
        message = json.loads(self.body)
        result = self.result(message)
        if result is None:
            return self.say(202)
        self.say(200, {"jsonrpc": "2.0", "id": message["id"], **result}, mcp_session_id="s1")
        return None

    def result(self, message: dict[str, Any]) -> dict[str, Any] | None:
        match message["method"]:
            case "initialize":
                info = {"name": "closed", "version": "1"}
                found = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
                return {"result": found}
            case "tools/list":
                return {"result": {"tools": [{"name": "tell", "inputSchema": {"type": "object"}}]}}
            case "tools/call":
                said = f"you sent {self.headers.get('authorization')}"
                return {"result": {"content": [{"type": "text", "text": said}]}}
            case str() if "id" in message:
                return {"error": {"code": -32601, "message": "unknown"}}
            case _:
                return None

    def at_server_well_known_oauth_protected_resource_mcp(self) -> None:
        place = self.place
        found = {"resource": place.url, "authorization_servers": [place.issuer], "scopes_supported": [place.scope]}
        self.say(200, {name: each for name, each in (found | place.resource_said).items() if each is not None})

    # ---- the authorization server ----

    def at_issuer_well_known_oauth_authorization_server(self) -> None:
        self.say(200, self.place.metadata())

    def at_issuer_register(self) -> None:
        asked = json.loads(self.body)
        name = f"client-{len(self.place.clients)}"
        found = {**asked, "client_id": name}
        if asked.get("token_endpoint_auth_method") != "none":
            found |= {
                "client_secret": f"cs-{secrets.token_urlsafe(8)}",
                "token_endpoint_auth_method": "client_secret_basic",
            }
            self.place.every.add(found["client_secret"])
        self.place.clients[name] = found
        self.say(201, found)

    def at_issuer_authorize(self) -> None:
        place, asked = self.place, self.form
        client = place.clients.get(asked.get("client_id", ""))
        if client is None or asked.get("redirect_uri") not in client["redirect_uris"]:
            return self.refuse("invalid_request")
        if asked.get("resource") != place.url or asked.get("code_challenge_method") != "S256" or not asked.get("state"):
            return self.refuse("invalid_request")
        code = f"code-{secrets.token_urlsafe(8)}"
        place.codes[code] = asked
        place.every.add(code)
        answer = {"code": code, "state": asked["state"], "iss": place.issuer}
        self.say(302, Location=f"{asked['redirect_uri']}?{urlencode(answer)}")
        return None

    def at_issuer_device(self) -> None:
        if self.form.get("client_id") not in self.place.clients or self.form.get("resource") != self.place.url:
            return self.refuse("invalid_client")
        code = f"dc-{secrets.token_urlsafe(8)}"
        self.place.devices[code] = {"scope": self.form.get("scope", ""), "asked": 0}
        self.place.every.add(code)
        found = {"device_code": code, "user_code": "WDJB-MJHT", "verification_uri": f"{self.place.issuer}/enter"}
        self.say(200, found | {"expires_in": 60, "interval": 1})
        return None

    def at_issuer_token(self) -> None:
        place, form = self.place, self.form
        own = self._client()
        if own is None:
            return self.refuse("invalid_client", 401)
        if form.get("resource") != place.url:
            return self.refuse("invalid_target")
        with place.lock:
            return self._granted(own)

    def _client(self) -> str | None:
        name, secret = self.form.get("client_id", ""), self.form.get("client_secret")
        if self.headers.get("authorization", "").startswith("Basic "):
            name, _, secret = base64.b64decode(self.headers["authorization"][6:]).decode().partition(":")
        known = self.place.clients.get(name)
        return name if known is not None and known.get("client_secret") == secret else None

    def _granted(self, own: str) -> None:
        place, form = self.place, self.form
        match form.get("grant_type"):
            case "authorization_code":
                asked = place.codes.pop(form.get("code", ""), None)
                digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
                challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
                if asked is None or asked["client_id"] != own or asked["redirect_uri"] != form.get("redirect_uri"):
                    return self.refuse("invalid_grant")
                if asked["code_challenge"] != challenge:
                    return self.refuse("invalid_grant")
                return self.say(200, place.issue(asked.get("scope", ""), own))
            case "refresh_token":
                token = form.get("refresh_token", "")
                if token in place.used:  # somebody has a copy: the whole login ends (RFC 9700, section 4.14)
                    place.access.clear()
                    place.refresh.clear()
                known = place.refresh.pop(token, None)
                place.used.add(token)
                if known is None or known["client"] != own:
                    return self.refuse("invalid_grant")
                return self.say(200, place.issue(known["scope"], own))
            case "urn:ietf:params:oauth:grant-type:device_code":
                device = place.devices.get(form.get("device_code", ""))
                if device is None:
                    return self.refuse("invalid_grant")
                device["asked"] += 1
                if device["asked"] < 3:
                    return self.refuse("authorization_pending" if device["asked"] == 1 else "slow_down")
                return self.say(200, place.issue(device["scope"], own))
            case _:
                return self.refuse("unsupported_grant_type")

    def at_issuer_revoke(self) -> None:
        token = self.form.get("token", "")
        self.place.access.pop(token, None)
        self.place.refresh.pop(token, None)
        self.say(200)


@contextmanager
def authorizing(*, one_origin: bool = False) -> Iterator[Place]:
    """The two servers; with ``one_origin`` they are one."""
    place = Place()
    with ExitStack() as stack:
        if one_origin:
            both = type("Both", (_Both,), {"place": place})
            place.server = place.issuer = f"http://127.0.0.1:{stack.enter_context(answering(both))}"
        else:
            server = type("Server", (Handler,), {"place": place, "which": "server"})
            issuer = type("Issuer", (Handler,), {"place": place, "which": "issuer"})
            place.server = f"http://127.0.0.1:{stack.enter_context(answering(server))}"
            place.issuer = f"http://127.0.0.1:{stack.enter_context(answering(issuer))}"
        yield place


class _Both(Handler):
    @property
    def which(self) -> str:  # type: ignore[override]
        path = urlsplit(self.path).path
        return "server" if path.endswith("/mcp") else "issuer"


def browse(url: str) -> None:
    """A browser that follows the redirects to the end, as that of a user who says yes."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        answer.read()
