"""Shapes of JSON as tables, and the first place where a value does not fit. Nothing is changed or filled in.

An optional field may be null: the services read it as absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field

from prosa.data import Value

Step: TypeAlias = "str | int"
Kind: TypeAlias = Literal["string", "integer", "number", "boolean", "object", "array", "any"]
Shape: TypeAlias = "Kind | Fields | Many | Choice | Tagged | Either"


class Fields(Struct, frozen=True):
    """An object with these fields; with ``is_open`` others are allowed."""

    required: Mapping[str, Shape] = field(default_factory=dict)
    optional: Mapping[str, Shape] = field(default_factory=dict)
    is_open: bool = False


class Many(Struct, frozen=True):
    """An array whose elements have one shape."""

    each: Shape


class Choice(Struct, frozen=True):
    """One of these texts."""

    values: tuple[str, ...]


class Tagged(Struct, frozen=True):
    """An object whose shape depends on the text of one field; ``default`` stands for a missing one."""

    tag: str
    kinds: Mapping[str, Shape]
    default: str = ""


class Either(Struct, frozen=True):
    """A text or an array."""

    many: Many


class Misfit(Struct, frozen=True):
    """Where a value does not fit. ``place`` are field names and indexes; a tag that chose the shape has a ``:`` before
    it. ``name`` is the missing or unknown field, ``expected`` the kind or the allowed texts."""

    problem: Literal["missing", "unknown", "kind", "value"]
    place: tuple[Step, ...]
    name: str = ""
    expected: str = ""
    found: Value = None

    def path(self, *, dots: bool) -> str:
        """Return the place without tags: ``messages.0.role`` or ``messages[0].role``."""
        parts = [step for step in self.place if not str(step).startswith(":")]
        if self.problem in ("missing", "unknown"):
            parts.append(self.name)
        if dots:
            return ".".join(map(str, parts))
        return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).removeprefix(".")


_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": Mapping,
    "array": list,
}


def misfit(value: Value, shape: Shape, place: tuple[Step, ...] = ()) -> Misfit | None:
    """Return the first place where ``value`` does not have ``shape``, None where it has."""
    return next(_misfits(value, shape, place), None)


def _misfits(value: Value, shape: Shape, place: tuple[Step, ...]) -> Iterator[Misfit]:
    if isinstance(shape, str):
        if not is_kind(value, shape):
            yield Misfit("kind", place, expected=shape, found=value)
    elif isinstance(shape, Fields):
        yield from _fields(value, shape, place)
    elif isinstance(shape, Many):
        yield from _many(value, shape, place)
    elif isinstance(shape, Choice):
        if value not in shape.values:
            yield Misfit("value", place, expected=", ".join(f"'{choice}'" for choice in shape.values), found=value)
    elif isinstance(shape, Tagged):
        yield from _tagged(value, shape, place)
    elif not isinstance(value, str):
        yield from _many(value, shape.many, place)


def is_kind(value: Value, kind: Kind) -> bool:
    """Return whether a value is of a kind; a truth value is no number."""
    if kind == "any":
        return True
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _many(value: Value, shape: Many, place: tuple[Step, ...]) -> Iterator[Misfit]:
    if not isinstance(value, list):
        yield Misfit("kind", place, expected="array", found=value)
        return
    for index, item in enumerate(value):
        yield from _misfits(item, shape.each, (*place, index))


def _fields(value: Value, shape: Fields, place: tuple[Step, ...]) -> Iterator[Misfit]:
    if not isinstance(value, Mapping):
        yield Misfit("kind", place, expected="object", found=value)
        return
    for name, kind in shape.required.items():
        if name not in value:
            yield Misfit("missing", place, name=name)
        else:
            yield from _misfits(value[name], kind, (*place, name))
    for name, member in value.items():
        if name in shape.optional and member is not None:
            yield from _misfits(member, shape.optional[name], (*place, name))
        elif name not in shape.required and name not in shape.optional and not shape.is_open:
            yield Misfit("unknown", place, name=name)


def _tagged(value: Value, shape: Tagged, place: tuple[Step, ...]) -> Iterator[Misfit]:
    if not isinstance(value, Mapping):
        yield Misfit("kind", place, expected="object", found=value)
        return
    tag = value.get(shape.tag) or shape.default
    if not tag:
        yield Misfit("missing", place, name=shape.tag)
    elif not isinstance(tag, str) or tag not in shape.kinds:
        known = ", ".join(f"'{kind}'" for kind in shape.kinds)
        yield Misfit("value", (*place, shape.tag), expected=known, found=tag)
    else:
        yield from _misfits(value, shape.kinds[tag], (*place, f":{tag}"))


def tagged(tag: str, shape: Fields) -> Fields:
    """Return a shape that also has the field of its tag."""
    return Fields(shape.required, {**shape.optional, tag: "string"}, shape.is_open)


def json_kind(value: Value) -> str:
    """Return the kind of a JSON value with its article, as OpenAI writes it."""
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "an integer", float: "a decimal", str: "a string", list: "an array"}
    return names.get(type(value), "an object")


def open_object(schema: Value, place: str = "") -> str | None:
    """Return the place of the first object of a schema that strict mode refuses, None where it takes all: every
    property is required, and no other is allowed."""
    if not isinstance(schema, Mapping):
        return None
    properties, alternatives, definitions = schema.get("properties"), schema.get("anyOf"), schema.get("$defs")
    if (schema.get("type") == "object" or properties) and not _is_closed(schema):
        return place or "()"
    inner: list[tuple[str, Value]] = []
    if isinstance(properties, Mapping):
        inner += [(f"{place}/{name}", value) for name, value in properties.items()]
    inner.append((f"{place}/items", schema.get("items")))
    if isinstance(alternatives, list):
        inner += [(f"{place}/anyOf/{index}", value) for index, value in enumerate(alternatives)]
    if isinstance(definitions, Mapping):
        inner += [(f"{place}/$defs/{name}", value) for name, value in definitions.items()]
    return next((location for where, nested in inner if (location := open_object(nested, where)) is not None), None)


def _is_closed(schema: Mapping[str, Value]) -> bool:
    properties, required = schema.get("properties") or {}, schema.get("required") or []
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return False
    names = {name for name in required if isinstance(name, str)}
    is_exact = names == set(properties) and all(isinstance(name, str) for name in required)
    return is_exact and schema.get("additionalProperties") is False
