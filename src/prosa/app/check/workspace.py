"""A workspace: the documents of a project that stay checked while somebody edits them, as an editor needs it.

In: a folder, then new texts. Out: the diagnostics that are other ones now; they are those of `prosa check` of the whole
project, with the texts that are not saved in place of the files. Settings are read when the workspace is opened. Until
its corpus is read, a document is judged alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.files import RootedFiles, find_root
from prosa.adapters.files.stamps import FileStamps
from prosa.app.check.check import Checker, CheckOptions
from prosa.app.check.gather import gather
from prosa.app.check.project import Project, project_at
from prosa.diagnostics import Diagnostic
from prosa.rules.analyzer import Analyzer
from prosa.rules.corpus_names import CorpusNames
from prosa.rules.engine import CorpusScope
from prosa.rules.overlay import Overlay
from prosa.rules.policy import Profile
from prosa.rules.resident import ResidentCorpus
from prosa.rules.subject import Facts
from prosa.source import FileProblem, Files, SourceText

if TYPE_CHECKING:
    from prosa.dialects.reading import DialectReading

MAX_READINGS = 16
"""Readings that are kept: of the documents that somebody edits now, and of those that they ask about."""


class Workspace(Struct, eq=False):
    """The documents below the root of a project. ``texts`` are those that are not saved, by real path; ``settings`` is
    what is wrong with the settings of the project; ``profile`` says how a document is read and checked. ``resident`` is
    None while the corpus has not been read."""

    root: Path
    texts: dict[Path, str]
    settings: tuple[Diagnostic, ...]
    profile: Profile
    checker: Checker
    disk: Files
    resident: ResidentCorpus | None = None
    _touched: set[Path] = field(default_factory=set)
    _readings: dict[Path, DialectReading[object]] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path, options: CheckOptions, environ: Mapping[str, str]) -> Workspace:
        """The workspace of the project that a folder belongs to, with its corpus. Raises `FileProblem` for a folder
        that does not exist, and `UnknownName`."""
        workspace = cls.begin(folder, options, environ)
        workspace.adopt(workspace.reader()())
        return workspace

    @classmethod
    def begin(cls, folder: Path, options: CheckOptions, environ: Mapping[str, str]) -> Workspace:
        """The same without its corpus: nothing but the settings is read. Raises as `open` does."""
        if not folder.exists():
            raise FileProblem(folder, "missing", "no such file or folder")
        root = find_root(folder)
        checker = Checker.of(options, environ)
        project: Project = project_at(root, root)
        profile = replace(checker.profile, settings=project.settings, root=root)
        return cls(root, {}, project.diagnostics, profile, checker, RootedFiles(root))

    def reader(self) -> Callable[[], ResidentCorpus]:
        """What reads the corpus as it is now: it may run in another thread, and `adopt` takes what it gives."""
        self._touched.clear()
        texts = dict(self.texts)
        return lambda: _read(self.root, texts, self.checker, self.profile)

    def adopt(self, resident: ResidentCorpus) -> None:
        """Takes a corpus that was read, and then in it what changed meanwhile."""
        files = resident.analyzer.files
        assert isinstance(files, Overlay)
        now, self.texts = self.texts, cast("dict[Path, str]", files.texts)
        self.resident, self.disk = resident, files.under
        for real in [*self._touched]:
            self.update(real, now.get(real))
        self._touched.clear()

    @property
    def files(self) -> Files:
        """The files below the root, with the texts that are not saved in their place."""
        return Overlay(self.texts, self.disk)

    @property
    def names(self) -> CorpusNames | None:
        """The documents by name; None while they have not been read. Whoever asks is no reader whose questions are
        noted (`CorpusNames.reader`)."""
        return self.resident.names if self.resident is not None else None

    @property
    def entries(self) -> Mapping[Path, Facts]:
        """The facts of every document that can be read, by real path; empty while they have not been read."""
        return self.resident.corpus.entries if self.resident is not None else {}

    @property
    def diagnostics(self) -> Mapping[Path, tuple[Diagnostic, ...]]:
        """The diagnostics of every document that has any, by real path; none while the corpus has not been read."""
        return self.resident.diagnostics if self.resident is not None else {}

    def source(self, path: Path) -> SourceText | None:
        """A document as it stands here, its text that is not saved before the file; None where it cannot be read."""
        reading = self._readings.get(path)
        if reading is not None and path in self.texts:
            return reading.front.source
        try:
            return self.files.read(path)
        except FileProblem:
            return None

    def reading(self, path: Path) -> DialectReading[object] | None:
        """The reading of a document as it stands here, kept until its text changes; None where it cannot be read."""
        source = self.source(path)
        if source is None:
            return None
        kept = self._readings.pop(path, None)
        if kept is None or kept.front.source.text != source.text:
            from prosa.dialects.reading import open_document

            kept = open_document(source, self.profile.hints(path), self.profile.relations)
        self._readings[path] = kept
        while len(self._readings) > MAX_READINGS:
            del self._readings[next(iter(self._readings))]
        return kept

    def put(self, path: Path, text: str | None = None) -> Path:
        """Takes in a new text of a document, or without one that the file counts again, and checks nothing: `update`
        does that. Gives the real path."""
        real = self.files.real(path)
        if text is None:
            self.texts.pop(real, None)
        else:
            self.texts[real] = text
        self._readings.pop(real, None)
        if self.resident is None:
            self._touched.add(real)
        return real

    def update(self, path: Path, text: str | None = None) -> dict[Path, tuple[Diagnostic, ...]]:
        """Takes in a new text of a document, or without one that its file was written, made or removed. Gives the
        diagnostics of the document, and of every other one that has other diagnostics now, by real path; nothing
        while the corpus has not been read."""
        self.put(path, text)
        return self.resident.update(path) if self.resident is not None else {}


def _read(root: Path, texts: dict[Path, str], checker: Checker, profile: Profile) -> ResidentCorpus:
    """The corpus below a root, with these texts in place of the files."""
    (group,) = gather([root])
    analyzer = Analyzer(
        Overlay(texts, group.files),
        profile.hints,
        keep=False,
        now=datetime.now(UTC),
        store=checker.store,
        workers=checker.workers,
        stamps=FileStamps(group.files, texts) if isinstance(group.files, RootedFiles) else None,
    )
    scope = CorpusScope(group.root, None, group.rooted, None, group.file_names)
    return ResidentCorpus.of(group.paths, analyzer, profile, scope)
