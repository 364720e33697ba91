"""Why a schema was refused, in words and with the place of the culprit.

In: the validator's error and the schema. Out: a `SchemaError` to raise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from prosa.data.pointer import format_pointer
from prosa.diagnostics.nearest import nearest
from prosa.schema.errors import SchemaError
from prosa.schema.keywords import BUNDLED, TYPES
from prosa.schema.values import found, listed, shown_value
from prosa.schema.walk import References, subschemas
from prosa.schema.wording import sentence


def refusal(error: Any, schema: Any) -> SchemaError:
    """The error to raise for a schema that jsonschema-rs does not compile."""
    kind = type(error.kind).__name__
    if kind == "Referencing":
        return _unresolved(schema, str(error.kind.error))
    pointer = format_pointer(error.instance_path)
    keyword = error.instance_path[-1] if error.instance_path else ""
    if kind == "Format" and error.kind.format == "regex":
        return SchemaError(pointer, f"expected a regular expression, found {shown_value(error.instance)}")
    if keyword == "type" and kind == "AnyOf":
        return SchemaError(pointer, _wrong_type(error.instance))
    return SchemaError(pointer, sentence(error, None))


def _wrong_type(named: Any) -> str:
    near = nearest(named, TYPES) if isinstance(named, str) else None
    hint = f"; did you mean `{near}`?" if near else ""
    return f"expected a type ({listed(TYPES)}) or a list of types, found {found(named)}{hint}"


def _unresolved(schema: Any, reason: str) -> SchemaError:
    """Find the reference that leads nowhere; the validator tells only what it did not find."""
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
