"""The links of a document that an editor underlines: each with the file or the address it leads to.

In: a workspace and a path. Out: links in the order of the text. Only what exists is one, and nothing is fetched.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from prosa.app.check.workspace import Workspace
from prosa.app.editor.corpus import EditorCorpus
from prosa.app.editor.place import Place
from prosa.app.editor.pointers import Pointer, pointers_in
from prosa.app.editor.targets import file_of
from prosa.graph.record import Record

MAX_LINKS = 2_000
"""Links of a document that are underlined."""


class DocumentLink(Struct, frozen=True):
    """``place`` is the target as written. It leads to the file at ``path``, else to the address ``url``."""

    place: Place
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
    found: list[DocumentLink] = []
    for pointer in pointers_in(reading, own)[:MAX_LINKS]:
        link = _link(corpus, record, path, pointer)
        if link is not None:
            found.append(link)
    return tuple(found)


def _link(corpus: EditorCorpus, record: Record, real: Path, pointer: Pointer) -> DocumentLink | None:
    place = Place(real, pointer.span.start, pointer.span.end)
    reference = pointer.reference
    if not reference.target:
        return None
    lead = corpus.lookup.lead(record, reference)
    if lead.to is not None:
        return DocumentLink(place, corpus.real_of(lead.to))
    if reference.kind == "url":
        web = reference.target.lower().startswith(("http://", "https://"))
        fragment = f"#{reference.fragment}" if reference.fragment else ""
        return DocumentLink(place, None, f"{reference.target}{fragment}") if web else None
    file = file_of(corpus, record.path, reference) if not lead.paths else None
    return DocumentLink(place, file) if file is not None else None
