"""The contract of an action as a client needs it (H11–H16). In: an action as plain data, from front matter or from the
JSON form of a node. Out: a `Contract`, or `RequestError` with all reasons why it cannot be called.

Unknown fields are ignored (HA11); `prosa check` reports duplicate and drifting declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from prosa.data import Value
from prosa.diagnostics.nearest import nearest
from prosa.dialects.mdh.fields import (
    METHODS,
    accept_form,
    action_url_form,
    content_type_form,
    header_name_form,
    template_names,
)
from prosa.dialects.mdh.jsonpath import JsonPathError, Parts, parse_jsonpath
from prosa.dialects.mdh.read import changing_word
from prosa.schema import Schema, SchemaError
from prosa.site.problems import RequestError, RequestProblem, refuse

AUTH_TYPES = ("none", "bearer", "api_key", "cookie", "oauth2")
DEFAULT_KEY_NAME = {"header": "X-API-Key", "query": "api_key"}
"""Where an api_key goes that has no `name` (HA15)."""


class Auth(Struct, frozen=True):
    """`auth` (H12, HA15). ``type`` is empty where none is declared; ``place`` and ``name`` are of an api_key, ``name``
    of a cookie too."""

    type: str = ""
    place: str = "header"
    name: str = ""
    token_help: str = ""

    @property
    def wants_token(self) -> bool:
        """Whether a credential belongs to the request (HA14: none where nothing is declared)."""
        return self.type not in ("", "none")


class Pagination(Struct, frozen=True):
    """The declared `pagination` (H15). A path that is not declared is None and gives no signal (HA17)."""

    cursor_param: str = ""
    limit_param: str = ""
    next_cursor: Parts | None = None
    next_link: Parts | None = None


class Contract(Struct, frozen=True):
    """An action that can be called.

    ``required`` and ``optional`` are names of query parameters in their order, ``described`` their schemas (HA11).
    ``body_schema`` is a compiled schema, ``body_schema_url`` the address of one; ``media_type`` is that of the body,
    empty if the action takes none (HA16).
    """

    id: str
    method: str
    url: str
    path_names: tuple[str, ...]
    required: tuple[str, ...]
    optional: tuple[str, ...]
    described: Mapping[str, Value]
    media_type: str
    body_schema: Schema | None
    body_schema_url: str
    auth: Auth
    accept: str
    pagination: Pagination | None
    changing: str = ""
    """The verb in the name of a GET that suggests a change, against the specification (H17)."""

    @property
    def changes_state(self) -> bool:
        """Whether the method of the request may change something (H5)."""
        return self.method != "GET"

    @property
    def wants_consent(self) -> bool:
        """Whether a person or a flag must agree before it is sent (HA19)."""
        return self.changes_state or bool(self.changing)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Every declared query parameter, those that pagination names among them, without the names in the path."""
        pages = self.pagination
        paging = (pages.cursor_param, pages.limit_param) if pages else ()
        every = (*self.required, *self.optional, *self.described, *paging)
        return tuple(name for name in dict.fromkeys(every) if name and name not in self.path_names)


def read_contract(action: Mapping[str, Value]) -> Contract:
    """Return the contract. Raises `RequestError` with every problem of the declaration."""
    if not isinstance(action, Mapping):
        raise refuse("action", "", "must be an object with `id`, `method` and `url`")
    reading = _Reading(action, [])
    query = reading.mapping("query")
    described = {str(name): value for name, value in reading.mapping("properties", query).items()}
    schema, url = reading.body_schema()
    declared = reading.text("content_type", form=content_type_form)
    method = reading.text("method").upper()
    address = reading.text("url", form=action_url_form)
    contract = Contract(
        id=reading.text("id"),
        method=method,
        url=address,
        path_names=template_names(address),
        required=reading.names("required", query),
        optional=reading.names("optional", query),
        described=described,
        media_type=declared or ("application/json" if schema or url else ""),
        body_schema=schema,
        body_schema_url=url,
        auth=reading.auth(),
        accept=reading.text("accept", form=accept_form),
        pagination=reading.pagination(),
        changing=changing_word(str(action.get("id") or ""), str(action.get("title") or "")) if method == "GET" else "",
    )
    if not address:
        reading.add("url", "is missing; it is a path from the root of the site")
    if method not in METHODS:
        reading.add("method", f"must be one of {', '.join(METHODS)}" + (f", not `{method[:40]}`" if method else ""))
    if reading.problems:
        raise RequestError(reading.problems)
    return contract


