"""The keywords of JSON Schema 2020-12: which of them hold schemas, and which exist. Tables only."""

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
    "prefixItems": "what the first items of a list are, one by one",
    "properties": "the members of an object by name, each with its schema",
    "propertyNames": "what the names of members are",
    "readOnly": "whether the value is only read",
    "required": "the list of members that must be there",
    "then": "what holds where `if` does",
    "title": "what the value is called",
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
