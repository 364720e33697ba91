"""Expectations that no output can meet, because the output schema of the program forbids it (X28).

In: an expectation that is well formed and a schema. Out: the places where the two contradict each other. Only certain
ones are reported: alternatives, conditions and unresolved references allow everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias
from urllib.parse import quote

from msgspec import Struct, field

from prosa.data import Value, format_pointer, items_of, members_of
from prosa.diagnostics.nearest import nearest
from prosa.evaluation.expectations import Mistake, is_query
from prosa.evaluation.jsonpath import BadQuery, Parts, compile_query
from prosa.evaluation.matchers import is_matcher
from prosa.schema import Schema, SchemaError
from prosa.schema.walk import References, SchemaData
from prosa.schema.wording import listed, shown_value

_ROOT = "prosa:output"
_OPEN = ("anyOf", "oneOf", "allOf", "if", "not", "$dynamicRef", "dependentSchemas")
_MAX_REFERENCES = 16

Types: TypeAlias = frozenset[str]
_TEXT_OR_MORE = frozenset({"string", "array", "object"})
_WORD_TYPES: Mapping[str, Types] = {
    "contains": _TEXT_OR_MORE,
    "not-contains": _TEXT_OR_MORE,
    "length": _TEXT_OR_MORE,
    "matches": frozenset({"string"}),
    "approx": frozenset({"number", "integer"}),
    "sorted-equals": frozenset({"array"}),
}
"""What a value has to be to meet a word."""


class _Place(Struct, frozen=True):
    """A subschema and the way to it in the schema. None: what stands there is not known."""

    parts: Parts
    schema: SchemaData


class _Comparison(Struct, frozen=True):
    root: SchemaData
    references: References
    compiled: dict[Parts, Schema | None] = field(default_factory=dict)

    def resolved(self, place: _Place) -> _Place | None:
        """Return the subschema that a reference leads to; None for one that leads too far."""
        for _ in range(_MAX_REFERENCES):
            schema = place.schema
            if not isinstance(schema, Mapping) or "$ref" not in schema:
                return place
            if len(schema.keys() - {"$ref", "title", "description", "default", "examples", "$defs"}) > 0:
                return None
            target = self.references.locate(schema)
            if target is None:
                return None
            place = _Place(*target)
        return None

    def refusal(self, place: _Place, value: Value) -> str | None:
        """Return why the subschema refuses a value; None where it takes it."""
        if place.parts not in self.compiled:
            self.compiled[place.parts] = self._compile(place)
        schema = self.compiled[place.parts]
        if schema is None:
            return None
        problem = next(iter(schema.problems(value)), None)
        return (
            None if problem is None else f"{problem.pointer}: {problem.message}" if problem.pointer else problem.message
        )

    def _compile(self, place: _Place) -> Schema | None:
        fragment = quote(format_pointer(place.parts), safe="/~")
        root = {**self.root, "$id": _ROOT} if isinstance(self.root, Mapping) else self.root
        try:
            if not place.parts:
                return Schema(self.root)
            return Schema({"$ref": f"{_ROOT}#{fragment}", "$defs": {"output": root}})
        except SchemaError:
            return None


def contradictions(expected: Value, schema: SchemaData) -> Iterator[Mistake]:
    """Yield the parts of an expectation that an output which satisfies ``schema`` cannot meet."""
    comparison = _Comparison(schema, References(schema))
    yield from _forbidden(comparison, _Place((), schema), expected, (), top=True)


def _forbidden(
    comparison: _Comparison, place: _Place | None, expected: Value, parts: Parts, *, top: bool = False
) -> Iterator[Mistake]:
    place = comparison.resolved(place) if place is not None else None
    if place is None:
        return
    if is_matcher(expected):
        yield from _by_words(comparison, place, expected, parts)
    elif isinstance(expected, dict):
        yield from _by_fields(comparison, place, expected, parts, top=top)
    elif isinstance(expected, list):
        yield from _by_items(comparison, place, expected, parts)
    elif (why := comparison.refusal(place, expected)) is not None:
        yield _mistake(parts, f"the output can never be {shown_value(expected)} here: {why}")


def _mistake(parts: Parts, message: str, **more: str) -> Mistake:
    return Mistake("impossible-expectation", format_pointer(parts), message, bool(more), **more)


def _by_words(comparison: _Comparison, place: _Place, words: dict[str, Value], parts: Parts) -> Iterator[Mistake]:
    types = _types(place.schema)
    for name, argument in words.items():
        here = (*parts, name)
        if name == "equals" and (why := comparison.refusal(place, argument)) is not None:
            yield _mistake(here, f"the output can never be {shown_value(argument)} here: {why}")
        elif name == "one-of":
            for index, option in enumerate(items_of(argument)):
                if (why := comparison.refusal(place, option)) is not None:
                    yield _mistake((*here, index), f"the output can never be {shown_value(option)} here: {why}")
        elif name in _WORD_TYPES and types is not None and not types & _WORD_TYPES[name]:
            yield _mistake(here, f"`{name}` cannot hold: the output has {_of_types(types)} here")
        elif name == "sorted-equals":
            for index, item in enumerate(items_of(argument)):
                yield from _forbidden(comparison, _item(place, index), {"equals": item}, (*here, index))


def _of_types(types: Types) -> str:
    return f"the type {listed(sorted(types))}"


def _by_fields(
    comparison: _Comparison, place: _Place, expected: dict[str, Value], parts: Parts, *, top: bool
) -> Iterator[Mistake]:
    queries = [key for key in expected if top and is_query(key)]
    for key in queries:
        yield from _by_query(comparison, place, key, expected[key], (*parts, key))
    fields = {key: wanted for key, wanted in expected.items() if key not in queries}
    types = _types(place.schema)
    if types is not None and "object" not in types and (fields or not queries):
        yield _mistake(parts, f"an object is expected, and the output has {_of_types(types)} here")
        return
    for key, wanted in fields.items():
        yield from _by_field(comparison, place, key, wanted, (*parts, key))


def _by_field(comparison: _Comparison, place: _Place, key: str, wanted: Value, parts: Parts) -> Iterator[Mistake]:
    absent = wanted.get("absent") if is_matcher(wanted) else None
    if absent is True:
        if key in items_of(_keyword(place, "required")):
            yield _mistake(parts, f"`{key}` is required by the output schema, so it is never absent")
        return
    step = _field(place, key)
    if isinstance(step, str):
        names = list(members_of(_keyword(place, "properties")))
        guess = nearest(key, names)
        hint = f"; did you mean `{guess}`?" if guess else f"; it has {listed(names, 'and') or 'no field'}"
        more = {"written": key, "meant": guess} if guess else {"written": "", "meant": ""}
        yield _mistake(parts, f"the output never has a field `{key}`{hint}", **more)
        return
    yield from _forbidden(comparison, step, wanted, parts)


def _by_query(comparison: _Comparison, place: _Place, key: str, wanted: Value, parts: Parts) -> Iterator[Mistake]:
    try:
        steps = compile_query(key).parts
    except BadQuery:
        return
    if steps is None:
        return
    here: _Place | None = place
    for index, step in enumerate(steps):
        here = comparison.resolved(here) if here is not None else None
        if here is None:
            return
        if isinstance(step, str) and index == len(steps) - 1:
            types = _types(here.schema)
            if types is None or "object" in types:
                yield from _by_field(comparison, here, step, wanted, parts)
                return
        next_place = _field(here, step) if isinstance(step, str) else _item(here, step)
        if isinstance(next_place, str):
            if not (is_matcher(wanted) and wanted.get("absent") is True):
                yield _mistake(parts, f"`{key}` never finds anything: {next_place}", written="", meant="")
            return
        here = next_place
    yield from _forbidden(comparison, here, wanted, parts)


def _by_items(comparison: _Comparison, place: _Place, expected: list[Value], parts: Parts) -> Iterator[Mistake]:
    types = _types(place.schema)
    if types is not None and "array" not in types:
        yield _mistake(parts, f"a list is expected, and the output has {_of_types(types)} here")
        return
    least, most, size = _keyword(place, "minItems"), _keyword(place, "maxItems"), len(expected)
    few, many = isinstance(least, int | float) and size < least, isinstance(most, int | float) and size > most
    if few or many:
        bound = f"at least {least}" if few else f"at most {most}"
        yield _mistake(parts, f"a list of {size} is expected, and the output has {bound} items here")
    for index, wanted in enumerate(expected):
        yield from _forbidden(comparison, _item(place, index), wanted, (*parts, index))


def _field(place: _Place, key: str) -> _Place | str | None:
    """Return the subschema of a field; a sentence where there never is one; None where nothing is known of it."""
    schema, types = place.schema, _types(place.schema)
    if types is not None and "object" not in types:
        return f"the output has {_of_types(types)} where `{key}` is looked for"
    if not isinstance(schema, Mapping):
        return None
    properties = members_of(schema.get("properties"))
    if key in properties:
        return _Place((*place.parts, "properties", key), properties[key])
    if any(keyword in schema for keyword in (*_OPEN, "patternProperties")):
        return None
    if schema.get("additionalProperties") is False:
        return f"the output never has a field `{key}`"
    return None


def _item(place: _Place, index: int) -> _Place | None:
    schema = place.schema
    if not isinstance(schema, Mapping) or index < 0:
        return None
    first = items_of(schema.get("prefixItems"))
    if index < len(first):
        return _Place((*place.parts, "prefixItems", index), first[index])
    return _Place((*place.parts, "items"), schema["items"]) if "items" in schema else None


def _keyword(place: _Place, name: str) -> Value:
    return place.schema.get(name) if isinstance(place.schema, Mapping) else None


def _types(schema: SchemaData) -> Types | None:
    """Return the types that a value may have; None where nothing is certain. A number may be whole."""
    if not isinstance(schema, Mapping) or any(keyword in schema for keyword in _OPEN) or "type" not in schema:
        return None
    named = schema["type"]
    types = frozenset(str(item) for item in ([named] if isinstance(named, str) else items_of(named)))
    return types | {"integer"} if "number" in types else types
