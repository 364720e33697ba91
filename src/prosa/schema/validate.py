"""A compiled JSON Schema 2020-12 (L4, L5, L12, LW1), and a schema in front matter judged at its place in the source.

Offline: nothing is ever fetched. Formats are asserted. Patterns run in linear time where the linear engine can read
them; otherwise under a limit on backtracking, and exceeding it is a problem of the value (X20).
"""

# Without postponed annotations: `NamedTuple` compiles each of those when the module is imported.

import marshal
import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, cast
from urllib.parse import urlsplit

from prosa.data import Mapping as NodeMapping
from prosa.data import Node, Value, key_span_at, span_at, to_value
from prosa.data.limits import MAX_INTEGER_DIGITS
from prosa.data.pointer import format_pointer
from prosa.data.surrogates import has_surrogate
from prosa.diagnostics import Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.schema.inputs import Declared
from prosa.schema.limits import (
    BACKTRACK_LIMIT,
    MAX_EVALUATION_PATHS,
    MAX_INSTANCE_DEPTH,
    MAX_PROBLEMS,
    MAX_SCHEMA_DEPTH,
    MAX_UNKNOWN_KEYWORDS,
)
from prosa.schema.walk import (
    BUNDLED,
    DIALECT,
    KNOWN,
    TYPES,
    Parts,
    References,
    SchemaData,
    applicators,
    in_place,
    subschemas,
)
from prosa.schema.wording import found, keyword_of, listed, sentence, shown_value
from prosa.source import ProsaError, Span

if TYPE_CHECKING:
    from typing import Protocol

    from jsonschema_rs import FancyRegexOptions, RegexOptions, ValidationError

    from prosa.schema.wording import LibraryError

    class Validator(Protocol):
        """A validator of jsonschema_rs for plain data, which its errors hold again."""

        def is_valid(self, instance: Value) -> bool: ...
        def iter_errors(self, instance: Value) -> Iterator[LibraryError]: ...


class SchemaError(ProsaError, ValueError):
    """A schema that is not JSON Schema 2020-12. ``pointer`` leads to the culprit inside the schema; ``misspelling`` is
    the word there, and the one probably meant."""

    def __init__(self, pointer: str, message: str, misspelling: Misspelling | None = None) -> None:
        super().__init__(f"{pointer}: {message}" if pointer else message)
        self.pointer = pointer
        self.message = message
        self.misspelling = misspelling


class SchemaProblem(NamedTuple):
    """A violation of a schema.

    ``pointer`` (RFC 6901) leads to the place in the value, ``keyword`` is the one that refused it, ``message`` says
    what was expected and what was found, without the pointer. Its `str` has both.
    """

    pointer: str
    keyword: str
    message: str

    def __str__(self) -> str:
        return f"{self.pointer or '(root)'}: {self.message}"


class Schema:
    """A schema ready to validate with. Raises `SchemaError` for one that is not JSON Schema 2020-12."""

    __slots__ = ("_validator", "raw")

    def __init__(self, obj: SchemaData) -> None:
        self.raw = obj
        self._validator = _compiled(obj)

    def problems(self, instance: Value, initial: Value = None) -> list[SchemaProblem]:
        """Return every way in which a value does not fit, at most `MAX_PROBLEMS`; empty when it is valid. ``initial``
        is the value before defaults were filled in.

        A value that is not JSON (NaN, keys that are not text, endless nesting) has exactly one problem, of the
        keyword ``type``.
        """
        return [problem for problem, _ in self.problems_with_names(instance, initial)]

    def problems_with_names(
        self, instance: Value, initial: Value = None
    ) -> list[tuple[SchemaProblem, tuple[str, ...]]]:
        """Return the same, each with the properties at its place that nothing describes."""
        if (wrong := not_plain(instance, MAX_INSTANCE_DEPTH)) is not None:
            return [(SchemaProblem(format_pointer(wrong[0]), "type", wrong[1]), ())]
        errors = islice(self._validator.iter_errors(instance), MAX_PROBLEMS)
        return [
            (
                SchemaProblem(
                    format_pointer(error.instance_path), keyword_of(error), sentence(error, self.raw, initial)
                ),
                tuple(map(str, getattr(error.kind, "unexpected", ()))),
            )
            for error in errors
        ]

    def valid(self, instance: Value) -> bool:
        """Return whether a value satisfies the schema."""
        return not_plain(instance, MAX_INSTANCE_DEPTH) is None and self._validator.is_valid(instance)


MAX_COMPILED = 64
"""Cached validators: a program that runs over many rows has the same schema each time."""

_COMPILED: "dict[bytes, Validator]" = {}


