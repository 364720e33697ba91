"""The documents of a corpus by name and by path, in the key space of the graph: rules resolve references as the graph
does, and query other documents here.

In: the facts of a corpus. Out: names (`graph.names`), the file at a path, and values derived from all documents
together. A space is filled on first use: most corpora have no wikilinks, and titles are not needed if every wikilink
names a file. If the names stay in memory while documents change (`rules.resident`), every query is recorded with the
document that made it, so that a change determines which documents must be checked again.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar, cast

from msgspec import Struct, field

from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.graph.names import FILE_SUFFIXES, PAGE_SUFFIXES, Key, folded, is_page, page_sources, stem_of, suffix_of
from prosa.rules.readers import Readers
from prosa.rules.rule import Corpus, DocumentFacts
from prosa.source.files import compared_name, is_there

_T = TypeVar("_T")

State: TypeAlias = Literal["document", "file", "missing", "absent", "unknown"]
"""``missing`` is a file that is not there, ``absent`` what may be a page, a folder or a file of an unknown kind."""

Basis: TypeAlias = Literal[
    "paths", "wikilinks", "links", "inherited", "ids", "sites", "standing", "schemas", "called", "hosts", "text"
]
"""What a derived value depends on: which documents exist, what their wikilinks or links name, what meta files pass on,
which ids exist and are named, the nodes of sites, which documents are nodes and the URLs that they claim, files that
are no documents, the names of documents and relations, what files of hosts say, the text of one file."""

Question: TypeAlias = "Key | Path | str | tuple[str, Basis]"
"""A query of a document about the others: a key, the anchors of one, the file at a path, a derived value."""


class NamedDocument(Struct, frozen=True):
    """A document of the corpus: its real path, and that as text."""

    real: Path
    path: str


class PathState(Struct, frozen=True):
    """What lies at a path; ``real`` is set for a document."""

    state: State
    real: Path | None = None


class CorpusNames(Struct, eq=False):
    """Implements `graph.names.Names` in all spaces except those of URLs. Paths are real ones, and documents come in
    the order of the corpus. Queries are recorded where they are `asked_by` a document."""

    corpus: Corpus
    _asking: set[Question] | None = None
    _readers: Readers[Question] = field(default_factory=Readers)
    _asked: dict[Path, tuple[Question, ...]] = field(default_factory=dict)
    _spaces: dict[str, dict[str, list[NamedDocument]]] = field(default_factory=dict)
    _paths: dict[str, Path] | None = None
    _places: dict[str, PathState] = field(default_factory=dict)
    _derived: dict[tuple[str, Basis], object] = field(default_factory=dict)
    _loaded: dict[Path, DocumentFacts | None] = field(default_factory=dict)

    def find(self, key: Key) -> Sequence[NamedDocument]:
        """Return the documents that answer to a key."""
        self._note(key)
        space = self._spaces.get(key.space)
        if space is None:
            space = self._spaces[key.space] = self._filled(key.space)
        return space.get(key.name, ())

    def at(self, path: str) -> PathState:
        """Return what lies at a path, as it is or as the address of a page (`graph.pages`)."""
        self._note(path)
        state = self._places.get(path)
        if state is None:
            state = self._places[path] = self._look(path)
        return state

    def at_all(self, paths: Collection[str]) -> Mapping[str, PathState]:
        """Return the same for many paths, each once."""
        if self._asking is not None:
            self._asking.update(paths)
        for path in paths:
            if path not in self._places:
                self._places[path] = self._look(path)
        return self._places

    def paths(self) -> Mapping[str, Path]:
        """Return the documents by real path as text, in the order of the corpus."""
        if self._paths is None:
            self._paths = {real.as_posix(): real for real in self.corpus.entries}
        return self._paths

    def real(self, path: str) -> Path | None:
        """Return the document at a real path, as the corpus names it. For queries that are not recorded."""
        return self.paths().get(path)

    def facts(self, real: Path) -> DocumentFacts | None:
        """Return the facts of a document, in the corpus or not. Only its anchors may be used: changes of other facts
        do not invalidate the caller."""
        self._note(real)
        facts = self.corpus.entries.get(real)
        if facts is None and real not in self._loaded:
            self._loaded[real] = self.corpus.load(real)
        return facts or self._loaded[real]

    def derived(self, name: str, basis: Basis, make: Callable[[], _T]) -> _T:
        """Return ``make`` of all documents together, cached until its dependencies change."""
        question = (name, basis)
        self._note(question)
        if question not in self._derived:
            asking, self._asking = self._asking, None
            self._derived[question] = make()
            self._asking = asking
        return cast("_T", self._derived[question])

    def of_text(self, name: str, place: Path, make: Callable[[], _T]) -> _T:
        """Return ``make`` of the text of a file, cached until that changes or any document comes or goes."""
        return self.derived(f"{name} {place.as_posix()}", "text", make)

    def stems(self) -> tuple[str, ...]:
        """Return the stems of all documents."""
        return self.derived("stems", "paths", lambda: tuple(real.stem for real in self.corpus.entries))

    def file_names(self) -> Mapping[str, str]:
        """Return the files below the root by case-folded name, each with a path; empty if unknown."""
        listed = self.corpus.file_names
        return self.derived("files", "paths", listed) if listed is not None else {}

    def is_vault(self) -> bool:
        """Return whether names alone resolve to files here: the root is an Obsidian vault, or a document has a
        wikilink that resolves."""
        return self.derived("vault", "wikilinks", self._is_vault)

    def change(self, real: Path, before: DocumentFacts | None, after: DocumentFacts | None) -> set[Path]:
        """Record that a document changed, appeared or disappeared, and return the documents that depend on it."""
        self._loaded.pop(real, None)
        changed: set[Question] = set()
        for name, space in self._spaces.items():
            old = dict.fromkeys(_names(name, real, before)) if before is not None else {}
            new = dict.fromkeys(_names(name, real, after)) if after is not None else {}
            changed.update(Key(name, changed_name) for changed_name in old.keys() ^ new.keys())
            self._rename(space, NamedDocument(real, real.as_posix()), old, new)
        if before is None or after is None or before.anchors != after.anchors:
            changed.add(real)
        changed.update(self._moved(real, gone=after is None) if before is None or after is None else ())
        text = f" {real.as_posix()}"
        for question in [key for key in self._derived if _rests_on(key[1], before, after) or key[0].endswith(text)]:
            changed.add(question)
            del self._derived[question]
        return self._readers.of(changed)

    def touch(self, real: Path) -> set[Path]:
        """Take in that a file came, went or changed that is no document of the corpus. Return as much as `change`."""
        path = real.as_posix()
        self._places.pop(path, None)
        inside = [folder for folder, place in self._places.items() if _begins(path, folder, place)]
        for folder in inside:
            del self._places[folder]
        stale = [key for key in self._derived if key[1] != "inherited"]
        for question in stale:
            del self._derived[question]
        return self._readers.of({path, *inside, *stale})

    @contextmanager
    def asked_by(self, real: Path) -> Iterator[None]:
        """Record the queries of a document that is checked meanwhile, in place of the earlier ones. Most are the same
        after an edit."""
        self._asking = asking = set[Question]()
        try:
            yield
        finally:
            self._asking = None
        before = {*self._asked.pop(real, ())}
        for question in before - asking:
            self._readers.discard(question, real)
        for question in asking - before:
            self._readers.add(question, real)
        if asking:
            self._asked[real] = tuple(asking)

    def _note(self, question: Question) -> None:
        if self._asking is not None:
            self._asking.add(question)

    def _filled(self, space: str) -> dict[str, list[NamedDocument]]:
        by_name: dict[str, list[NamedDocument]] = {}
        for path, real in self.paths().items():
            for name in _names(space, real, self.corpus.entries[real]):
                by_name.setdefault(name, []).append(NamedDocument(real, path))
        return by_name

    def _rename(
        self,
        space: dict[str, list[NamedDocument]],
        document: NamedDocument,
        old: Mapping[str, None],
        new: Mapping[str, None],
    ) -> None:
        """Move a document within a space; the order stays that of the corpus."""
        for name in old.keys() - new.keys():
            space[name].remove(document)
        missing = new.keys() - old.keys()
        if any(space.get(name) for name in missing):
            order = {real: at for at, real in enumerate(self.corpus.entries)}
            for name in missing:
                insort(space.setdefault(name, []), document, key=lambda other: order[other.real])
        else:
            space.update((name, [document]) for name in missing)

    def _look(self, path: str) -> PathState:
        by_path = self.paths()
        if (document := by_path.get(path)) is not None:
            return PathState("document", document)
        suffix = suffix_of(path)
        if is_page(path, suffix):
            sources = (by_path.get(source) for source in page_sources(path, suffix))
            made_of = next((source for source in sources if source is not None), None)
            if made_of is not None or suffix in PAGE_SUFFIXES:
                return PathState("document", made_of) if made_of is not None else PathState("unknown")
        if path.endswith("/") and path.rstrip("/") in by_path:
            return PathState("absent")  # a document is no folder, also where it is not written yet
        files = self.corpus.files
        if is_there(files, Path(path), path):
            return PathState("document", Path(path)) if suffix in DOCUMENT_SUFFIXES else PathState("file")
        if not files.inside_root(Path(path)):
            return PathState("unknown")
        return PathState("missing" if suffix in FILE_SUFFIXES else "absent")

    def _moved(self, real: Path, *, gone: bool) -> Iterator[str]:
        """Yield the paths that resolve differently since a document appeared or disappeared."""
        name = real.as_posix()
        self._paths = None
        for path, place in [*self._places.items()]:
            made = not gone and (_begins(name, path, place) or name in page_sources(path, suffix_of(path)))
            if path == name or place.real == real or made:
                del self._places[path]
                yield path

    def _is_vault(self) -> bool:
        corpus = self.corpus
        if corpus.root is not None and corpus.files.exists(corpus.root / ".obsidian"):
            return True
        targets = (stem_of(link.target)[1] for facts in corpus.entries.values() for link in facts.wikilinks)
        return any(self.find(Key("stem", stem)) for stem in targets if stem)


def corpus_names(corpus: Corpus) -> CorpusNames:
    """Return the names of a corpus, the same for all rules that ask."""
    return corpus.names if isinstance(corpus.names, CorpusNames) else _names_of(corpus)


@lru_cache(maxsize=1)
def _names_of(corpus: Corpus) -> CorpusNames:
    return CorpusNames(corpus)


def _begins(path: str, folder: str, place: PathState) -> bool:
    """Return whether a file at a path makes a folder exist that was not there."""
    return place.state == "absent" and path.startswith(f"{folder.rstrip('/')}/")


def _rests_on(basis: Basis, before: DocumentFacts | None, after: DocumentFacts | None) -> bool:
    """Return whether a value with this dependency may differ after the change."""
    if before is None or after is None:
        return _comes_with(basis, before or after)
    if basis == "wikilinks":
        return [wikilink.target for wikilink in before.wikilinks] != [wikilink.target for wikilink in after.wikilinks]
    if basis == "links":
        return [link.target for link in before.links] != [link.target for link in after.links]
    if basis == "ids":
        return _ids(before) != _ids(after)
    if basis == "hosts":
        return "context" in (before.dialect, after.dialect) and _said(before) != _said(after)
    if basis == "called":
        return _called(before) != _called(after)
    if basis == "sites":
        return "mdh" in (before.dialect, after.dialect) and before != after
    if basis == "standing":
        return "mdh" in (before.dialect, after.dialect) and _standing(before) != _standing(after)
    return basis == "inherited" and any(before.extra.get(key) != after.extra.get(key) for key in ("globs", "lends"))


def _comes_with(basis: Basis, facts: DocumentFacts | None) -> bool:
    """Return whether a value with this dependency may differ after a document appeared or disappeared."""
    if basis == "inherited":
        return facts is not None and "globs" in facts.extra
    if basis == "ids":
        return facts is not None and len(_ids(facts)) > NO_IDS
    return basis != "schemas"


def _standing(facts: DocumentFacts) -> tuple[str, object]:
    """Return what decides on the site of a node and its address, besides its path."""
    return facts.dialect, facts.extra.get("canonical")


NO_IDS = 2
"""What `_ids` returns besides ids."""


def _ids(facts: DocumentFacts) -> list[str]:
    """Return the ids of a document and those that it names, apart from each other, and its dialect."""
    own = [definition.name for definition in facts.defs if definition.kind == "id"]
    return [facts.dialect, *own, "", *(ref.target for ref in facts.refs if ref.kind == "id")]


def _called(facts: DocumentFacts) -> tuple[object, ...]:
    """Return the names of a document, and the types of its relations."""
    return (
        facts.dialect,
        [(definition.kind, definition.name) for definition in facts.defs],
        {(ref.origin, ref.rel) for ref in facts.refs},
    )


def _said(facts: DocumentFacts) -> tuple[object, ...]:
    """Return what a file of a host says to be called and to import, and its lines with numbers, without the places."""
    extra = cast("Mapping[str, Sequence[tuple[object, ...]]]", facts.extra)
    imports, figures = (extra.get(key, ()) for key in ("imports", "figures"))
    return facts.dialect, extra.get("name", ())[:1], [item[0] for item in imports], [figure[:2] for figure in figures]


def _names(space: str, real: Path, facts: DocumentFacts) -> Iterator[str]:
    if space == "path":
        yield real.as_posix()
    elif space == "stem":
        yield compared_name(real.stem)
    elif space == "stem~":
        yield compared_name(real.stem).casefold()
    elif space == "id" or space == f"id@{facts.dialect}":
        yield from dict.fromkeys(definition.name for definition in facts.defs if definition.kind == "id")
    elif facts.defs and space in ("title~", "alias~"):
        yield from dict.fromkeys(folded(definition.name) for definition in facts.defs if f"{definition.kind}~" == space)
