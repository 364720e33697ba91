"""Read a YMJ record: a front reading in, `YmjModel` and problems out. Never fails, opens nothing, runs nothing.

Only problems of the three sections and their fields are reported here (Y2, Y7–Y12, Y16); rules compare parts and check
what needs other files. Mode does not matter here: strict and permissive readings are the same, only the rule table
weighs them differently. The directives below `ops` (YA19, YA20) are carried out elsewhere, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from prosa.data import Entry, Mapping, Node, Scalar, Sequence, read_json
from prosa.diagnostics import Problem, Severity
from prosa.dialects.fields import Field, Owner, read_fields, shown
from prosa.dialects.front import FrontReading
from prosa.dialects.ymj.fields import (
    AI,
    CATALOG_ENTRY,
    EDGE,
    FOOTER,
    HEADER,
    INDEX,
    OPS,
    OPS_LISTS,
    OPS_MAPS,
    PROVENANCE,
    is_footerless,
)
from prosa.dialects.ymj.model import Footer, YmjModel, mappings_of
from prosa.dialects.ymj.sections import FooterPlace, find_footer, is_blank
from prosa.document import Document, parse
from prosa.regex import regex
from prosa.source import SourceText, Span

_UNREADABLE = ("footer-syntax", "nested-too-deep")
"""Faults after which nothing of a footer is taken for granted (Y16)."""

_Found = tuple[dict[str, Entry], tuple[Problem, ...]]


def read(front: FrontReading, document: Document) -> tuple[YmjModel, tuple[Problem, ...]]:
    """Return the record, and the problems of its text outside the front matter block.

    ``document`` is parsed again unless it is the parse of `markdown(front)`.
    """
    body = markdown(front)
    fields, header_problems = _header(front)
    footer, problems = _footer(front, body)
    entries, footer_problems = _entries(footer)
    ops, ops_problems = read_ops(entries.get("ops"))
    if document.body != body:
        document = parse(front.source, body=body)
    model = YmjModel(front.source, front, document, fields, footer, entries, ops, body)
    return model, (*header_problems, *problems, *footer_problems, *ops_problems)


def markdown(front: FrontReading) -> Span:
    """Return the body of the record, the part that is Markdown (YA3): from the header to the line that opens the
    footer.

    A JSON fence in the place of the footer is no part of the body when it holds an object, even a broken one (YA8).
    """
    place = find_footer(front.source.text, front.body)
    if place is None or not _in_place(front.source, place) or not _is_object(front.source, place):
        return front.body
    return Span(front.body.start, place.open.start)


def _in_place(source: SourceText, place: FooterPlace) -> bool:
    return place.closed and is_blank(source.slice(place.tail))


def _is_object(source: SourceText, place: FooterPlace) -> bool:
    return source.slice(place.content).lstrip(" \t\r\n\ufeff").startswith("{")


def _header(front: FrontReading) -> _Found:
    if front.fields is None:
        if any(problem.rule != "front-matter-fence" for problem in front.problems):
            return {}, ()  # an error of the header that was reported already
        message = "a YMJ record begins with a YAML header between `---` lines, and this document has none"
        note = "it needs at least `doc_summary`, `kind`, `version`, `subject` and `maintained_by`"
        return {}, (Problem("missing-header", message, front.anchor, (note,)),)
    owner = Owner("the header of a YMJ record", front.anchor, unknown=Severity.INFO, complete=front.complete)
    fields, problems = read_fields(front.fields, HEADER, owner)
    nested = [*problems]
    for item in mappings_of(fields.get("attachments")):
        nested += _inner(item, CATALOG_ENTRY, "an attachment", "")
    provenance = fields.get("provenance")
    if provenance is not None and isinstance(provenance.value, Mapping):
        nested += _inner(provenance.value, PROVENANCE, "`provenance`", "provenance.")
    return fields, tuple(nested)


def _inner(mapping: Mapping, table: tuple[Field, ...], title: str, prefix: str) -> tuple[Problem, ...]:
    anchor = mapping.entries[0].key.span if mapping.entries else mapping.span
    return read_fields(mapping, table, Owner(title, anchor, prefix, unknown=Severity.INFO))[1]


def _footer(front: FrontReading, body: Span) -> tuple[Footer | None, tuple[Problem, ...]]:
    """Return the footer where there is one in its place, and why there is none (YA8, YA9, YA12, Y16)."""
    source = front.source
    place = find_footer(source.text, front.body)
    if place is None:
        return None, (_missing(front, ()),)
    if not place.closed:
        note = "the JSON fence is never closed: the last line must be exactly three backticks"
        return None, (_missing(front, (note,), place.open),)
    if body == front.body and is_blank(source.slice(place.tail)):
        return None, (_missing(front, ("the last block holds no JSON object, as a footer does",), place.open),)
    reading = read_json(source.slice(place.content), offset=place.content.start)
    node = reading.node if isinstance(reading.node, Mapping) else None
    if body == front.body:
        claimed = node is not None and Footer(place, node, sound=True).claimed
        return None, (_after_footer(source, place) if claimed else _missing(front, ()),)
    problems = tuple(_in_footer(problem) for problem in reading.problems)
    if node is None or any(problem.rule in _UNREADABLE for problem in problems):
        return None, problems
    return Footer(place, node, sound=not problems), problems


def _in_footer(problem: Problem) -> Problem:
    """Faults of JSON itself as one rule, since they have one remedy; the others are those of any data."""
    return replace(problem, rule="footer-syntax") if problem.rule in ("json-syntax", "json-number") else problem


def _missing(front: FrontReading, notes: tuple[str, ...], span: Span | None = None) -> Problem:
    end = len(front.source.text.rstrip())
    message = "a YMJ record ends with a JSON footer in a ```json fence, and this document has none"
    spec = front.fields.entry("ymj_spec") if front.fields is not None else None
    if spec is not None and is_footerless(getattr(spec.value, "text", "")):
        notes = (*notes, "tools of version 1.0 left the footer out; add one with `schema`, `payload_hash` and `index`")
    return Problem("missing-footer", message, span or Span(end, end), notes)


def _after_footer(source: SourceText, place: FooterPlace) -> Problem:
    text = source.slice(place.tail)
    start = place.tail.start + len(text) - len(text.lstrip())
    span = Span(start, max(start, place.tail.start + len(text.rstrip())))
    message = "text follows the footer, which must be the last block of the record"
    return Problem("text-after-footer", message, span, ("move it into the body, above the footer",))


def _entries(footer: Footer | None) -> _Found:
    if footer is None:
        return {}, ()
    owner = Owner("the footer", footer.place.open, unknown=Severity.INFO, complete=footer.sound)
    entries, problems = read_fields(footer.node, FOOTER, owner)
    nested = [*problems]
    index, ai = entries.get("index"), entries.get("ai")
    if index is not None and isinstance(index.value, Mapping):
        own = Owner("`index`", index.key.span, "index.", other=lambda _: True)
        nested += read_fields(index.value, INDEX, own)[1]
    if ai is not None and isinstance(ai.value, Mapping):
        nested += _inner(ai.value, AI, "`ai`", "ai.")
    return entries, tuple(nested)


def read_ops(entry: Entry | None) -> tuple[dict[str, Entry], tuple[Problem, ...]]:
    """Return the well-formed entries below `ops`, by name."""
    if entry is None or not isinstance(entry.value, Mapping):
        return {}, ()
    owner = Owner("`ops`", entry.key.span, "ops.", unknown=Severity.INFO)
    entries, problems = read_fields(entry.value, OPS, owner)
    return entries, (*problems, *_nested(entries))


def _nested(entries: dict[str, Entry]) -> Iterator[Problem]:
    for name, table in OPS_MAPS.items():
        entry = entries.get(name)
        if entry is not None and isinstance(entry.value, Mapping):
            yield from _fields(entry.value, table, f"`ops.{name}`", f"{name}.")
    for name, table in OPS_LISTS.items():
        for item in mappings_of(entries.get(name)):
            yield from _fields(item, table, f"an item of `ops.{name}`", "")
    yield from _edges(entries.get("graph"))
    if "visibility" in entries:
        yield from read_visibility(entries["visibility"].value)[1]


def _edges(graph: Entry | None) -> Iterator[Problem]:
    edges = graph.value.entry("edges") if graph is not None and isinstance(graph.value, Mapping) else None
    for item in mappings_of(edges):
        yield from _fields(item, EDGE, "an edge", "")


def _fields(mapping: Mapping, table: tuple[Field, ...], title: str, prefix: str) -> tuple[Problem, ...]:
    anchor = mapping.entries[0].key.span if mapping.entries else mapping.span
    owner = Owner(title, anchor, prefix, unknown=Severity.INFO, other=_of_another_rule)
    return read_fields(mapping, table, owner)[1]


def _of_another_rule(name: str) -> bool:
    """Accept a name that another rule judges, such as notes, whose content belongs in the header's catalog."""
    return name == "note"


