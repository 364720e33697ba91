"""What of an output schema structured output of the Messages wire takes (LA4); the schema as written is the judge.

In: a schema. Out: a schema of the keywords that the service documents, every object in it closed; or None for one that
it has no words for, such as an object of any names.
"""

from __future__ import annotations

from collections.abc import Mapping

from prosa.data import Value

_FORMATS = frozenset(
    ("date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"),
)
_PLAIN = frozenset(("string", "integer", "number", "boolean", "null"))
_REFERENCES = ("#/$defs/", "#/definitions/")
_WORDS = ("description", "title")


class _Unspeakable(Exception):
    """A schema that the service has no words for."""


def closed_schema(schema: Mapping[str, Value]) -> dict[str, Value] | None:
    """Return the schema in the words of the service; None where it has none."""
    try:
        made = _schema(schema)
        shared = {**_definitions(schema, "definitions"), **_definitions(schema, "$defs")}
    except (_Unspeakable, RecursionError):
        return None
    return {"$defs": shared, **made} if shared else made


def _definitions(schema: Mapping[str, Value], keyword: str) -> dict[str, Value]:
    found = schema.get(keyword)
    return {name: _schema(each) for name, each in found.items()} if isinstance(found, Mapping) else {}


def _schema(schema: Value) -> dict[str, Value]:
    if not isinstance(schema, Mapping):
        raise _Unspeakable
    if "$ref" in schema:
        return _reference(schema["$ref"])
    said = {name: schema[name] for name in _WORDS if isinstance(schema.get(name), str)}
    return {**_meaning(schema), **said}


def _reference(target: Value) -> dict[str, Value]:
    start = next((each for each in _REFERENCES if isinstance(target, str) and target.startswith(each)), None)
    if start is None or "/" in target.removeprefix(start):
        raise _Unspeakable
    return {"$ref": f"#/$defs/{target.removeprefix(start)}"}


def _meaning(schema: Mapping[str, Value]) -> dict[str, Value]:
    """Return what the schema says of values, without its words for people."""
    for literal in ("enum", "const"):
        if literal in schema:
            return {literal: _literals(schema[literal], literal)}
    kind = schema.get("type", "object" if "properties" in schema else None)
    if isinstance(kind, list):
        return {"anyOf": [_typed(each, schema) for each in kind]}
    if kind is not None:
        return _typed(kind, schema)
    for keyword, sent in (("anyOf", "anyOf"), ("oneOf", "anyOf"), ("allOf", "allOf")):
        if isinstance(branches := schema.get(keyword), list) and branches:
            return {sent: [_schema(each) for each in branches]}
    raise _Unspeakable


def _literals(value: Value, keyword: str) -> Value:
    each = value if keyword == "enum" and isinstance(value, list) else [value]
    if not each or not all(one is None or isinstance(one, str | int | float | bool) for one in each):
        raise _Unspeakable
    return value


def _typed(kind: Value, schema: Mapping[str, Value]) -> dict[str, Value]:
    if kind == "object":
        return _object(schema)
    if kind == "array":
        return _array(schema)
    if not isinstance(kind, str) or kind not in _PLAIN:
        raise _Unspeakable
    form = schema.get("format")
    return {"type": kind, "format": form} if kind == "string" and form in _FORMATS else {"type": kind}


def _object(schema: Mapping[str, Value]) -> dict[str, Value]:
    properties, others = schema.get("properties"), schema.get("additionalProperties", False)
    if not isinstance(properties, Mapping) or others is not False or "patternProperties" in schema:
        raise _Unspeakable
    required = schema.get("required", [])
    if not isinstance(required, list) or not set(required) <= properties.keys():
        raise _Unspeakable
    return {
        "type": "object",
        "properties": {name: _schema(each) for name, each in properties.items()},
        "additionalProperties": False,
        "required": list(required),
    }


def _array(schema: Mapping[str, Value]) -> dict[str, Value]:
    if "prefixItems" in schema:
        raise _Unspeakable
    made: dict[str, Value] = {"type": "array", "items": _schema(schema.get("items"))}
    return {**made, "minItems": schema["minItems"]} if schema.get("minItems") in (0, 1) else made
