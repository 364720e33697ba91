"""The input of a program by its schema: its fields in words, defaults filled in (X13), and ``KEY=VALUE`` of a command
line as typed values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, final

from msgspec import Struct

from prosa.data import JsonError, Value, items_of, members_of, parse_json
from prosa.data.limits import MAX_INTEGER_DIGITS
from prosa.diagnostics.nearest import nearest
from prosa.regex import regex
from prosa.schema.limits import MAX_DEFAULTS, MAX_FIELDS, MAX_INSTANCE_DEPTH, MAX_SCHEMA_DEPTH
from prosa.schema.walk import FORMATS, References, SchemaData
from prosa.schema.wording import listed, shown_value, type_name
from prosa.source import ProsaError

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

    def __init__(self, schema: SchemaData, references: References) -> None:
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
            self.properties |= {
                name: subschema for name, subschema in properties.items() if name not in self.properties
            }
        if isinstance(names := part.get("required"), list):
            self.required |= dict.fromkeys(str(name) for name in names)
        self.patterns = self.patterns or "patternProperties" in part
        if "additionalProperties" in part:
            self.others = part["additionalProperties"]
            self.closed = self.closed or self.others is False


def merged(schema: SchemaData, references: References) -> Iterator[Mapping[str, Value]]:
    """Yield a schema and those that hold together with it: reference, ``allOf``, the one alternative that is no
    null."""
    waiting, seen = [schema], set()
    while waiting:
        current = waiting.pop()
        if not isinstance(current, Mapping) or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        inner = [references.target(current), *items_of(current.get("allOf"))]
        for keyword in ("anyOf", "oneOf"):
            alternatives = [alternative for alternative in items_of(current.get(keyword)) if not _is_null(alternative)]
            inner += alternatives if len(alternatives) == 1 else []
        waiting += reversed(inner)


def describe_inputs(schema: SchemaData) -> tuple[InputField, ...]:
    """Return the inputs of a program as its schema declares them, required ones first, otherwise in their order."""
    references = References(schema)
    declared = Declared(schema, references)
    names = sorted(islice(declared.properties, MAX_FIELDS), key=lambda name: name not in declared.required)
    return tuple(_field(name, declared.properties[name], name in declared.required, references) for name in names)


def _field(name: str, schema: Value, required: bool, references: References) -> InputField:
    parts = list(merged(schema, references))
    enum = next((allowed for part in parts if isinstance(allowed := part.get("enum"), list)), ())
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


def type_text(schema: SchemaData, references: References, depth: int = 0) -> str:
    """Return what a schema accepts, in a few words: ``integer``, ``list of string``, ``one of "a" or "b"``."""
    parts = list(merged(schema, references))
    if any("const" in part for part in parts):
        return shown_value(first(parts, "const"))
    if isinstance(allowed := first(parts, "enum"), list):
        return "one of " + listed(map(shown_value, allowed))
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


def accepted_types(schema: SchemaData, references: References) -> tuple[str, ...]:
    """Return the types that a schema accepts, in the order written; empty when it does not say."""
    type_names: dict[str, None] = {}
    waiting, seen = [schema], set()
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        names, alternatives = _said_types(current, references)
        type_names |= dict.fromkeys(names)
        waiting += reversed(alternatives)
    return tuple(type_names)


def _said_types(schema: SchemaData, references: References) -> tuple[list[str], list[Value]]:
    """Return the types that a schema names itself, or the alternatives that name them."""
    for part in merged(schema, references):
        named = part.get("type")
        if named is not None:
            return [str(name) for name in (named if isinstance(named, list) else [named])], []
        if "enum" in part or "const" in part:
            return [type_name(choice) for choice in items_of(part.get("enum", [part.get("const")]))], []
        if alternatives := items_of(part.get("anyOf")) or items_of(part.get("oneOf")):
            return [], alternatives
        if "properties" in part:
            return ["object"], []
    return [], []


def _is_null(schema: SchemaData) -> bool:
    return isinstance(schema, Mapping) and (schema.get("type") in ("null", ["null"]) or schema.get("const", 0) is None)


# Defaults, filled in before a template sees the input. They are reached through ``properties``, ``items``,
# ``prefixItems``, ``additionalProperties``, ``$ref``, ``allOf``, and an ``anyOf`` or ``oneOf`` with one alternative
# of the type of the value. A default that is an object is filled in turn, though never inside itself.

Schemas = list[Mapping[str, Value]]


def _has_default(schema: SchemaData) -> bool:
    """Return whether ``default`` is a key anywhere in the schema."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            if "default" in value:
                return True
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return False


def fill_defaults(schema: SchemaData, instance: Value) -> Value:
    """Return the instance with defaults. It need not be valid; a schema that is not a mapping has no defaults."""
    return Defaults(schema).fill(instance)


