"""The client of a site: nodes, schemas, answers and the links between them, with every bound in one place (H1, X8, X9).

What `call`, `visit` and the tools of a model send goes through here. A node that moved to another origin is not used,
since its actions belong to another site. A token is only returned for the origin it was set for; the settings name
variables, not tokens, and a variable is only read when a site requires its token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from msgspec.structs import replace

from prosa.adapters.http.exchange import Bounds, Exchange
from prosa.app.client.tokens import NO_TOKENS, SiteTokens
from prosa.schema import SchemaError
from prosa.site.answer import Answer, json_of
from prosa.site.contract import Auth, Contract, object_schema
from prosa.site.follow import FollowProblem, followed, index_of, index_urls
from prosa.site.node import SiteNode, same_site
from prosa.site.page import NODE_FORMS, NoNode, read_page
from prosa.site.problems import HttpProblem, RequestError, RequestProblem, refuse
from prosa.site.request import Request, credential_of, get_request
from prosa.source.url import origin_of

if TYPE_CHECKING:
    from prosa.schema import Schema

__all__ = [
    "BEARER",
    "SCHEMA_FORMS",
    "UNAUTHORIZED",
    "Bounds",
    "SiteClient",
    "on_this_machine",
    "schema_in",
    "schema_url",
]


SCHEMA_FORMS = "application/schema+json, application/json"

UNAUTHORIZED = 401
BEARER = Auth(type="bearer")
"""How a page gets its token: it declares no `auth`, and this is the scheme of H12 that needs nothing else."""


class SiteClient:
    """The connections of one command. ``tokens`` are those that a page may be given; none by default."""

    def __init__(self, bounds: Bounds, tokens: SiteTokens = NO_TOKENS) -> None:
        self._exchange = Exchange(bounds)
        self._tokens = tokens

    def __enter__(self) -> SiteClient:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._exchange.__exit__(kind, error, at)

    def send(self, request: Request) -> Answer:
        """Return the answer to a request, whatever its status. Raises `HttpProblem`."""
        return self._exchange.send(request)

    def get(self, url: str, accept: str = NODE_FORMS, headers: Mapping[str, str] | None = None) -> Answer:
        """Return the answer to a plain GET, whatever its status.

        The token of this call goes along to its own origin; one of the settings only where the site answers 401.
        Raises `HttpProblem`, `RequestError` for a token that cannot be sent.
        """
        request = get_request(url, accept, headers)
        token = self._tokens.at_once(request.origin)
        answer = self.send(_with_token(request, token))
        if answer.status != UNAUTHORIZED or token is not None or not _same_origin(answer.url, url):
            return answer
        token = self._tokens.when_asked(request.origin)
        return answer if token is None else self.send(_with_token(request, token))

    def fetch(self, url: str, *, any_origin: bool = False) -> tuple[SiteNode, Answer]:
        """Return the node at a URL, and the answer it was read from. Where a page of HTML names its Markdown, that is
        read.

        Raises `HttpProblem` where the site gives none, and where it moved to another origin, without ``any_origin``.
        """
        for _ in range(2):
            answer = self._found(url, any_origin=any_origin)
            try:
                read = read_page(answer.body, answer.media_type, answer.url, answer.headers)
            except NoNode as error:
                raise HttpProblem(f"{answer.url} {error}") from None
            if isinstance(read, SiteNode):
                return read, answer
            url = read.url
        raise HttpProblem(f"{url}: the page that should be Markdown is HTML too")

    def _found(self, url: str, *, any_origin: bool) -> Answer:
        answer = self.get(url)
        if not answer.is_success:
            asks = answer.status == UNAUTHORIZED and self._tokens is not NO_TOKENS
            hint = "give its token with --token-env NAME" if asks else ""
            raise HttpProblem(f"{url}: {answer.status} {answer.reason}".rstrip(), hint)
        if not any_origin and not _same_origin(answer.url, url):
            raise HttpProblem(f"the node is at {answer.url}, on another origin", "go there, if you trust it")
        return answer

    def schema(self, contract: Contract, root: str) -> Schema | None:
        """Return the schema that an action names by URL, from its own site (HA16); None where it names none. Raises
        `RequestError`, `HttpProblem`."""
        if not contract.body_schema_url:
            return None
        url = schema_url(contract, root)
        return schema_in(self.send(get_request(url, SCHEMA_FORMS)), url, root)


def schema_url(contract: Contract, root: str) -> str:
    """Return the URL of the schema that an action names, on its own site. Raises `RequestError`."""
    try:
        url = urljoin(root, contract.body_schema_url)
        foreign = origin_of(url) != origin_of(root)
    except ValueError as error:
        raise refuse("action", "body_schema", str(error)) from None
    if foreign:
        raise refuse("action", "body_schema", "is the URL of another site, and is not fetched")
    return url


def schema_in(answer: Answer, url: str, root: str) -> Schema:
    """Return the schema in the answer of its URL. Raises `RequestError` where there is none, or it is another
    site's."""
    value = json_of(answer) if answer.is_success and _same_origin(answer.url, root) else None
    try:
        if value is not None:
            return object_schema(value)
    except SchemaError as error:
        raise refuse("action", "body_schema", f"is not a JSON Schema: {error}") from None
    raise refuse("action", "body_schema", f"{url} gives no JSON Schema ({answer.status} {answer.reason})")


def on_this_machine(url: str) -> tuple[str, int] | None:
    """Return the host and port of a URL that names this machine itself, as `Bounds.named` wants it; None for any
    other."""
    try:
        origin = origin_of(url)
    except ValueError:
        return None
    return (origin.host, origin.port) if origin.is_loopback else None


def _same_origin(url: str, other: str) -> bool:
    return origin_of(url) == origin_of(other)


def _with_token(request: Request, token: str | None) -> Request:
    problems: list[RequestProblem] = []
    credential = credential_of(BEARER, token, request.origin, problems)
    if problems:
        raise RequestError(problems)
    return replace(request, credential=credential)


def visit_site(
    url: str, follow: Sequence[str], bounds: Bounds, tokens: SiteTokens, *, any_origin: bool = False
) -> SiteNode:
    """Return the node at ``url``, or where the links lead that ``follow`` names: by number, rel, target, text or path.
    With ``any_origin`` also to other sites. Raises `FollowProblem`, `HttpProblem`, `RequestError`."""
    with SiteClient(bounds, tokens) as client:
        node, _ = client.fetch(url, any_origin=any_origin)
        for what in follow:
            node = _step(client, node, what, any_origin=any_origin)
    return node


def _step(client: SiteClient, node: SiteNode, what: str, *, any_origin: bool) -> SiteNode:
    """Return the node that a link leads to."""
    url = followed(node, what, lambda: _index(client, node))
    if not any_origin and not same_site(url, node.url):
        raise FollowProblem(f"the link leads to {url}, another site", "go there with --any-origin, if you trust it")
    return client.fetch(url, any_origin=any_origin)[0]


def _index(client: SiteClient, node: SiteNode) -> Mapping[str, str]:
    """Return the index of the node's site (HA1); empty where it has none."""
    for url in index_urls(node.url):
        answer = client.get(url, "application/json")
        if answer.is_success and (index := index_of(json_of(answer), url)):
            return index
    return {}
