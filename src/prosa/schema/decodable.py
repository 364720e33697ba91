"""What of a schema an engine enforces while a model writes (X35): LLGuidance, which decodes by grammar.

In: a schema. Out: the part of it that goes to such an engine, in which the engine refuses nothing: for one keyword that
it does not know it would drop the whole schema without a word. The schema as written stays the judge of every answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Literal, TypeAlias
from urllib.parse import quote

from prosa.data import Value, items_of, members_of
from prosa.data.pointer import format_pointer
from prosa.regex import regex
from prosa.schema.lower import backtracks, is_object_root, wrap
from prosa.schema.walk import LIST_OF_SCHEMAS, MAP_OF_SCHEMAS, ONE_SCHEMA, References, SchemaData, applicators, children
from prosa.source.url import PATH_SAFE

Handling: TypeAlias = Literal["enforced", "validated", "refused"]

STRING_LENGTH = 400
"""Maximum length of a string for which the schema gives no bound: an unconstrained small model may never stop."""

NUMBER_BOUND = 10**15
"""The same for numbers: as many digits as a double keeps."""

MAX_BOUND = 10**18
"""Numbers from here on are no bounds that the engine can compute with."""

MAX_ITEMS = 10_000
MAX_FACTOR = 1_000

KEYWORDS: Mapping[str, Handling] = {
    "$anchor": "validated",  # references by name are sent as pointers
    "$comment": "validated",
    "$defs": "enforced",
    "$dynamicAnchor": "validated",
    "$dynamicRef": "validated",
    "$id": "validated",
    "$ref": "enforced",  # inside the schema; elsewhere it is refused when the schema is read
    "$schema": "validated",  # another dialect is refused when the schema is read
    "$vocabulary": "validated",
    "additionalProperties": "enforced",
    "allOf": "enforced",
    "anyOf": "enforced",
    "const": "enforced",
    "contains": "validated",
    "contentEncoding": "validated",
    "contentMediaType": "validated",
    "contentSchema": "validated",
    "default": "validated",
    "definitions": "enforced",
    "dependentRequired": "validated",
    "dependentSchemas": "validated",
    "deprecated": "validated",
    "description": "validated",
    "else": "validated",
    "enum": "enforced",
    "examples": "validated",
    "exclusiveMaximum": "enforced",
    "exclusiveMinimum": "enforced",
    "format": "enforced",  # those of `FORMATS`
    "if": "validated",
    "items": "enforced",
    "maxContains": "validated",
    "maxItems": "enforced",
    "maxLength": "enforced",
    "maxProperties": "enforced",  # where every declared property is required
    "maximum": "enforced",
    "minContains": "validated",
    "minItems": "enforced",
    "minLength": "enforced",
    "minProperties": "enforced",  # as `maxProperties`
    "minimum": "enforced",
    "multipleOf": "enforced",  # of few digits
    "not": "validated",
    "oneOf": "enforced",  # as `anyOf`
    "pattern": "enforced",  # without look-around, back-references and word boundaries
    "patternProperties": "enforced",  # one of them; of several the engine would have to know that none share a name
    "prefixItems": "enforced",
    "properties": "enforced",
    "propertyNames": "validated",
    "readOnly": "validated",
    "required": "enforced",
    "then": "validated",
    "title": "validated",
    "type": "enforced",
    "unevaluatedItems": "validated",
    "unevaluatedProperties": "validated",
    "uniqueItems": "validated",
    "writeOnly": "validated",
}
"""Every keyword of JSON Schema 2020-12: enforced while the answer is written, or not sent and validated afterwards."""

FORMATS = frozenset(("date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"))
"""The formats that are enforced."""

_ASSERTING = regex(r"\\[bBc]|\(\?[a-z]*m")
_DECIDED = frozenset(("$ref", "allOf", "anyOf", "const", "enum", "oneOf"))
_BOUNDS = frozenset(("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum"))


def decodable(schema: SchemaData) -> dict[str, Value]:
    """Return the part of a valid schema that is enforced while a model writes; an object if the whole value is not one
    (`Lowered.wrapped`). Never changes its argument."""
    if not isinstance(schema, Mapping):
        return {"type": "object"}
    reduced = _Reducing(References(schema)).root(schema)
    return reduced if is_object_root(schema) else wrap(reduced)


class _Reducing:
    """The state of one reduction."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._is_circular = _is_circular(references)

    def root(self, schema: Mapping[str, Value]) -> dict[str, Value]:
        reduced = self._reduced(schema)
        has_type = "type" in reduced or not is_object_root(schema) or _DECIDED & reduced.keys()
        return reduced if has_type else {"type": "object", **reduced}

    def _reduced(self, schema: Mapping[str, Value]) -> dict[str, Value]:
        result: dict[str, Value] = {}
        for keyword, value in schema.items():
            if keyword == "$ref":
                result |= self._reference(schema)
            elif KEYWORDS.get(keyword) == "enforced" and _is_known(keyword, value, schema):
                result[keyword] = self._inside(keyword, value)
        _merge_choices(result)
        if "$ref" in result and self._is_circular:  # the engine takes nothing beside a reference that comes back
            return {key: value for key, value in result.items() if key in ("$ref", "$defs", "definitions")}
        if not _DECIDED & schema.keys():
            _bound(result)
        return result

    def _inside(self, keyword: str, value: Value) -> Value:
        if keyword in ONE_SCHEMA:
            return self._schema(value)
        if keyword in LIST_OF_SCHEMAS and isinstance(value, list):
            return [self._schema(item) for item in value]
        if keyword in MAP_OF_SCHEMAS and isinstance(value, Mapping):
            named = keyword in ("$defs", "definitions")  # a reference to `false` is none that the engine follows
            return {name: {} if named and item is False else self._schema(item) for name, item in value.items()}
        return value

    def _schema(self, value: Value) -> Value:
        return self._reduced(value) if isinstance(value, Mapping) else value

    def _reference(self, schema: Mapping[str, Value]) -> dict[str, Value]:
        """Return a reference as a pointer from the root, or None if its target is not sent unchanged."""
        located = self._references.locate(schema)
        if located is None or any(
            KEYWORDS.get(applicator) != "enforced" or applicator in ("oneOf", "patternProperties")
            for applicator in applicators(located[0])
        ):
            return {}
        return {"$ref": "#" + quote(format_pointer(located[0]), safe=f"{PATH_SAFE}?")}


