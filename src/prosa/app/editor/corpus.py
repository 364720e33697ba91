"""The documents of an open workspace by name, for the graph and the planner of a move: unsaved texts count.

In: a workspace. Out: the target of each reference (`corpus.moves.World`), and the references to a document. Only facts
in memory are used; the few records that are needed are built on demand.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files.read import HeldFolder, decode
from prosa.app.check.workspace import Workspace
from prosa.corpus.moves.world import KnownWorld, World
from prosa.dialects import DialectName
from prosa.dialects.reading import DialectReading, open_document
from prosa.document.rewalk import RecentWalks
from prosa.graph.names import Key
from prosa.graph.record import Definition, Record, Reference
from prosa.graph.records import record_of
from prosa.graph.resolve import keys_of
from prosa.graph.sites import Sites
from prosa.regex import any_of
from prosa.rules.backlinks import Backlinks, labels_asked, labels_of
from prosa.rules.rule import DocumentFacts
from prosa.source import FileProblem, SourceText
from prosa.source.files import is_hidden

MAX_OPENED = 8
"""Readings that are kept while a question is answered."""

_OF_SITES = ("site", "action", "url")


class EditorCorpus(Struct, frozen=True, dict=True):
    """The corpus of a workspace at one moment, to be created for each query. Implements `KnownDocuments` and
    `DocumentStore`: paths are relative to the root, with `/`. ``left_out`` are paths that do not count; ``held`` is
    the open folder of a question that reads many documents."""

    workspace: Workspace
    only_visible: bool = False
    left_out: frozenset[str] = frozenset()
    held: HeldFolder | None = None

    @property
    def root(self) -> Path:
        """The folder that paths are relative to."""
        return self.workspace.root

    def path_of(self, real: Path) -> str:
        """Return a real path as the corpus knows it; one outside stays absolute."""
        path = real.as_posix()
        return path[len(self._prefix) :] if path.startswith(self._prefix) else path

    @cached_property
    def _prefix(self) -> str:
        return f"{self.root.as_posix().rstrip('/')}/"

    def real_of(self, path: str) -> Path:
        """Return the real path of a document of the corpus."""
        names = self.workspace.names
        known = names.real(self._prefix + path) if names is not None else None
        return known if known is not None else self.root / path

    def facts(self, path: str) -> DocumentFacts | None:
        """Return the facts of a document; None for one that does not count."""
        return self.workspace.entries.get(self.real_of(path)) if self._holds(path) else None

    def forget(self) -> None:
        """Forget what was made for a question about many documents. The world of a corpus leads back to it, and the
        garbage collector of a process that lasts comes to such a circle late."""
        vars(self).clear()

    def without(self, *paths: str) -> EditorCorpus:
        """Return the same without some documents."""
        return replace(self, left_out=self.left_out | {*paths})

    def visible(self) -> EditorCorpus:
        """Return the same without what lies in hidden folders."""
        return replace(self, only_visible=True)

    def _holds(self, path: str) -> bool:
        return path not in self.left_out and not (self.only_visible and is_hidden(path))

    @cached_property
    def lookup(self) -> World:
        """Where references lead."""
        resident = self.workspace.resident
        is_given = resident is not None and resident.corpus.rooted == "given"
        return KnownWorld.among(self, self._sites, given=is_given)

    def world(self) -> World:
        """Return the records of all documents."""
        return self.lookup

    def paths(self) -> list[str]:
        """Return the paths of all documents, in order."""
        return sorted(path for path, _ in self._placed())

    def _placed(self) -> Iterator[tuple[str, Path]]:
        """Yield the documents that count, each with its real path. Their texts are known: to make that of a path takes
        longer than all else here."""
        names, prefix = self.workspace.names, self._prefix
        for whole, real in names.paths().items() if names is not None else ():
            path = whole[len(prefix) :] if whole.startswith(prefix) else whole
            if self._holds(path):
                yield path, real

    def resolve(self, path: str, reference: Reference) -> str | None:
        """Return the document that a reference of the document at a path leads to."""
        facts = self.facts(path)
        return self.lookup.resolve(Record(path, facts.dialect if facts is not None else "plain"), reference).to

    def backlinks(self, path: str) -> Iterator[tuple[str, Reference]]:
        """Yield the references to a document, its own left out, in the order of their documents. Lines are not
        known."""
        facts = self.facts(path)
        if facts is None:
            return
        labels = self._labels(path, facts)
        for other in sorted(self._asking(labels) - {path}):
            folder = other.rpartition("/")[0]
            for reference in self._references(other):
                if not labels.isdisjoint(labels_asked(folder, reference)) and self.resolve(other, reference) == path:
                    yield other, reference

    def _references(self, path: str) -> Iterable[Reference]:
        """Return the references of a document; for one being edited, those of its current text."""
        real = self.real_of(path)
        reading = self.workspace.reading(real) if real in self.workspace.texts else None
        if reading is not None:
            return self.workspace.part(reading, real, "references", lambda: record_of(reading, path).references)
        facts = self.facts(path)
        return self._backlinks.references(real, facts) if facts is not None else ()

    def _asking(self, labels: Iterable[str], dialect: DialectName | None = None) -> set[str]:
        entries = self.workspace.entries
        reals = self._backlinks.of(labels) | (self.workspace.texts.keys() & entries.keys())
        if dialect is not None:
            reals = {real for real in reals if real in entries and entries[real].dialect == dialect}
        return {path for real in reals if self._holds(path := self.path_of(real))}

    @cached_property
    def _backlinks(self) -> Backlinks:
        resident = self.workspace.resident
        if resident is None:
            return Backlinks()
        resident.backlinks.take(resident.corpus)
        return resident.backlinks

    def _labels(self, path: str, facts: DocumentFacts) -> frozenset[str]:
        canonical = facts.extra.get("canonical")
        names = [entry.name for entry in facts.defs]
        return labels_of(path, [*names, *([canonical] if isinstance(canonical, str) and canonical else [])])

    # What `KnownDocuments` asks.

    def record(self, path: str) -> Record | None:
        """Return the record of a document, made of its text; each is made once."""
        if path not in self._made and self.facts(path) is not None:
            with contextlib.suppress(FileProblem):
                reading = self.reading(path)
                self._made[path] = record_of(reading, path)
                self._sources[path] = reading.front.source
        return self._made.get(path)

    def outline(self, path: str) -> Record | None:
        """Return what others name a document by, from its facts. Those of one that is being edited may be older."""
        facts = self.facts(path)
        if facts is None or self.real_of(path) in self.workspace.texts:
            return self.record(path)
        return self._made.get(path) or _stub(path, facts)

    @cached_property
    def _made(self) -> dict[str, Record]:
        return {}

    @cached_property
    def _sources(self) -> dict[str, SourceText]:
        """The texts that the last records were made of, as long as their readings are kept."""
        return {}

    @cached_property
    def _opened(self) -> dict[str, DialectReading[object]]:
        return {}

    def records(self) -> Iterator[Record]:
        """Return all records. Every document is read for that, so it is only called if the sites change."""
        return (record for path in self.paths() if (record := self.record(path)) is not None)

    def called(self, key: Key) -> Sequence[Record]:
        """Return the documents that answer to a key, of which path and dialect are known, in the order of their
        paths. The worlds before and after a move ask for the same keys."""
        records = self._answers.get(key)
        if records is None:
            records = self._answers[key] = self._answering(key)
        return records

    @cached_property
    def _answers(self) -> dict[Key, Sequence[Record]]:
        return {}

    def _answering(self, key: Key) -> Sequence[Record]:
        names = self.workspace.names
        if names is None:
            return ()
        if key.space in _OF_SITES:
            paths: Iterable[str] = self._of_sites.get(key, ())
        elif key.space == "path":
            paths = (key.name,)
        else:
            paths = (self.path_of(document.real) for document in names.find(key))
        known = ((path, self.facts(path)) for path in sorted(paths))
        return [Record(path, facts.dialect) for path, facts in known if facts is not None]

    def asking(
        self, keys: Iterable[Key], dialect: DialectName | None = None, *, besides: Collection[str] = ()
    ) -> Iterator[Record]:
        """Yield the documents, with a ``dialect`` only its, with a reference that may look under any of some keys, in
        the order of their paths, without those at the paths ``besides``."""
        labels = frozenset(label for key in keys for label in labels_of(key.name))
        for path in sorted(self._asking(labels, dialect).difference(besides)):
            if (record := self.record(path)) is not None:
                yield record

    def standing(self) -> Sequence[tuple[str, DialectName, tuple[str, ...]]]:
        """Path, dialect and canonical URLs of the documents that may make a site."""
        return self._standing

    @cached_property
    def _standing(self) -> list[tuple[str, DialectName, tuple[str, ...]]]:
        entries = self.workspace.entries
        both = ((path, entries[real]) for path, real in self._placed())
        return [(path, facts.dialect, _canonical(facts)) for path, facts in both]

    @property
    def _sites(self) -> Sites:
        names = self.workspace.names
        if names is None or self.only_visible or self.left_out:
            return self._formed()
        return names.derived("sites of an editor", "sites", self._formed)

    def _formed(self) -> Sites:
        resident = self.workspace.resident
        is_given = resident is not None and resident.corpus.rooted == "given"
        rows = self.standing()
        canonical = ((path, url) for path, dialect, urls in rows if dialect == "mdh" for url in urls)
        return Sites.of(((path, dialect) for path, dialect, _ in rows), canonical, given=is_given)

    @property
    def _of_sites(self) -> dict[Key, list[str]]:
        names = self.workspace.names
        if names is None or self.only_visible or self.left_out:
            return self._addressed()
        return names.derived("addresses of an editor", "sites", self._addressed)

    def _addressed(self) -> dict[Key, list[str]]:
        """Return the documents by their URLs on their site, and by those that they say they live at."""
        sites = self._sites
        by_key: dict[Key, list[str]] = {}
        for path, real in self._placed():
            facts = self.workspace.entries[real]
            if sites.roots or facts.extra.get("canonical"):
                for key in keys_of(_stub(path, facts), sites):
                    if key.space in _OF_SITES:
                        by_key.setdefault(key, []).append(path)
        return by_key

    # What `DocumentStore` asks.

    def texts(self, names: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield the readable documents whose text holds any of some names: paths and current texts."""
        disk, texts = self.workspace.disk, self.workspace.texts
        wanted = any_of(names)
        in_data = re.compile(wanted.encode("utf-8", "surrogatepass")).search
        in_text = re.compile(wanted).search
        reals = [real for _, real in sorted(self._placed())]
        yield from ((self.path_of(real), texts[real]) for real in reals if real in texts and in_text(texts[real]))
        saved = (real for real in reals if real not in texts)
        for real, data in disk.data_of_many(saved):
            if in_data(data) is not None:
                with contextlib.suppress(FileProblem):
                    yield self.path_of(real), decode(real, data)

    def reading(self, path: str) -> DialectReading[object]:
        """Return the reading of a document in its present state. Raises `FileProblem`."""
        real = self.real_of(path)
        reading = self.workspace.reading(real) if real in self.workspace.texts else self._opened.get(path)
        if reading is None:
            reading = self._opened[path] = self._read(self._source(real))
            while len(self._opened) > MAX_OPENED:
                gone = next(iter(self._opened))
                del self._opened[gone]
                self._sources.pop(gone, None)
        return reading

    def _source(self, real: Path) -> SourceText:
        """Return a document in its present state. Raises `FileProblem`."""
        if self.held is None or real in self.workspace.texts:
            return self.workspace.files.read(real)
        return self.workspace.disk.read_in(self.held, real)

    def is_of_record(self, path: str, reading: DialectReading[object]) -> bool:
        """Return whether the record of a document was made of this very reading."""
        return self._sources.get(path) is reading.front.source

    def reread(self, path: str, text: str, like: DialectReading[object] | None = None) -> DialectReading[object]:
        """Return the reading of a text at a path; ``like`` is one of another path, perhaps of the same text."""
        source = SourceText(text, str(self.real_of(path)))
        if like is None:
            return self._read(source)
        parsed = like.document.parsed
        with RecentWalks.after(parsed.text, parsed.found).used():  # it was changed in a few places
            return self._read(source, like)

    def _read(self, source: SourceText, like: DialectReading[object] | None = None) -> DialectReading[object]:
        profile = self.workspace.profile
        return open_document(source, profile.hints(Path(source.path)), profile.relations, like)


def _canonical(facts: DocumentFacts) -> tuple[str, ...]:
    canonical = facts.extra.get("canonical")
    return (canonical,) if isinstance(canonical, str) and canonical.lower().startswith(("http://", "https://")) else ()


def _stub(path: str, facts: DocumentFacts) -> Record:
    """Return what of a record gives a document its addresses."""
    definitions = tuple(Definition(entry.kind, entry.name, entry.span.start, entry.span.end, 0) for entry in facts.defs)
    actions = facts.extra.get("actions")
    urls = tuple(str(action[2]) for action in actions) if isinstance(actions, list | tuple) else ()
    return Record(path, facts.dialect, definitions=definitions, canonical=_canonical(facts), actions=urls)
