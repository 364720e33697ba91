"""Names that mean something within one document: labels of links and footnotes, variables and inputs of a template.

In: a reading. Out: every place where such a name is written, and which of them say what it means. Two places of one
kind and key are the same name. Nothing is asked of other documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.app.editor.template_names import inputs_in, variables_in
from prosa.dialects.magi.relationships import label_key
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import MARKDOWNLANG
from prosa.document.model import Link
from prosa.source import SourceText, Span

NameKind: TypeAlias = Literal["label", "footnote", "variable", "input"]


class Name(Struct, frozen=True):
    """A name where it is written. ``span`` is shown, ``written`` is what another name replaces; ``before`` and
    ``after`` are put around it there. ``defines`` says that the name gets its meaning here; ``shown`` is the name as
    the author spells it."""

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
    """The names of a document, in the order of the text."""
    found = chain(_labels(reading), _footnotes(reading), _of_template(reading))
    return tuple(sorted(found, key=lambda each: (each.span.start, each.span.end)))


def name_at(names: tuple[Name, ...], offset: int) -> Name | None:
    """The name at an offset; behind its last character it still is there."""
    at = (each for each in names if each.span.start <= offset <= each.span.end)
    return min(at, key=lambda each: (len(each.span), offset == each.span.end), default=None)


def same_name(names: tuple[Name, ...], name: Name) -> tuple[Name, ...]:
    """Every place of a name."""
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
    """The label of a link. Where the text is the label, a new one goes behind it: what readers see stays."""
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
