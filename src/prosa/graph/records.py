"""The record of a document: the data from its dialect, with lines, in the terms of the graph.

In: a reading. Out: a `Record`. Links of the body count in every dialect; a dialect's own reference for a link takes
precedence.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from prosa.data import Scalar, Value
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import MDH
from prosa.document.references import MADE_LATER, Def, Ref, address_references, is_named_later, link_references
from prosa.graph.record import Definition, Record, Reference, file_title
from prosa.regex import regex
from prosa.source import SourceText

_WHOLE = ("mdh", "plain", "skill_md", "context", "mda")
"""Dialects whose own references include the links of the body."""

_OF_THE_SYSTEM = ("import", "include")
"""Notations whose absolute paths are file system paths; in a link `/x` is a page of a site."""

_OWN_TITLE = {
    "markdownlang": ("title", "name"),
    "skill_md": ("title", "name"),
    "mda": ("title", "name"),
    "ymj": ("title", "subject", "doc_summary"),
}
"""The fields with the name of a document by dialect, the best first; in all others it is `title`."""

_CANONICAL = ("canonical_url", "canonical-url", "source-url")
_ABSOLUTE = regex(r"https?://", re.IGNORECASE)


def record_of(reading: DialectReading[object], path: str) -> Record:
    """Return the record of a document at ``path``, relative to the root of the corpus, with `/`."""
    source = reading.front.source
    fields = reading.front_matter or {}
    definitions = tuple(_definition(definition, source) for definition in reading.definitions())
    return Record(
        path=path,
        dialect=reading.name,
        title=title_of(reading, path),
        type=_text(fields, {"mdh": "type", "ymj": "kind"}.get(reading.name, "")),
        definitions=definitions,
        references=tuple(_reference(ref, source, path) for ref in _refs(reading)),
        canonical=tuple(dict.fromkeys(_canonical(fields))),
        actions=_actions(reading),
    )


def _refs(reading: DialectReading[object]) -> list[Ref]:
    """Return every reference once, in the order of the text."""
    refs = list(reading.references())
    if reading.name not in _WHOLE:
        known = {(ref.span.start, ref.kind) for ref in refs}
        refs += [
            reference
            for reference in link_references(reading.document)
            if (reference.span.start, reference.kind) not in known
        ]
    refs += address_references(reading.document)
    return sorted((ref for ref in refs if not _is_made_later(ref)), key=lambda ref: ref.span.start)


def _is_made_later(ref: Ref) -> bool:
    """Return whether a link of the body holds a placeholder: it names nothing yet."""
    if ref.origin == "wikilink":
        return is_named_later(ref.target)
    return ref.origin == "inline" and ref.kind != "url" and MADE_LATER.search(ref.target) is not None


def _reference(ref: Ref, source: SourceText, path: str) -> Reference:
    start, end = ref.span.start, ref.span.end
    line = source.lines.line(start)
    rest = (ref.rel, ref.strength, ref.bidirectional, ref.fragment, ref.range)
    target = _from_here(ref.target, source.path, path) if ref.origin in _OF_THE_SYSTEM else ref.target
    return Reference(ref.origin, target, ref.kind, start, end, line, *rest)


def _from_here(target: str, source_path: str, path: str) -> str:
    """Return a file system path below the root as relative to the document (L28); any other unchanged."""
    root = source_path.removesuffix(path)
    if not target.startswith("/") or root == source_path or not posixpath.normpath(target).startswith(root):
        return target
    return posixpath.relpath(target, posixpath.dirname(source_path))


def _definition(definition: Def, source: SourceText) -> Definition:
    return Definition(
        definition.kind,
        definition.name,
        definition.span.start,
        definition.span.end,
        source.lines.line(definition.span.start),
    )


def title_of(reading: DialectReading[object], path: str) -> str:
    """Return the title of a document for all uses (X45): its own title, otherwise the name of its file."""
    return own_title(reading) or file_title(path)


def own_title(reading: DialectReading[object]) -> str:
    """Return a document's own title, on one line: that of its dialect; otherwise, outside vaults, the heading of level
    1 at its start if it is the only one; otherwise its `name`. Empty without one."""
    for name in _OWN_TITLE.get(reading.name, ("title",)):
        if title := _said(reading, name):
            return title
    if reading.vault:
        return ""
    heading = reading.document.title
    return _one_line(heading.plain) if heading is not None else _said(reading, "name")


def _said(reading: DialectReading[object], name: str) -> str:
    """Return a field of the front matter as typed, on one line; empty for anything but text and numbers."""
    node = reading.front.fields.get(name) if reading.front.fields is not None else None
    return _one_line(node.text) if isinstance(node, Scalar) and node.value is not None else ""


def _text(fields: Mapping[str, Value], name: str) -> str:
    value = fields.get(name)
    return _one_line(value) if isinstance(value, str) else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _canonical(fields: Mapping[str, Value]) -> Iterator[str]:
    for name in _CANONICAL:
        value = fields.get(name)
        if isinstance(value, str) and _ABSOLUTE.match(value):
            yield value


def _actions(reading: DialectReading[object]) -> tuple[str, ...]:
    model = reading.model_of(MDH)
    return tuple(dict.fromkeys(action.url.text for action in model.actions if action.url)) if model is not None else ()
