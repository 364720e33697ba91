"""Relationships of MDA documents: footnotes, and their mirror in the front matter (§03)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Value
from prosa.diagnostics import Annotation, Applicability, Fix, Severity
from prosa.dialects.fields import shown
from prosa.dialects.magi.relationships import label_key, meant_as_object, stripped
from prosa.dialects.mda.canonical import canonical
from prosa.dialects.mda.fields import SOURCE_FILE
from prosa.dialects.mda.model import MdaModel, Relation
from prosa.document import FootnoteDefinition
from prosa.rules.mda import RULES
from prosa.rules.rule import Finding, Subject
from prosa.source import Edit, Span


@RULES.document("MA020", "differing-relationships", Severity.ERROR)
def differing_relationships(subject: Subject[MdaModel]) -> Iterator[Finding]:
    """Find relationships of the front matter that are not those of the footnotes (§03-4). The finding points at the
    first that differs, or at the front matter of a compiled output that has none."""
    model = subject.model
    if not model.relations:
        return
    if model.listed is None:
        if model.target is not SOURCE_FILE:
            message = "the relationships of the footnotes are missing in `metadata.mda.relationships`"
            yield Finding(message, model.front.anchor, ("readers of front matter alone know no others",))
        return
    written, listed = ([_key(relation) for relation in some] for some in (model.relations, model.listed))
    known, stated = frozenset(written), frozenset(listed)
    other = next((relation for relation, key in zip(model.listed, listed, strict=True) if key not in known), None)
    if other is not None:
        yield Finding("no footnote is this relationship", other.node.span, ("both have to say the same",))
        return
    missing = next(
        (relation for relation, key in zip(model.relations, written, strict=True) if key not in stated), None
    )
    if missing is not None:
        yield Finding("`relationships` in the front matter does not have this one", missing.node.span)


def _key(relation: Relation) -> bytes:
    data: dict[str, Value] = relation.data
    try:
        return canonical(data)
    except (ValueError, UnicodeError):
        return b""


@RULES.document("MA021", "repeated-footnote-label", Severity.ERROR)
def repeated_footnote_label(subject: Subject[MdaModel]) -> Iterator[Finding]:
    """Find two relationships under one label (§03-2). The finding points at every one but the first."""
    first: dict[str, FootnoteDefinition] = {}
    for footnote in subject.document.footnote_definitions:
        first.setdefault(label_key(footnote.label), footnote)
    relations = (relation.definition for relation in subject.model.relations if relation.definition is not None)
    for definition in sorted(relations, key=lambda entry: entry.span.start):
        earlier = first[label_key(definition.label)]
        if earlier is not definition:
            message = f"the footnote `{shown(definition.label)}` is defined before; this one is never shown"
            yield Finding(message, _label(definition), annotations=(Annotation(_label(earlier), "the first one"),))


def _label(definition: FootnoteDefinition) -> Span:
    start = definition.span.start
    return Span(start, min(start + len(definition.label) + 3, definition.span.end))


@RULES.document("MA022", "backticked-relationship", Severity.WARNING, strict=Severity.ERROR)
def backticked_relationship(subject: Subject[MdaModel]) -> Iterator[Finding]:
    """Find a relationship in backticks, as MAGI has them: in MDA it is a footnote like any other (§03-2). The finding
    points at the object."""
    source = subject.source
    for definition in subject.document.footnote_definitions:
        whole = stripped(source, definition.content)
        code = definition.code_spans[0] if len(definition.code_spans) == 1 else None
        text = source.slice(code.content).strip() if code is not None else ""
        if code is None or code.span != whole or not text.startswith("{") or not meant_as_object(text):
            continue
        message = "a relationship in backticks is none in MDA: its footnote is the object and nothing else"
        fix = Fix("take the backticks away", (Edit(whole, text),), Applicability.UNSAFE)
        yield Finding(message, whole, fix=fix)
