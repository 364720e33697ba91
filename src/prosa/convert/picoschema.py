"""Picoschema: the short form of schemas in prompt files, as JSON Schema.

In: plain data. Out: a schema, or None where it names a schema that stands elsewhere, or is none.
"""

from __future__ import annotations

from prosa.data import Value

_SCALARS = ("string", "boolean", "null", "number", "integer", "any")
_PARENTHESES = ("array", "object", "enum")


def from_picoschema(data: Value) -> Value:
    """Return the JSON Schema. What has a type or properties of JSON Schema is one already."""
    if isinstance(data, dict):
        kind = data.get("type")
        if kind in (*_SCALARS, "object", "array"):
            return data
        if isinstance(data.get("properties"), dict):
            return {**data, "type": "object"}
    try:
        return _schema(data)
    except ValueError:
        return None


def _schema(data: Value) -> dict[str, Value]:
    if isinstance(data, str):
        return _scalar(data)
    if not isinstance(data, dict):
        raise ValueError
    properties: dict[str, Value] = {}
    required: list[str] = []
    schema: dict[str, Value] = {"type": "object", "properties": properties, "additionalProperties": False}
    for key, value in data.items():
        if key == "(*)":
            schema["additionalProperties"] = _schema(value)
            continue
        name, _, rest = key.partition("(")
        optional = name.endswith("?")
        name = name.removesuffix("?")
        if not optional:
            required.append(name)
        properties[name] = _property(value, rest.removesuffix(")"), optional=optional)
    return schema | ({"required": required} if required else {})


def _property(value: Value, note: str, *, optional: bool) -> dict[str, Value]:
    kind, description = _described(note)
    if not kind:
        found = _schema(value)
    elif kind == "array":
        found = {"type": "array", "items": _schema(value)}
    elif kind == "object":
        found = _schema(value)
    elif kind == "enum" and isinstance(value, list):
        found = {"enum": [*value, *([None] if optional and None not in value else [])]}
    else:
        raise ValueError
    if optional and isinstance(found.get("type"), str):
        found = {**found, "type": [found["type"], "null"]}
    return found | ({"description": description} if description else {})


def _scalar(text: str) -> dict[str, Value]:
    kind, description = _described(text)
    if kind not in _SCALARS:
        raise ValueError
    found: dict[str, Value] = {} if kind == "any" else {"type": kind}
    return found | ({"description": description} if description else {})


def _described(text: str) -> tuple[str, str]:
    kind, _, description = text.partition(",")
    return kind.strip(), description.strip()
