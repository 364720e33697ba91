"""Every place that names what stands at an offset: backlinks of a document or a heading, a label, a variable, an input
in the tests of a program.

Nothing is read but the documents that name a heading, and those that are being edited.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from prosa.app.check.workspace import Workspace
from prosa.app.editor.changes import DocumentSpan
from prosa.app.editor.corpus import EditorCorpus
from prosa.app.editor.definition import Asked, asked
from prosa.app.editor.names import same_name
from prosa.app.editor.targets import pointers_in, section_named, target_in, targets_of
from prosa.corpus.moves.writing import Syntax
from prosa.data import Mapping, Node, Sequence
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import TEST
from prosa.document.model import Section
from prosa.graph.record import Record, Reference
from prosa.source import FileProblem, Span

MAX_REFERENCES = 5_000
"""Maximum number of places in an answer."""


def references(workspace: Workspace, path: Path, offset: int, *, definitions: bool = True) -> tuple[DocumentSpan, ...]:
    """Return the places that name what stands at an offset, in order, each once; with ``definitions`` where it is
    defined too."""
    context = asked(workspace, path, offset)
    if context is None:
        return ()
    places = dict.fromkeys(_places(context, offset, definitions=definitions))
    return tuple(sorted(places)[:MAX_REFERENCES])


def highlights(workspace: Workspace, path: Path, offset: int) -> tuple[DocumentSpan, ...]:
    """Return the places of the document itself that name the item at an offset. Other documents are not used."""
    context = asked(workspace, path, offset)
    if context is None:
        return ()
    if context.name is not None:
        return _names(context, definitions=True)
    if context.pointer is not None:
        meant = {
            destination.name
            for destination in targets_of(context.corpus, context.path, context.reading, context.pointer)
        }
        here = (name for name in meant if name.path == path and name.end > name.start)
        return tuple(sorted({*_meaning(context, meant), *here}))
    section = heading_at(context.reading, offset)
    if section is None:
        return ()
    content = section.heading.content
    return DocumentSpan(path, content.start, content.end), *_own(path, context.path, context.reading, section)


def _meaning(context: Asked, meant: set[DocumentSpan]) -> Iterator[DocumentSpan]:
    """Yield the pointers of a document that lead to any of some places."""
    files = {span.path for span in meant}
    for pointer in context.pointers:
        lead = context.corpus.lookup.resolve(Record(context.path, context.reading.name), pointer.reference)
        if pointer.reference.target and lead.paths and files.isdisjoint(map(context.corpus.real_of, lead.paths)):
            continue
        if any(one.name in meant for one in targets_of(context.corpus, context.path, context.reading, pointer)):
            yield DocumentSpan(context.real, pointer.span.start, pointer.span.end)


def backlink_counts(workspace: Workspace, path: Path) -> tuple[tuple[DocumentSpan, int], ...]:
    """Return how many places of other documents refer to a document, and to each of its headings that any does: for a
    lens above the text. The place of the document is its beginning."""
    reading = workspace.reading(path)
    if reading is None:
        return ()
    corpus = EditorCorpus(workspace)
    counts: dict[DocumentSpan, int] = {DocumentSpan(path, 0, 0): 0}
    for _, reference in corpus.backlinks(corpus.path_of(path)):
        counts[DocumentSpan(path, 0, 0)] += 1
        name = target_in(path, reading, reference)
        if name.section is not None:
            counts[name.name] = counts.get(name.name, 0) + 1
    return tuple(sorted((place, count) for place, count in counts.items() if count))


def _places(context: Asked, offset: int, *, definitions: bool) -> Iterator[DocumentSpan]:
    if context.name is not None:
        yield from _names(context, definitions=definitions)
        if context.name.kind == "input":
            for place in tested_inputs(context.corpus, context.path, context.name.key):
                yield DocumentSpan(context.corpus.real_of(place.path), place.span.start, place.span.end)
    elif context.pointer is not None:
        for target in targets_of(context.corpus, context.path, context.reading, context.pointer):
            if definitions and target.name.end > target.name.start:
                yield target.name
            yield from _of(context.corpus, target.whole.path, target.section)
    elif (
        section := heading_at(context.reading, offset)
    ) is not None and section.heading != context.reading.document.title:
        if definitions:
            yield DocumentSpan(context.real, section.heading.content.start, section.heading.content.end)
        yield from _of(context.corpus, context.real, section)
    elif section is not None or _is_definition(context.reading, offset):
        if definitions and section is not None:
            yield DocumentSpan(context.real, section.heading.content.start, section.heading.content.end)
        yield from _of(context.corpus, context.real, None)


def _names(context: Asked, *, definitions: bool) -> tuple[DocumentSpan, ...]:
    if context.name is None:
        return ()
    some = (name for name in same_name(context.names, context.name) if definitions or not name.defines)
    return tuple(DocumentSpan(context.real, name.span.start, name.span.end) for name in some)


def heading_at(reading: DialectReading[object], offset: int) -> Section | None:
    """Return the section whose heading an offset is in."""
    return next((section for section in reading.document.sections if _on(section.heading.span, offset, reading)), None)


def _on(span: Span, offset: int, reading: DialectReading[object]) -> bool:
    """Return whether an offset is in a heading, the end of its line included."""
    end = span.start + len(span.of(reading.front.source.text).rstrip("\r\n"))
    return span.start <= offset <= end


def _is_definition(reading: DialectReading[object], offset: int) -> bool:
    """Return whether a document is called by what stands there: its id, its title, another name."""
    return offset == 0 or any(
        definition.span.start <= offset <= definition.span.end for definition in reading.definitions()
    )


def _own(real: Path, path: str, reading: DialectReading[object], section: Section) -> Iterator[DocumentSpan]:
    """Yield the links of a document to one of its own headings."""
    for pointer in pointers_in(reading, path):
        if not pointer.reference.target and _names_section(reading, section, pointer.reference):
            yield DocumentSpan(real, pointer.span.start, pointer.span.end)


def _names_section(reading: DialectReading[object], section: Section, reference: Reference) -> bool:
    fragment = reference.fragment.rpartition("#")[2].strip() if reference.kind == "stem" else reference.fragment
    return bool(fragment) and section_named(reading, fragment) == section


def _of(corpus: EditorCorpus, real: Path, section: Section | None) -> Iterator[DocumentSpan]:
    """Yield the references of other documents to a document, or all to one of its sections."""
    path = corpus.path_of(real)
    reading = corpus.workspace.reading(real) if section is not None else None
    if reading is not None and section is not None:
        yield from _own(real, path, reading, section)
    for other, reference in corpus.backlinks(path):
        if section is None or (reading is not None and _names_section(reading, section, reference)):
            yield DocumentSpan(corpus.real_of(other), reference.start, reference.end)


class GivenInput(Struct, frozen=True):
    """A key of the test document at ``path``, and how keys are written there."""

    path: str
    span: Span
    syntax: Syntax


def tested_inputs(corpus: EditorCorpus, path: str, key: str) -> Iterator[GivenInput]:
    """Yield the places where tests of the program at ``path`` give an input."""
    tests = dict.fromkeys(other for other, edge in corpus.backlinks(path) if edge.rel == "tests")
    for other in tests:
        try:
            reading = corpus.reading(other)
        except FileProblem:
            continue
        yield from _given(other, reading, key)


def _given(path: str, reading: DialectReading[object], key: str) -> Iterator[GivenInput]:
    model = reading.model_of(TEST)
    for case in model.cases if model is not None else ():
        block = case.blocks.get("input")
        if block is not None and block.node is not None:
            syntax: Syntax = "json" if block.language == "json" else "yaml"
            for span in _keys(block.node, tuple(key.split("/")[1:])):
                yield GivenInput(path, span, syntax)


def _keys(node: Node, steps: tuple[str, ...]) -> Iterator[Span]:
    """Yield the keys at the end of a path; an empty step means every element of a list."""
    if not steps:
        return
    if steps[0] == "":
        for item in node.items if isinstance(node, Sequence) else ():
            yield from _keys(item, steps[1:])
        return
    entry = node.entry(steps[0]) if isinstance(node, Mapping) else None
    if entry is not None and len(steps) == 1:
        yield entry.key.span
    elif entry is not None:
        yield from _keys(entry.value, steps[1:])
