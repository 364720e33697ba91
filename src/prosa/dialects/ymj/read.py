"""Read a YMJ record: a front reading in, `YmjModel` and problems out. Never fails, opens nothing, runs nothing.

Reported here is what the three sections and their fields show by themselves (Y2, Y7–Y12, Y16); what weighs one part
against another, or needs other files, is found by rules. Mode does not matter here: strict and permissive readings are
the same, only the rule table weighs them differently.
"""

from __future__ import annotations

from dataclasses import replace

from prosa.data import Entry, Mapping, read_json
from prosa.diagnostics import Problem, Severity
from prosa.dialects.fields import Field, Owner, read_fields
from prosa.dialects.front import FrontReading
from prosa.dialects.ymj.fields import AI, CATALOG_ENTRY, FOOTER, HEADER, INDEX, PROVENANCE
from prosa.dialects.ymj.footer import FooterPlace, find_footer, is_blank
from prosa.dialects.ymj.model import Footer, YmjModel, mappings_of
from prosa.dialects.ymj.ops import read_ops
from prosa.dialects.ymj.versions import is_footerless
from prosa.document import Document, parse
from prosa.source import SourceText, Span

_UNREADABLE = ("footer-syntax", "nested-too-deep")
"""Faults after which nothing of a footer is taken for granted (Y16)."""

_Found = tuple[dict[str, Entry], tuple[Problem, ...]]


def read(front: FrontReading, document: Document) -> tuple[YmjModel, tuple[Problem, ...]]:
    """The record and everything that is wrong with the text of it, but for the front matter block itself.

    ``document`` is parsed anew unless it is the parse of `markdown(front)`.
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
    """The body of the record, the part that is Markdown (YA3): from the header to the line that opens the footer.

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
    """The footer where there is one in its place, and why there is none (YA8, YA9, YA12, Y16)."""
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
