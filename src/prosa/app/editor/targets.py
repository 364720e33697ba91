"""The references of a document in any notation (links, wikilinks, ids, imports, images, headings), and what the corpus
resolves them to."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from msgspec import Struct

from prosa.app.editor.changes import DocumentSpan
from prosa.app.editor.corpus import EditorCorpus
from prosa.corpus.moves.places import Mention, own_places, places_of
from prosa.data import Mapping, Node, Scalar
from prosa.dialects.reading import DialectReading
from prosa.document.anchors import section_number
from prosa.document.document import NAMED_BLOCK
from prosa.document.model import Link, Section
from prosa.graph.names import joined
from prosa.graph.record import Record, Reference
from prosa.graph.records import record_of
from prosa.graph.resolve import ELSEWHERE
from prosa.source import Span

_ANCHOR = r"""(?:\{{:?[^{{}}\n#]{{0,200}}#|\s(?:id|name)\s*=\s*["']?|^\(){name}(?=["'\s>}})])"""


class Destination(Struct, frozen=True):
    """``whole`` is all that is meant, ``name`` the part of it that names it; both are empty at the beginning of a
    document that is meant as a whole. ``section`` is the heading that is meant, where one is."""

    whole: DocumentSpan
    name: DocumentSpan
    section: Section | None = None

    @classmethod
    def of_file(cls, real: Path) -> Destination:
        """Return a file as a whole."""
        return cls(DocumentSpan(real, 0, 0), DocumentSpan(real, 0, 0))


def targets_of(corpus: EditorCorpus, path: str, reading: DialectReading[object], pointer: Pointer) -> list[Destination]:
    """Return where a pointer of the document at ``path`` leads: several documents where it is ambiguous."""
    reference = pointer.reference
    if not reference.target:
        return [target_in(corpus.real_of(path), reading, reference)]
    lead = corpus.lookup.resolve(Record(path, reading.name), reference)
    destinations = [
        destination for other in lead.paths if (destination := _in_document(corpus, other, reference)) is not None
    ]
    if destinations or lead.paths or reference.kind == "url":
        return destinations
    file = file_of(corpus, path, reference)
    return [Destination.of_file(file)] if file is not None else []


def target_in(real: Path, reading: DialectReading[object], reference: Reference) -> Destination:
    """Return the target of a reference inside the document that it leads to."""
    if reference.kind == "id":
        for definition in reading.definitions():
            if definition.kind == "id" and definition.name == reference.target:
                place = DocumentSpan(real, definition.span.start, definition.span.end)
                return Destination(place, place)
    fragment = reference.fragment
    if reference.kind == "stem":
        fragment = fragment.rpartition("#")[2].strip()
    if not fragment:
        return Destination.of_file(real)
    section = section_named(reading, fragment)
    if section is not None:
        content = section.heading.content
        whole = DocumentSpan(real, section.span.start, section.span.end)
        return Destination(whole, DocumentSpan(real, content.start, content.end), section)
    span = _other_anchor(reading, fragment)
    if span is None:
        return Destination.of_file(real)
    return Destination(DocumentSpan(real, span.start, span.end), DocumentSpan(real, span.start, span.end))


def section_named(reading: DialectReading[object], fragment: str) -> Section | None:
    """Return the section that a fragment names."""
    number = section_number(reading.document.sections, fragment)
    return reading.document.sections[number] if number is not None else None


def _other_anchor(reading: DialectReading[object], fragment: str) -> Span | None:
    """Return the line of a block `^name`, or the place of an anchor that is written out."""
    text = reading.front.source.text
    if fragment.startswith("^"):
        for match in NAMED_BLOCK.finditer(text):
            if match[1].lower() == fragment[1:].lower() and not reading.document.in_code(match.start(1)):
                return Span(_line_start(text, match.start()), match.end())
        return None
    written = re.search(_ANCHOR.format(name=re.escape(fragment)), text, re.MULTILINE) if fragment in text else None
    return Span(_line_start(text, written.end()), written.end()) if written is not None else None


def _line_start(text: str, offset: int) -> int:
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def _in_document(corpus: EditorCorpus, path: str, reference: Reference) -> Destination | None:
    real = corpus.real_of(path)
    if not reference.fragment and reference.kind != "id":
        return Destination.of_file(real)
    reading = corpus.workspace.reading(real)
    return target_in(real, reading, reference) if reading is not None else None


def file_of(corpus: EditorCorpus, path: str, reference: Reference) -> Path | None:
    """Return a file below the root that a path names and that is no document of the corpus, or not known to be one
    yet."""
    if reference.kind == "stem":
        return _attached(corpus, path, reference.target)
    target = reference.target
    if reference.kind != "path" or "\0" in target or ELSEWHERE.match(target):
        return None
    return next(_existing(corpus, _candidates(path, target)), None)


def _candidates(path: str, target: str) -> Iterator[str]:
    if target.startswith("/"):
        yield joined("", target.lstrip("/"))
    else:
        yield joined(posixpath.dirname(path), target)
        yield joined("", target)


def _existing(corpus: EditorCorpus, names: Iterator[str]) -> Iterator[Path]:
    files = corpus.workspace.files
    for name in names:
        inside = not name.startswith(("../", "/")) and name not in ("..", ".", "")
        try:
            real = files.real(corpus.root / name) if inside else None
            if real is not None and files.inside_root(real) and files.exists(real) and not real.is_dir():
                yield real
        except (OSError, ValueError):
            continue


def _attached(corpus: EditorCorpus, path: str, target: str) -> Path | None:
    """Return a picture or a recording that double brackets name: beside the document, else wherever it lies."""
    if "\0" in target:
        return None
    beside = next(_existing(corpus, _candidates(path, target)), None)
    names = corpus.workspace.names
    if beside is not None or names is None:
        return beside
    listed = names.file_names().get(target.rpartition("/")[2].casefold(), "")
    return next(_existing(corpus, iter([corpus.path_of(Path(listed))])), None) if listed else None


class Pointer(Struct, frozen=True):
    """``span`` is the target as written, ``reach`` the clickable range. An empty target is the document itself.
    ``place`` is the notation, None if a rename may not touch it."""

    span: Span
    reach: Span
    reference: Reference
    place: Mention | None = None


def pointers_in(reading: DialectReading[object], path: str) -> tuple[Pointer, ...]:
    """Return the pointers of a document, in the order of the text."""
    links = (*reading.document.links, *reading.document.images)
    reach = {link.destination_span.start: link.span for link in links if link.destination_span is not None}
    pointers: dict[tuple[int, str], Pointer] = {}
    record = record_of(reading, path)
    for place in (*places_of(reading, record), *own_places(reading)):
        span = Span(place.reference.start, place.reference.end)
        pointers.setdefault(
            (span.start, place.reference.kind), Pointer(span, reach.get(span.start, span), place.reference, place)
        )
    for reference in (*record.references, *_labelled(links), *_schema_references(reading)):
        span = Span(reference.start, reference.end)
        pointers.setdefault((span.start, reference.kind), Pointer(span, reach.get(span.start, span), reference))
    return tuple(sorted(pointers.values(), key=lambda pointer: (pointer.span.start, pointer.span.end)))


def pointer_at(pointers: tuple[Pointer, ...], offset: int) -> Pointer | None:
    """Return the pointer at an offset, the narrowest of several; behind its last character it still is there."""
    at = (pointer for pointer in pointers if pointer.reach.start <= offset <= pointer.reach.end)
    return min(at, key=lambda pointer: (offset == pointer.reach.end, len(pointer.reach)), default=None)


def _labelled(links: tuple[Link, ...]) -> Iterator[Reference]:
    """Yield links by a label: they lead where its definition does."""
    for link in links:
        if link.form == "reference" and link.destination and "://" not in link.destination:
            path, _, fragment = link.destination.partition("#")
            target = unquote(path.partition("?")[0])
            span = link.span
            yield Reference("inline", target, "path", span.start, span.end, 0, fragment=unquote(fragment))


def _schema_references(reading: DialectReading[object]) -> Iterator[Reference]:
    """Yield the files that `$ref` names in front matter; a place in the same schema is a name of its own (`$ref:
    '#/…'`)."""
    waiting: list[Node] = [reading.front.fields] if reading.front.fields is not None else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            waiting += [entry.value for entry in node]
            ref = node.get("$ref")
            if isinstance(ref, Scalar) and ref.text and "://" not in ref.text:
                path, _, fragment = ref.text.partition("#")
                yield Reference(
                    "front-matter", unquote(path), "path", ref.span.start, ref.span.end, 0, "schema", fragment=fragment
                )
        elif not isinstance(node, Scalar):
            waiting += node.items
