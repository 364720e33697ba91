"""The documents that may refer to a document of a resident corpus, without a search through all others.

In: the facts of documents (`rules.subject`). Out: the documents that refer to a similar name. A label is the last part
of a name without case, blanks and suffix: any result of `graph.resolve` for a reference shares a label with it.
Documents that only share a label are included, so the caller must resolve the references.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

from msgspec import Struct, field

from prosa.dialects.front import front_under
from prosa.dialects.mdh.url import FOLDER_PAGES
from prosa.dialects.relations import relation_refs
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.document.references import Origin, Ref, RefKind
from prosa.graph.names import PAGE_SUFFIXES, joined
from prosa.graph.record import Reference
from prosa.rules.readers import Readers
from prosa.rules.rule import Corpus, DocumentFacts, LocalLink
from prosa.source import FileProblem

_SUFFIXES = (*DOCUMENT_SUFFIXES, *PAGE_SUFFIXES, ".json")
_FOLDER_STEMS = frozenset((*(name.rpartition(".")[0].lower() for name in FOLDER_PAGES), "_index"))
_UP = ("", ".", "..")


class Backlinks(Struct, eq=False):
    """The documents by the labels of their references; ``relations`` are the references that the project reads in
    front matter, for documents that have any."""

    relations: dict[Path, tuple[Reference, ...]] = field(default_factory=dict)
    _taken: Corpus | None = None
    _known: dict[Path, DocumentFacts] = field(default_factory=dict)
    _asking: Readers[str] = field(default_factory=Readers)

    def take(self, corpus: Corpus) -> None:
        """Update the index to the present documents; only those with changed facts are processed. After a change the
        corpus is another value (`rules.resident`)."""
        if corpus is self._taken:
            return
        self._taken = corpus
        known, entries = self._known, corpus.entries
        for real, facts in entries.items():
            if known.get(real) is not facts:
                self._replace(real, facts, corpus)
        for gone in known.keys() - entries.keys() if len(known) > len(entries) else ():
            self._replace(gone, None, corpus)

    def of(self, labels: Iterable[str]) -> set[Path]:
        """Return the documents that refer to something with one of some labels."""
        return self._asking.of(labels)

    def references(self, real: Path, facts: DocumentFacts) -> Iterator[Reference]:
        """Yield what a document refers to, each place once. Lines are not known here."""
        yield from references_in(facts)
        yield from self.relations.get(real, ())

    def _replace(self, real: Path, facts: DocumentFacts | None, corpus: Corpus) -> None:
        before = self._known.pop(real, None)
        old = self._asked(real, before) if before is not None else frozenset()
        self.relations.pop(real, None)
        if facts is not None and corpus.relations:
            references = tuple(_plain(ref) for ref in relations_in(corpus, facts))
            self.relations |= {real: references} if references else {}
        new = self._asked(real, facts) if facts is not None else frozenset()
        for label in old - new:
            self._asking.discard(label, real)
        for label in new - old:
            self._asking.add(label, real)
        if facts is not None:
            self._known[real] = facts

    def _asked(self, real: Path, facts: DocumentFacts) -> frozenset[str]:
        folder = real.parent.as_posix()
        return frozenset(
            label for reference in self.references(real, facts) for label in labels_asked(folder, reference)
        )


def relations_in(corpus: Corpus, facts: DocumentFacts) -> Iterator[Ref]:
    """Yield what the project reads in the front matter of a document; what the dialect reads there is not among it."""
    try:
        front = front_under(corpus.files.read(Path(facts.path)), facts.dialect)
    except FileProblem:
        return
    known = {ref.span.start for ref in facts.refs}
    yield from (ref for ref in relation_refs(front.fields, corpus.relations) if ref.span.start not in known)


def _plain(ref: Ref) -> Reference:
    rest = (ref.rel, ref.strength, ref.bidirectional, ref.fragment, ref.range)
    return Reference(ref.origin, ref.target, ref.kind, ref.span.start, ref.span.end, 0, *rest)


def references_in(facts: DocumentFacts) -> Iterator[Reference]:
    """Yield what a document refers to, with its links and images, each place once. Lines are not known here."""
    places: set[tuple[int, RefKind]] = set()
    for ref in facts.refs:
        places.add((ref.span.start, ref.kind))
        yield _plain(ref)
    if facts.dialect == "mdh":  # its links are among what the dialect refers to
        return
    for link in facts.links:
        if link.target and (link.start, "path") not in places:
            yield _reference(link, "path")
    for link in facts.wikilinks:
        if link.target and (link.start, "stem") not in places:
            yield _reference(link, "stem")


def _reference(link: LocalLink, kind: RefKind) -> Reference:
    origin: Origin = "inline" if kind == "path" else "wikilink"
    return Reference(origin, link.target, kind, link.start, link.end, 0, fragment=link.fragment)


def labels_asked(folder: str, reference: Reference) -> Iterator[str]:
    """Yield the labels of a reference in a document of a folder."""
    target = reference.target
    if reference.kind == "url":
        target = target.partition("?")[0]
        yield label_of(unquote(target))
        if target.rstrip("/").count("/") <= len("//"):
            yield ""
    elif reference.kind == "path" and target.rstrip("/").rpartition("/")[2] in _UP:
        yield label_of(joined(folder, target))
        yield ""
    else:
        yield label_of(target)
        if reference.kind == "path" and ("%" in target or "?" in target):
            yield label_of(unquote(target.partition("?")[0]))


def labels_of(path: str, names: Iterable[str] = ()) -> frozenset[str]:
    """Return the labels that may refer to a document with this path and these aliases."""
    folder, name = posixpath.split(path)
    labels = {label_of(path), *map(label_of, names)} | ({""} if path.endswith("/") else set())
    if posixpath.splitext(name)[0].lower() in _FOLDER_STEMS:
        labels |= {label_of(folder), "", *_FOLDER_STEMS}
    return frozenset(labels)


def label_of(name: str) -> str:
    """Return the last part of a name but for case, blanks, hyphens and the suffix of a page."""
    last = name.rstrip("/").rpartition("/")[2]
    stem, dot, suffix = last.rpartition(".")
    if stem and dot and f".{suffix.lower()}" in _SUFFIXES:
        last = stem
    return "-".join(last.casefold().replace("-", " ").split())
