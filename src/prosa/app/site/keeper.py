"""The index of a site, kept up to date by its own thread, with the data derived from it (X5, X6, X9).

In: a folder and the user's options. Out: `IndexThread`: the catalogue of all nodes, inheritance from meta files, and
answers of the corpus. Meta files are read first, so that a node can be served before the index is built (H2).
"""

from __future__ import annotations

import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct, field

from prosa.adapters.files.scan import scan
from prosa.adapters.files.watch import can_watch
from prosa.app.corpus.follow import Follower
from prosa.app.corpus.open import OpenCorpus, hints_of, known_no_metas, open_corpus
from prosa.app.options import say_nothing
from prosa.app.settings import SettingsInUse
from prosa.app.site.catalogue import NO_LINKS, Catalogue, hidden_files, read_catalogue
from prosa.app.site.files import SiteFiles
from prosa.app.site.inheritance import SUFFIX, FieldMetaFile, MetaFiles
from prosa.corpus.errors import IndexProblem
from prosa.corpus.found import Refreshed
from prosa.data import Value
from prosa.dialects.mdh.url import is_reserved
from prosa.site.layout import LayoutName
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.corpus.found import Scan
    from prosa.dialects import DialectName
    from prosa.dialects.reading import DialectReading
    from prosa.graph.node import Edge
    from prosa.rules.analyzer import Workers
    from prosa.settings import Settings

MIN_PAUSE = 0.1
"""Minimum seconds between two scans of all files."""

SHARE = 10
"""The pause is so many times as long as looking took, without reading what changed: a large site that does not change
costs a tenth of a processor at most."""

FAILED_PAUSE = 10.0
"""Seconds before a look that failed is tried again."""

MAX_RECENT = 8
"""Number of cached lists of edges: one page requests the same ones several times."""

T = TypeVar("T")

DerivedActions = Callable[["DialectReading[object]", str], tuple[Mapping[str, Value], ...]]
"""From a document and its URL to the actions that the site itself adds to it."""


class SiteOptions(Struct, frozen=True):
    """The user's options. ``name`` is the title of the site; ``private`` shows non-public documents to signed-in
    readers (X23). ``nav`` is the order of its pages in the project's settings, None if the first page defines it;
    files that match a glob of ``exclude`` are not part of it. ``signal`` says what its content may be used for, ``mcp``
    is the address of an MCP server over it."""

    name: str
    layout: LayoutName = "path"
    private: bool = False
    actions: DerivedActions | None = None
    nav: Value = None
    exclude: tuple[str, ...] = ()
    signal: str = ""
    mcp: str = ""


class _Ended(Exception):
    """The site ends while the index is brought up to date."""


class _Pace(Struct):
    """The schedule of the thread: ``metas`` is set once meta files have been read, ``wake`` when a scan is requested,
    ``stop`` when the site ends."""

    metas: Event = field(default_factory=Event)
    wake: Event = field(default_factory=Event)
    stop: Event = field(default_factory=Event)
    thread: Thread | None = None
    next: float = 0.0
    looks: int = 0

    def sleep(self) -> None:
        """Wait until a scan is requested."""
        self.wake.wait()
        self.wake.clear()

    def go_on(self, _done: int, _of: int) -> None:
        """Stop between two documents when the site ends. Raises `_Ended`."""
        if self.stop.is_set():
            raise _Ended


