"""A corpus opened: its documents on the disk, its index in the cache, one brought up to date with the other.

In: a folder or a document, and the user's options. Out: `OpenCorpus`. The root is the named folder, else the project
of the document or of the current folder (X5); the index lives in the user's private cache (X10).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.files import RootedFiles, UnsafePlace, cache_dir, find_root, private_dir
from prosa.adapters.files.places import is_in_vault
from prosa.adapters.files.read import real_path
from prosa.adapters.files.scan import scan, stamp_of
from prosa.adapters.files.stamps import running_mark
from prosa.adapters.processes import Pool, worker_count
from prosa.adapters.sqlite import Index
from prosa.adapters.sqlite.opening import DAMAGE, index_path, is_damage, open_reader, unusable
from prosa.adapters.sqlite.reading import Reading
from prosa.adapters.sqlite.refresh import StaleIndex
from prosa.adapters.sqlite.stamps import no_metas
from prosa.app.settings import size_limit
from prosa.corpus.errors import IndexProblem
from prosa.corpus.found import FoundDocument, Refreshed, Scan, SettingsHint, Stamp
from prosa.data.surrogates import has_surrogate
from prosa.dialects.dialect import Hints
from prosa.source import FileProblem
from prosa.source.files import Skipped

if TYPE_CHECKING:
    from prosa.graph.node import Node
    from prosa.rules.analyzer import Workers
    from prosa.settings import Settings

Answer = TypeVar("Answer")

DAMAGED = "the index was damaged while it was read, and has been removed"


class OpenCorpus(Struct):
    """An open corpus. ``report`` is the result of the last refresh, ``skipped`` the files it skipped; both are empty
    without one. With ``agents`` the hidden folders of agents count; ``hints`` identifies the settings for dialects."""

    root: Path
    index: Index
    files: RootedFiles
    report: Refreshed = field(default_factory=Refreshed)
    agents: bool = True
    skipped: Skipped = field(default_factory=Skipped)
    hints: str = ""
    _scanned: str | None = None
    _reading: Reading | None = None
    _hint: Callable[[Path], SettingsHint] | None = None
    _is_full: bool = False

    def scan(self) -> Scan:
        """Return a scan of all files. Raises `FileProblem` for a root that is no folder."""
        self.skipped = Skipped()
        scanned = scan(self.root, self.files, self._hint, hints=self.hints, agents=self.agents, skipped=self.skipped)
        self._scanned = scanned.hints
        return scanned

    def refresh(self, *, anew: bool = False, found: Scan | None = None) -> Refreshed:
        """Scan all files, unless they were ``found`` just now, and read those that changed; with ``anew`` all. Raises
        `IndexProblem`, and `FileProblem` for a root that is no folder."""
        started = time.monotonic()
        assert self._reading is not None
        report = self.index.refresh(found or self.scan(), self._reading, anew=anew)
        self._is_full = True
        self.report = replace(report, seconds=time.monotonic() - started)
        return self.report

    def ask(self, question: Callable[[Index], Answer]) -> Answer:
        """Return the answer of the index to a query. A file that turns out to be broken is rebuilt, and queried once
        more; so is one that was removed since the last refresh. Raises `IndexProblem`."""
        import sqlite3

        try:
            if self._is_full and self.index.is_new:
                self.refresh()
            return question(self.index)
        except sqlite3.Error as error:
            if not is_damage(error):
                raise unusable(error, self.index.path) or error from None
            self.index.discard(error)
        self.refresh()
        return question(self.index)

    def refresh_paths(self, paths: Iterable[Path]) -> Refreshed:
        """Refresh single documents that were written or removed, without a scan. The caller ensures that they are
        documents of the corpus."""
        started = time.monotonic()
        assert self._reading is not None
        at_ns, documents, gone = time.time_ns(), list[FoundDocument](), list[str]()
        for path in paths:
            name, stamp = self.path_of(path), stamp_of(path)
            if isinstance(stamp, Stamp):
                hint = self._hint(self.files.real(path)) if self._hint else ""
                documents.append(FoundDocument(name, str(path), stamp, hint, is_in_vault((self.root / name).parent)))
            elif not has_surrogate(name):  # no other name is in the index
                gone.append(name)
        try:
            hints = self.hints if self._scanned is None else self._scanned
            report = self.index.refresh_some(Scan(tuple(documents), at_ns, (), hints), gone, self._reading)
        except StaleIndex:
            return self.refresh()
        self.report = replace(report, seconds=time.monotonic() - started)
        return self.report

    @property
    def relations(self) -> tuple[tuple[str, str], ...]:
        """The fields of front matter that name other documents, with the type of relationship."""
        return self._reading.relations if self._reading is not None else ()

    def hints_of(self, path: Path) -> Hints:
        """Return the hints about the document at a path before it is read (X3, X45)."""
        hint = self._hint(self.files.real(path)) if self._hint else ""
        return Hints(glob=hint or None, vault=is_in_vault(path.parent))

    def document_at(self, path: Path) -> Node | None:
        """Return the document that a file is, and no other that is only called like it; a link is the file it leads to.
        Raises `FileProblem` for a file outside."""
        node = self.index.node_at(self.path_of(path))
        if node is None and path.is_symlink():
            node = self.index.node_at(self.path_of(self.files.real(path)))
        return node

    def path_of(self, path: Path) -> str:
        """Return the path of a file as the corpus knows it: relative to the root, with `/`. Raises `FileProblem` for a
        file outside."""
        folder = self.files.real(path.parent)
        if not folder.is_relative_to(self.root):
            raise FileProblem(path, "outside-root", f"lies outside the corpus {self.root}")
        return (folder.relative_to(self.root) / path.name).as_posix()


@contextmanager
def open_corpus(
    path: Path | None,
    *,
    environ: Mapping[str, str],
    settings: Settings | None = None,
    root: Path | None = None,
    refresh: bool = True,
    max_size: int | None = None,
    agents: bool = True,
    jobs: int | None = 1,
    workers: Workers | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[OpenCorpus]:
    """Open the corpus at ``path``, a folder or a document; None is the current folder.

    ``settings`` are those of its project, ``root`` is `--root`, ``max_size`` the bytes of the largest document.
    Without ``agents`` the hidden folders of agents are left out. ``jobs`` is the number of processes that read
    documents, None one for each processor; ``workers`` replace them. ``progress`` is called with the numbers of
    finished and of all documents. Without ``refresh`` the index is used without an update. Raises `IndexProblem`,
    `FileProblem`.
    """
    base = corpus_root(path, root)
    limit = size_limit(max_size, settings)
    files = RootedFiles(base, limit)
    try:
        folder = private_dir(cache_dir(environ) / "index")
    except UnsafePlace as error:
        raise IndexProblem(str(error)) from None
    except OSError as error:
        message = f"there is no place for the index: {error.filename or ''}: {error.strerror or error}"
        raise IndexProblem(message, hint="PROSA_CACHE_DIR names one") from None
    relations = settings.relations if settings else ()
    reading = Reading(files, workers or _workers(jobs), root is not None, _mark(settings), progress, relations)
    corpus = OpenCorpus(base, Index(index_path(folder, base)), files, _reading=reading, _hint=hints_of(base, settings))
    corpus.agents = agents
    if settings is not None and settings.dialects:
        corpus.hints = f"{find_root(base)} {settings.dialects}"
    try:
        if refresh:
            corpus.refresh()
        with _damage_in_words(corpus):
            yield corpus
    finally:
        corpus.index.close()


def known_no_metas(root: Path, environ: Mapping[str, str], settings: Settings) -> dict[str, Stamp]:
    """Return the MAGI documents that are no meta files, of the index at ``root``, a real path: their stamps by path,
    nothing where there is no index that can be read at once. Makes none."""
    try:
        folder = private_dir(cache_dir(environ) / "index")
        with closing(open_reader(index_path(folder, root))) as connection:
            return no_metas(connection, _mark(settings))
    except (UnsafePlace, OSError, IndexProblem, *DAMAGE):
        return {}


def _mark(settings: Settings | None) -> str:
    """Return what the rows of an index depend on besides documents."""
    relations = settings.relations if settings else ()
    return f"{running_mark()} {relations}" if relations else running_mark()


def _workers(jobs: int | None) -> Workers | None:
    """Process that read documents; None where this one does it alone."""
    if jobs == 1:
        return None
    count = worker_count() if jobs is None else jobs
    return Pool(count) if count > 1 else None


def corpus_root(path: Path | None, root: Path | None = None) -> Path:
    """Return the root of the corpus that is meant (X5): ``root``, else the folder ``path``, else the project of the
    document ``path`` or of the current folder. A real path."""
    if root is not None:
        return real_path(root)
    if path is not None and path.is_dir():
        return real_path(path)
    return find_root(path if path is not None else Path())


def hints_of(base: Path, settings: Settings | None) -> Callable[[Path], SettingsHint] | None:
    """Return the dialect that the project's settings give a document; None if they give none."""
    if settings is None or not settings.dialects:
        return None
    from prosa.rules.policy import Profile

    profile = Profile(settings=settings, root=find_root(base))
    return lambda real: profile.hints(real).glob or ""


@contextmanager
def _damage_in_words(corpus: OpenCorpus) -> Iterator[None]:
    """Handle a file that turns out to be broken while it is read: it is removed, and the next command rebuilds it."""
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        if is_damage(error):
            corpus.index.discard(error)
            raise IndexProblem(DAMAGED, hint="run the command again: the index is made anew") from None
        raise unusable(error, corpus.index.path) or error from None