def _compiled(schema: SchemaData) -> "Validator":
    """Return the validator of a schema, made once for all that are the same to the last type. Raises `SchemaError`."""
    if not isinstance(schema, dict | bool) or not_plain(schema, MAX_SCHEMA_DEPTH) is not None:
        return _compile(schema)  # which says what is wrong
    key = marshal.dumps(schema, 2)
    validator = _COMPILED.get(key)
    if validator is None:
        if len(_COMPILED) >= MAX_COMPILED:
            _COMPILED.clear()
        validator = _COMPILED[key] = _compile(schema)
    return validator


def _compile(schema: SchemaData) -> "Validator":
    if not isinstance(schema, dict | bool):
        raise SchemaError("", f"expected a schema (a mapping, or true or false), found {_named(schema)}")
    if (wrong := not_plain(schema, MAX_SCHEMA_DEPTH)) is not None:
        raise SchemaError(format_pointer(wrong[0]), wrong[1])
    check_bounds(schema)
    from jsonschema_rs import FancyRegexOptions, RegexOptions, ValidationError

    try:
        return _validator(schema, RegexOptions())
    except ValidationError as error:
        if type(error.kind).__name__ != "Format":
            raise refusal(error, schema) from None
    try:
        return _validator(schema, FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT))
    except ValidationError as error:
        raise refusal(error, schema) from None


def _named(value: SchemaData) -> str:
    plain = value is None or isinstance(value, str | int | float)
    return found(value) if plain else "a list" if isinstance(value, list) else type(value).__name__


def _validator(schema: dict[str, Value] | bool, patterns: "RegexOptions | FancyRegexOptions") -> "Validator":
    from jsonschema_rs import Draft202012Validator

    try:
        made = Draft202012Validator(schema, validate_formats=True, offline=True, pattern_options=patterns)
        return cast("Validator", made)
    except RecursionError:
        raise SchemaError("", f"expected at most {MAX_SCHEMA_DEPTH} levels, found more") from None


# Whether a value is plain JSON data. In: anything. Out: the first place where it is not; no recursion. The validator
# would crash, raise or ignore such values, so they never reach it.

_TOO_MANY_BITS = MAX_INTEGER_DIGITS * 3322 // 1000


def not_plain(value: Value, max_depth: int) -> tuple[tuple[str | int, ...], str] | None:
    """Return where and why a value is not JSON, or is nested deeper than ``max_depth`` levels; None when all is
    well."""
    waiting: list[tuple[tuple[str | int, ...], Value]] = [((), value)]
    while waiting:
        parts, current = waiting.pop()
        if isinstance(current, dict | list):
            if len(parts) >= max_depth:
                return parts, f"expected at most {max_depth} levels of nesting, found more"
            if isinstance(current, dict):
                for key in current:
                    if not isinstance(key, str) or has_surrogate(key):
                        return parts, f"expected keys that are text, found {str(key)[:40]!r} ({type(key).__name__})"
                waiting += [((*parts, key), item) for key, item in current.items()]
            else:
                waiting += [((*parts, index), item) for index, item in enumerate(current)]
        elif (reason := _wrong_scalar(current)) is not None:
            return parts, reason
    return None


def _wrong_scalar(value: Value) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return "expected text of whole characters, found half of a surrogate pair" if has_surrogate(value) else None
    if isinstance(value, int):
        too_long = value.bit_length() > _TOO_MANY_BITS
        return f"expected an integer of at most {MAX_INTEGER_DIGITS:,} digits, found a longer one" if too_long else None
    if isinstance(value, float):
        return None if math.isfinite(value) else f"expected a finite number, found {value} which JSON cannot hold"
    return f"expected JSON data, found a value of the Python type {type(value).__name__}"


# What a schema may be before it is compiled: its dialect, and how often it may visit one value. Raises `SchemaError`.
# A chain of definitions, each of which uses the next one twice, would take time without end.


def check_bounds(schema: Value) -> None:
    """Refuse a foreign ``$schema`` and an exponential schema. The schema is plain data of bounded depth."""
    has_reference = False
    for parts, current in subschemas(schema):
        if isinstance(current, Mapping):
            _check_dialect(parts, current)
            has_reference = has_reference or "$ref" in current or "$dynamicRef" in current
    if has_reference:
        _check_paths(schema)


def _check_dialect(parts: tuple[str | int, ...], schema: Mapping[str, Value]) -> None:
    if "$schema" not in schema:
        return
    named = schema["$schema"]
    if not isinstance(named, str) or named.rstrip("#") != DIALECT:
        pointer = format_pointer((*parts, "$schema"))
        raise SchemaError(
            pointer, f"only JSON Schema 2020-12 is supported: expected {DIALECT}, found {shown_value(named)}"
        )


