"""`query` of an action: parameter names, and their description where a site has the extension (H13, HA11)."""

from __future__ import annotations

from dataclasses import replace

from prosa.data import Entry, Mapping, Node, Scalar, Sequence
from prosa.diagnostics import Problem, Severity
from prosa.dialects.fields import Owner, read_fields, shown, type_name
from prosa.dialects.mdh.fields import QUERY
from prosa.dialects.mdh.model import QueryModel, Text
from prosa.schema import check_schema_shape


def read_query(entry: Entry | None) -> tuple[QueryModel | None, tuple[Problem, ...]]:
    """The parameters of an action."""
    if entry is None or not isinstance(entry.value, Mapping):
        return None, ()
    owner = Owner("`query`", entry.key.span, "query.", unknown=Severity.INFO)
    entries, problems = read_fields(entry.value, QUERY, owner)
    properties = entries.get("properties")
    described = properties.value if properties and isinstance(properties.value, Mapping) else None
    names = tuple(Text.of(each.key) for each in described) if described else ()
    model = QueryModel(_names(entries.get("required")), _names(entries.get("optional")), names)
    return model, (*problems, *_property_problems(described))


def _names(entry: Entry | None) -> tuple[Text, ...]:
    if entry is None or not isinstance(entry.value, Sequence):
        return ()
    return tuple(Text.of(item) for item in entry.value.items if isinstance(item, Scalar))


def _property_problems(described: Mapping | None) -> tuple[Problem, ...]:
    """A description is a schema as far as the specification goes; mistakes in it are warnings, since it may go on."""
    problems: list[Problem] = []
    for entry in described or ():
        if not _is_description(entry.value):
            message = f"`query.properties.{shown(entry.key.text)}` must be a mapping, not {type_name(entry.value)}"
            problems.append(Problem("wrong-type", message, entry.value.span))
            continue
        found = check_schema_shape(entry.value)
        problems += [
            replace(problem, severity=Severity.WARNING) for problem in found if problem.rule != "schema-without-type"
        ]
    return tuple(problems)


def _is_description(node: Node) -> bool:
    return isinstance(node, Mapping) or (isinstance(node, Scalar) and node.value is None)