class _Reading(Struct, frozen=True):
    """An action and the problems found in it so far."""

    action: Mapping[str, Value]
    problems: list[RequestProblem]

    def add(self, name: str, message: str) -> None:
        self.problems.append(RequestProblem("action", name, message))

    def text(
        self, name: str, inside: Mapping[str, Value] | None = None, form: Callable[[str], str | None] | None = None
    ) -> str:
        """Return a text, empty where there is none; behind dots ``name`` is the key inside. Numbers become texts
        (X1)."""
        value = (self.action if inside is None else inside).get(name.rpartition(".")[2])
        if value is None:
            return ""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.add(name, "must be a text")
            return ""
        complaint = form(str(value)) if form else None
        if complaint:
            self.add(name, complaint)
        return str(value)

    def mapping(self, name: str, inside: Mapping[str, Value] | None = None) -> Mapping[str, Value]:
        value = (self.action if inside is None else inside).get(name)
        if value is None or isinstance(value, Mapping):
            return value or {}
        self.add(name, "must be a mapping")
        return {}

    def names(self, name: str, inside: Mapping[str, Value]) -> tuple[str, ...]:
        value = inside.get(name)
        if value is None:
            return ()
        if isinstance(value, list | tuple) and all(isinstance(item, str | int) for item in value):
            return tuple(dict.fromkeys(map(str, value)))
        self.add(f"query.{name}", "must be a list of names")
        return ()

    def body_schema(self) -> tuple[Schema | None, str]:
        """Return the schema, or the URL of one. A schema without `type` describes an object (HA16)."""
        value = self.action.get("body_schema")
        if value is None:
            return None, ""
        if isinstance(value, str) and value:
            return None, value
        if not isinstance(value, Mapping):
            self.add("body_schema", "must be a JSON Schema, or the URL of one")
            return None, ""
        try:
            return object_schema(value), ""
        except SchemaError as error:
            self.add("body_schema", f"is not a JSON Schema: {error}")
            return None, ""

    def auth(self) -> Auth:
        fields = self.mapping("auth")
        kind = self.text("auth.type", fields)
        place = self.text("auth.in", fields) or "header"
        if kind and kind not in AUTH_TYPES:
            near = nearest(kind, AUTH_TYPES)
            self.add(
                "auth.type", f"must be one of {', '.join(AUTH_TYPES)}" + (f"; did you mean `{near}`?" if near else "")
            )
        if place not in DEFAULT_KEY_NAME:
            self.add("auth.in", "must be `header` or `query`")
        name = self.text("auth.name", fields, form=header_name_form)
        return Auth(kind, place, name, self.text("auth.token_help", fields))

    def pagination(self) -> Pagination | None:
        fields = self.mapping("pagination")
        if not fields:
            return None
        request, response = self.mapping("request", fields), self.mapping("response", fields)
        return Pagination(
            self.text("cursor_param", request),
            self.text("limit_param", request),
            self.path("next_cursor_jsonpath", response),
            self.path("next_link_jsonpath", response),
        )

    def path(self, name: str, response: Mapping[str, Value]) -> Parts | None:
        text = self.text(name, response)
        if not text:
            return None
        try:
            return parse_jsonpath(text)
        except JsonPathError as error:
            self.add(name, error.message)
            return None


def object_schema(value: Value) -> Schema:
    """Return a schema compiled; one without `type` describes an object (HA16). Raises `SchemaError`."""
    if isinstance(value, Mapping) and "type" not in value:
        value = {**value, "type": "object"}
    return Schema(dict(value) if isinstance(value, Mapping) else value)
