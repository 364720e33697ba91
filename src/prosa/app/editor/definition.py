"""Where what stands at an offset is defined, and the links that an editor underlines.

A link leads to a document, the label of a reference, an input, or an address. Only what exists is one, and nothing is
fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from prosa.app.check.workspace import Workspace
from prosa.app.editor.changes import DocumentSpan
from prosa.app.editor.corpus import EditorCorpus
from prosa.app.editor.names import Name, name_at, names_in, same_name
from prosa.app.editor.targets import Destination, Pointer, file_of, pointer_at, pointers_in, targets_of
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import MARKDOWNLANG, MDH
from prosa.graph.names import ACTION
from prosa.graph.record import Record, Reference
from prosa.graph.resolve import tiers_of
from prosa.source import Span


class Definition(Struct, frozen=True):
    """``origin`` is the span of the query, ``whole`` the definition and ``name`` the part of it with the name."""

    origin: DocumentSpan
    whole: DocumentSpan
    name: DocumentSpan


class Asked(Struct, frozen=True):
    """What stands at an offset of a document: a name within it, or a pointer; both are None for other text."""

    corpus: EditorCorpus
    path: str
    reading: DialectReading[object]
    real: Path
    names: tuple[Name, ...]
    pointers: tuple[Pointer, ...]
    name: Name | None = None
    pointer: Pointer | None = None


def asked(workspace: Workspace, path: Path, offset: int) -> Asked | None:
    """Return what stands at an offset; None for a document that cannot be read. Of a name and a pointer the narrower
    one counts."""
    reading = workspace.reading(path)
    if reading is None:
        return None
    corpus = EditorCorpus(workspace)
    own = corpus.path_of(path)
    made = workspace.part(reading, path, "names", lambda: (names_in(reading), pointers_in(reading, own)))
    names, pointers = made
    name, pointer = name_at(names, offset), pointer_at(pointers, offset)
    if name is not None and pointer is not None:
        if len(pointer.reach) < len(name.span):
            name = None
        else:
            pointer = None
    return Asked(corpus, own, reading, path, names, pointers, name, pointer)


def definitions(workspace: Workspace, path: Path, offset: int) -> tuple[Definition, ...]:
    """Return the definitions of the name at an offset, if there is one."""
    context = asked(workspace, path, offset)
    if context is None:
        return ()
    if context.name is not None:
        origin = _place(path, context.name.span)
        defined = (name for name in same_name(context.names, context.name) if name.defines)
        return tuple(Definition(origin, _place(path, name.span), _place(path, name.span)) for name in defined)
    if context.pointer is not None:
        origin = _place(path, context.pointer.span)
        return tuple(
            Definition(origin, destination.whole, destination.name)
            for destination in _followed(context, context.pointer)
        )
    span, targets = _mentioned(context, offset)
    return tuple(Definition(_place(path, span), target.whole, target.name) for target in targets)


def _place(path: Path, span: Span) -> DocumentSpan:
    return DocumentSpan(path, span.start, span.end)


def _followed(context: Asked, pointer: Pointer) -> list[Destination]:
    reference = pointer.reference
    if reference.rel == "schema" and not reference.target:
        return []
    return targets_of(context.corpus, context.path, context.reading, pointer) or [*_actions(context, reference)]


def _actions(context: Asked, reference: Reference) -> Iterator[Destination]:
    """Yield the action of a node that a link within a site names by its URL (HA5)."""
    if context.reading.name != "mdh":
        return
    corpus = context.corpus
    for tier in tiers_of(Record(context.path, "mdh"), reference, corpus.lookup.sites):
        for key in tier.keys if tier.keys[0].space == ACTION else ():
            for record in corpus.called(key):
                yield from _declared(corpus, record.path, key.name.rpartition("\0")[2])


def _declared(corpus: EditorCorpus, path: str, url: str) -> Iterator[Destination]:
    real = corpus.real_of(path)
    reading = corpus.workspace.reading(real)
    model = reading.model_of(MDH) if reading is not None else None
    for action in model.actions if model is not None else ():
        written = action.url.text.partition("?")[0] if action.url is not None else ""
        if written == url or (url.endswith("/{}") and written.rpartition("/")[0] == url.removesuffix("/{}")):
            span = action.id.span if action.id is not None else action.anchor
            yield Destination(_place(real, action.node.span), _place(real, span))


def _mentioned(context: Asked, offset: int) -> tuple[Span, list[Destination]]:
    """Return a file that code within a line names, or an imported program that it calls by its name."""
    code = next(
        (span for span in context.reading.document.code_spans if span.span.start <= offset <= span.span.end), None
    )
    if code is None or not code.text or code.text != code.text.strip():
        return Span(0, 0), []
    program = context.reading.model_of(MARKDOWNLANG)
    for ref in program.imports if program is not None else ():
        reference = Reference("import", ref.text, "path", ref.span.start, ref.span.end, 0)
        for target in targets_of(context.corpus, context.path, context.reading, Pointer(ref.span, ref.span, reference)):
            facts = context.corpus.workspace.entries.get(target.whole.path)
            named = {definition.name for definition in facts.defs if definition.kind == "id"} if facts else set()
            if code.text in (named or {target.whole.path.stem}):
                return code.content, [target]
    reference = Reference("inline", code.text, "path", code.content.start, code.content.end, 0)
    file = file_of(context.corpus, context.path, reference) if " " not in code.text else None
    return code.content, [Destination.of_file(file)] if file is not None else []


MAX_LINKS = 2_000
"""Links of a document that are underlined."""


class DocumentLink(Struct, frozen=True):
    """``place`` is the target as written. It leads to the file at ``path``, else to the address ``url``."""

    place: DocumentSpan
    path: Path | None = None
    url: str = ""


def document_links(workspace: Workspace, path: Path) -> tuple[DocumentLink, ...]:
    """Return the links of a document that lead to one file or to an address of the web."""
    reading = workspace.reading(path)
    if reading is None:
        return ()
    corpus = EditorCorpus(workspace)
    own = corpus.path_of(path)
    record = Record(own, reading.name)
    links: list[DocumentLink] = []
    for pointer in pointers_in(reading, own)[:MAX_LINKS]:
        link = _link(corpus, record, path, pointer)
        if link is not None:
            links.append(link)
    return tuple(links)


def _link(corpus: EditorCorpus, record: Record, real: Path, pointer: Pointer) -> DocumentLink | None:
    place = DocumentSpan(real, pointer.span.start, pointer.span.end)
    reference = pointer.reference
    if not reference.target:
        return None
    lead = corpus.lookup.resolve(record, reference)
    if lead.to is not None:
        return DocumentLink(place, corpus.real_of(lead.to))
    if reference.kind == "url":
        web = reference.target.lower().startswith(("http://", "https://"))
        fragment = f"#{reference.fragment}" if reference.fragment else ""
        return DocumentLink(place, None, f"{reference.target}{fragment}") if web else None
    file = file_of(corpus, record.path, reference) if not lead.paths else None
    return DocumentLink(place, file) if file is not None else None