class IndexThread:
    """The index of the documents of a site. Call `start`, and `close` at the end. Safe to use from several threads.

    ``catalogue`` is replaced, never changed. ``complaint`` says why there is no index, where there will be none;
    ``rules`` grows with every change of what meta files say of others.
    """

    def __init__(
        self,
        files: SiteFiles,
        options: SiteOptions,
        environ: Mapping[str, str],
        settings: Settings,
        workers: Workers | None = None,
        notice: Callable[[str], None] = say_nothing,
    ) -> None:
        self.files, self.options, self.environ, self.settings = files, options, environ, settings
        self.workers, self.notice = workers, notice
        self.catalogue = Catalogue()
        self.complaint = ""
        self.rules = 0
        self.metas = MetaFiles(files.reader)
        self._meta_files: tuple[FieldMetaFile, ...] | None = None
        self._corpus: OpenCorpus | None = None
        self._recent: OrderedDict[tuple[str, str, int], Sequence[Edge]] = OrderedDict()
        self._asking = RLock()
        self._warned: set[str] = set()
        self._pace = _Pace()
        self._follower: Follower | None = None
        self._in_use = SettingsInUse(files.root, environ, settings)

    def start(self) -> None:
        """Start the thread; with the extra `watch` the system reports changes."""
        if can_watch():
            self._follower = Follower(self.files.root, self._pace.wake.set)
        self._pace.thread = Thread(target=self._keep, name="prosa-site", daemon=True)
        self._pace.thread.start()

    def close(self) -> None:
        """End that, and close the index."""
        self._pace.stop.set()
        self._pace.wake.set()
        if self._pace.thread is not None:
            self._pace.thread.join(timeout=10)
        if self._follower is not None:
            self._follower.close()
        self._pace.metas.set()
        with self._asking:
            if self._corpus is not None:
                self._corpus.index.close()

    @property
    def is_ready(self) -> bool:
        """Whether the catalogue and the graph are there."""
        return self.catalogue.generation > 0

    def wait_ready(self, seconds: float) -> bool:
        """Wait until the graph is there; False where it is not after so many seconds."""
        until = time.monotonic() + seconds
        while not self.is_ready and not self.complaint and time.monotonic() < until:
            self._pace.stop.wait(0.02)
        return self.is_ready

    def touch(self) -> None:
        """Request a scan of the files for a reader, if the last one is old."""
        if time.monotonic() >= self._pace.next and not self._pace.wake.is_set() and not self._is_quiet:
            self._pace.wake.set()

    @property
    def _is_quiet(self) -> bool:
        """Whether the system reported no change since the last scan."""
        return self._follower is not None and self._follower.is_quiet

    def wait_for_look(self, seconds: float) -> None:
        """Wait for a scan that started after this call if the last one is old, up to a limit."""
        seen, until = self._pace.looks, time.monotonic() + seconds
        if not self.is_ready or time.monotonic() < self._pace.next or self._is_quiet:
            return
        self._pace.wake.set()
        while self._pace.looks == seen and time.monotonic() < until and not self._pace.stop.is_set():
            self._pace.stop.wait(0.005)

    def ask(self, question: Callable[[OpenCorpus], T]) -> T:
        """Return the answer of the corpus to a question, one at a time. Raises `CorpusError`."""
        with self._asking:
            if self._corpus is None:
                raise IndexProblem("there is no index")
            try:
                return question(self._corpus)
            except sqlite3.Error as error:
                raise IndexProblem(f"the index cannot be read: {error}") from None

    def edges_from(self, path: str) -> Sequence[Edge]:
        """Return the links of a document, cached for recent ones. Raises `CorpusError`."""
        return self._edges("from", path, lambda corpus: corpus.index.edges_from(path))

    def edges_to(self, path: str) -> Sequence[Edge]:
        """Return what leads to a document alone; of the few asked last, from memory. Raises `CorpusError`."""
        return self._edges("to", path, lambda corpus: corpus.index.edges_to(path))

    def _edges(self, which: str, path: str, question: Callable[[OpenCorpus], list[Edge]]) -> Sequence[Edge]:
        with self._asking:
            key = (which, path, self.catalogue.generation)  # read before the index is
            edges = self._recent.get(key)
            if edges is None:
                edges = self._recent[key] = self.ask(question)
                if len(self._recent) > MAX_RECENT:
                    self._recent.popitem(last=False)
            return edges

    def meta_files(self) -> tuple[FieldMetaFile, ...] | None:
        """Return the meta files, once they have been read: inheritance counts from the first request on. None if
        unknown; then nothing is shown."""
        self._pace.metas.wait()
        return self._meta_files

    def hint_of(self, place: Path) -> DialectName | None:
        """Return the dialect that the settings give a document; None while there is no corpus."""
        return self._corpus.hints_of(place).glob if self._corpus is not None else None

    def _keep(self) -> None:
        """Keep the index up to date until the site ends. A broken index does not stop serving."""
        while not self._pace.stop.is_set():
            try:
                if not self._pace.metas.is_set():
                    self._look_at_metas()
                with self._opened(self.workers) as writing, self._opened(None) as asking:
                    self._corpus = asking
                    while not self._pace.stop.is_set():
                        self._try(writing)
                        self._pace.sleep()
            except Exception as error:
                self._pace.next = time.monotonic() + FAILED_PAUSE
                self._look_without_index(error)
                self._pace.sleep()

    def _look_without_index(self, error: Exception) -> None:
        """Apply what meta files say of other documents without an index too. Where even that cannot be known, show
        nothing."""
        with self._asking:
            self._corpus = None
        try:
            self._apply_metas(scan(self.files.root, self.files.reader, hints_of(self.files.root, self.settings)))
        except Exception:
            self._meta_files = None
        self._complain(error)
        self._pace.metas.set()

    def _look_at_metas(self) -> None:
        """Read meta files alone, which every page needs: this takes a quarter of the time of a full scan. Documents
        that an index knows as none are not read. It is not enough if settings can make any document a meta file, or if
        one is a link: a full scan may treat the target as a document."""
        if self.settings.dialects:
            return
        scanned = scan(self.files.root, self.files.reader, suffixes=(SUFFIX,))
        if not scanned.links:
            self.metas.know(known_no_metas(self.files.root, self.environ, self.settings))
            self._apply_metas(scanned)

    def _apply_metas(self, scanned: Scan) -> None:
        meta_files = self.metas.of(scanned)
        if meta_files != self._meta_files:
            self._meta_files, self.rules = meta_files, self.rules + 1
        self._pace.metas.set()

    def _opened(self, workers: Workers | None) -> AbstractContextManager[OpenCorpus]:
        return open_corpus(
            self.files.root,
            environ=self.environ,
            settings=self.settings,
            refresh=False,
            max_size=self.files.max_size,
            workers=workers,
            progress=self._pace.go_on,
        )

    def _links(self, scanned: Scan) -> dict[str, str | None]:
        """Return where documents that are links lead, None where that may not be seen."""
        return {path: self.files.real(path) if self.files.may_be_seen(path) else None for path in scanned.links}

    def _name(self, unreadable: Iterable[FileProblem]) -> None:
        """Names files that cannot be read, each once: to those who ask they are as if they were not there."""
        for problem in unreadable:
            if str(problem) not in self._warned:
                self._warned.add(str(problem))
                self.notice(f"warning: {problem}")

    def _warn(self) -> None:
        """Report unreachable documents, whose URLs belong to the site itself or are impossible; each once."""
        for row in self.catalogue.shadowed:
            if row.path not in self._warned:
                self._warned.add(row.path)
                why = "that URL belongs to the site itself" if is_reserved(row.url) else "the name of the file is odd"
                self.notice(f"warning: {row.path!r} cannot be read at {row.url}: {why}")
        for path, route, why in self.catalogue.unrouted:
            if (key := f"{path} {route}") not in self._warned:
                self._warned.add(key)
                self.notice(f"warning: {path!r} cannot be read at its route {route[:200]!r}: {why}")
        for name, why in hidden_files(self.files.root, self.catalogue.rows):
            if name not in self._warned:
                self._warned.add(name)
                self.notice(f"warning: {name!r} cannot be read at its URL: {why}")

    def _try(self, corpus: OpenCorpus) -> None:
        try:
            self._look(corpus)
            self._pace.looks += 1
        except _Ended:
            return
        except Exception as error:
            self._pace.next = time.monotonic() + FAILED_PAUSE
            self._complain(error)
            self._pace.metas.set()

    def _complain(self, error: Exception) -> None:
        if str(error) != self.complaint:
            self.complaint = str(error)
            self.notice(f"warning: the graph and the search are not being updated: {error}")

    def _look(self, corpus: OpenCorpus) -> None:
        started = time.monotonic()
        if news := self._in_use.news():
            self.notice(news)
        changed = self._changed(corpus)
        scanned = corpus.scan() if changed is None else None
        took = time.monotonic() - started
        try:
            if scanned is not None:
                self._apply_metas(scanned)
                report = corpus.refresh(found=scanned)
                if self._follower is not None:
                    self._follower.has_links = bool(scanned.links)
            else:
                report = corpus.refresh_paths(changed or ()) if changed else Refreshed()
        except BaseException:
            if self._follower is not None:
                self._follower.put_back(changed)
            raise
        self._name(report.unreadable)
        if not self.is_ready or report.added or report.changed or report.removed:
            self.catalogue = read_catalogue(
                corpus.index.connection(),
                self.catalogue.generation + 1,
                layout=self.options.layout,
                private=self.options.private,
                excluded=self.files.is_excluded,
                links=self._links(scanned) if scanned is not None else NO_LINKS,
            )
            self._warn()
        self._pace.next, self.complaint = time.monotonic() + max(MIN_PAUSE, SHARE * took), ""

    def _changed(self, corpus: OpenCorpus) -> list[Path] | None:
        """Return the documents that changed according to the system; None if a full scan is needed, for example if one
        may be a meta file."""
        if self._follower is None:
            return None
        changed = self._follower.pending(corpus)
        if changed is None or not self.is_ready:
            return None
        lending = self.settings.dialects or any(path.name.lower().endswith(SUFFIX) for path in changed)
        return None if changed and lending else changed