def _is_known(keyword: str, value: Value, schema: Mapping[str, Value]) -> bool:
    """Return whether the engine enforces a keyword with this value, in this company."""
    if (condition := _CONDITIONS.get(keyword)) is not None and not condition(value):
        return False
    if keyword in ("minProperties", "maxProperties"):
        return _counts_properties(schema)
    if keyword == "additionalProperties" and "patternProperties" in schema:
        return _is_one_pattern(schema["patternProperties"])
    return True


def _is_one_pattern(value: Value) -> bool:
    return isinstance(value, Mapping) and len(value) == 1 and _is_plain(next(iter(value)))


def _is_plain(pattern: Value) -> bool:
    return not backtracks(pattern) and _ASSERTING.search(str(pattern)) is None


def _is_small(value: Value) -> bool:
    return isinstance(value, int | float) and -MAX_BOUND < value < MAX_BOUND


def _is_short_factor(value: Value) -> bool:
    """Return whether a factor has few digits: the engine gives up in the middle of a number for others."""
    if not isinstance(value, int | float):
        return False
    factor = Decimal(str(value))
    digits = factor.normalize().as_tuple()
    return (
        0 < factor <= MAX_FACTOR
        and len(digits.digits) <= 3
        and isinstance(digits.exponent, int)
        and digits.exponent >= -9
    )


_CONDITIONS: Mapping[str, Callable[[Value], bool]] = {
    **dict.fromkeys(_BOUNDS, _is_small),
    **dict.fromkeys(("minItems", "maxItems"), lambda value: isinstance(value, int | float) and value <= MAX_ITEMS),
    "format": lambda value: value in FORMATS,
    "multipleOf": _is_short_factor,
    "pattern": _is_plain,
    "patternProperties": _is_one_pattern,
}


def _counts_properties(schema: Mapping[str, Value]) -> bool:
    """Return whether the engine counts the properties of an object: it does where none that is declared is optional,
    and to one where no other is allowed."""
    declared, required = members_of(schema.get("properties")), items_of(schema.get("required"))
    if all(name in required for name in declared):
        return True
    if schema.get("additionalProperties") is not False or "patternProperties" in schema:
        return False
    least = schema.get("minProperties", 0)
    return isinstance(least, int | float) and least <= 1 and schema.get("maxProperties", 1) == 1


def _merge_choices(result: dict[str, Value]) -> None:
    """Send `oneOf` as `anyOf`: that only one of them holds is validated afterwards."""
    if "oneOf" not in result:
        return
    branches = result.pop("oneOf")
    if "anyOf" in result:
        result["allOf"] = [*items_of(result.get("allOf")), {"anyOf": branches}]
    else:
        result["anyOf"] = branches


def _bound(result: dict[str, Value]) -> None:
    """Add bounds to strings and numbers that have none."""
    named = result.get("type")
    types = named if isinstance(named, list) else [named]
    if "maxLength" not in result and ("string" in types or named is None):
        result["maxLength"] = max([STRING_LENGTH, *_numbers(result, "minLength")])
    if "number" in types or "integer" in types:
        least = max(_numbers(result, "minimum", "exclusiveMinimum"), default=None)
        most = min(_numbers(result, "maximum", "exclusiveMaximum"), default=None)
        if least is None and (most is None or most > -NUMBER_BOUND):
            result["minimum"] = -NUMBER_BOUND
        if most is None and (least is None or least < NUMBER_BOUND):
            result["maximum"] = NUMBER_BOUND


def _numbers(schema: Mapping[str, Value], *keywords: str) -> list[int | float]:
    return [value for keyword in keywords if isinstance(value := schema.get(keyword), int | float)]


def _is_circular(references: References) -> bool:
    """Return whether a reference leads back to itself, directly or through others."""
    state: dict[int, bool] = {}  # False while it is being followed
    waiting: list[tuple[SchemaData, bool]] = [(references.root, False)]
    while waiting:
        schema, done = waiting.pop()
        if not isinstance(schema, Mapping):
            continue
        if done:
            state[id(schema)] = True
        elif id(schema) not in state:
            state[id(schema)] = False
            waiting.append((schema, True))
            target = references.target(schema)
            following = [child for _, child in children(schema)] + ([] if target is None else [target])
            if any(state.get(id(child)) is False for child in following):
                return True
            waiting += [(child, False) for child in following]
    return False
