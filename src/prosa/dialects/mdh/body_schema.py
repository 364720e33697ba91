"""`body_schema` of an action: a URL, or a JSON Schema that must compile (HA16). Nothing is fetched."""

from __future__ import annotations

from prosa.data import Entry, Mapping, Scalar, to_value
from prosa.diagnostics import Problem
from prosa.dialects.fields import type_name
from prosa.dialects.mdh.forms import url_form
from prosa.dialects.mdh.model import SchemaRef, Text
from prosa.schema import check_schema_shape


def read_body_schema(entry: Entry | None) -> tuple[SchemaRef | None, tuple[Problem, ...]]:
    """The schema of a request body. One without `type` describes an object, so its absence is no problem (HA16)."""
    if entry is None:
        return None, ()
    node = entry.value
    if isinstance(node, Mapping):
        problems = tuple(each for each in check_schema_shape(node) if each.rule != "schema-without-type")
        valid = not any(each.rule == "bad-schema" for each in problems)
        return SchemaRef(None, node, to_value(node), valid), problems
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        wanted = "a JSON Schema as a mapping, or the URL of one"
        message = f"`actions.body_schema` must be {wanted}, not {type_name(node)}"
        return None, (Problem("wrong-type", message, node.span),)
    complaint = url_form(node.text)
    if complaint:
        return None, (Problem("wrong-form", f"`actions.body_schema` {complaint}", node.span),)
    return SchemaRef(Text.of(node), node, node.text, valid=True), ()