def _check_paths(root: Value) -> None:
    """Count the ways through references and in-place applicators, each schema once; a cycle counts as one."""
    references = References(root)
    _check_loops(root, references)
    paths: dict[int, int] = {}
    for parts, start in subschemas(root):
        if isinstance(start, Mapping) and _paths(start, references, paths) > MAX_EVALUATION_PATHS:
            raise SchemaError(
                format_pointer(parts), f"references multiply to more than {MAX_EVALUATION_PATHS:,} checks of one value"
            )


def _check_loops(root: Value, references: References) -> None:
    """Refuse a schema that refers to itself before it descends into the value: it states nothing, and validating with
    it would never end (section 9.4.1)."""
    mappings = [(parts, subschema) for parts, subschema in subschemas(root) if isinstance(subschema, Mapping)]
    places = {id(subschema): parts for parts, subschema in mappings}
    done: set[int] = set()
    enclosing: set[int] = set()
    waiting: list[tuple[Mapping[str, Value], Mapping[str, Value] | None]] = [
        (subschema, None) for _, subschema in reversed(mappings)
    ]
    while waiting:
        schema, parent = waiting.pop()
        if parent is schema:
            enclosing.discard(id(schema))
            done.add(id(schema))
        elif id(schema) in enclosing and parent is not None:
            raise _loop(places.get(id(parent), ()), parent)
        elif id(schema) not in done:
            enclosing.add(id(schema))
            waiting.append((schema, schema))
            inner = [child for child in in_place(schema, references) if isinstance(child, Mapping)]
            if any(child is schema for child in inner):
                raise _loop(places.get(id(schema), ()), schema)
            waiting += [(child, schema) for child in inner]


def _loop(parts: tuple[str | int, ...], schema: Mapping[str, Value]) -> SchemaError:
    keyword = next((candidate for candidate in ("$ref", "$dynamicRef") if candidate in schema), "")
    named = f"the reference {shown_value(schema[keyword])}" if keyword else "this schema"
    pointer = format_pointer((*parts, keyword) if keyword else parts)
    return SchemaError(pointer, f"{named} leads back to itself before it looks into the value, so it describes nothing")


def _paths(start: Mapping[str, Value], references: References, paths: dict[int, int]) -> int:
    waiting: list[tuple[Mapping[str, Value], bool]] = [(start, False)]
    while waiting:
        schema, entered = waiting.pop()
        inner = [child for child in in_place(schema, references) if isinstance(child, Mapping)]
        if entered:
            paths[id(schema)] = 1 + sum(paths.get(id(child), 1) for child in inner)
        elif id(schema) not in paths:
            paths[id(schema)] = 1
            waiting.append((schema, True))
            waiting += [(child, False) for child in inner if id(child) not in paths]
    return paths[id(start)]


# Why a schema was refused, in words and with the place of the culprit.
#
# In: the validator's error and the schema. Out: a `SchemaError` to raise.


def refusal(raised: "ValidationError", schema: SchemaData) -> SchemaError:
    """Return the error to raise for a schema of plain data that jsonschema-rs does not compile."""
    error = cast("LibraryError", raised)
    kind = type(error.kind).__name__
    if kind == "Referencing":
        return _unresolved(schema, str(error.kind.error))
    pointer = format_pointer(error.instance_path)
    keyword = error.instance_path[-1] if error.instance_path else ""
    if kind == "Format" and error.kind.format == "regex":
        return SchemaError(pointer, f"expected a regular expression, found {shown_value(error.instance)}")
    if keyword == "type" and kind == "AnyOf":
        return _wrong_type(pointer, error.instance)
    return SchemaError(pointer, sentence(error, None))


def _wrong_type(pointer: str, named: Value) -> SchemaError:
    message = f"expected a type ({listed(TYPES)}) or a list of types, found {found(named)}"
    if isinstance(named, str) and (near := nearest(named, TYPES)):
        return SchemaError(pointer, f"{message}; did you mean `{near}`?", Misspelling(named, near))
    return SchemaError(pointer, message)


def _unresolved(schema: SchemaData, reason: str) -> SchemaError:
    """Find the unresolved reference; the validator reports only what it looked up."""
    references = References(schema)
    for parts, current in subschemas(schema):
        if not isinstance(current, Mapping):
            continue
        for keyword in ("$ref", "$dynamicRef"):
            named = current.get(keyword)
            if isinstance(named, str) and not named.startswith(BUNDLED) and references.locate(current) is None:
                return SchemaError(format_pointer((*parts, keyword)), _leads_nowhere(named))
    return SchemaError("", reason)


def _leads_nowhere(named: str) -> str:
    try:
        remote = bool(urlsplit(named).scheme)
    except ValueError:
        remote = False
    if remote or not named.startswith("#"):
        return (
            f"the reference {shown_value(named)} is not inside this schema, and nothing is fetched: copy it to `$defs`"
        )
    return f"the reference {shown_value(named)} leads nowhere: expected a place inside this schema, as `#/$defs/name`"


# A schema written in front matter, judged at its place in the source (L4, L5, L9, LA2).

