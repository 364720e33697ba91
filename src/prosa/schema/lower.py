"""The part of an output schema that is sent (LA4, LA5); every answer is validated with the schema as written.

In: a schema. Out: itself with ``strict`` if that mode accepts it; otherwise a copy that accepts at least as much and
leaves out what servers refuse or ignore; wrapped as ``{"value": …}`` when its root is not an object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import quote

from msgspec import Struct

from prosa.data import Value, items_of, members_of
from prosa.data.pointer import format_pointer
from prosa.regex import regex
from prosa.schema.limits import (
    STRICT_MAX_ENUM_VALUES,
    STRICT_MAX_LEVELS,
    STRICT_MAX_NAME_CHARACTERS,
    STRICT_MAX_PROPERTIES,
)
from prosa.schema.walk import (
    FOR_OBJECTS,
    LIST_OF_SCHEMAS,
    MAP_OF_SCHEMAS,
    ONE_SCHEMA,
    TYPES,
    Parts,
    References,
    SchemaData,
    applicators,
    children,
    subschemas,
)
from prosa.source.url import PATH_SAFE

WRAPPER = "value"
"""The property that holds a value that is not an object (LA5)."""

_KEPT = frozenset(
    (
        "$defs",
        "$ref",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "definitions",
        "description",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "multipleOf",
        "pattern",
        "prefixItems",
        "properties",
        "required",
        "title",
        "type",
    )
)


class Lowered(Struct, frozen=True):
    """A schema to send. ``notes`` say in a few words each what was lowered, and why strict mode was not possible."""

    schema: dict[str, Value]
    strict: bool
    wrapped: bool
    notes: tuple[str, ...] = ()


def lower(schema: SchemaData) -> Lowered:
    """Return the schema to send for a valid schema (a mapping, true or false). Never changes its argument.

    ``strict`` is true only where the schema is sent as it is, or as it is inside the wrapper.
    """
    if not isinstance(schema, Mapping):
        return Lowered({"type": "object"}, False, False, ("the schema says nothing about the value",))
    plain = dict(schema)
    wrapped = not is_object_root(plain)
    whole = wrap(plain) if wrapped else plain
    notes = ("the value is wrapped as an object",) if wrapped else ()
    reason = why_not_strict(whole)
    if reason is None:
        return Lowered(whole, True, wrapped, notes)
    relaxing = _Relaxing(References(plain))
    relaxed = relaxing.root(plain)
    return Lowered(
        wrap(relaxed) if wrapped else relaxed, False, wrapped, (*notes, f"not strict: {reason}", *relaxing.notes)
    )


def unwrap(lowered: Lowered, value: Value) -> Value:
    """Return the answer without the wrapper; an answer that lacks it is taken as it is."""
    if lowered.wrapped and isinstance(value, dict) and value.keys() == {WRAPPER}:
        return value[WRAPPER]
    return value


def is_object_root(schema: Mapping[str, Value]) -> bool:
    """Return whether every value that the schema accepts is an object. A schema without types counts as one."""
    references = References(schema)
    current: SchemaData = schema
    for _ in range(16):  # references to references; more than some is a circle
        if not isinstance(current, Mapping):
            return False
        if "type" in current:
            return bool(current["type"] in ("object", ["object"]))
        if FOR_OBJECTS & current.keys():
            return True
        if "$ref" not in current:
            return _undecided_is_object(current)
        current = references.target(current)
    return False


def _undecided_is_object(schema: Mapping[str, Value]) -> bool:
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(allowed, list):
        return bool(allowed) and all(isinstance(choice, dict) for choice in allowed)
    for keyword in ("anyOf", "oneOf"):
        if isinstance(branches := schema.get(keyword), list):
            return all(isinstance(branch, Mapping) and branch.get("type") == "object" for branch in branches)
    if isinstance(branches := schema.get("allOf"), list):
        return any(isinstance(branch, Mapping) and branch.get("type") == "object" for branch in branches)
    return not schema.keys() & {"items", "prefixItems", "minLength", "pattern", "format", "minimum", "maximum"}


def wrap(schema: Mapping[str, Value]) -> dict[str, Value]:
    """Return an object with the value as its only property; definitions move to the root, so that references stay
    short."""
    inner = {key: _moved(value, key) for key, value in schema.items() if key not in ("$defs", "definitions", "$schema")}
    outer: dict[str, Value] = {
        "type": "object",
        "properties": {WRAPPER: inner},
        "required": [WRAPPER],
        "additionalProperties": False,
    }
    return outer | {key: _moved(schema[key], key) for key in ("$defs", "definitions") if key in schema}


def _moved(value: Value, keyword: str) -> Value:
    """Return what a keyword holds, its references to the root and into it moved into the wrapper."""
    if keyword == "$ref" and isinstance(value, str):
        stays = value.startswith(("#/$defs/", "#/definitions/")) or not (value == "#" or value.startswith("#/"))
        return value if stays else f"#/properties/{WRAPPER}" + value[1:]
    return _mapped(value, keyword, lambda inner: {key: _moved(held, key) for key, held in inner.items()})


def _mapped(value: Value, keyword: str, change: Callable[[Mapping[str, Value]], Value]) -> Value:
    """Return the value of a keyword with every schema in it changed; the value itself for other keywords."""
    if keyword in ONE_SCHEMA and isinstance(value, Mapping):
        return change(value)
    if keyword in LIST_OF_SCHEMAS and isinstance(value, list):
        return [change(item) if isinstance(item, Mapping) else item for item in value]
    if keyword in MAP_OF_SCHEMAS and isinstance(value, Mapping):
        return {name: change(item) if isinstance(item, Mapping) else item for name, item in value.items()}
    return value


def without_booleans(schema: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return the schema without booleans as schemas except in `additionalProperties`: some servers refuse a whole
    request for one. Parts left out are validated afterwards, except in `not`, `if` and `oneOf`, where less would mean
    more; a schema without any is returned unchanged."""
    parts = [*subschemas(schema)]
    if not any(isinstance(subschema, bool) and way[-1] != "additionalProperties" for way, subschema in parts):
        return schema
    turned = (subschema for way, subschema in parts if not _TURNING.isdisjoint(applicators(way)))
    if any(
        isinstance(subschema, Mapping) and not subschema.keys().isdisjoint(("$ref", "$dynamicRef"))
        for subschema in turned
    ):
        return _exact(schema)  # a definition may count in both ways
    return _spelled(schema)


