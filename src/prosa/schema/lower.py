"""What of an output schema goes over the wire (LA4, LA5); the schema as written stays the judge of every answer.

In: a schema. Out: itself with ``strict`` when that mode takes it; otherwise a copy that accepts at least as much and
leaves out what servers refuse or ignore; wrapped as ``{"value": …}`` when its root is not an object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from prosa.data.pointer import format_pointer
from prosa.schema.keywords import FOR_OBJECTS, LIST_OF_SCHEMAS, MAP_OF_SCHEMAS, ONE_SCHEMA
from prosa.schema.strict import backtracks, why_not_strict
from prosa.schema.walk import References, applicators

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


@dataclass(frozen=True, slots=True)
class Lowered:
    """A schema to send. ``notes`` say in a few words each what was lowered, and why strict mode was not possible."""

    schema: dict[str, Any]
    strict: bool
    wrapped: bool
    notes: tuple[str, ...] = ()


def lower(schema: Any) -> Lowered:
    """The schema to send for a valid schema (a mapping, true or false). Never changes what it is given.

    ``strict`` is true only where the schema is sent as it is, or as it is inside the wrapper.
    """
    if not isinstance(schema, Mapping):
        return Lowered({"type": "object"}, False, False, ("the schema says nothing about the value",))
    plain = dict(schema)
    wrapped = not _object_root(plain)
    whole = _wrap(plain) if wrapped else plain
    notes = ("the value is wrapped as an object",) if wrapped else ()
    reason = why_not_strict(whole)
    if reason is None:
        return Lowered(whole, True, wrapped, notes)
    relaxing = _Relaxing(References(plain))
    relaxed = relaxing.root(plain)
    return Lowered(
        _wrap(relaxed) if wrapped else relaxed, False, wrapped, (*notes, f"not strict: {reason}", *relaxing.notes)
    )


def unwrap(lowered: Lowered, value: Any) -> Any:
    """The answer without the wrapper; an answer that lacks it is taken as it is."""
    if lowered.wrapped and isinstance(value, dict) and value.keys() == {WRAPPER}:
        return value[WRAPPER]
    return value


def _object_root(schema: Mapping[str, Any]) -> bool:
    """Whether every value the schema means is an object. One that says nothing of types counts as one."""
    references = References(schema)
    current: Any = schema
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


def _undecided_is_object(schema: Mapping[str, Any]) -> bool:
    choices = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(choices, list):
        return bool(choices) and all(isinstance(choice, dict) for choice in choices)
    for keyword in ("anyOf", "oneOf"):
        if isinstance(branches := schema.get(keyword), list):
            return all(isinstance(each, Mapping) and each.get("type") == "object" for each in branches)
    if isinstance(branches := schema.get("allOf"), list):
        return any(isinstance(each, Mapping) and each.get("type") == "object" for each in branches)
    return not schema.keys() & {"items", "prefixItems", "minLength", "pattern", "format", "minimum", "maximum"}


def _wrap(schema: Mapping[str, Any]) -> dict[str, Any]:
    """An object whose one property is the value; definitions move to the root, so that references stay short."""
    inner = {key: _moved(value, key) for key, value in schema.items() if key not in ("$defs", "definitions", "$schema")}
    outer: dict[str, Any] = {
        "type": "object",
        "properties": {WRAPPER: inner},
        "required": [WRAPPER],
        "additionalProperties": False,
    }
    return outer | {key: _moved(schema[key], key) for key in ("$defs", "definitions") if key in schema}


def _moved(value: Any, keyword: str) -> Any:
    """What a keyword holds, its references to the root and into it moved into the wrapper."""
    if keyword == "$ref" and isinstance(value, str):
        stays = value.startswith(("#/$defs/", "#/definitions/")) or not (value == "#" or value.startswith("#/"))
        return value if stays else f"#/properties/{WRAPPER}" + value[1:]
    return _mapped(value, keyword, lambda inner: {key: _moved(held, key) for key, held in inner.items()})


def _mapped(value: Any, keyword: str, change: Any) -> Any:
    """The value of a keyword with every schema in it changed; the value itself for other keywords."""
    if keyword in ONE_SCHEMA and isinstance(value, Mapping):
        return change(value)
    if keyword in LIST_OF_SCHEMAS and isinstance(value, list):
        return [change(item) if isinstance(item, Mapping) else item for item in value]
    if keyword in MAP_OF_SCHEMAS and isinstance(value, Mapping):
        return {name: change(item) if isinstance(item, Mapping) else item for name, item in value.items()}
    return value


class _Relaxing:
    """The state of one relaxation; ``notes`` collects what was left out, each thing once."""

    def __init__(self, references: References) -> None:
        self.references = references
        self._notes: dict[str, None] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self._notes)

    def root(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        relaxed = self.relaxed(schema)
        return {"type": "object", **relaxed} if "type" not in relaxed and _object_root(schema) else relaxed

    def relaxed(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = {}
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

    def _reference(self, schema: Mapping[str, Any]) -> dict[str, str]:
        """A reference as a pointer from the root: anchors and identifiers are not sent."""
        located = self.references.locate(schema)
        if located is None or any(keyword not in _KEPT for keyword in applicators(located[0])):
            self._note("a reference is not sent")
            return {}
        return {"$ref": "#" + quote(format_pointer(located[0]), safe="/~!$&'()*+,;=:@?")}

    def _note(self, text: str) -> None:
        self._notes[text] = None