class Defaults:
    """The defaults of a schema as it is now, for many instances."""

    def __init__(self, schema: SchemaData) -> None:
        self.schemas: Schemas = [schema] if isinstance(schema, Mapping) and _has_default(schema) else []
        self.references = References(schema) if self.schemas else None

    def fill(self, instance: Value) -> Value:
        """Return an instance with them."""
        if self.references is None:
            return instance
        return _Filling(self.references).filled(self.schemas, instance, 0)


class _Filling:
    """The state of one pass: how many defaults were used, and which are being filled in now."""

    def __init__(self, references: References) -> None:
        self.references = references
        self.used = 0
        self.inside: set[int] = set()

    def filled(self, schemas: Schemas, value: Value, depth: int) -> Value:
        if depth >= MAX_INSTANCE_DEPTH or not isinstance(value, dict | list):
            return value
        applied = list(_applied(schemas, value, self.references))
        if isinstance(value, list):
            return [self.filled(_for_item(applied, index), item, depth + 1) for index, item in enumerate(value)]
        result = {key: self.filled(_for_property(applied, key), item, depth + 1) for key, item in value.items()}
        # All defaults of this level first: those inside them may use up the limit.
        for name, source in self._missing(applied, result).items():
            self.inside.add(id(source))
            result[name] = self.filled(_for_property(applied, name), result[name], depth + 1)
            self.inside.discard(id(source))
        return result

    def _missing(self, applied: Schemas, result: dict[str, Value]) -> dict[str, Mapping[str, Value]]:
        """Put in the default of every property that is absent; returns the schemas they came from."""
        sources: dict[str, Mapping[str, Value]] = {}
        for schema in applied if self.used < MAX_DEFAULTS else ():
            for name, declared in members_of(schema.get("properties")).items():
                source = None if name in result else self._with_default(declared)
                if source is not None and self.used < MAX_DEFAULTS:
                    from copy import deepcopy  # only here: it looks for the strings of Java at its import

                    self.used += 1
                    sources[name] = source
                    result[name] = deepcopy(source["default"])
        return sources

    def _with_default(self, declared: Value) -> Mapping[str, Value] | None:
        """Return the schema that gives a property its default, unless that default is already being filled in."""
        if not isinstance(declared, Mapping):
            return None
        source = next((part for part in _applied([declared], None, self.references) if "default" in part), None)
        return None if source is None or id(source) in self.inside else source


def _applied(schemas: Schemas, value: Value, references: References) -> Iterator[Mapping[str, Value]]:
    """Yield the schemas that hold for one value, references and ``allOf`` followed; each once."""
    waiting = list(reversed(schemas))
    seen: set[int] = set()
    while waiting:
        schema = waiting.pop()
        if id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        inner = [references.target(schema), *items_of(schema.get("allOf"))]
        inner += [_only_alternative(items_of(schema.get(keyword)), value) for keyword in ("anyOf", "oneOf")]
        waiting += [part for part in reversed(inner) if isinstance(part, Mapping)]