_TURNING = frozenset(("not", "if", "oneOf"))
"""Keywords under which a looser schema makes the whole one stricter, or another one."""


def _exact(schema: Mapping[str, Value]) -> dict[str, Value]:
    """Return the schema with `{}` and `{"not": {}}` in place of booleans."""
    return {keyword: _each_exact(keyword, value) for keyword, value in schema.items()}


def _each_exact(keyword: str, value: Value) -> Value:
    if keyword in ONE_SCHEMA:
        return value if keyword == "additionalProperties" and isinstance(value, bool) else _exact_of(value)
    if keyword in LIST_OF_SCHEMAS and isinstance(value, list):
        return [_exact_of(item) for item in value]
    if keyword in MAP_OF_SCHEMAS and isinstance(value, Mapping):
        return {name: _exact_of(member) for name, member in value.items()}
    return value


def _exact_of(schema: Value) -> Value:
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    return _exact(schema) if isinstance(schema, Mapping) else schema


def _spelled(schema: Mapping[str, Value]) -> dict[str, Value]:
    result: dict[str, Value] = {}
    for keyword, value in schema.items():
        if keyword == "items" and value is False:
            count, most = len(items_of(schema.get("prefixItems"))), schema.get("maxItems")
            result["maxItems"] = min(count, most) if isinstance(most, int | float) else count
        elif keyword in ONE_SCHEMA and keyword != "additionalProperties" and isinstance(value, bool):
            result |= {keyword: {}} if value else {}
        elif keyword in ("anyOf", "oneOf") and isinstance(value, list):
            spelled = _of if keyword == "anyOf" else _exact_of
            result |= (
                {keyword: branches} if (branches := [spelled(item) for item in value if item is not False]) else {}
            )
        elif keyword in ("properties", "patternProperties") and isinstance(value, Mapping):
            result[keyword] = {name: _of(member) for name, member in value.items() if member is not False}
        elif keyword == "maxItems" and keyword in result:
            continue
        elif keyword in LIST_OF_SCHEMAS and isinstance(value, list):
            result[keyword] = [_of(item) for item in value]
        elif keyword in MAP_OF_SCHEMAS and isinstance(value, Mapping):
            result[keyword] = {name: _of(member) for name, member in value.items()}
        elif keyword in ("not", "if"):
            result[keyword] = _exact_of(value)
        else:
            result[keyword] = _spelled(value) if keyword in ONE_SCHEMA and isinstance(value, Mapping) else value
    return result


def _of(schema: Value) -> Value:
    return _spelled(schema) if isinstance(schema, Mapping) else {} if isinstance(schema, bool) else schema


