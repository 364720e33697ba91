"""The keywords of JSON Schema 2020-12, the schemas inside a schema, and the targets of its references. Nothing is
validated or fetched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias
from urllib.parse import unquote, urldefrag, urljoin

from prosa.data import Value
from prosa.data.pointer import parse_pointer

SchemaData: TypeAlias = "Value | Mapping[str, Value]"
"""What stands in the place of a schema: plain data, only read. A schema itself is a mapping, true or false."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"
BUNDLED = "https://json-schema.org/draft/2020-12/"

TYPES = ("null", "boolean", "object", "array", "number", "integer", "string")

ONE_SCHEMA = frozenset(
    (
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    )
)
LIST_OF_SCHEMAS = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
MAP_OF_SCHEMAS = frozenset(("$defs", "definitions", "dependentSchemas", "patternProperties", "properties"))

IN_PLACE = frozenset(("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"))
"""Applicators that apply to the same value as the schema that holds them."""

ASSERTIONS = frozenset(
    (
        "const",
        "dependentRequired",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "maxContains",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minContains",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "pattern",
        "required",
        "type",
        "uniqueItems",
    )
)
REFERENCES = frozenset(("$ref", "$dynamicRef"))
IDENTITY = frozenset(("$anchor", "$comment", "$dynamicAnchor", "$id", "$schema", "$vocabulary"))
ANNOTATIONS = frozenset(
    (
        "contentEncoding",
        "contentMediaType",
        "default",
        "deprecated",
        "description",
        "examples",
        "readOnly",
        "title",
        "writeOnly",
    )
)
ABOUT: dict[str, str] = {
    "$anchor": "a name by which `$ref` finds this schema",
    "$comment": "a note for those who maintain the schema",
    "$defs": "schemas that `$ref` refers to, by name",
    "$dynamicAnchor": "a name that schemas around this one may take over",
    "$dynamicRef": "the schema of a name that schemas around this one may have taken over",
    "$id": "the URI of this schema",
    "$ref": "the schema that holds here too, `#/$defs/NAME` for example",
    "$schema": "the version of JSON Schema",
    "$vocabulary": "the keywords that a schema of schemas knows",
    "additionalProperties": "what members are that are not named; `false` refuses them",
    "allOf": "schemas that all hold",
    "anyOf": "schemas of which at least one holds",
    "const": "the only value that is allowed",
    "contains": "what at least one item of a list is",
    "contentEncoding": "how a string encodes bytes, `base64` for example",
    "contentMediaType": "the media type of what a string holds",
    "contentSchema": "the schema of what a string holds",
    "default": "the value that is meant where none is given",
    "definitions": "an older name of `$defs`",
    "dependentRequired": "members that must be there where another one is",
    "dependentSchemas": "schemas that hold where a member is there",
    "deprecated": "whether it should no longer be used",
    "description": "what the value means, for people and models",
    "else": "what holds where `if` does not",
    "enum": "the list of values that are allowed",
    "examples": "a list of values that may be given",
    "exclusiveMaximum": "a number that the value stays below",
    "exclusiveMinimum": "a number that the value stays above",
    "format": "the form of a string, `date` for example",
    "if": "the condition of `then` and `else`",
    "items": "what each item of a list is",
    "maxContains": "how many items `contains` may hold for",
    "maxItems": "how many items a list may have",
    "maxLength": "how many characters a string may have",
    "maxProperties": "how many members an object may have",
    "maximum": "the largest number that is allowed",
    "minContains": "how many items `contains` must hold for",
    "minItems": "how many items a list must have",
    "minLength": "how many characters a string must have",
    "minProperties": "how many members an object must have",
    "minimum": "the smallest number that is allowed",
    "multipleOf": "a number of which the value is a multiple",
    "not": "a schema that must not hold",
    "oneOf": "schemas of which exactly one holds",
    "pattern": "a regular expression that is found in the string",
    "patternProperties": "what members are whose names match a regular expression",
    "prefixItems": "the schemas of the first items of a list",
    "properties": "the members of an object by name, each with its schema",
    "propertyNames": "the schema of member names",
    "readOnly": "whether the value is only read",
    "required": "the list of members that must be there",
    "then": "what holds where `if` does",
    "title": "the title of the value",
    "type": "string, number, integer, boolean, object, array or null, or a list of them",
    "unevaluatedItems": "what items are that no other schema describes",
    "unevaluatedProperties": "what members are that no other schema describes",
    "uniqueItems": "whether no two items of a list may be equal",
    "writeOnly": "whether the value is only written",
}
"""What each keyword means, for people."""

KNOWN = ASSERTIONS | REFERENCES | IDENTITY | ANNOTATIONS | ONE_SCHEMA | LIST_OF_SCHEMAS | MAP_OF_SCHEMAS

FOR_OBJECTS = frozenset(
    (
        "additionalProperties",
        "dependentRequired",
        "dependentSchemas",
        "maxProperties",
        "minProperties",
        "patternProperties",
        "properties",
        "propertyNames",
        "required",
        "unevaluatedProperties",
    )
)
"""Keywords that only mean something for objects: a schema with one of them and no ``type`` is meant for objects."""

