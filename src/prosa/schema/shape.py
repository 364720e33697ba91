"""A schema written in front matter, judged at its place in the source (L4, L5, L9, LA2).

In: the node of the schema. Out: problems: ``bad-schema``, ``schema-without-type``, ``unknown-schema-keyword``,
``required-without-property``. Nothing is validated with the schema and nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from prosa.data import Mapping as NodeMapping
from prosa.data import Node, Value, format_pointer, key_span_at, span_at, to_value
from prosa.diagnostics import Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.schema.errors import SchemaError
from prosa.schema.fields import Declared
from prosa.schema.keywords import KNOWN
from prosa.schema.limits import MAX_PROBLEMS, MAX_UNKNOWN_KEYWORDS
from prosa.schema.validate import Schema
from prosa.schema.walk import Parts, References, applicators, subschemas
from prosa.source import Span

_SAYS_ITS_TYPE = frozenset(("$ref", "$dynamicRef", "allOf", "anyOf", "const", "enum", "oneOf", "type"))
_HELPERS = frozenset(("contains", "else", "if", "not", "propertyNames", "then"))
"""Schemas that only refine another one; types are not written in them or inside them."""
_PARTIAL = frozenset(
    ("additionalProperties", "allOf", "anyOf", "dependentSchemas", "oneOf", "unevaluatedItems", "unevaluatedProperties")
)
"""Places where a schema often states only a part, although schemas inside it are complete."""


def check_schema_shape(node: Node) -> tuple[Problem, ...]:
    """Return every problem of the schema at this node, in the order of the source, at most `MAX_PROBLEMS`."""
    value = to_value(node)
    try:
        Schema(value)
    except SchemaError as error:
        problems = [_bad(node, error)]
        # The rest is worth saying only where keywords may explain the error.
        problems += _unknown_keywords(node, value) if isinstance(value, Mapping) else ()
        return tuple(islice(problems, MAX_PROBLEMS))
    found: list[Problem] = []
    for check in (_unknown_keywords, _without_type, _required):
        found += islice(check(node, value), MAX_PROBLEMS)
    return tuple(sorted(found, key=lambda problem: problem.span)[:MAX_PROBLEMS])


def _bad(node: Node, error: SchemaError) -> Problem:
    notes = ("Schemas are JSON Schema 2020-12.",)
    message = f"not a valid JSON Schema: {error.message}"
    return Problem("bad-schema", message, span_at(node, error.pointer), notes, misspelling=error.misspelling)


def _unknown_keywords(node: Node, schema: Value) -> Iterator[Problem]:
    unknown = ((parts, keyword) for parts, current in _mappings(schema) for keyword in current if keyword not in KNOWN)
    for parts, keyword in islice(unknown, MAX_UNKNOWN_KEYWORDS):
        near = nearest(keyword, sorted(KNOWN), cutoff=0.8)
        if near:
            span = key_span_at(node, format_pointer((*parts, keyword)))
            message = f"`{keyword}` is not a keyword of JSON Schema; did you mean `{near}`?"
            notes = ("Unknown keywords have no effect.",)
            yield Problem("unknown-schema-keyword", message, span, notes, misspelling=Misspelling(keyword, near))


def _without_type(node: Node, schema: Value) -> Iterator[Problem]:
    for parts, current in subschemas(schema):
        if isinstance(current, bool):
            if not parts:
                yield _no_type(
                    node, parts, "the schema true accepts any value" if current else "the schema false accepts none"
                )
        elif isinstance(current, Mapping) and not current.keys() & _SAYS_ITS_TYPE and not _refines(parts):
            yield _no_type(
                node, parts, "an empty schema accepts any value" if not current else "the schema has no `type`"
            )


def _no_type(node: Node, parts: Parts, message: str) -> Problem:
    notes = ("Expected `type`: null, boolean, object, array, number, integer or string.",)
    pointer = format_pointer(parts)
    span = key_span_at(node, pointer) if parts else _first_key(node)
    return Problem("schema-without-type", message, span, notes)


def _first_key(node: Node) -> Span:
    return node.entries[0].key.span if isinstance(node, NodeMapping) and node.entries else node.span


def _refines(parts: Parts) -> bool:
    """Return whether a schema only states a part of the whole, as in ``allOf`` or ``not``."""
    way = list(applicators(parts))
    return bool(way) and (way[-1] in _PARTIAL or any(keyword in _HELPERS for keyword in way))


def _required(node: Node, schema: Value) -> Iterator[Problem]:
    references = References(schema)
    for parts, current in _mappings(schema):
        names = current.get("required")
        if not isinstance(names, list) or "properties" not in current or _refines(parts):
            continue
        declared = Declared(current, references)
        if declared.patterns or isinstance(declared.others, Mapping) or declared.others is True:
            continue
        for index, name in enumerate(names):
            if name not in declared.properties:
                yield _missing(node, (*parts, "required", index), name, declared)


def _missing(node: Node, parts: Parts, name: str, declared: Declared) -> Problem:
    near = nearest(name, declared.properties)
    hint = f"; did you mean `{near}`?" if near else ""
    notes = () if near else ("Describe it in `properties`, or remove it here.",)
    span = span_at(node, format_pointer(parts))
    message, meant = f"`{name}` is required but not described{hint}", Misspelling(name, near) if near else None
    return Problem("required-without-property", message, span, notes, misspelling=meant)


def _mappings(schema: Value) -> Iterator[tuple[Parts, Mapping[str, Value]]]:
    return ((parts, current) for parts, current in subschemas(schema) if isinstance(current, Mapping))
