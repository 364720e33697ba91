"""Read a MAGI document: its front reading and parsed body in, `MagiModel` and problems out (M1–M51).

Never fails, opens nothing, runs nothing. Only problems of a single part are reported here; rules compare parts and
documents with each other. The problems of `FrontReading` itself are not repeated. Custom fields are allowed in front
matter, so an unknown name is only mentioned when it is nearly a known one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import islice

from prosa.data import Entry, Mapping, Scalar, Sequence
from prosa.data.yaml import read_yaml
from prosa.diagnostics import Fix, Problem, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import MAX_UNKNOWN, Owner, read_fields
from prosa.dialects.front import FrontReading
from prosa.dialects.magi.fields import (
    DATE_FIELDS,
    FRONT,
    FRONT_NAMES,
    LIST_FIELDS,
    in_kebab_case,
    normal_form,
    read_date,
)
from prosa.dialects.magi.model import Fields, MagiModel
from prosa.dialects.magi.regions import inside, read_regions
from prosa.dialects.magi.relationships import read_relationships
from prosa.dialects.magi.scripts import read_scripts
from prosa.document import Document
from prosa.source import Edit, SourceText, Span

_NAMES = tuple(field.name for field in FRONT)
_NEARLY = 0.85
"""How alike an unknown name must be to a known one before it is mentioned."""


def read_front_fields(front: FrontReading) -> tuple[Fields, tuple[Problem, ...]]:
    """Return the fields that are there and well-formed, and every problem of the front matter's own fields."""
    if front.fields is None:
        return Fields({}), ()
    named, problems = in_kebab_case(front.fields, FRONT_NAMES, front.source)
    lists, list_problems = _lists(named, front.source)
    strings, object_problems = _without_objects(lists)
    custom = _custom(strings)
    owner = Owner("a MAGI document", front.anchor, unknown=Severity.INFO, other=custom, complete=front.complete)
    entries, wrong = read_fields(strings, FRONT, owner)
    dates = [_unusual(entries[name], front.source) for name in DATE_FIELDS if name in entries]
    all_problems = (*problems, *list_problems, *object_problems, *wrong, *(date for date in dates if date))
    return Fields(entries), all_problems


def _custom(mapping: Mapping) -> Callable[[str], bool]:
    """Return whether an unknown name is the author's own; only the first `MAX_UNKNOWN` of them are compared."""
    unknown = (entry.key.text for entry in mapping if entry.key.text not in _NAMES)
    near = {name for name in islice(unknown, MAX_UNKNOWN) if nearest(name, _NAMES, cutoff=_NEARLY)}
    return lambda name: name not in near


def _lists(mapping: Mapping, source: SourceText) -> tuple[Mapping, list[Problem]]:
    """List fields given as one scalar become lists of one (MA17)."""
    entries: list[Entry] = []
    problems: list[Problem] = []
    for entry in mapping:
        value = entry.value
        if entry.key.text in LIST_FIELDS and isinstance(value, Scalar) and value.value is not None:
            problems.append(_scalar(entry, value, source))
            entry = Entry(entry.key, Sequence((value,), value.span))
        entries.append(entry)
    return Mapping(tuple(entries), mapping.span), problems


def _scalar(entry: Entry, value: Scalar, source: SourceText) -> Problem:
    message = f"`{entry.key.text}` is a list, and this is one value: it is read as a list of one"
    replacement = _as_list(entry, value, source)
    fix = Fix("write a list", (Edit(value.span, replacement),)) if replacement else None
    return Problem("scalar-for-list", message, value.span, fix=fix)


def _as_list(entry: Entry, value: Scalar, source: SourceText) -> str | None:
    """Return the flow list with this one value as the author wrote it, or quoted; None where it cannot be written in
    place: a block scalar, an alias, something between the colon and the value."""
    written = source.slice(value.span)
    between = source.text[entry.key.span.end : value.span.start] if value.span.start >= entry.key.span.end else "&"
    if value.style in ("literal", "folded") or not re.fullmatch(r"[ \t]*:[ \t]+", between) or "\n" in written:
        return None
    quoted = json.dumps(value.text, ensure_ascii=False)
    return next((text for text in (f"[{written}]", f"[{quoted}]") if _reads_as(text, value.text)), None)


def _reads_as(text: str, wanted: str) -> bool:
    reading = read_yaml(text)
    items = reading.node.items if isinstance(reading.node, Sequence) and not reading.problems else ()
    return len(items) == 1 and isinstance(items[0], Scalar) and items[0].text == wanted


def _without_objects(mapping: Mapping) -> tuple[Mapping, list[Problem]]:
    """Objects among the sentences of `relationships` (MA19)."""
    entry = mapping.entry("relationships")
    if entry is None or not isinstance(entry.value, Sequence):
        return mapping, []
    objects = [item for item in entry.value.items if isinstance(item, Mapping)]
    strings = Sequence(tuple(item for item in entry.value.items if not isinstance(item, Mapping)), entry.value.span)
    entries = tuple(Entry(field.key, strings) if field is entry else field for field in mapping)
    notes = ("relationships for the graph are in footnotes; this list is for people",)
    message = "an item of `relationships` is a mapping, where sentences are expected"
    problems = [Problem("relationship-object", message, _first_line(item.span, item), notes) for item in objects[:100]]
    return Mapping(entries, mapping.span), problems


def _first_line(span: Span, item: Mapping) -> Span:
    return item.entries[0].key.span if item.entries else span


def _unusual(entry: Entry, source: SourceText) -> Problem | None:
    """Return a date that can mean only one thing but is not ISO 8601 (MA16)."""
    value = entry.value
    if not isinstance(value, Scalar) or read_date(value.text) is not None:
        return None
    normal = normal_form(value.text)
    if normal is None:
        return None
    message = f"`{entry.key.text}` is not an ISO 8601 date as written; it is read as `{normal}`"
    edit = _date_edit(value, normal, source)
    fix = Fix(f"write `{normal}`", (edit,)) if edit else None
    return Problem("unusual-date-form", message, value.span, fix=fix)


def _date_edit(value: Scalar, normal: str, source: SourceText) -> Edit | None:
    written = source.slice(value.span)
    quote = written[0] if written[:1] in ("'", '"') else ""
    return Edit(value.span, f"{quote}{normal}{quote}") if written == f"{quote}{value.text}{quote}" else None


def read(front: FrontReading, document: Document) -> tuple[MagiModel, tuple[Problem, ...]]:
    """Return the document and everything that is wrong with the text of it."""
    fields, field_problems = read_front_fields(front)
    regions, stray = read_regions(document)
    within = inside(regions)
    scripts, script_problems = read_scripts(document, within)
    relationships, relationship_problems = read_relationships(document, within)
    model = MagiModel(front, document, fields, scripts, relationships, regions, stray)
    return model, (*field_problems, *script_problems, *relationship_problems)