FORMATS: dict[str, tuple[str, str]] = {
    "date": ("a date", "2026-01-31"),
    "date-time": ("a date and time", "2026-01-31T12:00:00Z"),
    "duration": ("a duration", "P3DT4H"),
    "email": ("an e-mail address", "name@example.org"),
    "hostname": ("a host name", "www.example.org"),
    "idn-email": ("an e-mail address", "name@example.org"),
    "idn-hostname": ("a host name", "www.example.org"),
    "ipv4": ("an IPv4 address", "192.0.2.1"),
    "ipv6": ("an IPv6 address", "2001:db8::1"),
    "iri": ("an IRI", "https://example.org/"),
    "iri-reference": ("an IRI or a relative reference", "../page"),
    "json-pointer": ("a JSON Pointer", "/a/0"),
    "regex": ("a regular expression", "^[a-z]+$"),
    "relative-json-pointer": ("a relative JSON Pointer", "1/a"),
    "time": ("a time", "12:00:00Z"),
    "uri": ("a URI", "https://example.org/"),
    "uri-reference": ("a URI or a relative reference", "../page"),
    "uri-template": ("a URI template", "https://example.org/{name}"),
    "uuid": ("a UUID", "123e4567-e89b-12d3-a456-426614174000"),
}
"""Formats that are asserted, with a description and an example."""


Parts = tuple[str | int, ...]


def children(schema: SchemaData) -> Iterator[tuple[Parts, Value]]:
    """Yield the schemas that a schema directly holds, with the way to each."""
    if not isinstance(schema, Mapping):
        return
    for keyword, value in schema.items():
        if keyword in ONE_SCHEMA:
            yield (keyword,), value
        elif keyword in LIST_OF_SCHEMAS and isinstance(value, list):
            yield from (((keyword, index), item) for index, item in enumerate(value))
        elif keyword in MAP_OF_SCHEMAS and isinstance(value, Mapping):
            yield from (((keyword, name), item) for name, item in value.items())


def subschemas(schema: SchemaData) -> Iterator[tuple[Parts, SchemaData]]:
    """Yield the schema itself and every schema inside it, outer ones first, in the order written."""
    waiting: list[tuple[Parts, SchemaData]] = [((), schema)]
    while waiting:
        parts, current = waiting.pop()
        yield parts, current
        waiting.extend(reversed([((*parts, *way), child) for way, child in children(current)]))


def applicators(parts: Iterable[str | int]) -> Iterator[str]:
    """Yield the keywords on a way through a schema, without the names and numbers between them."""
    name_next = False
    for part in parts:
        if name_next:
            name_next = False
        else:
            yield str(part)
            name_next = part in LIST_OF_SCHEMAS or part in MAP_OF_SCHEMAS


class References:
    """The targets of the references of one schema: pointers, anchors and embedded ``$id``s (section 8.2).

    Built in one pass; ``$dynamicRef`` is looked up like ``$ref``.
    """

    def __init__(self, root: SchemaData) -> None:
        self.root = root
        self._bases: dict[int, str] = {}
        self._resources: dict[str, tuple[Parts, SchemaData]] = {"": ((), root)}
        self._anchors: dict[str, tuple[Parts, SchemaData]] = {}
        waiting: list[tuple[Parts, SchemaData, str]] = [((), root, "")]
        while waiting:
            parts, schema, base = waiting.pop()
            if not isinstance(schema, Mapping):
                continue
            base = self._register(parts, schema, base)
            waiting += [((*parts, *way), child, base) for way, child in children(schema)]

    def _register(self, parts: Parts, schema: Mapping[str, Value], base: str) -> str:
        if isinstance(identity := schema.get("$id"), str):
            base = _join(base, identity)
            self._resources.setdefault(base, (parts, schema))
        self._bases[id(schema)] = base
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(name := schema.get(keyword), str):
                self._anchors.setdefault(f"{base}#{name}", (parts, schema))
        return base

    def target(self, schema: Mapping[str, Value]) -> SchemaData | None:
        """Return the schema that the ``$ref`` (or ``$dynamicRef``) of a subschema names, or None."""
        located = self.locate(schema)
        return None if located is None else located[1]

    def locate(self, schema: Mapping[str, Value]) -> tuple[Parts, SchemaData] | None:
        """Return the target with its path from the root, or None if it is outside this schema."""
        reference = schema.get("$ref", schema.get("$dynamicRef"))
        if not isinstance(reference, str):
            return None
        address, fragment = urldefrag(_join(self._bases.get(id(schema), ""), reference))
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(f"{address}#{fragment}")
        resource = self._resources.get(address)
        if resource is None or not fragment:
            return resource
        return _follow(resource, fragment)


def _join(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference) if base else reference
    except ValueError:
        return reference


def _follow(resource: tuple[Parts, SchemaData], pointer: str) -> tuple[Parts, SchemaData] | None:
    parts, current = resource
    try:
        steps = parse_pointer(pointer)
    except ValueError:
        return None
    for step in steps:
        key: str | int = step
        if isinstance(current, Mapping) and step in current:
            current = current[step]
        elif isinstance(current, list) and step.isascii() and step.isdigit() and int(step[:9]) < len(current):
            key = int(step[:9])
            current = current[key]
        else:
            return None
        parts = (*parts, key)
    return parts, current


def in_place(schema: Mapping[str, Value], references: References) -> Iterator[SchemaData]:
    """Yield the schemas that apply to the same value as this one: its reference and its in-place applicators."""
    if (target := references.target(schema)) is not None:
        yield target
    yield from (child for way, child in children(schema) if way[0] in IN_PLACE)
