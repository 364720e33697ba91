"""A compiled JSON Schema 2020-12. In: a schema as plain data. Out: problems of values, in words (L4, L5, L12, LW1).

Offline: nothing is ever fetched. Formats are asserted. Patterns run in linear time where the linear engine can read
them; otherwise under a limit on backtracking, and exceeding it is a problem of the value (X20).
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from prosa.data.pointer import format_pointer
from prosa.schema.bounds import check_bounds
from prosa.schema.errors import SchemaError
from prosa.schema.limits import BACKTRACK_LIMIT, MAX_INSTANCE_DEPTH, MAX_PROBLEMS, MAX_SCHEMA_DEPTH
from prosa.schema.plain import not_plain
from prosa.schema.refused import refusal
from prosa.schema.values import found
from prosa.schema.wording import keyword_of, sentence

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, FancyRegexOptions, RegexOptions


class SchemaProblem(NamedTuple):
    """One way in which a value does not satisfy a schema.

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

    def __init__(self, obj: Any) -> None:
        self.raw = obj
        self._validator = _compile(obj)

    def problems(self, instance: Any) -> list[SchemaProblem]:
        """Every way in which a value does not fit, at most `MAX_PROBLEMS`; empty when it is valid.

        A value that is not JSON (NaN, keys that are not text, endless nesting) has exactly one problem, of the
        keyword ``type``.
        """
        if (wrong := not_plain(instance, MAX_INSTANCE_DEPTH)) is not None:
            return [SchemaProblem(format_pointer(wrong[0]), "type", wrong[1])]
        errors = islice(self._validator.iter_errors(instance), MAX_PROBLEMS)
        return [
            SchemaProblem(format_pointer(error.instance_path), keyword_of(error), sentence(error, self.raw))
            for error in errors
        ]

    def valid(self, instance: Any) -> bool:
        """Whether a value satisfies the schema."""
        return not_plain(instance, MAX_INSTANCE_DEPTH) is None and self._validator.is_valid(instance)


def _compile(schema: Any) -> Draft202012Validator:
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


def _named(value: Any) -> str:
    plain = value is None or isinstance(value, str | int | float)
    return found(value) if plain else "a list" if isinstance(value, list) else type(value).__name__


def _validator(schema: Any, patterns: RegexOptions | FancyRegexOptions) -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator

    try:
        return Draft202012Validator(schema, validate_formats=True, offline=True, pattern_options=patterns)
    except RecursionError:
        raise SchemaError("", f"expected at most {MAX_SCHEMA_DEPTH} levels, found more") from None
