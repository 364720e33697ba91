"""Completion in data: front matter, ai-script blocks, relationships, footers, the blocks of tests.

In: a cursor in data. Out: the absent names, or the known values: those of the shape, and the names of documents if the
field names one. Inserted text is YAML or JSON in the style around it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from msgspec.structs import replace

from prosa.adapters.providers.table import PROVIDERS
from prosa.app.editor.candidates import NOTHING, Candidate, Completions, completions, unique
from prosa.app.editor.complete_documents import (
    attachments,
    edges,
    ids,
    nodes,
    program_paths,
    relation_types,
    shared_actions,
    stems,
)
from prosa.app.editor.cursor import CursorContext, DataContext
from prosa.data import Value
from prosa.data.place import DataPlace
from prosa.data.yaml_write import yaml_text
from prosa.dialects.markdownlang.model import BUILT_IN_SERVER
from prosa.dialects.shapes import KnownValue, Member
from prosa.dialects.shapes import Path as Way
from prosa.source import Span

_OPEN = ("plain", "context", "magi")
"""Dialects whose front matter may have fields of the author's own."""


def data_completions(cursor: CursorContext, data: DataContext) -> Completions:
    """Return what may be written at a place of data."""
    place = data.place
    if place.slot == "key":
        return _names(cursor, data, place.path)
    if place.slot == "item" and not place.flow and (_kind(cursor, data), place.path) not in _NAMED:
        suggestions = _names(cursor, data, place.path)
        return suggestions if suggestions.items else _values(cursor, data)
    return _values(cursor, data)


def _names(cursor: CursorContext, data: DataContext, way: Way) -> Completions:
    """Return the names that a mapping may have and has not: those that it needs first."""
    place = data.place
    members: dict[str, Member] = {}
    for shape in data.shapes:
        for member in shape.members(way):
            known = members.get(member.name)
            if known is None or (member.about and not known.about):
                members[member.name] = member
    if data.name == "front" and not way and cursor.dialect in _OPEN:
        for name, rel in cursor.workspace.profile.relations:
            members.setdefault(name, Member(name, "the name of a document", f"a relation of this project: `{rel}`"))
    span, write = _key_writer(place, data, cursor.text)
    candidates = (
        Candidate(
            member.name,
            "field",
            write(member),
            detail=f"{member.type}, required" if member.required else member.type,
            documentation=member.about,
            far=0 if member.required else 1,
        )
        for member in members.values()
        if member.name not in place.beside
    )
    return completions(cursor.path, span, place.typed, candidates)


def _key_writer(place: DataPlace, data: DataContext, text: str) -> tuple[Span, Callable[[Member], str]]:
    """Return the characters that a name replaces, and how it is written with the missing text after it."""
    span, quote = place.span, place.quote or ('"' if data.json else "")
    closes = place.quote != "" and place.closed
    if closes and not place.colon and text.startswith(place.quote, span.end):
        span, closes = Span(span.start, span.end + 1), False

    def write(member: Member) -> str:
        if place.quote:
            name = json.dumps(member.name, ensure_ascii=False)[1:-1] if quote == '"' else member.name
            ending = "" if closes else quote
        else:
            name, ending = (json.dumps(member.name, ensure_ascii=False) if data.json else yaml_text(member.name)), ""
        colon = "" if place.colon else ":" if member.opens and not place.flow else ": "
        return f"{name}{ending}{colon}"

    return span, write


def _values(cursor: CursorContext, data: DataContext) -> Completions:
    place = data.place
    candidates = unique(_choices(data, place.path))
    named = _NAMED.get((_kind(cursor, data), place.path))
    offered: list[Candidate] = [*candidates]
    known = {candidate.label for candidate in offered}
    offered += [
        candidate
        for candidate in (named(cursor, place.typed) if named is not None else ())
        if candidate.label not in known
    ]
    if data.name == "front" and not offered:
        offered += _relation(cursor, place)
    written = [candidate for candidate in offered if candidate.kind != "value"]
    writer = _value_writer(place, data)
    made = completions(
        cursor.path,
        place.span,
        place.typed,
        [
            *(candidate for candidate in offered if candidate.kind == "value"),
            *(_written(candidate, writer) for candidate in written),
        ],
    )
    return made if made.items else NOTHING


