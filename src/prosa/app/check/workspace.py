"""A workspace: the documents of a project, kept checked while they are edited, for an editor.

In: a folder, then new texts. Out: the diagnostics that changed; they equal those of `prosa check` for the whole
project, with unsaved texts in place of the files. Settings are read when the workspace is opened. Until its corpus is
read, a document is checked alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar, cast

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.files import MAX_DOCUMENT_BYTES, RootedFiles, find_root
from prosa.adapters.files.places import is_in_vault, is_marked
from prosa.adapters.files.stamps import FileStamps
from prosa.adapters.files.walk import would_meet
from prosa.app.check.baseline import Baseline
from prosa.app.check.check import Checker, CheckOptions
from prosa.app.check.gather import Group, gather
from prosa.app.check.project import Project, project_at
from prosa.diagnostics import Diagnostic
from prosa.dialects.reading import DialectReading, open_document
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.document.rewalk import RecentWalks
from prosa.rules.analyzer import Analyzer
from prosa.rules.corpus_names import CorpusNames
from prosa.rules.engine import CorpusScope, check_alone
from prosa.rules.files import Overlay
from prosa.rules.findings import unreadable
from prosa.rules.policy import Profile, diagnosed, ordered
from prosa.rules.resident import ResidentCorpus
from prosa.rules.rule import DocumentFacts
from prosa.settings.environment import given_here
from prosa.settings.model import PROJECT_FILES
from prosa.source import FileProblem, Files, LineIndex, SourceText
from prosa.source.files import sha256

_T = TypeVar("_T")

MAX_READINGS = 16
"""Maximum number of cached readings: of the documents being edited, and of those they refer to."""

MAX_TEXT = MAX_DOCUMENT_BYTES
"""Bytes of a text that is not saved; that of its file has the same limit."""

MAX_UNMARKED = 10_000
"""Documents below a folder that nothing marks as a project, and that is yet read as one."""


class Workspace(Struct, eq=False):
    """The documents below the root of a project. ``texts`` are unsaved ones by real path; ``settings`` are the
    problems of the project's settings; ``profile`` decides how a document is read and checked. ``resident`` is None
    until the corpus has been read. Findings that ``baseline`` holds are left out."""

    root: Path
    texts: dict[Path, str]
    settings: tuple[Diagnostic, ...]
    profile: Profile
    checker: Checker
    disk: RootedFiles
    resident: ResidentCorpus | None = None
    baseline: Baseline | None = None
    _sources: dict[Path, SourceText] = field(default_factory=dict)
    _checked: dict[Path, str] = field(default_factory=dict)
    _lone: dict[Path, tuple[Diagnostic, ...]] = field(default_factory=dict)
    searched: dict[Path, tuple[DocumentFacts, str]] = field(default_factory=dict)
    _parts: dict[Path, tuple[DialectReading[object], dict[str, object]]] = field(default_factory=dict)
    _touched: set[Path] = field(default_factory=set)
    _readings: dict[Path, DialectReading[object]] = field(default_factory=dict)
    _walks: RecentWalks = field(default_factory=RecentWalks)

    @classmethod
    def open(cls, folder: Path, options: CheckOptions, environ: Mapping[str, str]) -> Workspace:
        """Return the workspace of the project that a folder belongs to, with its corpus. Raises `FileProblem` for a
        folder that does not exist, and `UnknownName`."""
        workspace = cls.begin(folder, options, environ)
        workspace.adopt(workspace.reader()())
        return workspace

    @classmethod
    def begin(cls, folder: Path, options: CheckOptions, environ: Mapping[str, str]) -> Workspace:
        """Return the same without its corpus: nothing but the settings is read. Raises as `open` does."""
        if not folder.exists():
            raise FileProblem(folder, "missing", "no such file or folder")
        return cls.at(find_root(folder), options, environ)

    @classmethod
    def at(cls, root: Path, options: CheckOptions, environ: Mapping[str, str]) -> Workspace:
        """Return the same with ``root``, a real path, for its root, whatever marks it. Raises `UnknownName`, and
        `prosa.settings.given.BadSetting` for one of the environment."""
        checker = Checker.of(options, environ)
        project = project_at(root, root, given_here(environ))
        profile = replace(checker.profile, settings=project.settings, root=root, vault=is_in_vault(root))
        return cls(root, {}, project.diagnostics, profile, checker, RootedFiles(root))

    def reader(self, *, whole: bool = True) -> Callable[[], ResidentCorpus]:
        """Return a function that reads the present corpus: it may run in another thread, and `adopt` takes its result.
        Without ``whole`` that corpus only has the edited documents, and is known to be incomplete; so is a folder that
        is not marked as a project and is too large for one."""
        self._touched = {*self.texts}
        texts = dict(self.texts)
        return lambda: _read(self.root, texts, self._sources, self.checker, self.profile, whole=whole)

    def adopt(self, resident: ResidentCorpus) -> None:
        """Take a corpus that was read, and then in it what changed meanwhile."""
        files = resident.analyzer.files
        assert isinstance(files, Overlay)
        self._checked = cast("dict[Path, str]", files.texts)
        self.resident = resident
        touched, self._touched = self._touched, set()
        for real in sorted(touched):
            self.update(real, self.texts.get(real))

    @property
    def files(self) -> Files:
        """The files below the root, with the texts that are not saved in their place."""
        return Overlay(self.texts, self.disk, MAX_TEXT, self._sources)

    @property
    def is_whole(self) -> bool:
        """Whether all documents below the root have been read."""
        return self.resident is not None and self.resident.corpus.complete

    @property
    def names(self) -> CorpusNames | None:
        """The documents by name; None until they have been read. Queries made here are not recorded
        (`CorpusNames.asked_by`)."""
        return self.resident.names if self.resident is not None else None

    @property
    def entries(self) -> Mapping[Path, DocumentFacts]:
        """The facts of every document that can be read, by real path; empty while they have not been read."""
        return self.resident.corpus.entries if self.resident is not None else {}

    @property
    def diagnostics(self) -> Mapping[Path, tuple[Diagnostic, ...]]:
        """The diagnostics of every document that has any, by real path; none while the corpus has not been read."""
        return self.resident.diagnostics if self.resident is not None else {}

    def source(self, path: Path) -> SourceText | None:
        """Return a document as it stands here, its text that is not saved before the file; None where it cannot be
        read."""
        reading = self._readings.get(path)
        if reading is not None and path in self.texts:
            return reading.front.source
        try:
            return self.files.read(path)
        except FileProblem:
            return None

    def reading(self, path: Path) -> DialectReading[object] | None:
        """Return the reading of a document as it stands here, kept until its text changes; None where it cannot be
        read."""
        source = self.source(path)
        if source is None:
            return None
        kept = self._readings.pop(path, None)
        if kept is None or kept.front.source.text != source.text:
            with self._walks.used():
                kept = open_document(source, self.profile.hints(path), self.profile.relations)
        self._readings[path] = kept
        while len(self._readings) > MAX_READINGS:
            del self._readings[next(iter(self._readings))]
        return kept

    def part(self, reading: DialectReading[object], path: Path, name: str, make: Callable[[], _T]) -> _T:
        """Return what ``make`` takes from a reading of the document at ``path``, kept under a name until its text
        changes: an editor asks again and again about the document that its user looks at."""
        cached = self._parts.get(path)
        if cached is None or cached[0] is not reading:
            self._parts = {other: kept for other, kept in self._parts.items() if other in self._readings}
            cached = self._parts[path] = reading, {}
        parts = cached[1]
        if name not in parts:
            parts[name] = make()
        return cast("_T", parts[name])

    def put(self, path: Path, text: str | LineIndex | None = None) -> Path:
        """Take in a new text of a document, perhaps with its lines, or without one that the file counts again, and
        check nothing: `update` does that. Return the real path."""
        real = self.disk.real(path)
        if text is None:
            self.texts.pop(real, None)
            self._sources.pop(real, None)
        elif isinstance(text, LineIndex):
            self.texts[real] = text.text
            self._sources[real] = self._source_of(text, real, path)
        else:
            self.texts[real] = text
        self._readings.pop(real, None)
        self._parts.pop(real, None)
        if self.resident is None:
            self._touched.add(real)
        return real

    def _source_of(self, lines: LineIndex, real: Path, path: Path) -> SourceText:
        known = self._sources.get(real)
        if known is not None and known.lines is lines and known.path == str(path):
            return known
        return SourceText.of_lines(lines, str(path), sha256(lines.text.encode("utf-8", "surrogatepass")).hexdigest())

    def update(self, path: Path, text: str | LineIndex | None = None) -> dict[Path, tuple[Diagnostic, ...]]:
        """Update a document to a new text, or without one to its file, which was written, created or removed. Return
        the diagnostics of the document, and the changed ones of all others, by real path. Until the corpus has been
        read, and for a document outside of it, only the document itself is checked."""
        real = self.put(path, text)
        self._lone.pop(real, None)
        if self.resident is None or self._is_apart(real):
            self._lone[real] = diagnostics = self._alone(real)
            return {real: self._new(real, diagnostics)}
        if text is None:
            self._checked.pop(real, None)
        else:
            self._checked[real] = self.texts[real]
        with self._walks.used():
            news = self.resident.update(path)
        if text is not None and not _is_document(real) and real not in self.resident.seen:
            self._lone[real] = news[real] = self._alone(real)
        return {document: self._new(document, fresh) for document, fresh in news.items()}

    def found_in(self, path: Path) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of a document, by its real path, as they were when it was updated last."""
        return self._new(path, self._lone[path] if path in self._lone else self.diagnostics.get(path, ()))

    def _new(self, path: Path, diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
        return self.baseline.new_in(path, diagnostics) if self.baseline is not None and diagnostics else diagnostics

    def _is_apart(self, real: Path) -> bool:
        """Return whether an existing document is outside of a check of the whole project."""
        if not self.is_whole or not _is_document(real) or (self.resident is not None and real in self.resident.seen):
            return False
        return not would_meet(self.root, real, agents=True)

    def _alone(self, real: Path) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of a document without knowledge of others; none if it does not exist. Settings are no
        document: their problems were found when they were read."""
        if real.name in PROJECT_FILES:
            return tuple(setting for setting in self.settings if Path(setting.path) == real)
        if not self.files.exists(real) or not (_is_document(real) or real in self.texts):
            return ()
        try:
            source = self.files.read(real)
        except FileProblem as problem:
            analysis = unreadable(problem)
            assert analysis.source is not None
            return ordered(diagnosed(analysis.problems, analysis.source, self.profile.policy(real)))
        return self.check_alone(source, real)[1]

    def check_alone(self, source: SourceText, real: Path) -> tuple[DialectReading[object], tuple[Diagnostic, ...]]:
        """Return how any text would be read and judged as the document at a real path, without those beside it."""
        with self._walks.used():
            return check_alone(source, real, self.files, self.profile, datetime.now(UTC))


def document_stamps(root: Path) -> dict[Path, tuple[int, int]]:
    """Return times and sizes of the settings and of each document below a root, for clients that do not report
    changes; none if the root is no project and too large."""
    group = _group(root)
    if group is None:
        return {}
    stamps: dict[Path, tuple[int, int]] = {}
    for path in (*group.paths, *(root / name for name in PROJECT_FILES)):
        try:
            stat = path.stat()
        except OSError:
            continue
        stamps[group.files.real(path)] = stat.st_mtime_ns, stat.st_size
    return stamps


def _is_document(real: Path) -> bool:
    return real.suffix.lower() in DOCUMENT_SUFFIXES


def _read(
    root: Path,
    texts: dict[Path, str],
    sources: Mapping[Path, SourceText],
    checker: Checker,
    profile: Profile,
    *,
    whole: bool,
) -> ResidentCorpus:
    """Return the corpus below a root, with these texts in place of the files."""
    group = _group(root) if whole else None
    files = group.files if group is not None else RootedFiles(root)
    analyzer = Analyzer(
        Overlay(texts, files, MAX_TEXT, sources),
        profile.hints,
        keep=False,
        now=datetime.now(UTC),
        store=checker.store,
        workers=checker.workers,
        stamps=FileStamps(files, texts) if isinstance(files, RootedFiles) else None,
    )
    if group is None:
        scope = CorpusScope(root, rooted="guessed", complete=False)
        resident = ResidentCorpus.of((), analyzer, profile, scope)
    else:
        rest = replace(group, paths=(), unnamed=frozenset())  # it stays as long as the corpus
        scope = CorpusScope(root, None, group.rooted, None, rest.file_names, rest.listing, rest.renames)
        resident = ResidentCorpus.of(group.paths, analyzer, profile, scope)
    if checker.store is not None:
        checker.store.close()
    resident.backlinks.take(resident.corpus)
    return resident


def _group(root: Path) -> Group | None:
    """Return all documents below a root; None if it is not marked as a project and is too large for one."""
    if is_marked(root):
        return replace(gather([root], agents=True)[0], walked=None)
    group = Group(RootedFiles(root), (), root, Project(), whole=True, agents=True)
    paths, complete = group.beside()
    return replace(group, paths=tuple(paths)) if complete and len(paths) <= MAX_UNMARKED else None
