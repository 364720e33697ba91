"""What a schema may be before it is compiled: its dialect, and how often it may look at one value.

Raises `SchemaError`. A chain of definitions, each of which uses the next one twice, would take time without end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prosa.data.pointer import format_pointer
from prosa.schema.errors import SchemaError
from prosa.schema.keywords import DIALECT
from prosa.schema.limits import MAX_EVALUATION_PATHS
from prosa.schema.values import shown_value
from prosa.schema.walk import References, in_place, subschemas


def check_bounds(schema: Any) -> None:
    """Refuse a foreign ``$schema`` and an exponential schema. The schema is plain data of bounded depth."""
    has_reference = False
    for parts, current in subschemas(schema):
        if isinstance(current, Mapping):
            _check_dialect(parts, current)
            has_reference = has_reference or "$ref" in current or "$dynamicRef" in current
    if has_reference:
        _check_paths(schema)


def _check_dialect(parts: tuple[str | int, ...], schema: Mapping[str, Any]) -> None:
    if "$schema" not in schema:
        return
    named = schema["$schema"]
    if not isinstance(named, str) or named.rstrip("#") != DIALECT:
        pointer = format_pointer((*parts, "$schema"))
        raise SchemaError(
            pointer, f"only JSON Schema 2020-12 is supported: expected {DIALECT}, found {shown_value(named)}"
        )


def _check_paths(root: Any) -> None:
    """Count the ways through references and in-place applicators, each schema once; a cycle counts as one."""
    references = References(root)
    paths: dict[int, int] = {}
    for parts, start in subschemas(root):
        if isinstance(start, Mapping) and _paths(start, references, paths) > MAX_EVALUATION_PATHS:
            raise SchemaError(
                format_pointer(parts), f"references multiply to more than {MAX_EVALUATION_PATHS:,} checks of one value"
            )


def _paths(start: Mapping[str, Any], references: References, paths: dict[int, int]) -> int:
    waiting: list[tuple[Mapping[str, Any], bool]] = [(start, False)]
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
