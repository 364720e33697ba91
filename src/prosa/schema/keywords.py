"""The keywords of JSON Schema 2020-12: which of them hold schemas, and which there are at all. Tables only."""

from __future__ import annotations

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
"""Applicators that look at the same value as the schema that holds them."""

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
"""Formats that are asserted: what they are, and an example."""