_ROLES = regex(r"role:\s*\[([^\[\]]*)\]\s*")
_WANTED = '`public`, `private`, `role:[NAME,…]` or {"role": ["NAME", …]}'


class Visibility(Struct, frozen=True):
    """Who may see a record: everyone if ``public``, otherwise the ``roles`` and its owner."""

    public: bool
    roles: tuple[str, ...] = ()


def read_visibility(node: Node) -> tuple[Visibility | None, tuple[Problem, ...]]:
    """Return the visibility, or None and a problem. Who reads None must not take it for public."""
    if isinstance(node, Scalar) and isinstance(node.value, str):
        visibility = _of_text(node.value.strip())
        if visibility is None:
            message = f"`{shown(node.text)}` is not a value of `ops.visibility`; it is {_WANTED}"
            return None, (Problem("unknown-value", message, node.span),)
        return visibility, ()
    role = node.get("role") if isinstance(node, Mapping) and len(node.entries) == 1 else None
    names = _names(role) if role is not None else None
    if names is None:
        return None, (Problem("wrong-type", f"`ops.visibility` must be {_WANTED}", node.span),)
    return Visibility(public=False, roles=names), ()


def _of_text(text: str) -> Visibility | None:
    if text in ("public", "private"):
        return Visibility(public=text == "public")
    match = _ROLES.fullmatch(text)
    if match is None:
        return None
    roles = tuple(name.strip().strip("\"'") for name in match[1].split(","))
    return Visibility(public=False, roles=roles) if all(roles) else None


def _names(node: Node) -> tuple[str, ...] | None:
    if isinstance(node, Scalar) and isinstance(node.value, str) and node.value.strip():
        return (node.value,)
    if not isinstance(node, Sequence) or not node.items:
        return None
    names = tuple(item.value for item in node.items if isinstance(item, Scalar) and isinstance(item.value, str))
    return names if len(names) == len(node.items) else None
