"""Which names a schema declares (X13): reachable by `properties`, `$ref`, `allOf`/`anyOf`/`oneOf`, `then`/`else`,
`patternProperties`. A schema with none of these declares everything.

In: a schema and a path. Out: the first step of the path that is not declared, or None. Every part of the schema is
opened at most once for a path, so schemas that refer to themselves end too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Step: TypeAlias = str | None
"""A name, or None for any element of a list or map."""

_SINGLE = ("then", "else", "if")

MAX_PARTS = 1000
"""Parts of a schema that may describe one value; far more than a person writes."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A step that is not declared: its place in the path, its name, the names declared there, whether others are
    refused (``additionalProperties: false``)."""

    depth: int
    name: str
    declared: tuple[str, ...]
    closed: bool


@dataclass(slots=True)
class Declarations:
    """The names of one schema. ``schema`` is plain data that compiled as JSON Schema."""

    schema: Mapping[str, Any] | bool
    _known: dict[tuple[Step, ...], Missing | None] = field(default_factory=dict)

    def missing(self, path: tuple[Step, ...]) -> Missing | None:
        """The first step of ``path`` that the schema does not declare."""
        if path not in self._known:
            self._known[path] = self._missing(path)
        return self._known[path]

    def _missing(self, path: tuple[Step, ...]) -> Missing | None:
        at: list[Any] = [self.schema]
        for depth, step in enumerate(path):
            parts = self._parts(at)
            if parts is None:
                return None
            found = self._step(parts, step)
            if found is None:
                return None
            if not found:
                names = tuple(dict.fromkeys(name for part in parts for name in _properties(part)))
                return Missing(depth, step or "[]", names, self._closed(at))
            at = found
        return None

    def _parts(self, schemas: Iterable[Any]) -> list[Mapping[str, Any]] | None:
        """The schemas and everything they are made of; None when one of them declares everything."""
        parts: list[Mapping[str, Any]] = []
        waiting, seen = list(schemas), set()
        while waiting:
            schema = waiting.pop()
            if not isinstance(schema, Mapping) or not schema:
                return None
            if id(schema) in seen:
                continue
            seen.add(id(schema))
            if len(seen) > MAX_PARTS:
                return None
            parts.append(schema)
            waiting += self._made_of(schema)
        return parts

    def _made_of(self, schema: Mapping[str, Any]) -> list[Any]:
        inner = [part for part in _list(schema.get("allOf")) if part is not True and part != {}]
        inner += [part for key in ("anyOf", "oneOf") for part in _list(schema.get(key))]
        inner += [schema[key] for key in _SINGLE if isinstance(schema.get(key), Mapping) and schema[key]]
        for key in ("$ref", "$dynamicRef"):
            if key in schema:
                inner.append(self._resolve(schema[key]))
        return inner

    def _step(self, parts: list[Mapping[str, Any]], step: Step) -> list[Any] | None:
        """What describes the next value; empty when it is not declared, None when everything is."""
        found: list[Any] = []
        for part in parts:
            found += _named(part, step) if step is not None else _elements(part)
        if found:
            return found
        if step is None:
            return None if any(_may_hold(part) for part in parts) else []
        if any(key in part for part in parts for key in ("properties", "patternProperties")):
            return []
        return None if all(_may_be_object(part) for part in parts) else []

    def _closed(self, schemas: Iterable[Any], depth: int = 0) -> bool:
        """Whether every one of these alternatives refuses undeclared names."""
        alternatives = list(schemas)
        return bool(alternatives) and all(self._refuses(schema, depth) for schema in alternatives)

    def _refuses(self, schema: Any, depth: int) -> bool:
        if not isinstance(schema, Mapping) or depth > 16:
            return False
        if schema.get("additionalProperties") is False or schema.get("unevaluatedProperties") is False:
            return True
        if any(self._refuses(part, depth + 1) for part in _list(schema.get("allOf"))):
            return True
        if "$ref" in schema and self._refuses(self._resolve(schema["$ref"]), depth + 1):
            return True
        return any(self._closed(_list(schema.get(key)), depth + 1) for key in ("anyOf", "oneOf"))

    def _resolve(self, reference: Any) -> Any:
        """A local reference; anything else counts as a schema that declares everything."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return True
        if reference in ("#", "#/"):
            return self.schema
        if reference.startswith("#/"):
            return _pointed(self.schema, reference[2:])
        return _anchored(self.schema, reference[1:])


def _named(part: Mapping[str, Any], name: str) -> list[Any]:
    found = [part["properties"][name]] if name in _properties(part) else []
    patterns = part.get("patternProperties")
    if isinstance(patterns, Mapping):
        found += [schema for pattern, schema in patterns.items() if _matches(pattern, name)]
    extra = part.get("additionalProperties")
    if not found and isinstance(extra, Mapping) and extra:
        found.append(extra)
    return found


def _elements(part: Mapping[str, Any]) -> list[Any]:
    found = [part[key] for key in ("items", "contains", "additionalProperties") if isinstance(part.get(key), Mapping)]
    found += _list(part.get("prefixItems"))
    for key in ("properties", "patternProperties"):
        if isinstance(part.get(key), Mapping):
            found += part[key].values()
    return found


def _properties(part: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = part.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else []


def _types(part: Mapping[str, Any]) -> tuple[str, ...]:
    types = part.get("type")
    return (types,) if isinstance(types, str) else tuple(_list(types))


def _may_be_object(part: Mapping[str, Any]) -> bool:
    return not _types(part) or "object" in _types(part)


def _may_hold(part: Mapping[str, Any]) -> bool:
    types = _types(part)
    return not types or "array" in types or "object" in types


def _matches(pattern: str, name: str) -> bool:
    """Whether a property pattern covers a name, by the engine that validates (X20), never by a backtracking one."""
    from prosa.schema.errors import SchemaError
    from prosa.schema.validate import Schema

    try:
        return Schema({"pattern": pattern}).valid(name)
    except SchemaError:
        return True


def _pointed(schema: Any, pointer: str) -> Any:
    from urllib.parse import unquote

    for part in pointer.split("/"):
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(schema, Mapping) and key in schema:
            schema = schema[key]
        elif isinstance(schema, list) and key.isdecimal() and int(key) < len(schema):
            schema = schema[int(key)]
        else:
            return True
    return schema


def _anchored(schema: Any, anchor: str) -> Any:
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            if part.get("$anchor") == anchor or part.get("$dynamicAnchor") == anchor:
                return part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return True