def _only_alternative(alternatives: list[Value], value: Value) -> Value | None:
    """Return the alternative for values of this type, when there is exactly one."""
    if value is None:
        return None
    fitting = [
        alternative
        for alternative in alternatives
        if isinstance(alternative, Mapping) and type_name(value) in _types(alternative)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _types(schema: Mapping[str, Value]) -> list[Value]:
    named = schema.get("type", ["object", "array"])
    return named if isinstance(named, list) else [named]


def _for_property(applied: Schemas, name: str) -> Schemas:
    candidates: list[Value] = []
    for schema in applied:
        properties = members_of(schema.get("properties"))
        if name in properties:
            candidates.append(properties[name])
        elif "patternProperties" not in schema:
            candidates.append(schema.get("additionalProperties"))
    return [part for part in candidates if isinstance(part, Mapping)]


def _for_item(applied: Schemas, index: int) -> Schemas:
    candidates: list[Value] = []
    for schema in applied:
        prefix = items_of(schema.get("prefixItems"))
        candidates.append(prefix[index] if index < len(prefix) else schema.get("items"))
    return [part for part in candidates if isinstance(part, Mapping)]


# ``KEY=VALUE``, typed by the input schema. Validation comes later.

_ORDER = ("null", "boolean", "integer", "number", "array", "object", "string")
_INTEGER = regex(r"[-+]?[0-9]+")
_WORDS = {"true": True, "false": False}


@final
class _Failed:
    """No value: what a text is that cannot be read as the type."""


_FAILED: Final = _Failed()

MAX_SHOWN_PARTS = 3
"""Items that a message writes out."""


class ArgumentProblem(ProsaError, ValueError):
    """A ``KEY=VALUE`` that does not fit the input schema. The text names key, found and expected."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(f"{key}: {message}")
        self.key = key
        self.message = message


def typed_arguments(schema: SchemaData, pairs: Iterable[tuple[str, str]]) -> dict[str, Value]:
    """Return the object that pairs describe.

    A string keeps its text; integers, numbers, booleans and null are read as in JSON; lists and objects are JSON, a
    list also one item per repetition of its key; a single text with a comma is refused, for it may be one item or
    several. ``a.b`` sets ``b`` inside ``a`` where no key ``a.b`` is declared. Of
    several types the narrowest that fits wins: null, boolean, integer, number, list, object, text. A key that the
    schema does not declare is refused with the nearest one, unless the schema invites others.
    """
    references = References(schema)
    grouped: dict[tuple[str, ...], list[str]] = {}
    schemas: dict[tuple[str, ...], SchemaData] = {}
    for key, text in pairs:
        path, schemas_at = _resolve(key, schema, references)
        grouped.setdefault(path, []).append(text)
        schemas[path] = schemas_at
    result: dict[str, Value] = {}
    for path, texts in grouped.items():
        name = ".".join(path)
        _put(result, path, _typed(name, texts, schemas[path], references), name)
    return result


def _resolve(key: str, schema: SchemaData, references: References) -> tuple[tuple[str, ...], SchemaData]:
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


def _step(rest: str, declared: Declared, key: str, inside: str) -> tuple[str, SchemaData]:
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
    known = listed((f"`{field}`" for field in declared.properties), "and")
    return f"unknown input `{name}`{where}; expected {'one of ' + known if known else 'none'}"


def _put(result: dict[str, Value], path: Sequence[str], value: Value, name: str) -> None:
    for step in path[:-1]:
        inner = result.setdefault(step, {})
        if not isinstance(inner, dict):
            raise ArgumentProblem(name, f"`{step}` was given a value of its own before")
        result = inner
    last = path[-1]
    if isinstance(existing := result.get(last), dict) and isinstance(value, dict):
        result[last] = {**value, **existing}
    elif last in result:
        raise ArgumentProblem(name, "given twice; expected once")
    else:
        result[last] = value


def _typed(name: str, texts: list[str], schema: SchemaData, references: References) -> Value:
    types = accepted_types(schema, references)
    if len(texts) == 1:
        return _one(name, texts[0], schema, types, references)
    if types and "array" not in types:
        raise ArgumentProblem(name, f"given {len(texts)} times; expected once")
    return [_item(name, text, schema, references) for text in texts]


def _item(name: str, text: str, schema: SchemaData, references: References) -> Value:
    items = first(list(merged(schema, references)), "items")
    return _one(name, text, items, accepted_types(items, references), references)


def _one(name: str, text: str, schema: SchemaData, types: tuple[str, ...], references: References) -> Value:
    if not isinstance(choice := _chosen(name, text, schema, references), _Failed):
        return choice
    if not types:
        return _json_or_text(text)
    for kind in sorted(types, key=lambda option: _ORDER.index(option) if option in _ORDER else len(_ORDER)):
        value = _read(kind, text)
        if not isinstance(value, _Failed):
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


def _chosen(name: str, text: str, schema: SchemaData, references: References) -> Value | _Failed:
    """Return the member of an ``enum`` (or the ``const``) that a text names; `_FAILED` where there is neither."""
    parts = list(merged(schema, references))
    allowed = first(parts, "enum") if any("enum" in part for part in parts) else None
    if allowed is None and any("const" in part for part in parts):
        allowed = [first(parts, "const")]
    if not isinstance(allowed, list):
        return _FAILED
    for choice in allowed:
        if text == choice or (not isinstance(choice, str) and _same(_json_or_text(text), choice)):
            return choice
    near = nearest(text, [choice for choice in allowed if isinstance(choice, str)], cutoff=0.6)
    hint = f"; did you mean {shown_value(near)}?" if near else ""
    raise ArgumentProblem(name, f"expected one of {listed(map(shown_value, allowed))}, found {shown_value(text)}{hint}")


def _same(value: Value, choice: Value) -> bool:
    """Equality as JSON sees it: true is not 1."""
    return bool(value == choice) and isinstance(value, bool) == isinstance(choice, bool)


def _read(kind: str, text: str) -> Value | _Failed:
    """Return a text as a value of one type, or `_FAILED`."""
    if kind == "string":
        return text
    if kind == "boolean":
        return _WORDS.get(text.strip().lower(), _FAILED)
    value = _integer(text) if _INTEGER.fullmatch(text.strip()) else _json(text)
    if isinstance(value, _Failed) or kind == "null":
        return None if kind == "null" and text.strip() in ("null", "") else _FAILED
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    named = type_name(value)
    return value if named == kind or (kind == "number" and named == "integer") else _FAILED


def _integer(text: str) -> int | _Failed:
    return int(text) if len(text) <= MAX_INTEGER_DIGITS else _FAILED


def _json(text: str) -> Value | _Failed:
    try:
        return parse_json(text)
    except JsonError:
        return _FAILED


def _json_or_text(text: str) -> Value:
    value = _json(text)
    return text if isinstance(value, _Failed) else value


def _form(kind: str) -> str:
    forms = {"array": "a list as JSON", "object": "an object as JSON", "boolean": "true or false", "string": "text"}
    return forms.get(kind, ("an " if kind == "integer" else "a ") + kind if kind != "null" else "null")
