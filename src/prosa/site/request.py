"""The request of an action, built according to §8.4 of the specification and the decisions HA8–HA19. Pure.

The order is: method and URL, query, body, credential (H12, HA14, HA15, X8), `Accept`. A `RequestError` has every
problem at once. Tokens are not verified. OAuth 2 is a bearer token that the caller already has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal
from urllib.parse import parse_qsl, quote, urldefrag, urlencode, urljoin, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from prosa.data import Value
from prosa.diagnostics.nearest import nearest
from prosa.schema import Schema
from prosa.site.contract import DEFAULT_KEY_NAME, Auth, Contract, read_contract
from prosa.site.problems import RequestError, RequestProblem, refuse
from prosa.site.values import body_bytes, body_of, path_texts, query_pairs, unsendable
from prosa.source.secrets import HIDDEN
from prosa.source.url import MAX_URL, Origin, origin_of, requoted_path
from prosa.source.values import PartlyShown

_PARTS = ("query", "path", "body")
"""What stays as it is in a path that a site wrote; its escapes are its own."""


class Request(Struct, frozen=True):
    """An HTTP request. ``url`` is absolute and has no query; ``query`` are its pairs, not encoded yet; ``headers`` and
    ``query`` are without the credential. ``body`` is a value for JSON and a text for other types."""

    method: str
    url: str
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    body: Value = None
    credential: Credential | None = None
    once: bool = False
    """Whether it is a GET that may change something, and so is not sent again where it may have arrived."""

    @property
    def origin(self) -> Origin:
        """Where it goes."""
        return origin_of(self.url)

    @property
    def content(self) -> bytes | None:
        """The bytes of the body."""
        return body_bytes(self.body, self.headers.get("Content-Type", ""))

    def sent_headers(self, *, show: bool = True) -> dict[str, str]:
        """Return the headers with the credential; `***` in its place without ``show``."""
        own = self.credential
        extra = {own.name: own.text if show else own.shown} if own and own.place == "header" else {}
        return {**self.headers, **extra}

    def sent_query(self, *, show: bool = True) -> list[tuple[str, str]]:
        """Return the query with the credential; `***` in its place without ``show``."""
        own = self.credential
        if own is None or own.place != "query":
            return list(self.query)
        return [*(pair for pair in self.query if pair[0] != own.name), (own.name, own.text if show else own.shown)]

    def address(self, *, show: bool = True) -> str:
        """Return the whole URL as it is sent."""
        query = urlencode(self.sent_query(show=show), safe="*", quote_via=quote)
        return f"{self.url}?{query}" if query else self.url

    def as_dict(self, *, show: bool = False) -> dict[str, Value]:
        """Return the keys of `prosa call --dry-run --format json`."""
        return {
            "method": self.method,
            "url": self.url,
            "query": [list(pair) for pair in self.sent_query(show=show)],
            "headers": {**self.sent_headers(show=show)},
            "body": self.body,
        }

    def without_credential(self) -> Request:
        """Return the same without its secret, for another origin (HA12)."""
        return replace(self, credential=None)


def build_request(
    action: Contract | Mapping[str, Value],
    parts: Mapping[str, Value] | None = None,
    *,
    site_root: str,
    token: str | None = None,
    allow_undeclared: bool = False,
    body_schema: Schema | None = None,
    idempotency_key: str | None = None,
) -> Request:
    """Return the request. ``parts`` is ``{"query": {…}, "path": {…}, "body": …}``, each part optional.

    ``body_schema`` is the fetched schema of an action that names it by URL. Raises `RequestError`.
    """
    contract = action if isinstance(action, Contract) else read_contract(action)
    problems: list[RequestProblem] = []
    if parts is not None and not isinstance(parts, Mapping):
        raise refuse("input", "", "must be an object with `query`, `path` and `body`")
    query, path, body = _parts(parts or {}, problems)
    url, written = _address(contract, path, site_root, problems)
    credential = credential_of(contract.auth, token, origin_of(url), problems)
    already = credential.name if credential and credential.place == "query" else ""
    pairs = query_pairs(contract, query, problems, allow_undeclared=allow_undeclared, already=already)
    kept = [pair for pair in written if pair[0] not in {name for name, _ in pairs}]
    content, media_type = body_of(contract, body, problems, schema=body_schema, allow_undeclared=allow_undeclared)
    headers = {"Content-Type": media_type, "Accept": contract.accept.strip()}
    if contract.changes_state and idempotency_key:
        if not (idempotency_key.isascii() and idempotency_key.isprintable()):
            problems.append(RequestProblem("input", "idempotency_key", "must be printable ASCII on one line"))
        headers["Idempotency-Key"] = idempotency_key
    headers = {name: value for name, value in headers.items() if value}
    request = Request(contract.method, url, (*kept, *pairs), headers, content, credential, bool(contract.changing))
    if not problems and len(request.address()) > MAX_URL:
        problems.append(RequestProblem("query", "", f"makes a URL of more than {MAX_URL} characters"))
    if problems:
        raise RequestError(problems)
    return request


def get_request(url: str, accept: str, headers: Mapping[str, str] | None = None) -> Request:
    """Return the GET of a URL, without its fragment."""
    where, _, query = urldefrag(url)[0].partition("?")
    return Request("GET", where, tuple(parse_qsl(query, keep_blank_values=True)), {"Accept": accept, **(headers or {})})


def root_of(site_root: str) -> str:
    """Return the root of a site as a base of URLs. Raises `RequestError`."""
    try:
        origin_of(site_root)
    except ValueError as error:
        raise refuse("site_root", "", f"{error}; as in https://example.org") from None
    parts = urlsplit(site_root)
    if parts.query or parts.fragment:
        raise refuse("site_root", "", "must have neither a query nor a fragment")
    return f"{parts.scheme}://{parts.netloc}{parts.path if parts.path.endswith('/') else f'{parts.path}/'}"


def _parts(
    parts: Mapping[str, Value], problems: list[RequestProblem]
) -> tuple[Mapping[str, Value], Mapping[str, Value], Value]:
    for name in parts:
        if name not in _PARTS:
            near = nearest(str(name), _PARTS)
            hint = f"; did you mean `{near}`?" if near else "; the parts are `query`, `path` and `body`"
            problems.append(RequestProblem("input", str(name), f"is not part of an input{hint}"))
    mappings = []
    for name in ("query", "path"):
        part = parts.get(name)
        if part is not None and not isinstance(part, Mapping):
            problems.append(RequestProblem("input", name, "must be an object of names and values"))
        mappings.append({str(key): value for key, value in part.items()} if isinstance(part, Mapping) else {})
    return mappings[0], mappings[1], parts.get("body")


def _address(
    contract: Contract, path: Mapping[str, Value], site_root: str, problems: list[RequestProblem]
) -> tuple[str, list[tuple[str, str]]]:
    """Return the URL without its query, and the query that the action writes itself."""
    root = root_of(site_root)
    texts = path_texts(contract, path, problems)
    expanded = _expanded(contract.url, texts, problems)
    where, _, query = expanded.partition("?")
    try:
        url = urljoin(root, where)
        origin = origin_of(url)
    except ValueError as error:
        raise refuse("action", "url", str(error)) from None
    if origin != origin_of(root):
        words = f"leads to {origin}, another origin than the site ({origin_of(root)}); such an action is not called"
        raise refuse("action", "url", words)
    parts = urlsplit(url)
    encoded = requoted_path(parts.path or "/")
    return f"{parts.scheme}://{parts.netloc}{encoded}", parse_qsl(query, keep_blank_values=True)


def _expanded(url: str, texts: Mapping[str, str], problems: list[RequestProblem]) -> str:
    """Return the URL with every `{name}` filled in. A value must not be what moves a path upwards (HA10)."""
    path, mark, query = url.partition("?")
    segments = []
    for segment in path.split("/"):
        filled = _filled(segment, texts)
        if filled != segment and filled in (".", ".."):
            problems.append(
                RequestProblem("path", segment.strip("{}"), f"must not be `{filled}`, which leads elsewhere")
            )
        segments.append(filled)
    return "/".join(segments) + mark + _filled(query, texts)


def _filled(text: str, texts: Mapping[str, str]) -> str:
    for name, value in texts.items():
        text = text.replace(f"{{{name}}}", value)
    return text


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
