"""Defaults filled in before a template sees the input (X13).

In: a schema and a value. Out: the value with the ``default`` of every declared property that it lacks; the original
value is not changed and nothing in it is overridden. Reached through ``properties``, ``items``, ``prefixItems``,
``additionalProperties``, ``$ref``, ``allOf``, and an ``anyOf`` or ``oneOf`` whose one alternative has the type of the
value. A default that is an object is filled in turn, though never inside itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy

from prosa.data import Value
from prosa.schema.limits import MAX_DEFAULTS, MAX_INSTANCE_DEPTH
from prosa.schema.values import type_name
from prosa.schema.walk import References

Schemas = list[Mapping[str, Value]]


def fill_defaults(schema: Value, instance: Value) -> Value:
    """Return the instance with defaults. It need not be valid; a schema that is not a mapping has no defaults."""
    if not isinstance(schema, Mapping):
        return instance
    return _Filling(References(schema)).filled([schema], instance, 0)


class _Filling:
    """The state of one pass: how many defaults were used, and which are being filled in now."""

    def __init__(self, references: References) -> None:
        self.references = references
        self.used = 0
        self.inside: set[int] = set()

    def filled(self, schemas: Schemas, value: Value, depth: int) -> Value:
        if depth >= MAX_INSTANCE_DEPTH or not isinstance(value, dict | list):
            return value
        applied = list(_applied(schemas, value, self.references))
        if isinstance(value, list):
            return [self.filled(_for_item(applied, index), item, depth + 1) for index, item in enumerate(value)]
        result = {key: self.filled(_for_property(applied, key), item, depth + 1) for key, item in value.items()}
        # All defaults of this level first: those inside them may use up the limit.
        for name, source in self._missing(applied, result).items():
            self.inside.add(id(source))
            result[name] = self.filled(_for_property(applied, name), result[name], depth + 1)
            self.inside.discard(id(source))
        return result

    def _missing(self, applied: Schemas, result: dict[str, Value]) -> dict[str, Mapping[str, Value]]:
        """Put in the default of every property that is absent; returns the schemas they came from."""
        sources: dict[str, Mapping[str, Value]] = {}
        for schema in applied if self.used < MAX_DEFAULTS else ():
            for name, declared in _mapping(schema.get("properties")).items():
                source = None if name in result else self._with_default(declared)
                if source is not None and self.used < MAX_DEFAULTS:
                    self.used += 1
                    sources[name] = source
                    result[name] = deepcopy(source["default"])
        return sources

    def _with_default(self, declared: Value) -> Mapping[str, Value] | None:
        """Return the schema that gives a property its default, unless that default is already being filled in."""
        if not isinstance(declared, Mapping):
            return None
        source = next((each for each in _applied([declared], None, self.references) if "default" in each), None)
        return None if source is None or id(source) in self.inside else source


def _applied(schemas: Schemas, value: Value, references: References) -> Iterator[Mapping[str, Value]]:
    """Yield the schemas that hold for one value, references and ``allOf`` followed; each once."""
    waiting = list(reversed(schemas))
    seen: set[int] = set()
    while waiting:
        schema = waiting.pop()
        if id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        inner = [references.target(schema), *_list(schema.get("allOf"))]
        inner += [_only_alternative(_list(schema.get(keyword)), value) for keyword in ("anyOf", "oneOf")]
        waiting += [each for each in reversed(inner) if isinstance(each, Mapping)]


def _only_alternative(alternatives: list[Value], value: Value) -> Value | None:
    """Return the alternative for values of this type, when there is exactly one."""
    if value is None:
        return None
    fitting = [each for each in alternatives if isinstance(each, Mapping) and type_name(value) in _types(each)]
    return fitting[0] if len(fitting) == 1 else None


def _types(schema: Mapping[str, Value]) -> list[Value]:
    named = schema.get("type", ["object", "array"])
    return named if isinstance(named, list) else [named]


def _for_property(applied: Schemas, name: str) -> Schemas:
    found: list[Value] = []
    for schema in applied:
        properties = _mapping(schema.get("properties"))
        if name in properties:
            found.append(properties[name])
        elif "patternProperties" not in schema:
            found.append(schema.get("additionalProperties"))
    return [each for each in found if isinstance(each, Mapping)]


def _for_item(applied: Schemas, index: int) -> Schemas:
    found: list[Value] = []
    for schema in applied:
        prefix = _list(schema.get("prefixItems"))
        found.append(prefix[index] if index < len(prefix) else schema.get("items"))
    return [each for each in found if isinstance(each, Mapping)]


def _mapping(value: Value) -> Mapping[str, Value]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Value) -> list[Value]:
    return value if isinstance(value, list) else []