def _choices(data: DataContext, way: Way) -> Iterator[Candidate]:
    writer = _value_writer(data.place, data)
    for shape in data.shapes:
        for choice in shape.choices(way):
            text = writer(choice.value)
            if text is not None and not isinstance(choice.value, list | dict):
                yield Candidate(_label(choice), "value", text, documentation=choice.about)


def _label(choice: KnownValue) -> str:
    return choice.value if isinstance(choice.value, str) else json.dumps(choice.value)


def _written(candidate: Candidate, writer: Callable[[Value], str | None]) -> Candidate:
    """Return a candidate with its text written as data."""
    text = writer(candidate.label if candidate.text is None else candidate.text)
    return replace(candidate, text=text)


def _value_writer(place: DataPlace, data: DataContext) -> Callable[[Value], str | None]:
    """Return how a value is written at a place; None for one that cannot stand between the quotes there."""
    lead = "" if place.gap else " "

    def write(value: Value) -> str | None:
        if place.quote:
            if not isinstance(value, str):
                return None
            inner = json.dumps(value, ensure_ascii=False)[1:-1] if place.quote == '"' else value.replace("'", "''")
            return inner if place.closed else f"{inner}{place.quote}"
        return lead + (json.dumps(value, ensure_ascii=False) if data.json else yaml_text(value))

    return write


def _relation(cursor: CursorContext, place: DataPlace) -> Iterable[Candidate]:
    """Return the documents that a field may name that is a relation of the project."""
    fields = {name for name, _ in cursor.workspace.profile.relations}
    way = place.path[:-1] if place.path and place.path[-1] is None else place.path
    if len(way) != 1 or way[0] not in fields:
        return ()
    return (replace(stem, text=None) for stem in stems(cursor, place.typed))


def _kind(cursor: CursorContext, data: DataContext) -> str:
    return cursor.dialect if data.name == "front" else data.name


def _servers(cursor: CursorContext, typed: str) -> Iterator[Candidate]:
    del cursor, typed
    yield Candidate(BUILT_IN_SERVER, "tool", detail="the built-in interpreter of Python")


def _files(cursor: CursorContext, typed: str) -> Iterable[Candidate]:
    return attachments(cursor, typed)


def _providers(cursor: CursorContext, typed: str) -> Iterator[Candidate]:
    del cursor, typed
    return (Candidate(row.name, "value", detail="a provider", names=row.aliases) for row in PROVIDERS)


Named: TypeAlias = Callable[[CursorContext, str], Iterable[Candidate]]

_NAMED: Mapping[tuple[str, Way], Named] = {
    ("markdownlang", ("imports", None)): program_paths,
    ("markdownlang", ("imports", None, "path")): program_paths,
    ("markdownlang", ("mcp_servers", None, "name")): _servers,
    ("test", ("tests",)): program_paths,
    ("test", ("grader",)): program_paths,
    ("test", ("rows",)): _files,
    ("ymj", ("attachments", None, "uri")): _files,
    ("mdh", ("links", None, "rel")): relation_types("front-matter", "mdh"),
    ("mdh", ("links", None, "target")): nodes,
    ("mdh", ("actions", None, "id")): shared_actions,
    ("script", ("provider",)): _providers,
    ("relationship", ("rel-type",)): relation_types("footnote", "magi"),
    ("relationship", ("doc-id",)): ids("magi"),
    ("footer", ("ops", "graph", "edges", None, "type")): relation_types("ops.graph", "ymj"),
    ("footer", ("ops", "graph", "edges", None, "to")): edges,
}
"""Fields that name documents or what other documents say, by the kind of data and the path."""
