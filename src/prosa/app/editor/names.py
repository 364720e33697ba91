"""Names that mean something within one document: labels of links and footnotes, variables and inputs of a template,
scripts and their results, the speakers in a chat.

In: a reading. Out: every place where such a name is written, and which of them define it. Two places of one kind and
key are the same name. Other documents are not used.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.app.editor.template_names import inputs_in, variables_in
from prosa.dialects.magi.relationships import label_key
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import MAGI, MARKDOWNLANG, PRAPTI
from prosa.document.model import Link
from prosa.regex import regex
from prosa.source import SourceText, Span

_MENTION = regex(r"(?<![\w@./-])@(\w[\w.-]*)")
_SCRIPT_ID = regex(r'"script-id"[ \t]*:[ \t]*("[^"\\\r\n]*")')

NameKind: TypeAlias = Literal["label", "footnote", "variable", "input", "script", "speaker"]


class Name(Struct, frozen=True):
    """An occurrence of a name. ``span`` is shown, ``written`` is the part that a rename replaces; ``before`` and
    ``after`` are put around the new name. ``defines`` marks a definition; ``shown`` is the name in the author's
    spelling."""

    kind: NameKind
    key: str
    span: Span
    shown: str
    defines: bool = False
    written: Span | None = None
    before: str = ""
    after: str = ""

    @property
    def place(self) -> Span:
        """What another name replaces."""
        return self.span if self.written is None else self.written


def names_in(reading: DialectReading[object]) -> tuple[Name, ...]:
    """Return the names of a document, in the order of the text."""
    found = chain(_labels(reading), _footnotes(reading), _of_template(reading), _scripts(reading), _speakers(reading))
    return tuple(sorted(found, key=lambda each: (each.span.start, each.span.end)))


def name_at(names: tuple[Name, ...], offset: int) -> Name | None:
    """Return the name at an offset; behind its last character it still is there."""
    at = (each for each in names if each.span.start <= offset <= each.span.end)
    return min(at, key=lambda each: (len(each.span), offset == each.span.end), default=None)


def same_name(names: tuple[Name, ...], name: Name) -> tuple[Name, ...]:
    """Return every place of a name."""
    return tuple(each for each in names if (each.kind, each.key) == (name.kind, name.key))


def _labels(reading: DialectReading[object]) -> Iterator[Name]:
    document, source = reading.document, reading.front.source
    for each in document.definitions:
        start = source.text.find("[", each.span.start, each.span.end) + 1
        span = Span(start, start + len(each.label))
        if start and source.slice(span) == each.label:
            yield Name("label", label_key(each.label), span, each.label, defines=True)
    for link in (*document.links, *document.images):
        if link.form == "reference" and link.label:
            yield _label(link, source)


def _label(link: Link, source: SourceText) -> Name:
    """Return the label of a link. Where the text is the label, a new one goes behind it: what readers see stays."""
    key, end = label_key(link.label), link.span.end
    if source.text.endswith("[]", link.span.start, end) and link.text_span.end + 3 == end:
        return Name("label", key, link.text_span, link.label, written=Span(end - 1, end - 1))
    if link.text_span.end + 1 == end:
        return Name("label", key, link.text_span, link.label, written=Span(end, end), before="[", after="]")
    return Name("label", key, Span(link.text_span.end + 2, end - 1), link.label)


def _footnotes(reading: DialectReading[object]) -> Iterator[Name]:
    document, source = reading.document, reading.front.source
    for each in (*document.footnote_references, *document.undefined_footnotes):
        span = Span(each.span.start + 2, each.span.end - 1)
        yield Name("footnote", label_key(each.label), span, source.slice(span))
    for one in document.footnote_definitions:
        start = source.text.find("[^", one.span.start, one.span.end) + 2
        end = source.text.find("]:", start, one.span.end)
        if start > 1 and end > start:
            span = Span(start, end)
            yield Name("footnote", label_key(source.slice(span)), span, source.slice(span), defines=True)


def _of_template(reading: DialectReading[object]) -> Iterator[Name]:
    model = reading.model_of(MARKDOWNLANG)
    if model is None:
        return
    if model.template is not None:
        for use in variables_in(model.template):
            span = use.span.shift(model.body_offset)
            yield Name("variable", use.key, span, span.of(model.source.text), defines=use.defines)
    for found in inputs_in(model):
        yield Name("input", found.key, found.span, found.shown, defines=found.defines)


def _scripts(reading: DialectReading[object]) -> Iterator[Name]:
    """Yield the ids of scripts, and the markers of their results."""
    model, source = reading.model_of(MAGI), reading.front.source
    for script in model.scripts if model is not None else ():
        span = script.fields.span("script-id")
        if script.script_id and span is not None:
            yield Name("script", script.script_id, span, script.script_id, defines=True)
    for region in model.regions if model is not None else ():
        found = _SCRIPT_ID.search(source.text, region.opening.start, region.opening.end)
        if found is not None:
            yield Name("script", region.script_id, Span(*found.span(1)), region.script_id)


def _speakers(reading: DialectReading[object]) -> Iterator[Name]:
    """Yield the named speakers in a chat, and the places that mention them (`@NAME`)."""
    model, text = reading.model_of(PRAPTI), reading.front.source.text
    known: set[str] = set()
    named = [each for each in model.messages if each.name and each.heading is not None] if model is not None else []
    for each in named:
        name = each.name or ""
        span = Span(max(each.role_span.end - len(name), 0), each.role_span.end)
        if span.of(text) == name:
            yield Name("speaker", name.lower(), span, name, defines=name.lower() not in known)
            known.add(name.lower())
    for message in model.messages if model is not None and known else ():
        for found in _MENTION.finditer(text, message.body.start, message.body.end):
            name = found[1] if found[1].lower() in known else found[1].rstrip(".-")
            if name.lower() in known and not reading.document.in_code(found.start()):
                yield Name("speaker", name.lower(), Span(found.start(1), found.start(1) + len(name)), name)
