"""The handling directives of a footer (Y12, YA19, YA20): the entry of `ops` in, its well-formed entries and the
problems of everything below it out. What the directives ask for is done elsewhere, or nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Entry, Mapping
from prosa.diagnostics import Problem, Severity
from prosa.dialects.fields import Field, Owner, read_fields
from prosa.dialects.ymj.fields import EDGE, OPS, OPS_LISTS, OPS_MAPS
from prosa.dialects.ymj.model import mappings_of
from prosa.dialects.ymj.visibility import read_visibility


def read_ops(entry: Entry | None) -> tuple[dict[str, Entry], tuple[Problem, ...]]:
    """The entries below `ops` whose own shape is right, by name."""
    if entry is None or not isinstance(entry.value, Mapping):
        return {}, ()
    owner = Owner("`ops`", entry.key.span, "ops.", unknown=Severity.INFO)
    found, problems = read_fields(entry.value, OPS, owner)
    return found, (*problems, *_nested(found))


def _nested(found: dict[str, Entry]) -> Iterator[Problem]:
    for name, table in OPS_MAPS.items():
        entry = found.get(name)
        if entry is not None and isinstance(entry.value, Mapping):
            yield from _fields(entry.value, table, f"`ops.{name}`", f"{name}.")
    for name, table in OPS_LISTS.items():
        for item in mappings_of(found.get(name)):
            yield from _fields(item, table, f"an item of `ops.{name}`", "")
    yield from _edges(found.get("graph"))
    if "visibility" in found:
        yield from read_visibility(found["visibility"].value)[1]


def _edges(graph: Entry | None) -> Iterator[Problem]:
    edges = graph.value.entry("edges") if graph is not None and isinstance(graph.value, Mapping) else None
    for item in mappings_of(edges):
        yield from _fields(item, EDGE, "an edge", "")


def _fields(mapping: Mapping, table: tuple[Field, ...], title: str, prefix: str) -> tuple[Problem, ...]:
    anchor = mapping.entries[0].key.span if mapping.entries else mapping.span
    owner = Owner(title, anchor, prefix, unknown=Severity.INFO, other=_of_another_rule)
    return read_fields(mapping, table, owner)[1]


def _of_another_rule(name: str) -> bool:
    """Notes beside handling are harmless; what they say belongs into the header's catalog."""
    return name == "note"