class _Relaxing:
    """The state of one relaxation; ``notes`` collects what was left out, each thing once."""

    def __init__(self, references: References) -> None:
        self.references = references
        self._notes: dict[str, None] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self._notes)

    def root(self, schema: Mapping[str, Value]) -> dict[str, Value]:
        relaxed = self.relaxed(schema)
        return {"type": "object", **relaxed} if "type" not in relaxed and is_object_root(schema) else relaxed

    def relaxed(self, schema: Mapping[str, Value]) -> dict[str, Value]:
        result: dict[str, Value] = {}
        for keyword, value in schema.items():
            if keyword == "oneOf" and "anyOf" not in schema:
                self._note("oneOf is sent as anyOf")
                result["anyOf"] = _mapped(value, keyword, self.relaxed)
            elif keyword not in _KEPT:
                self._note(f"{keyword} is not sent")
            elif keyword == "$ref":
                result |= self._reference(schema)
            elif keyword == "pattern" and backtracks(value):
                self._note("a pattern with look-around or back-references is not sent")
            elif keyword == "additionalProperties" and "patternProperties" in schema:
                self._note("additionalProperties is not sent where patternProperties stand beside it")
            else:
                result[keyword] = _mapped(value, keyword, self.relaxed)
        return result

    def _reference(self, schema: Mapping[str, Value]) -> dict[str, str]:
        """Return a reference as a pointer from the root: anchors and identifiers are not sent."""
        located = self.references.locate(schema)
        if located is None or any(keyword not in _KEPT for keyword in applicators(located[0])):
            self._note("a reference is not sent")
            return {}
        return {"$ref": "#" + quote(format_pointer(located[0]), safe=f"{PATH_SAFE}?")}

    def _note(self, text: str) -> None:
        self._notes[text] = None


# Whether a schema may be sent with ``strict: true`` (LA4), by the rules OpenAI documents for structured outputs.
#
# In: a schema as plain data. Out: the first reason why not, or None. Where the documentation is silent the answer is
# no: a schema sent without strict still works, a refused request does not.

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
_BACKTRACKING = regex(r"\(\?(?:[=!]|<[=!])|\\(?:[1-9]|k<)")
_REFERENCE_STARTS = ("#/$defs/", "#/definitions/")


def why_not_strict(schema: SchemaData) -> str | None:
    """Return why strict mode would refuse the schema, or None when it qualifies."""
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        return "the root is not of type object"
    references = References(schema)
    for parts, current in subschemas(schema):
        if (reason := _refusal(parts, current, references)) is not None:
            return f"{format_pointer(parts) or 'the root'}: {reason}"
    return _too_large(schema) or _too_deep(schema)


def backtracks(pattern: Value) -> bool:
    """Return whether a pattern has look-around or back-references, which servers with grammar-based decoding do not
    support."""
    return _BACKTRACKING.search(str(pattern)) is not None


def _refusal(parts: Parts, schema: SchemaData, references: References) -> str | None:
    if not isinstance(schema, Mapping):
        # `additionalProperties: false` is judged with its object
        return None if parts[-1] == "additionalProperties" else "true and false are not supported as schemas"
    keywords = set(schema) - ({"$schema"} if not parts else set())
    if "$ref" in keywords:
        return _bad_reference(schema, keywords, references)
    named = schema.get("type", [])
    types = [str(name) for name in (named if isinstance(named, list) else [named])]
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
    return "the pattern needs backtracking" if "pattern" in schema and backtracks(schema["pattern"]) else None


def _bad_reference(schema: Mapping[str, Value], keywords: set[str], references: References) -> str | None:
    named = str(schema["$ref"])
    if len(keywords) > 1:
        return "a reference has other keywords beside it"
    if named != "#" and not named.startswith(_REFERENCE_STARTS):
        return "a reference leads elsewhere than to the root or to $defs"
    return None if references.target(schema) is not None else "a reference leads nowhere"


def _open_object(schema: Mapping[str, Value]) -> str | None:
    properties = schema.get("properties")
    if schema.get("additionalProperties") is not False:
        return "additionalProperties is not false"
    if not isinstance(properties, Mapping):
        return "the object has no properties"
    required = items_of(schema.get("required"))
    optional = [name for name in properties if name not in required]
    return f"the property {optional[0]} is not required" if optional else None


def _too_large(schema: Mapping[str, Value]) -> str | None:
    properties = characters = values = 0
    for _, current in subschemas(schema):
        if not isinstance(current, Mapping):
            continue
        names = [name for key in ("properties", "$defs", "definitions") for name in members_of(current.get(key))]
        allowed = [*items_of(current.get("enum")), *([current["const"]] if "const" in current else ())]
        properties += len(members_of(current.get("properties")))
        values += len(allowed)
        characters += sum(len(str(name)) for name in [*names, *allowed])
    if properties > STRICT_MAX_PROPERTIES:
        return f"it has more than {STRICT_MAX_PROPERTIES:,} properties"
    if values > STRICT_MAX_ENUM_VALUES:
        return f"it has more than {STRICT_MAX_ENUM_VALUES:,} enum values"
    return "its names are too long together" if characters > STRICT_MAX_NAME_CHARACTERS else None


def _too_deep(schema: SchemaData) -> str | None:
    waiting: list[tuple[SchemaData, int]] = [(schema, 1)]
    while waiting:
        current, level = waiting.pop()
        if level > STRICT_MAX_LEVELS:
            return f"it has more than {STRICT_MAX_LEVELS} levels"
        for way, child in children(current):
            deeper = way[0] in ("properties", "items")
            waiting.append((child, level + 1 if deeper else level))
    return None
