"""Relationships: footnotes whose JSON connects two documents (M43–M51)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from prosa.data import Node, Scalar
from prosa.diagnostics import Annotation, Applicability, Fix, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.dialects.magi.fields import REL_TYPES, squashed
from prosa.dialects.magi.format import backtick_edits, disagreement, listed
from prosa.dialects.magi.model import MagiModel
from prosa.dialects.magi.relationships import ALIASES, label_key
from prosa.document import FootnoteDefinition
from prosa.rules.magi import RULES
from prosa.rules.rule import Finding, Subject
from prosa.source import Edit, Span

REPORTED = (
    RULES.reported("MG003", "relationship-object", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("MG040", "relationship-syntax", Severity.ERROR),
)
"""What readers report by name."""


@RULES.document("MG041", "bare-relationship", Severity.WARNING, strict=Severity.ERROR)
def bare_relationship(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a relationship without backticks around its JSON (M43, MA8). The finding points at the object."""
    model = subject.model
    for relationship in model.relationships:
        if relationship.form == "bare":
            fix = Fix("put it in backticks", backtick_edits(model.source, relationship))
            message = "the JSON of a relationship is not in backticks"
            notes = ("without them Markdown may take characters of it for markup",)
            yield Finding(message, relationship.span, notes, fix=fix)


@RULES.document("MG042", "text-beside-relationship", Severity.WARNING, strict=Severity.ERROR)
def text_beside_relationship(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a footnote that holds a relationship and something else (M43). The finding points at the object."""
    model = subject.model
    for relationship in model.relationships:
        if relationship.form == "surrounded":
            message = "a relationship is the only thing in its footnote, and here is more"
            notes = ("move the other text into `rel-desc`, or into a footnote of its own",)
            yield Finding(message, relationship.span, notes)


_TARGETS = frozenset({"docid", "sourceurl"})


@RULES.document("MG043", "relationship-without-target", Severity.ERROR)
def relationship_without_target(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a relationship that names neither a document nor a URL (M45, MA6). The finding points at the opening brace.
    A target of the wrong type or form is there and has been reported."""
    model = subject.model
    for relationship in model.relationships:
        filled = (entry for entry in relationship.node if squashed(entry.key.text) in _TARGETS)
        if not any(_is_filled(entry.value) for entry in filled):
            span = Span(relationship.node.span.start, relationship.node.span.start + 1)
            notes = ("a `doc-id` names a document of the corpus, a `source-url` anything else",)
            message = "a relationship needs a `doc-id` or a `source-url`"
            yield Finding(message, span, notes)


def _is_filled(node: Node) -> bool:
    return not isinstance(node, Scalar) or node.value not in (None, "")


@RULES.document("MG044", "relationship-with-two-targets", Severity.WARNING)
def relationship_with_two_targets(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a relationship that names both a document and a URL (M45, MA6). The finding points at the URL, which then
    only tells where to find the document."""
    model = subject.model
    for relationship in model.relationships:
        doc_id, url = relationship.fields.span("doc-id"), relationship.fields.span("source-url")
        if doc_id is not None and url is not None and relationship.fields.text("doc-id"):
            message = "a relationship has one target: the `doc-id` counts, the `source-url` only locates it"
            yield Finding(message, url, annotations=(Annotation(doc_id, "the target"),))


@RULES.document("MG045", "unfamiliar-rel-type", Severity.WARNING)
def unfamiliar_rel_type(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a type of relationship that is not one of the recommended ones (M44, M51, MA7). The finding points at the
    type. An alias is information only: the graph knows what it means."""
    model = subject.model
    for relationship in model.relationships:
        written = relationship.fields.text("rel-type")
        if written is None or written in REL_TYPES:
            continue
        span = relationship.fields.span("rel-type") or relationship.span
        meant = ALIASES.get(written) or nearest(written, REL_TYPES)
        if written in ALIASES:
            message = f"`{written}` is another word for `{meant}`, which the graph uses"
        else:
            message = f"`{shown(written)}` is not one of the recommended types of relationship"
        listed = ", ".join(f"`{name}`" for name in REL_TYPES)
        notes = (f"did you mean `{meant}`?",) if meant and written not in ALIASES else (f"recommended are {listed}",)
        severity = Severity.INFO if written in ALIASES else None
        yield Finding(message, span, notes, fix=_rewritten(span, meant), severity=severity)


def _rewritten(span: Span, meant: str | None) -> Fix | None:
    return Fix(f"write `{meant}`", (Edit(span, f'"{meant}"'),), Applicability.UNSAFE) if meant else None


@RULES.document("MG046", "duplicate-relationship", Severity.WARNING, strict=Severity.ERROR)
def duplicate_relationship(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find two relationships under one footnote label (M43). The finding points at the label of every one but the first
    definition of it."""
    model = subject.model
    first: dict[str, FootnoteDefinition] = {}
    for definition in model.document.footnote_definitions:
        first.setdefault(label_key(definition.label), definition)
    for relationship in model.relationships:
        earlier = first[label_key(relationship.label)]
        if earlier is not relationship.definition:
            message = f"the footnote `{shown(relationship.label)}` is defined before; this one is never shown"
            annotation = Annotation(_label(earlier), "the first one")
            notes = ("give one of them another label",)
            yield Finding(message, _label(relationship.definition), notes, (annotation,))


def _label(definition: FootnoteDefinition) -> Span:
    start = definition.span.start
    return Span(start, min(start + len(definition.label) + 3, definition.span.end))


@RULES.document("MG047", "unreferenced-relationship", Severity.INFO)
def unreferenced_relationship(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a relationship that no place in the text refers to (M43, MA22). The finding points at the label. It still
    connects the two documents as a whole."""
    model = subject.model
    for relationship in model.relationships:
        if not relationship.referenced_at:
            start = relationship.definition.span.start
            span = Span(start, min(start + len(relationship.label) + 3, relationship.definition.span.end))
            label = shown(relationship.label)
            message = f"nothing refers to `[^{label}]`: the relationship holds for the document as a whole"
            yield Finding(message, span, (f"write `[^{label}]` where it belongs",))


MAX_FOUND = 20
"""Sentences of one document that are reported; after so many it is clear that the list is old."""

MAX_NAMED = 3
"""Footnotes that the message names."""

_NOTE = "`prosa fmt --sync` writes the list anew from the footnotes"


@RULES.document("MG049", "stale-relationship-summary", Severity.WARNING)
def stale_relationship_summary(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find `relationships` that no longer match the footnotes (M21, MA19). The finding points at the sentence, or at
    the field for missing ones. Sentences in the author's own words are information only: they may mean the same."""
    yield from islice(_disagreements(subject.model), MAX_FOUND)


def _disagreements(model: MagiModel) -> Iterator[Finding]:
    difference, entry = disagreement(model), listed(model)
    for item in difference.wrong:
        message = f"no footnote states `{shown(item.text)}`"
        yield Finding(message, item.span, (_NOTE,))
    for item in difference.foreign:
        message = f"`{shown(item.text)}` shares no word with any relationship in the footnotes"
        yield Finding(message, item.span, (_NOTE,), severity=Severity.INFO)
    if difference.left_out and entry is not None:
        labels = ", ".join(f"`[^{shown(relationship.label)}]`" for relationship in difference.left_out[:MAX_NAMED])
        more = ", …" if len(difference.left_out) > MAX_NAMED else ""
        message = f"`{entry.key.text}` does not mention {labels}{more}"
        yield Finding(message, entry.key.span, (_NOTE,))
