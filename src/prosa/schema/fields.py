"""The properties of an object schema, as seen from outside: for ``KEY=VALUE`` and for the help of a program.

In: a schema. Out: its declared properties with references and ``allOf`` followed, and what they accept in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from msgspec import Struct

from prosa.data import Value
from prosa.schema.keywords import FORMATS
from prosa.schema.limits import MAX_FIELDS
from prosa.schema.values import listed, shown_value, type_name
from prosa.schema.walk import References

_NOT_GIVEN: Value = None


class InputField(Struct, frozen=True):
    """One input of a program. ``type`` is text for people; ``default`` is None without one, ``enum`` empty."""

    name: str
    type: str
    required: bool = False
    default: Value = None
    description: str = ""
    enum: tuple[Value, ...] = ()


class Declared:
    """The properties that an object schema declares; ``closed`` when it says that there are no others."""

    def __init__(self, schema: Value, references: References) -> None:
        self.references = references
        self.properties: dict[str, Value] = {}
        self.required: dict[str, None] = {}
        self.others: Value = None
        self.closed = False
        self.patterns = False
        for part in merged(schema, references):
            self._take(part)

    def _take(self, part: Mapping[str, Value]) -> None:
        properties = part.get("properties")
        if isinstance(properties, Mapping):
            self.properties |= {name: each for name, each in properties.items() if name not in self.properties}
        if isinstance(names := part.get("required"), list):
            self.required |= dict.fromkeys(str(name) for name in names)
        self.patterns = self.patterns or "patternProperties" in part
        if "additionalProperties" in part:
            self.others = part["additionalProperties"]
            self.closed = self.closed or self.others is False


def merged(schema: Value, references: References) -> Iterator[Mapping[str, Value]]:
    """Yield a schema and those that hold together with it: reference, ``allOf``, the one alternative that is no
    null."""
    waiting, seen = [schema], set()
    while waiting:
        current = waiting.pop()
        if not isinstance(current, Mapping) or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        inner = [references.target(current), *_list(current.get("allOf"))]
        for keyword in ("anyOf", "oneOf"):
            alternatives = [each for each in _list(current.get(keyword)) if not _is_null(each)]
            inner += alternatives if len(alternatives) == 1 else []
        waiting += reversed(inner)


def describe_inputs(schema: Value) -> tuple[InputField, ...]:
    """Return the inputs of a program as its schema declares them, required ones first, otherwise in their order."""
    references = References(schema)
    declared = Declared(schema, references)
    names = sorted(islice(declared.properties, MAX_FIELDS), key=lambda name: name not in declared.required)
    return tuple(_field(name, declared.properties[name], name in declared.required, references) for name in names)


def _field(name: str, schema: Value, required: bool, references: References) -> InputField:
    parts = list(merged(schema, references))
    enum = next((part["enum"] for part in parts if isinstance(part.get("enum"), list)), ())
    description = first(parts, "description") or first(parts, "title") or ""
    return InputField(
        name,
        type_text(schema, references),
        required,
        first(parts, "default"),
        " ".join(str(description).split()),
        tuple(enum),
    )


def first(parts: list[Mapping[str, Value]], keyword: str) -> Value:
    """Return the value of a keyword in the first schema that has it, else None."""
    return next((part[keyword] for part in parts if keyword in part), _NOT_GIVEN)


def type_text(schema: Value, references: References, depth: int = 0) -> str:
    """Return what a schema accepts, in a few words: ``integer``, ``list of string``, ``one of "a" or "b"``."""
    parts = list(merged(schema, references))
    if any("const" in part for part in parts):
        return shown_value(first(parts, "const"))
    if isinstance(choices := first(parts, "enum"), list):
        return "one of " + listed(map(shown_value, choices))
    names = accepted_types(schema, references)
    if not names:
        return "any JSON"
    return listed(_type_words(name, parts, references, depth) for name in names)


def _type_words(name: str, parts: list[Mapping[str, Value]], references: References, depth: int) -> str:
    if name == "array":
        items = first(parts, "items")
        return (
            f"list of {type_text(items, references, depth + 1)}" if isinstance(items, Mapping) and depth < 2 else "list"
        )
    if name == "string" and (form := first(parts, "format")) in FORMATS:
        return f"string ({form})"
    return name


def accepted_types(schema: Value, references: References) -> tuple[str, ...]:
    """Return the types that a schema accepts, in the order written; empty when it does not say."""
    found: dict[str, None] = {}
    waiting, seen = [schema], set()
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        names, alternatives = _said_types(current, references)
        found |= dict.fromkeys(names)
        waiting += reversed(alternatives)
    return tuple(found)


def _said_types(schema: Value, references: References) -> tuple[list[str], list[Value]]:
    """Return the types that a schema names itself, or the alternatives that name them."""
    for part in merged(schema, references):
        named = part.get("type")
        if named is not None:
            return [str(name) for name in (named if isinstance(named, list) else [named])], []
        if "enum" in part or "const" in part:
            return [type_name(choice) for choice in part.get("enum", [part.get("const")])], []
        if alternatives := _list(part.get("anyOf")) or _list(part.get("oneOf")):
            return [], alternatives
        if "properties" in part:
            return ["object"], []
    return [], []


def _is_null(schema: Value) -> bool:
    return isinstance(schema, Mapping) and (schema.get("type") in ("null", ["null"]) or schema.get("const", 0) is None)


def _list(value: Value) -> list[Value]:
    return value if isinstance(value, list) else []
