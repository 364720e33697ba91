"""``KEY=VALUE`` from a command line, typed by the input schema.

In: pairs of text. Out: an object whose values have the types that the schema declares; validation comes later. Raises
`ArgumentProblem` for an unknown key and for a text that cannot be of its type.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from prosa.data import JsonError, Value, parse_json
from prosa.data.limits import MAX_INTEGER_DIGITS
from prosa.diagnostics.nearest import nearest
from prosa.regex import regex
from prosa.schema.errors import ArgumentProblem
from prosa.schema.fields import Declared, accepted_types, first, merged
from prosa.schema.limits import MAX_SCHEMA_DEPTH
from prosa.schema.values import listed, shown_value, type_name
from prosa.schema.walk import References

_ORDER = ("null", "boolean", "integer", "number", "array", "object", "string")
_INTEGER = regex(r"[-+]?[0-9]+")
_WORDS = {"true": True, "false": False}
_FAILED = object()

MAX_SHOWN_PARTS = 3
"""Items that a message writes out."""


def typed_arguments(schema: Value, pairs: Iterable[tuple[str, str]]) -> dict[str, Value]:
    """Return the object that pairs describe.

    A string keeps its text; integers, numbers, booleans and null are read as in JSON; lists and objects are JSON, a
    list also one item per repetition of its key; a single text with a comma is refused, for it may be one item or
    several. ``a.b`` sets ``b`` inside ``a`` where no key ``a.b`` is declared. Of
    several types the narrowest that fits wins: null, boolean, integer, number, list, object, text. A key that the
    schema does not declare is refused with the nearest one, unless the schema invites others.
    """
    references = References(schema)
    grouped: dict[tuple[str, ...], list[str]] = {}
    schemas: dict[tuple[str, ...], Value] = {}
    for key, text in pairs:
        path, schemas_at = _resolve(key, schema, references)
        grouped.setdefault(path, []).append(text)
        schemas[path] = schemas_at
    result: dict[str, Value] = {}
    for path, texts in grouped.items():
        name = ".".join(path)
        _put(result, path, _typed(name, texts, schemas[path], references), name)
    return result


def _resolve(key: str, schema: Value, references: References) -> tuple[tuple[str, ...], Value]:
    """Return the way to a key and the schema of its value."""
    path: list[str] = []
    rest = key
    while len(path) < MAX_SCHEMA_DEPTH:
        types = accepted_types(schema, references)
        if path and types and "object" not in types:
            raise ArgumentProblem(key, f"`{'.'.join(path)}` takes {listed(map(_form, types))} and has no parts")
        declared = Declared(schema, references)
        name, schema = _step(rest, declared, key, ".".join(path))
        path.append(name)
        if len(name) == len(rest):
            return tuple(path), schema
        rest = rest[len(name) + 1 :]
    raise ArgumentProblem(key[:80], f"expected at most {MAX_SCHEMA_DEPTH} levels of names")


def _step(rest: str, declared: Declared, key: str, inside: str) -> tuple[str, Value]:
    if rest in declared.properties:
        return rest, declared.properties[rest]
    name = rest.split(".", 1)[0]
    if name in declared.properties:
        return name, declared.properties[name]
    others = declared.others
    if (
        isinstance(others, Mapping)
        or others is True
        or declared.patterns
        or not (declared.properties or declared.closed)
    ):
        return name, others if isinstance(others, Mapping) else {}
    raise ArgumentProblem(key, _unknown(name, declared, inside))


def _unknown(name: str, declared: Declared, inside: str) -> str:
    where = f" inside `{inside}`" if inside else ""
    near = nearest(name, declared.properties)
    if near:
        return f"unknown input `{name}`{where}; did you mean `{near}`?"
    known = listed((f"`{each}`" for each in declared.properties), "and")
    return f"unknown input `{name}`{where}; expected {'one of ' + known if known else 'none'}"


def _put(result: dict[str, Value], path: Sequence[str], value: Value, name: str) -> None:
    for step in path[:-1]:
        result = result.setdefault(step, {})
        if not isinstance(result, dict):
            raise ArgumentProblem(name, f"`{step}` was given a value of its own before")
    last = path[-1]
    if isinstance(result.get(last), dict) and isinstance(value, dict):
        result[last] = {**value, **result[last]}
    elif last in result:
        raise ArgumentProblem(name, "given twice; expected once")
    else:
        result[last] = value


def _typed(name: str, texts: list[str], schema: Value, references: References) -> Value:
    types = accepted_types(schema, references)
    if len(texts) == 1:
        return _one(name, texts[0], schema, types, references)
    if types and "array" not in types:
        raise ArgumentProblem(name, f"given {len(texts)} times; expected once")
    return [_item(name, text, schema, references) for text in texts]


def _item(name: str, text: str, schema: Value, references: References) -> Value:
    items = first(list(merged(schema, references)), "items")
    return _one(name, text, items, accepted_types(items, references), references)


def _one(name: str, text: str, schema: Value, types: tuple[str, ...], references: References) -> Value:
    if (choice := _chosen(name, text, schema, references)) is not _FAILED:
        return choice
    if not types:
        return _json_or_text(text)
    for kind in sorted(types, key=lambda each: _ORDER.index(each) if each in _ORDER else len(_ORDER)):
        value = _read(kind, text)
        if value is not _FAILED:
            return value
    if "array" in types and not text.lstrip().startswith("["):
        if "," in text:
            raise ArgumentProblem(name, _as_list(name, text))
        return [_item(name, text, schema, references)]
    raise ArgumentProblem(name, f"expected {listed(map(_form, types))}, found {shown_value(text)}")


def _as_list(name: str, text: str) -> str:
    """Return what to write in place of a text with commas: two readings are possible, and neither is guessed."""
    parts = [part.strip() for part in text.split(",") if part.strip()][:MAX_SHOWN_PARTS] or [text]
    written = [json.dumps(value, ensure_ascii=False) for value in ([_json_or_text(part) for part in parts], [text])]
    repeated = " ".join(f"{name}={part}" for part in parts)
    return f"takes a list: write {name}='{written[0]}' or {repeated}; for one item with a comma {name}='{written[1]}'"


def _chosen(name: str, text: str, schema: Value, references: References) -> Value:
    """Return the member of an ``enum`` (or the ``const``) that a text names; `_FAILED` where there is neither."""
    parts = list(merged(schema, references))
    choices = first(parts, "enum") if any("enum" in part for part in parts) else None
    if choices is None and any("const" in part for part in parts):
        choices = [first(parts, "const")]
    if not isinstance(choices, list):
        return _FAILED
    for choice in choices:
        if text == choice or (not isinstance(choice, str) and _same(_json_or_text(text), choice)):
            return choice
    near = nearest(text, [choice for choice in choices if isinstance(choice, str)], cutoff=0.6)
    hint = f"; did you mean {shown_value(near)}?" if near else ""
    raise ArgumentProblem(name, f"expected one of {listed(map(shown_value, choices))}, found {shown_value(text)}{hint}")


def _same(value: Value, choice: Value) -> bool:
    """Equality as JSON sees it: true is not 1."""
    return bool(value == choice) and isinstance(value, bool) == isinstance(choice, bool)


def _read(kind: str, text: str) -> Value:
    """Return a text as a value of one type, or `_FAILED`."""
    if kind == "string":
        return text
    if kind == "boolean":
        return _WORDS.get(text.strip().lower(), _FAILED)
    value = _integer(text) if _INTEGER.fullmatch(text.strip()) else _json(text)
    if value is _FAILED or kind == "null":
        return None if kind == "null" and text.strip() in ("null", "") else _FAILED
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    named = type_name(value)
    return value if named == kind or (kind == "number" and named == "integer") else _FAILED


def _integer(text: str) -> Value:
    return int(text) if len(text) <= MAX_INTEGER_DIGITS else _FAILED


def _json(text: str) -> Value:
    try:
        return parse_json(text)
    except JsonError:
        return _FAILED


def _json_or_text(text: str) -> Value:
    value = _json(text)
    return text if value is _FAILED else value


def _form(kind: str) -> str:
    forms = {"array": "a list as JSON", "object": "an object as JSON", "boolean": "true or false", "string": "text"}
    return forms.get(kind, ("an " if kind == "integer" else "a ") + kind if kind != "null" else "null")