_SAYS_ITS_TYPE = frozenset(("$ref", "$dynamicRef", "allOf", "anyOf", "const", "enum", "oneOf", "type"))
_HELPERS = frozenset(("contains", "else", "if", "not", "propertyNames", "then"))
"""Schemas that only refine another one; types are not written in them or inside them."""
_PARTIAL = frozenset(
    ("additionalProperties", "allOf", "anyOf", "dependentSchemas", "oneOf", "unevaluatedItems", "unevaluatedProperties")
)
"""Places where a schema often states only a part, although schemas inside it are complete."""


def check_schema_shape(node: Node) -> tuple[Problem, ...]:
    """Return every problem of the schema at this node, in the order of the source, at most `MAX_PROBLEMS`."""
    value = to_value(node)
    try:
        Schema(value)
    except SchemaError as error:
        problems = [_bad(node, error)]
        # The rest is worth saying only where keywords may explain the error.
        problems += _unknown_keywords(node, value) if isinstance(value, Mapping) else ()
        return tuple(islice(problems, MAX_PROBLEMS))
    shape_problems: list[Problem] = []
    for check in (_unknown_keywords, _without_type, _required):
        shape_problems += islice(check(node, value), MAX_PROBLEMS)
    return tuple(sorted(shape_problems, key=lambda problem: problem.span)[:MAX_PROBLEMS])


def _bad(node: Node, error: SchemaError) -> Problem:
    notes = ("Schemas are JSON Schema 2020-12.",)
    message = f"not a valid JSON Schema: {error.message}"
    return Problem("bad-schema", message, span_at(node, error.pointer), notes, misspelling=error.misspelling)


def _unknown_keywords(node: Node, schema: Value) -> Iterator[Problem]:
    unknown = ((parts, keyword) for parts, current in _mappings(schema) for keyword in current if keyword not in KNOWN)
    for parts, keyword in islice(unknown, MAX_UNKNOWN_KEYWORDS):
        near = nearest(keyword, sorted(KNOWN), cutoff=0.8)
        if near:
            span = key_span_at(node, format_pointer((*parts, keyword)))
            message = f"`{keyword}` is not a keyword of JSON Schema; did you mean `{near}`?"
            notes = ("Unknown keywords have no effect.",)
            yield Problem("unknown-schema-keyword", message, span, notes, misspelling=Misspelling(keyword, near))


def _without_type(node: Node, schema: Value) -> Iterator[Problem]:
    for parts, current in subschemas(schema):
        if isinstance(current, bool):
            if not parts:
                yield _no_type(
                    node, parts, "the schema true accepts any value" if current else "the schema false accepts none"
                )
        elif isinstance(current, Mapping) and not current.keys() & _SAYS_ITS_TYPE and not _refines(parts):
            yield _no_type(
                node, parts, "an empty schema accepts any value" if not current else "the schema has no `type`"
            )


def _no_type(node: Node, parts: Parts, message: str) -> Problem:
    notes = ("Expected `type`: null, boolean, object, array, number, integer or string.",)
    pointer = format_pointer(parts)
    span = key_span_at(node, pointer) if parts else _first_key(node)
    return Problem("schema-without-type", message, span, notes)


def _first_key(node: Node) -> Span:
    return node.entries[0].key.span if isinstance(node, NodeMapping) and node.entries else node.span


def _refines(parts: Parts) -> bool:
    """Return whether a schema only states a part of the whole, as in ``allOf`` or ``not``."""
    way = list(applicators(parts))
    return bool(way) and (way[-1] in _PARTIAL or any(keyword in _HELPERS for keyword in way))


def _required(node: Node, schema: Value) -> Iterator[Problem]:
    references = References(schema)
    for parts, current in _mappings(schema):
        names = current.get("required")
        if not isinstance(names, list) or "properties" not in current or _refines(parts):
            continue
        declared = Declared(current, references)
        if declared.patterns or isinstance(declared.others, Mapping) or declared.others is True:
            continue
        for index, name in enumerate(names):
            if isinstance(name, str) and name not in declared.properties:
                yield _missing(node, (*parts, "required", index), name, declared)


def _missing(node: Node, parts: Parts, name: str, declared: Declared) -> Problem:
    near = nearest(name, declared.properties)
    hint = f"; did you mean `{near}`?" if near else ""
    notes = () if near else ("Describe it in `properties`, or remove it here.",)
    span = span_at(node, format_pointer(parts))
    message, meant = f"`{name}` is required but not described{hint}", Misspelling(name, near) if near else None
    return Problem("required-without-property", message, span, notes, misspelling=meant)


def _mappings(schema: Value) -> Iterator[tuple[Parts, Mapping[str, Value]]]:
    return ((parts, current) for parts, current in subschemas(schema) if isinstance(current, Mapping))
