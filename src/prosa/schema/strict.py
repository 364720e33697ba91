"""Whether a schema may be sent with ``strict: true`` (LA4), by the rules OpenAI documents for structured outputs.

In: a schema as plain data. Out: the first reason why not, or None. Where the documentation is silent the answer is no:
a schema sent without strict still works, a refused request does not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from prosa.data.pointer import format_pointer
from prosa.schema.keywords import TYPES
from prosa.schema.limits import (
    STRICT_MAX_ENUM_VALUES,
    STRICT_MAX_LEVELS,
    STRICT_MAX_NAME_CHARACTERS,
    STRICT_MAX_PROPERTIES,
)
from prosa.schema.walk import Parts, References, children, subschemas

_EVERYWHERE = frozenset(("$defs", "anyOf", "const", "definitions", "description", "enum", "title", "type"))
_BY_TYPE: dict[str, frozenset[str]] = {
    "object": frozenset(("additionalProperties", "properties", "required")),
    "array": frozenset(("items", "maxItems", "minItems")),
    "string": frozenset(("format", "pattern")),
    "number": frozenset(("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf")),
    "integer": frozenset(("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf")),
    "boolean": frozenset(),
    "null": frozenset(),
}
_FORMATS = frozenset(("date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"))
_BACKTRACKING = re.compile(r"\(\?(?:[=!]|<[=!])|\\(?:[1-9]|k<)")
_REFERENCE_STARTS = ("#/$defs/", "#/definitions/")


def why_not_strict(schema: Any) -> str | None:
    """Why strict mode would refuse the schema, or None when it qualifies."""
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        return "the root is not of type object"
    references = References(schema)
    for parts, current in subschemas(schema):
        if (reason := _refusal(parts, current, references)) is not None:
            return f"{format_pointer(parts) or 'the root'}: {reason}"
    return _too_large(schema) or _too_deep(schema)


def backtracks(pattern: Any) -> bool:
    """Whether a pattern has look-around or back-references, which servers that decode by grammar cannot follow."""
    return _BACKTRACKING.search(str(pattern)) is not None


def _refusal(parts: Parts, schema: Any, references: References) -> str | None:
    if not isinstance(schema, Mapping):
        # `additionalProperties: false` is judged with its object
        return None if parts[-1] == "additionalProperties" else "true and false are not supported as schemas"
    keywords = set(schema) - ({"$schema"} if not parts else set())
    if "$ref" in keywords:
        return _bad_reference(schema, keywords, references)
    types = schema.get("type", [])
    types = types if isinstance(types, list) else [types]
    if any(name not in TYPES for name in types) or not (types or "anyOf" in keywords):
        return "it has no type"
    known = _EVERYWHERE.union(*(_BY_TYPE[name] for name in types))
    if unsupported := sorted(keywords - known):
        return f"the keyword {unsupported[0]} is not supported"
    if "object" in types and (reason := _open_object(schema)):
        return reason
    if "array" in types and not isinstance(schema.get("items"), Mapping):
        return "the array does not describe its items"
    if "format" in schema and schema["format"] not in _FORMATS:
        return f"the format {schema['format']} is not supported"
    return "the pattern needs backtracking" if backtracks(schema.get("pattern", "")) else None


def _bad_reference(schema: Mapping[str, Any], keywords: set[str], references: References) -> str | None:
    named = str(schema["$ref"])
    if len(keywords) > 1:
        return "a reference has other keywords beside it"
    if named != "#" and not named.startswith(_REFERENCE_STARTS):
        return "a reference leads elsewhere than to the root or to $defs"
    return None if references.target(schema) is not None else "a reference leads nowhere"


def _open_object(schema: Mapping[str, Any]) -> str | None:
    properties = schema.get("properties")
    if schema.get("additionalProperties") is not False:
        return "additionalProperties is not false"
    if not isinstance(properties, Mapping):
        return "the object has no properties"
    required = schema.get("required", [])
    optional = [name for name in properties if name not in required]
    return f"the property {optional[0]} is not required" if optional else None


def _too_large(schema: Mapping[str, Any]) -> str | None:
    properties = characters = values = 0
    for _, current in subschemas(schema):
        if not isinstance(current, Mapping):
            continue
        names = [*current.get("properties", ()), *current.get("$defs", ()), *current.get("definitions", ())]
        choices = [*current.get("enum", ()), *([current["const"]] if "const" in current else ())]
        properties += len(current.get("properties", ()))
        values += len(choices)
        characters += sum(len(str(name)) for name in [*names, *choices])
    if properties > STRICT_MAX_PROPERTIES:
        return f"it has more than {STRICT_MAX_PROPERTIES:,} properties"
    if values > STRICT_MAX_ENUM_VALUES:
        return f"it has more than {STRICT_MAX_ENUM_VALUES:,} enum values"
    return "its names are too long together" if characters > STRICT_MAX_NAME_CHARACTERS else None


def _too_deep(schema: Any) -> str | None:
    waiting: list[tuple[Any, int]] = [(schema, 1)]
    while waiting:
        current, level = waiting.pop()
        if level > STRICT_MAX_LEVELS:
            return f"it has more than {STRICT_MAX_LEVELS} levels"
        for way, child in children(current):
            deeper = way[0] in ("properties", "items")
            waiting.append((child, level + 1 if deeper else level))
    return None
