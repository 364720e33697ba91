"""The actions of a site as OpenAPI 3.1, from the same offers that tools of a run and of agents are made of (X15, X40).

In: actions as nodes declare them. Out: plain data. An action that is not offered to a model is not here either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl

from msgspec import Struct, field

from prosa.data import Plain, Value
from prosa.regex import regex
from prosa.site.contract import DEFAULT_KEY_NAME, Auth
from prosa.site.offer import Offer, body_schema, offer_of, takes_body

VERSION = "3.1.0"
ANY_HOST = "http://localhost"
"""What the URLs of actions are resolved against where the address of the site is unknown."""

_ODD = regex(r"[^A-Za-z0-9_.-]")
_PROBLEM: Value = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "status": {"type": "integer"}, "detail": {"type": "string"}},
}
_INDEXES = {
    "nodes": ("Every node of the site: id, type, title and the URL of its Markdown", "id", "type", "title", "md_url"),
    "actions": ("Every action of the site, as its node declares it", "id", "node_id", "method", "url"),
}


class _Document(Struct):
    """What has been written of the document."""

    paths: dict[str, dict[str, Plain]] = field(default_factory=dict)
    schemas: dict[str, Plain] = field(default_factory=lambda: {"Problem": _PROBLEM})
    security: dict[str, Plain] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)

    def own_id(self, text: str) -> str:
        """Return an id for an operation that no other one has."""
        name = made = _ODD.sub("-", text)
        number = 1
        while made in self.ids:
            number += 1
            made = f"{name}-{number}"
        self.ids.add(made)
        return made


def openapi(
    name: str, actions: Iterable[Mapping[str, Value]], *, origin: str = "", prefix: str = "", indexes: bool = True
) -> dict[str, Plain]:
    """Return the description of the site called ``name``. URLs of actions start at the root of the host (H11), those
    of its ``indexes``, which a site beside another one does not have, at its ``prefix``."""
    made = _Document()
    for index, (about, *fields) in _INDEXES.items() if indexes else ():
        made.paths[f"{prefix}/mdh/{index}.json"] = {"get": _index(made.own_id(f"mdh.{index}"), index, about, fields)}
    for action in actions:
        offer = offer_of(action, f"{origin or ANY_HOST}/")
        if isinstance(offer, Offer):
            _add(made, offer, action)
    return {
        "openapi": VERSION,
        "info": {"title": name or "site", "version": "1"},
        "servers": [{"url": origin or "/"}],
        "paths": made.paths,
        "components": {"schemas": made.schemas, "securitySchemes": made.security},
    }


def _index(own: str, index: str, about: str, fields: list[str]) -> dict[str, Plain]:
    item: Plain = {"type": "object", "properties": {name: {"type": "string"} for name in fields}, "required": fields}
    properties: Plain = {"spec": {"type": "string"}, index: {"type": "array", "items": item}}
    schema: Plain = {"type": "object", "properties": properties, "required": ["spec", index]}
    answer: Plain = {"description": about, "content": {"application/json": {"schema": schema}}}
    return {"operationId": own, "summary": about, "security": [], "responses": {"200": answer}}


def _add(made: _Document, offer: Offer, action: Mapping[str, Value]) -> None:
    """Add an action, unless another one with its method and URL is there: a page may repeat it (HA13)."""
    contract = offer.contract
    path, _, query = _path(contract.url).partition("?")
    methods = made.paths.setdefault(path, {})
    method = contract.method.lower()
    if method in methods:
        return
    own = made.own_id(contract.id)
    operation: dict[str, Plain] = {"operationId": own, "summary": offer.title or contract.id}
    if isinstance(about := action.get("description"), str) and about:
        operation["description"] = about
    fixed = list(_fixed(query))
    taken = {parameter["name"] for parameter in fixed}
    operation["parameters"] = [
        *fixed,
        *(parameter for parameter in _parameters(offer) if parameter["name"] not in taken),
    ]
    if takes_body(contract):
        place = f"{own}.body"
        made.schemas[place], required = body_schema(contract, f"#/components/schemas/{place}")
        content: Plain = {contract.media_type: {"schema": {"$ref": f"#/components/schemas/{place}"}}}
        operation["requestBody"] = {"required": required, "content": content}
    operation["security"] = _security(made, contract.auth)
    operation["responses"] = {
        "default": _answer("What went wrong", "application/problem+json", {"$ref": "#/components/schemas/Problem"}),
        "2XX": _answer("The answer", _media_type(contract.accept), {}),
    }
    methods[method] = operation


def _answer(about: str, media_type: str, schema: Plain) -> Plain:
    return {"description": about, "content": {media_type: {"schema": schema}}}


def _path(url: str) -> str:
    """Return the path of a URL of this site, with its query."""
    behind = url.partition("://")[2]
    return f"/{behind.partition('/')[2]}" if behind else url


def _media_type(accept: str) -> str:
    return accept.partition(",")[0].partition(";")[0].strip() or "application/json"


def _fixed(query: str) -> Iterable[dict[str, Value]]:
    """Yield the parameters that the URL of an action has already; a repeated one is a list."""
    by_name: dict[str, list[Value]] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        by_name.setdefault(name, []).append(value)
    for name, values in by_name.items():
        schema: Value = {"const": values[0]} if len(values) == 1 else {"type": "array", "const": values}
        yield {"name": name, "in": "query", "required": True, "schema": schema}


def _parameters(offer: Offer) -> Iterable[dict[str, Value]]:
    contract = offer.contract
    for name in (*contract.path_names, *contract.parameters):
        place = "path" if name in contract.path_names else "query"
        yield {"name": name, "in": place, "required": name in offer.required, "schema": offer.properties[name]}


def _security(made: _Document, auth: Auth) -> list[Value]:
    """Return what the request has to show; none where nothing is declared (HA14)."""
    if not auth.wants_token:
        return []
    scheme: dict[str, Value] = {"type": "http", "scheme": "bearer"}
    name = auth.type
    if auth.type == "api_key":
        key = auth.name or DEFAULT_KEY_NAME[auth.place]
        scheme = {"type": "apiKey", "in": auth.place, "name": key}
        name = f"api_key.{auth.place}.{_ODD.sub('-', key)}"
    elif auth.type == "cookie":
        key = auth.name or "session"
        scheme = {"type": "apiKey", "in": "cookie", "name": key}
        name = f"cookie.{_ODD.sub('-', key)}"
    if auth.token_help:
        scheme["description"] = auth.token_help
    made.security.setdefault(name, scheme)
    return [{name: []}]
