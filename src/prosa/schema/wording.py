"""Validation errors and values in words: what was expected, what was found, for a model that must correct itself and
for a person."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from prosa.data import Plain, Value
from prosa.data.pointer import format_pointer
from prosa.schema.limits import MAX_ALTERNATIVES, MAX_SHOWN
from prosa.schema.walk import FORMATS, KNOWN, SchemaData, applicators

if TYPE_CHECKING:
    from typing import Protocol

    class Kind(Protocol):
        """Why a value was refused: each kind of jsonschema_rs has its own of these attributes."""

        context: list[list[LibraryError]]
        error: LibraryError
        expected_value: Value
        format: str
        limit: int | float
        multiple_of: int | float
        options: list[Value]
        pattern: str
        property: str
        schema: Value
        types: list[str]
        unexpected: list[str]

    class LibraryError(Protocol):
        """An error of jsonschema_rs about a value and a schema of plain data."""

        instance: Value
        instance_path: list[str | int]
        kind: Kind
        message: str
        schema_path: list[str | int]


def keyword_of(error: LibraryError) -> str:
    """Return the keyword that refused the value; ``false`` for a schema that is just false."""
    if type(error.kind).__name__ == "PropertyNames":
        return "propertyNames"
    way = [part for part in applicators(error.schema_path) if part in KNOWN]
    return way[-1] if way else "false"


def sentence(error: LibraryError, root: SchemaData, initial: SchemaData = None) -> str:
    """Return what was expected and what was found, for one error. ``initial`` is the value before defaults were filled
    in, if any were: they are not what was found."""
    kind = type(error.kind).__name__
    if kind == "Required" and isinstance(before := _held(initial, error.instance_path), Mapping):
        return _required(error, root, before)
    describe = _SENTENCES.get(kind)
    return describe(error, root) if describe else error.message


def _count(number: SchemaData, noun: str, plural: str = "") -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"


def _type(error: LibraryError, _: SchemaData) -> str:
    types = sorted(error.kind.types, key=lambda name: name == "null")
    return f"expected {listed(types)}, found {found(error.instance)}"


def _required(error: LibraryError, root: SchemaData, initial: Mapping[str, Value] | None = None) -> str:
    name, instance = error.kind.property, error.instance
    holders = _held(root, error.schema_path)
    if keyword_of(error) == "dependentRequired" and isinstance(holders, Mapping) and isinstance(instance, Mapping):
        present = [
            key for key, names in holders.items() if key in instance and isinstance(names, list) and name in names
        ]
        return f"expected the property `{name}` because `{present[0] if present else '?'}` is there, found none"
    return f"expected the property `{name}`, which is required, found {_keys(instance if initial is None else initial)}"


def _keys(value: SchemaData) -> str:
    if not isinstance(value, Mapping) or not value:
        return "an empty object"
    return "only " + listed((f"`{key[:40]}`" for key in value), "and")


def _unexpected(error: LibraryError, root: SchemaData) -> str:
    unexpected = error.kind.unexpected
    noun = "property" if len(unexpected) == 1 else "properties"
    names = f"{noun} " + listed((f"`{str(name)[:40]}`" for name in unexpected), "and")
    owner = _held(root, error.schema_path[:-1])
    declared = owner.get("properties") if isinstance(owner, Mapping) else None
    if isinstance(declared, Mapping) and declared:
        return f"unexpected {names}; expected only {listed((f'`{name}`' for name in declared), 'and')}"
    return f"unexpected {names}"


def _unevaluated_items(error: LibraryError, _: SchemaData) -> str:
    return f"expected no items beyond those described, found {found(error.instance)}"


def _enum(error: LibraryError, _: SchemaData) -> str:
    return f"expected one of {listed(map(shown_value, error.kind.options))}, found {found(error.instance)}"


def _constant(error: LibraryError, _: SchemaData) -> str:
    return f"expected {shown_value(error.kind.expected_value)}, found {found(error.instance)}"


def _bound(words: str) -> Callable[[LibraryError, SchemaData], str]:
    def describe(error: LibraryError, _: SchemaData) -> str:
        return f"expected a number {words} {error.kind.limit}, found {shown_value(error.instance)}"

    return describe


def _size(words: str, noun: str, plural: str = "") -> Callable[[LibraryError, SchemaData], str]:
    def describe(error: LibraryError, _: SchemaData) -> str:
        held = error.instance
        size = len(held) if isinstance(held, str | list | dict) else 0
        what = f" in {shown_value(error.instance)}" if noun == "character" and size else ""
        return f"expected {words} {_count(error.kind.limit, noun, plural)}, found {size}{what}"

    return describe


def _pattern(error: LibraryError, _: SchemaData) -> str:
    return f"expected text that matches the pattern `{error.kind.pattern}`, found {found(error.instance)}"


def _backtracking(error: LibraryError, root: SchemaData) -> str:
    pattern = _held(root, error.schema_path)
    name = f"the pattern `{pattern[:MAX_SHOWN]}`" if isinstance(pattern, str) else "a pattern of the schema"
    return f"{name} needs more backtracking steps than allowed for {found(error.instance)}; simplify the pattern"


def _format(error: LibraryError, _: SchemaData) -> str:
    name = error.kind.format
    what, example = FORMATS.get(name, (f"text of the format {name}", ""))
    hint = f" like {example}" if example else ""
    return f"expected {what}{hint} (format {name}), found {found(error.instance)}"


def _multiple(error: LibraryError, _: SchemaData) -> str:
    return f"expected a multiple of {error.kind.multiple_of}, found {shown_value(error.instance)}"


def _unique(error: LibraryError, _: SchemaData) -> str:
    return f"expected items that all differ, found a repeated one in {shown_value(error.instance)}"


def _contains(error: LibraryError, root: SchemaData) -> str:
    keyword = keyword_of(error)
    limit = _held(root, error.schema_path)
    items = shown_value(error.instance)
    if keyword == "maxContains":
        return f"expected at most {_count(limit, 'item')} as `contains` describes, found more in {items}"
    least = limit if keyword == "minContains" else 1
    return f"expected at least {_count(least, 'item')} as `contains` describes, found fewer in {items}"


def _not(error: LibraryError, _: SchemaData) -> str:
    return f"expected anything but {shown_value(error.kind.schema)}, found {found(error.instance)}"


def _false(error: LibraryError, _: SchemaData) -> str:
    return f"expected no value here, found {found(error.instance)}"


def _none_fits(error: LibraryError, root: SchemaData) -> str:
    depth = len(error.instance_path)
    branches = [_branch(context, depth, root) for context in error.kind.context[:MAX_ALTERNATIVES]]
    distinct = list(dict.fromkeys(branch for branch in branches if branch))
    more = len(error.kind.context) - MAX_ALTERNATIVES
    details = "; or ".join(distinct) + (f"; or {more} more" if more > 0 else "")
    return f"fits none of the {len(error.kind.context)} alternatives: {details}"


def _branch(context: list[LibraryError], depth: int, root: SchemaData) -> str:
    if not context:
        return ""
    first = context[0]
    inner = format_pointer(first.instance_path[depth:])
    # An alternative inside an alternative is only counted: one sentence must stay one sentence.
    nested = type(first.kind).__name__ in ("AnyOf", "OneOfNotValid")
    words = "fits none of its own alternatives" if nested else sentence(first, root)
    return f"at {inner} {words}" if inner else words


def _several_fit(error: LibraryError, _: SchemaData) -> str:
    fitting = [str(index + 1) for index, context in enumerate(error.kind.context) if not context]
    return f"expected exactly one alternative of `oneOf` to fit, found that numbers {listed(fitting, 'and')} do"


def _property_name(error: LibraryError, root: SchemaData) -> str:
    inner = error.kind.error
    return f"property name {shown_value(inner.instance)}: {sentence(inner, root)}"


def _held(root: SchemaData, path: Iterable[str | int]) -> SchemaData:
    """Return what stands at a path of a schema or a value, or None."""
    for part in path:
        if isinstance(root, Mapping) and part in root:
            root = root[str(part)]
        elif isinstance(root, list) and isinstance(part, int) and part < len(root):
            root = root[part]
        else:
            return None
    return root


_SENTENCES: dict[str, Callable[[LibraryError, SchemaData], str]] = {
    "AdditionalProperties": _unexpected,
    "AnyOf": _none_fits,
    "BacktrackLimitExceeded": _backtracking,
    "Constant": _constant,
    "Contains": _contains,
    "Enum": _enum,
    "ExclusiveMaximum": _bound("less than"),
    "ExclusiveMinimum": _bound("greater than"),
    "FalseSchema": _false,
    "Format": _format,
    "MaxItems": _size("at most", "item"),
    "MaxLength": _size("at most", "character"),
    "MaxProperties": _size("at most", "property", "properties"),
    "Maximum": _bound("of at most"),
    "MinItems": _size("at least", "item"),
    "MinLength": _size("at least", "character"),
    "MinProperties": _size("at least", "property", "properties"),
    "Minimum": _bound("of at least"),
    "MultipleOf": _multiple,
    "Not": _not,
    "OneOfMultipleValid": _several_fit,
    "OneOfNotValid": _none_fits,
    "Pattern": _pattern,
    "PropertyNames": _property_name,
    "Required": _required,
    "Type": _type,
    "UnevaluatedItems": _unevaluated_items,
    "UnevaluatedProperties": _unexpected,
    "UniqueItems": _unique,
}


# Values in words, for every message of this folder.

_ENCODER = json.JSONEncoder(ensure_ascii=False)


def type_name(value: Plain) -> str:
    """Return the JSON Schema type of a value; a number without a fraction is an integer."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def shown_value(value: Plain) -> str:
    """Return a value as JSON, shortened to about `MAX_SHOWN` characters; long values are never written out in full."""
    if isinstance(value, str):
        value = value[: MAX_SHOWN + 1]
    text = ""
    for chunk in _ENCODER.iterencode(value):
        text += chunk[: MAX_SHOWN + 1]
        if len(text) > MAX_SHOWN:
            return text[: MAX_SHOWN - 1] + "…"
    return text


def found(value: Plain) -> str:
    """Return a value with its type: ``7 (integer)``."""
    return "null" if value is None else f"{shown_value(value)} ({type_name(value)})"


def listed(items: Iterable[str], joint: str = "or") -> str:
    """Return ``a, b or c``, cut after some names."""
    names = list(items)
    if len(names) > 2 * MAX_ALTERNATIVES:
        return ", ".join(names[: 2 * MAX_ALTERNATIVES]) + f" {joint} {len(names) - 2 * MAX_ALTERNATIVES} more"
    return f" {joint} ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)
