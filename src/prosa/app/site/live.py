"""A site while it lives: its documents read when they are asked for, its catalogue and graph kept up beside that.

In: a folder and what the user chose. Out: `LiveSite`: which document a URL means, its view, what stands around it,
answers to searches. A thread of its own looks at the files and brings the index up to date; a node can be read before
it has done so (H2). Nothing in a document is run, and nothing outside the folder is read (X5, X6).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from prosa.app.options import say_nothing
from prosa.app.site.attachments import Attachments
from prosa.app.site.catalogue import Catalogue, hidden_files, read_catalogue
from prosa.app.site.files import Place, SiteFiles
from prosa.app.site.inheritance import SUFFIX, FieldLender, LentFields, MetaFiles, facets_at, facets_of_lender
from prosa.corpus.errors import IndexProblem
from prosa.corpus.published import is_published
from prosa.dialects.mdh.url import FOLDER_PAGES, is_readme, is_reserved
from prosa.site.layout import LayoutName, url_of
from prosa.site.view import NodeView
from prosa.source import FileProblem, SourceText

if TYPE_CHECKING:
    from prosa.app.corpus.open import OpenCorpus
    from prosa.corpus.found import Scan
    from prosa.dialects.reading import DialectReading
    from prosa.rules.analyzer import Workers
    from prosa.settings import Settings

MIN_PAUSE = 0.1
"""Seconds between two looks at all files, at least."""

SHARE = 10
"""The pause is so many times as long as looking took, without reading what changed: a large site that does not change
costs a tenth of a processor at most."""

FAILED_PAUSE = 10.0
"""Seconds before a look that failed is tried again."""

T = TypeVar("T")

DerivedActions = Callable[["DialectReading[object]", str], tuple[Mapping[str, Any], ...]]
"""From a document and its URL to the actions that the site itself adds to it."""


class _Ended(Exception):
    """The site ends while the index is brought up to date."""


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """What the user chose. ``name`` is the title of the site; ``private`` shows what is not public to those who have
    signed in (X23)."""

    name: str
    layout: LayoutName = "path"
    private: bool = False
    actions: DerivedActions | None = None


@dataclass(slots=True)
class LiveSite:
    """The documents below ``root``. Call `start`, and `close` at the end. Safe to use from several threads."""

    root: Path
    options: SiteOptions
    environ: Mapping[str, str]
    settings: Settings
    max_size: int
    workers: Workers | None = None
    notice: Callable[[str], None] = say_nothing
    catalogue: Catalogue = field(default_factory=Catalogue)
    complaint: str = ""
    """Why there is no graph, where there will be none."""

    files: SiteFiles = field(init=False)
    attachments: Attachments = field(init=False, repr=False)
    _metas: MetaFiles = field(init=False, repr=False)
    rules: int = 0
    """Grows with every change of what meta files say of others."""

    _lenders: tuple[FieldLender, ...] | None = None
    _looked: Event = field(default_factory=Event, repr=False)
    _wake: Event = field(default_factory=Event, repr=False)
    _stop: Event = field(default_factory=Event, repr=False)
    _thread: Thread | None = field(default=None, repr=False)
    _corpus: OpenCorpus | None = field(default=None, repr=False)
    _asking: RLock = field(default_factory=RLock, repr=False)
    _warned: set[str] = field(default_factory=set, repr=False)
    _next: float = 0.0
    _looks: int = 0

    def __post_init__(self) -> None:
        self.files = SiteFiles(self.root, self.max_size)
        self.attachments = Attachments(self.files)
        self._metas = MetaFiles(self.files.reader)

    def start(self) -> None:
        """Begins to look at the files."""
        self._thread = Thread(target=self._keep, name="prosa-site", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends that, and closes the index."""
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=10)
        self._looked.set()
        with self._asking:
            if self._corpus is not None:
                self._corpus.index.close()

    @property
    def is_ready(self) -> bool:
        """Whether the catalogue and the graph are there."""
        return self.catalogue.generation > 0

    def wait_ready(self, seconds: float) -> bool:
        """Waits until the graph is there; False where it is not after so many seconds."""
        until = time.monotonic() + seconds
        while not self.is_ready and not self.complaint and time.monotonic() < until:
            self._stop.wait(0.02)
        return self.is_ready

    def touch(self) -> None:
        """Somebody is reading: the files are looked at again where the last look is old."""
        if time.monotonic() >= self._next and not self._wake.is_set():
            self._wake.set()

    def settle(self, seconds: float) -> None:
        """Waits for a look at the files that began after this call, where the last one is old, at most so long."""
        seen, until = self._looks, time.monotonic() + seconds
        if not self.is_ready or time.monotonic() < self._next:
            return
        self._wake.set()
        while self._looks == seen and time.monotonic() < until and not self._stop.is_set():
            self._stop.wait(0.005)

    def place(self, path: str) -> Place | None:
        """The file at a path that may be seen by its path alone; what it says is looked at in `view`."""
        return self.files.place(path)

    def is_in_vault(self, path: str) -> bool:
        """Whether a document lies in an Obsidian vault: a folder above it holds `.obsidian`."""
        return any((each / ".obsidian").is_dir() for each in (self.root / path).parents)

    def view(self, path: str) -> NodeView | None:
        """The node at a path; None where there is no document that is published. Raises `FileProblem` for one that
        cannot be read."""
        if not self.files.may_be_seen(path):
            return None
        self._looked.wait()  # what meta files and settings say of others counts from the first request on
        lenders = self._lenders
        if lenders is None:
            return None
        real, reading = self._reading(path)
        for each in {path, real}:  # a link does not take a document out of the reach of a meta file
            if not is_published(facets_at(reading, each, lenders), private=self.options.private):
                return None
        return self._view(path, reading, self._metas.lent(reading, path, lambda by: self._is_shown(by, lenders)))

    def _is_shown(self, meta: str, lenders: tuple[FieldLender, ...]) -> bool:
        """Whether a meta file is published itself."""
        facets = facets_of_lender(meta, lenders) if self.files.may_be_seen(meta) else None
        return facets is not None and is_published(facets, private=self.options.private)

    def _reading(self, path: str) -> tuple[str, DialectReading[object]]:
        """Where a document lies when links are followed, and what it says."""
        from prosa.adapters.files.read import decode
        from prosa.dialects.detect import Hints
        from prosa.dialects.reading import open_document

        place = self.root / path
        real, data = self.files.read(path, self.max_size)
        source = SourceText(decode(place, data), str(place), sha256(data).hexdigest())
        hint = self._corpus.hint_of(place) if self._corpus is not None else None
        return real, open_document(source, Hints(glob=hint))

    def _view(self, path: str, reading: DialectReading[object], lent: LentFields) -> NodeView:
        from prosa.app.site.around import typed_links
        from prosa.site.identity import view_of

        row = self.catalogue.by_path.get(path)
        own_id = row.id if row is not None else ""
        url = row.url if row is not None else url_of(path, own_id, self.options.layout, stands=self._stands(path))
        actions = self.options.actions(reading, path) if self.options.actions is not None else ()
        links = typed_links(self, path) if reading.name != "mdh" and row is not None else ()
        return view_of(reading, path, url=url, own_id=own_id, links=links, actions=actions, lent=lent)

    def _stands(self, path: str) -> bool:
        """Whether a README stands for its folder, as far as the files tell."""
        folder = path[: path.rfind("/") + 1]
        names = (each for each in FOLDER_PAGES if self.files.place(f"{folder}{each}") is not None)
        return is_readme(path) and next(names, "") == path[len(folder) :]

    def ask(self, question: Callable[[OpenCorpus], T]) -> T:
        """The answer of the corpus to a question, one at a time. Raises `CorpusError`."""
        import sqlite3

        with self._asking:
            if self._corpus is None:
                raise IndexProblem("there is no index")
            try:
                return question(self._corpus)
            except sqlite3.Error as error:
                raise IndexProblem(f"the index cannot be read: {error}") from None

    def _keep(self) -> None:
        """Looks at the files until the site ends. An index that cannot be used is no reason to stop serving."""
        while not self._stop.is_set():
            try:
                if not self._looked.is_set():
                    self._look_at_metas()
                with self._opened(self.workers) as writing, self._opened(None) as asking:
                    self._corpus = asking
                    while not self._stop.is_set():
                        self._try(writing)
                        self._sleep()
            except Exception as error:
                self._next = time.monotonic() + FAILED_PAUSE
                self._look_without_index(error)
                self._sleep()

    def _sleep(self) -> None:
        self._wake.wait()
        self._wake.clear()

    def _look_without_index(self, error: Exception) -> None:
        """What meta files say of others counts without an index too. Where even that cannot be known, nothing is
        shown."""
        from prosa.adapters.files.scan import scan
        from prosa.app.corpus.open import hints_of

        with self._asking:
            self._corpus = None
        try:
            self._lend(scan(self.root, self.files.reader, hints_of(self.root, self.settings)))
        except Exception:
            self._lenders = None
        self._complain(error)
        self._looked.set()

    def _look_at_metas(self) -> None:
        """A look at meta files alone, which every page waits for: it takes a quarter of the time of a whole look. It is
        not enough where settings can make any document one, or where one is a link: a whole look may take the document
        there for itself."""
        from prosa.adapters.files.scan import scan

        if self.settings.dialects:
            return
        found = scan(self.root, self.files.reader, suffixes=(SUFFIX,))
        if not any(each.place.is_symlink() for each in found.documents):
            self._lend(found)

    def _lend(self, found: Scan) -> None:
        lenders = self._metas.of(found)
        if lenders != self._lenders:
            self._lenders, self.rules = lenders, self.rules + 1
        self._looked.set()

    def _opened(self, workers: Workers | None) -> AbstractContextManager[OpenCorpus]:
        from prosa.app.corpus.open import open_corpus

        return open_corpus(
            self.root,
            environ=self.environ,
            settings=self.settings,
            refresh=False,
            max_size=self.max_size,
            workers=workers,
            progress=self._go_on,
        )

    def _go_on(self, _done: int, _of: int) -> None:
        """Called between documents that are read: nobody waits for the rest when the site ends. Raises `_Ended`."""
        if self._stop.is_set():
            raise _Ended

    def _links(self, found: Scan) -> dict[str, str | None]:
        """Where documents that are links lead, None where that may not be seen."""
        links = (each.path for each in found.documents if each.place.is_symlink())
        return {path: self.files.real(path) if self.files.may_be_seen(path) else None for path in links}

    def _name(self, unreadable: Iterable[FileProblem]) -> None:
        """Names files that cannot be read, each once: to those who ask they are as if they were not there."""
        for problem in unreadable:
            if str(problem) not in self._warned:
                self._warned.add(str(problem))
                self.notice(f"warning: {problem}")

    def _warn(self) -> None:
        """Names documents that nobody can read, as their URLs belong to the site itself or cannot be; each once."""
        for row in self.catalogue.shadowed:
            if row.path not in self._warned:
                self._warned.add(row.path)
                why = "that URL belongs to the site itself" if is_reserved(row.url) else "the name of the file is odd"
                self.notice(f"warning: {row.path!r} cannot be read at {row.url}: {why}")
        for path, route in self.catalogue.unrouted:
            if (key := f"{path} {route}") not in self._warned:
                self._warned.add(key)
                why = "the URL is taken, or none that a node may have"
                self.notice(f"warning: {path!r} cannot be read at its route {route[:200]!r}: {why}")
        for name, why in hidden_files(self.root, self.catalogue.rows):
            if name not in self._warned:
                self._warned.add(name)
                self.notice(f"warning: {name!r} cannot be read at its URL: {why}")

    def _try(self, corpus: OpenCorpus) -> None:
        try:
            self._look(corpus)
            self._looks += 1
        except _Ended:
            return
        except Exception as error:
            self._next = time.monotonic() + FAILED_PAUSE
            self._complain(error)
            self._looked.set()

    def _complain(self, error: Exception) -> None:
        if str(error) != self.complaint:
            self.complaint = str(error)
            self.notice(f"warning: the graph and the search are not kept up to date: {error}")

    def _look(self, corpus: OpenCorpus) -> None:
        started = time.monotonic()
        found = corpus.scan()
        took = time.monotonic() - started
        self._lend(found)
        report = corpus.refresh(found=found)
        self._name(report.unreadable)
        if not self.is_ready or report.added or report.changed or report.removed:
            self.catalogue = read_catalogue(
                corpus.index.connection(),
                self.catalogue.generation + 1,
                layout=self.options.layout,
                private=self.options.private,
                links=self._links(found),
            )
            self._warn()
        self._next, self.complaint = time.monotonic() + max(MIN_PAUSE, SHARE * took), ""
