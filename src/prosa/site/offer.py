"""An action as a typed tool (X15), and the input of its request: from the arguments of a tool, or ``KEY=VALUE`` pairs.

Names in the path and query parameters are arguments by their own names, a body is always the argument `body`. Pages are
untrusted: sizes and numbers are bounded, and larger actions are not offered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urljoin

from msgspec import Struct

from prosa.data import Plain, Value
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.schema import ArgumentProblem, Schema, SchemaError, typed_arguments
from prosa.site.contract import Contract, read_contract
from prosa.site.problems import RequestError, RequestProblem
from prosa.site.values import is_json
from prosa.source.url import origin_of

MAX_ACTION = 32 * 1024
"""Maximum length of all keys and texts of one action, each value counting for one."""

MAX_PARAMETERS = 64
MAX_NAME = 128
"""Parameters of one action, and characters of the name of one and of an id: model services take no more."""

BODY = "body"
_DATA = frozenset({"const", "default", "enum", "example", "examples"})
_ANCHORED = frozenset({"$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$schema"})


class Offer(Struct, frozen=True):
    """An action that can be called, and the JSON Schema of its arguments."""

    contract: Contract
    title: str
    properties: Mapping[str, Value]
    required: Sequence[Value]

    @property
    def parameters(self) -> dict[str, Value]:
        """The schema of the arguments."""
        schema: dict[str, Value] = {
            "type": "object",
            "properties": {**self.properties},
            "required": [*self.required],
            "additionalProperties": False,
        }
        return schema

    def given(self, arguments: Mapping[str, Value]) -> dict[str, Value]:
        """Return the input of `build_request` from the arguments."""
        names = self.contract.path_names
        path: dict[str, Value] = {}
        query: dict[str, Value] = {}
        parts: dict[str, Value] = {"path": path, "query": query}
        for name, value in arguments.items():
            if name == BODY and takes_body(self.contract):
                parts["body"] = value
            else:
                (path if name in names else query)[name] = value
        return parts


def takes_body(contract: Contract) -> bool:
    """Return whether a request of the action has a body; a GET never has one, whatever the page declares."""
    return contract.changes_state and bool(contract.media_type)


def offer_of(action: Mapping[str, Value], site_root: str) -> Offer | str:
    """Return the offer, or why there is none."""
    if _size(action) > MAX_ACTION:
        return "its contract is too large"
    try:
        contract = read_contract(action)
        away = origin_of(urljoin(site_root, contract.url.partition("?")[0])) != origin_of(site_root)
    except RequestError as error:
        return shown(str(error.problems[0]), 200)
    except ValueError as error:
        return f"its url {error}"
    names = (*contract.path_names, *contract.parameters)
    if wrong := _wrong(contract, names, away=away):
        return wrong
    properties: dict[str, Value] = {name: _parameter(contract, name) for name in names}
    required: list[Value] = [name for name in names if name in contract.path_names or _is_required(contract, name)]
    if takes_body(contract):
        properties[BODY], wanted = body_schema(contract, f"#/properties/{BODY}")
        required += [BODY] if wanted else []
    title = action.get("title")
    return Offer(contract, title if isinstance(title, str) else "", properties, required)


def _wrong(contract: Contract, names: tuple[str, ...], *, away: bool) -> str:
    if not contract.id or len(contract.id) > MAX_NAME:
        return f"its id must have 1 to {MAX_NAME} characters"
    if away:
        return "its url leads to another origin than the site"
    if len(names) > MAX_PARAMETERS or any(len(name) > MAX_NAME for name in names):
        return f"it has more than {MAX_PARAMETERS} parameters, or one whose name is longer than {MAX_NAME} characters"
    if BODY in names and takes_body(contract):
        return f"it has a parameter `{BODY}` beside a body"
    return ""


def _is_required(contract: Contract, name: str) -> bool:
    described = contract.described.get(name)
    return name in contract.required and not (isinstance(described, Mapping) and "default" in described)


def _parameter(contract: Contract, name: str) -> dict[str, Value]:
    """Return the schema of a parameter as the page describes it, else a text: everything in a URL is text."""
    described = contract.described.get(name)
    if isinstance(described, Mapping) and not _has_key(described, {"$ref", *_ANCHORED}):
        schema = dict(described)
        try:
            Schema(schema)
        except SchemaError:
            pass
        else:
            return schema
    return {"type": "string"}


def body_schema(contract: Contract, place: str) -> tuple[dict[str, Value], bool]:
    """Return the schema of the body, and whether there must be one. References into it point to its new ``place``, a
    pointer with `#`. A schema that cannot be moved is an open object here, and the body is still checked against the
    whole before it is sent."""
    schema = contract.body_schema
    if schema is None:
        if contract.body_schema_url:
            return {"type": "object", "description": f"checked against {shown(contract.body_schema_url, 200)}"}, True
        return ({}, False) if is_json(contract.media_type) else ({"type": "string"}, False)
    wanted = not schema.valid({})
    if not isinstance(schema.raw, Mapping) or _has_key(schema.raw, _ANCHORED):
        return {"type": "object"}, wanted
    return _moved_in(schema.raw, place), wanted


def _moved_in(schema: Mapping[str, Value], place: str) -> dict[str, Value]:
    return {key: member if key in _DATA else _reference(key, member, place) for key, member in schema.items()}


def _moved(value: Value, place: str) -> Value:
    if isinstance(value, Mapping):
        return _moved_in(value, place)
    return [_moved(item, place) for item in value] if isinstance(value, list) else value


def _reference(key: str, value: Value, place: str) -> Value:
    if key == "$ref" and isinstance(value, str) and value.startswith("#"):
        return f"{place}{value[1:]}"
    return _moved(value, place)


def _has_key(value: Plain, names: set[str] | frozenset[str]) -> bool:
    waiting: list[Plain] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            if names & item.keys():
                return True
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return False


def _size(value: Plain) -> int:
    """Return characters and values, counted no further than they matter."""
    total = 0
    waiting: list[Plain] = [value]
    while waiting and total <= MAX_ACTION:
        item = waiting.pop()
        total += 1
        if isinstance(item, Mapping):
            total += sum(len(str(key)) for key in item)
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, str):
            total += len(item)
    return total


def arranged(
    contract: Contract,
    pairs: Iterable[tuple[str, str]],
    base: Mapping[str, Value] | None = None,
    *,
    schema: Schema | None = None,
    allow_undeclared: bool = False,
) -> dict[str, Value]:
    """Return the input that pairs describe, over ``base``, an input of its own; pairs win, inside objects key by key.

    ``schema`` is the fetched one of an action that names it by URL. A repeated key is a list.
    """
    schema = contract.body_schema or schema
    known = (*contract.path_names, *contract.parameters, *_properties(schema))
    path: dict[str, list[Value]] = {}
    query: dict[str, list[Value]] = {}
    body: list[tuple[str, str]] = []
    problems: list[RequestProblem] = []
    for name, text in pairs:
        if name in contract.path_names:
            path.setdefault(name, []).append(text)
        elif name in contract.parameters:
            query.setdefault(name, []).append(text)
        elif _fits_body(contract, schema, name):
            body.append((name, text))
        elif allow_undeclared:
            query.setdefault(name, []).append(text)
        else:
            problems.append(RequestProblem("input", name, _undeclared(name, known)))
    typed = _typed(schema, body, problems)
    if problems:
        raise RequestError(problems)
    return _over(dict(base or {}), {"path": _single(path), "query": _single(query), "body": typed if body else None})


def _properties(schema: Schema | None) -> tuple[str, ...]:
    raw = schema.raw if schema else None
    properties = raw.get("properties") if isinstance(raw, Mapping) else None
    return tuple(properties) if isinstance(properties, Mapping) else ()


def _fits_body(contract: Contract, schema: Schema | None, name: str) -> bool:
    """Return whether a name belongs to the body: its schema has it or allows others, or there is no schema (HA16)."""
    if not contract.changes_state or not contract.media_type:
        return False
    declared = _properties(schema)
    if schema is None or name in declared or name.partition(".")[0] in declared:
        return True
    others = schema.raw.get("additionalProperties") if isinstance(schema.raw, Mapping) else None
    return others is True or isinstance(others, Mapping) or (not declared and others is None)


def _typed(schema: Schema | None, body: list[tuple[str, str]], problems: list[RequestProblem]) -> Value:
    try:
        return typed_arguments(schema.raw if schema else {}, body)
    except ArgumentProblem as error:
        problems.append(RequestProblem("body", error.key, error.message))
        return None


def _single(grouped: Mapping[str, list[Value]]) -> dict[str, Value]:
    return {name: texts if len(texts) > 1 else texts[0] for name, texts in grouped.items()}


def _over(base: dict[str, Value], overrides: Mapping[str, Value]) -> dict[str, Value]:
    for name, value in overrides.items():
        below = base.get(name)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            base[name] = _over(dict(below), value)
        elif value is not None and value != {}:
            base[name] = value
    return base


def _undeclared(name: str, known: tuple[str, ...]) -> str:
    near = nearest(name, known)
    if near:
        return f"is not declared by the action; did you mean `{near}`?"
    names = ", ".join(f"`{option}`" for option in known)
    return "is not declared by the action" + (f"; expected one of {names}" if names else ", which takes no input")
