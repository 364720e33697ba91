"""Which names a schema declares (X13): reachable by `properties`, `$ref`, `allOf`/`anyOf`/`oneOf`, `then`/`else`,
`patternProperties`. A schema with none of these declares everything.

In: a schema and a path. Out: the first step of the path that is not declared, or None. What a schema says about a value
is gathered once for each place, so many paths cost little, and schemas that refer to themselves end too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from msgspec import Struct, field

from prosa.data import Value, items_of, members_of
from prosa.schema.validate import Schema, SchemaError
from prosa.schema.walk import SchemaData

Step: TypeAlias = str | None
"""A name, or None for any element of a list or map."""

MAX_PARTS: Final = 1000
"""Parts of a schema that may describe one value; far more than a person writes. Beyond it, everything is declared."""

MAX_PATTERNS: Final = 100
"""Patterns of property names at one place, each tried on each name. Beyond it, everything is declared."""

_MAX_CLOSING: Final = 16
"""References and alternatives followed to see whether other names are refused. Deeper, they count as allowed."""

_MAX_INDEX_DIGITS: Final = 6
"""Digits of a list index in a JSON pointer."""

_EVERYTHING: Final = (True,)


class Missing(Struct, frozen=True):
    """A step that is not declared: its place in the path, its name, the names declared there, whether others are
    refused (``additionalProperties: false``)."""

    depth: int
    name: str
    declared: tuple[str, ...]
    closed: bool


class _Place(Struct):
    """What several schemas say about one value: its named members, what may stand under any name, its elements."""

    schemas: tuple[SchemaData, ...]
    named: dict[str, list[Value]] = field(default_factory=dict)
    patterns: dict[str, list[Value]] = field(default_factory=dict)
    others: list[Value] = field(default_factory=list)
    elements: list[Value] = field(default_factory=list)
    has_names: bool = False
    may_be_object: bool = True
    may_hold: bool = False
    steps: dict[Step, _Place | Missing | None] = field(default_factory=dict)


class Declarations(Struct):
    """The names of one schema. ``schema`` is plain data that compiled as JSON Schema."""

    schema: Mapping[str, Value] | bool
    _places: dict[tuple[int, ...], _Place | None] = field(default_factory=dict)
    _anchors: dict[str, SchemaData] | None = None

    def missing(self, path: tuple[Step, ...]) -> Missing | None:
        """Return the first step of ``path`` that the schema does not declare."""
        place = self._place((self.schema,))
        for depth, step in enumerate(path):
            if place is None:
                return None
            if step not in place.steps:
                place.steps[step] = self._step(place, step, depth)
            next_place = place.steps[step]
            if isinstance(next_place, Missing):
                return Missing(depth, next_place.name, next_place.declared, next_place.closed)
            place = next_place
        return None

    def _step(self, place: _Place, step: Step, depth: int) -> _Place | Missing | None:
        """Return the place of the next value; None when everything is declared there."""
        schemas = place.elements if step is None else self._member(place, step)
        if schemas:
            return self._place(tuple(schemas))
        if place.may_hold if step is None else place.may_be_object and not place.has_names:
            return None
        return Missing(depth, step or "[]", tuple(place.named), self._closed(place.schemas, 0, {}))

    def _member(self, place: _Place, name: str) -> list[Value]:
        """Return what describes a member, or nothing. A property also has the schemas of the patterns that cover its
        name."""
        if len(place.patterns) > MAX_PATTERNS:
            return [True]
        members = list(place.named.get(name, ()))
        for pattern, schemas in place.patterns.items():
            if _matches(pattern, name):
                members += schemas
        return members or place.others

    def _place(self, schemas: tuple[SchemaData, ...]) -> _Place | None:
        """Return what the schemas and everything they are made of say; None when one of them declares everything."""
        key = tuple(map(id, schemas[:MAX_PARTS]))
        if key not in self._places:
            parts = self._parts(schemas)
            self._places[key] = None if parts is None else _gathered(schemas, parts)
        return self._places[key]

    def _parts(self, schemas: Iterable[SchemaData]) -> list[Mapping[str, Value]] | None:
        parts: list[Mapping[str, Value]] = []
        waiting, seen = list(schemas), set()
        while waiting:
            schema = waiting.pop()
            if not isinstance(schema, Mapping) or not schema or len(waiting) + len(parts) > MAX_PARTS:
                return None
            if id(schema) not in seen:
                seen.add(id(schema))
                parts.append(schema)
                waiting += self._made_of(schema)
        return parts

    def _made_of(self, schema: Mapping[str, Value]) -> Iterator[SchemaData]:
        yield from (part for part in items_of(schema.get("allOf")) if part is not True and part != {})
        for key in ("anyOf", "oneOf"):
            yield from items_of(schema.get(key))
        yield from (schema[key] for key in ("then", "else") if isinstance(schema.get(key), Mapping) and schema[key])
        yield from (self._resolve(schema[key]) for key in ("$ref", "$dynamicRef") if key in schema)

    def _closed(self, alternatives: Iterable[SchemaData], depth: int, known: dict[int, bool]) -> bool:
        """Return whether every one of these alternatives refuses undeclared names."""
        answers = [self._refuses(schema, depth, known) for schema in alternatives]
        return bool(answers) and all(answers)

    def _refuses(self, schema: SchemaData, depth: int, known: dict[int, bool]) -> bool:
        if not isinstance(schema, Mapping) or depth > _MAX_CLOSING:
            return False
        if id(schema) not in known:
            known[id(schema)] = False
            known[id(schema)] = self._seals(schema, depth + 1, known)
        return known[id(schema)]

    def _seals(self, schema: Mapping[str, Value], depth: int, known: dict[int, bool]) -> bool:
        if schema.get("additionalProperties") is False or schema.get("unevaluatedProperties") is False:
            return True
        together: list[SchemaData] = [*items_of(schema.get("allOf"))]
        if "$ref" in schema:
            together.append(self._resolve(schema["$ref"]))
        if any(self._refuses(part, depth, known) for part in together):
            return True
        return any(self._closed(items_of(schema.get(key)), depth, known) for key in ("anyOf", "oneOf"))

    def _resolve(self, reference: Value) -> SchemaData:
        """Return a local reference; anything else counts as a schema that declares everything."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return True
        if reference in ("#", "#/"):
            return self.schema
        if reference.startswith("#/"):
            return _pointed(self.schema, reference[2:])
        if self._anchors is None:
            self._anchors = _anchors(self.schema)
        return self._anchors.get(reference[1:], True)


def _gathered(schemas: tuple[SchemaData, ...], parts: list[Mapping[str, Value]]) -> _Place:
    place = _Place(schemas)
    for part in parts:
        properties, patterns = members_of(part.get("properties")), members_of(part.get("patternProperties"))
        for name, schema in properties.items():
            place.named.setdefault(name, []).append(schema)
        for pattern, schema in patterns.items():
            place.patterns.setdefault(pattern, []).append(schema)
        extra = part.get("additionalProperties")
        place.others += [extra] if isinstance(extra, Mapping) and extra else []
        place.elements += [part[key] for key in ("items", "contains") if isinstance(part.get(key), Mapping)]
        place.elements += [*items_of(part.get("prefixItems")), *properties.values(), *patterns.values()]
        place.has_names = place.has_names or "properties" in part or "patternProperties" in part
        types = _types(part)
        place.may_be_object = place.may_be_object and (not types or "object" in types)
        place.may_hold = place.may_hold or not types or "array" in types or "object" in types
    place.elements += place.others
    if len(place.elements) > MAX_PARTS:
        place.elements = list(_EVERYTHING)
    return place


def _types(part: Mapping[str, Value]) -> tuple[str, ...]:
    types = part.get("type")
    return (types,) if isinstance(types, str) else tuple(name for name in items_of(types) if isinstance(name, str))


def _matches(pattern: str, name: str) -> bool:
    """Return whether a property pattern covers a name, by the engine that validates (X20), never by a backtracking
    one."""
    try:
        return Schema({"pattern": pattern}).valid(name)
    except SchemaError:
        return True


def _pointed(schema: SchemaData, pointer: str) -> SchemaData:
    from urllib.parse import unquote

    for part in pointer.split("/"):
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(schema, Mapping) and key in schema:
            schema = schema[key]
        elif isinstance(schema, list) and _is_index(key) and int(key) < len(schema):
            schema = schema[int(key)]
        else:
            return True
    return schema


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdecimal() and len(key) <= _MAX_INDEX_DIGITS


def _anchors(schema: SchemaData) -> dict[str, SchemaData]:
    """Return every schema that has a name of its own, by it."""
    anchors: dict[str, SchemaData] = {}
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            for key in ("$anchor", "$dynamicAnchor"):
                if isinstance(name := part.get(key), str):
                    anchors.setdefault(name, part)
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return anchors
