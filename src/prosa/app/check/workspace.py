"""A workspace: the documents of a project that stay checked while somebody edits them, as an editor needs it.

In: a folder, then new texts. Out: the diagnostics that are other ones now; they are those of `prosa check` of the whole
project, with the texts that are not saved in place of the files. Settings are read when the workspace is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files import RootedFiles, find_root
from prosa.adapters.files.stamps import FileStamps
from prosa.app.check.check import Checker, CheckOptions
from prosa.app.check.gather import gather
from prosa.diagnostics import Diagnostic
from prosa.rules.analyzer import Analyzer
from prosa.rules.engine import CorpusScope
from prosa.rules.overlay import Overlay
from prosa.rules.resident import ResidentCorpus


class Workspace(Struct, eq=False):
    """The documents below the root of a project. ``texts`` are those that are not saved, by real path; ``settings`` is
    what is wrong with the settings of the project."""

    root: Path
    texts: dict[Path, str]
    settings: tuple[Diagnostic, ...]
    resident: ResidentCorpus

    @classmethod
    def open(cls, folder: Path, options: CheckOptions, environ: Mapping[str, str]) -> Workspace:
        """The workspace of the project that a folder belongs to. Raises `FileProblem` for a folder that does not
        exist, and `UnknownName`."""
        checker = Checker.of(options, environ)
        (group,) = gather([find_root(folder)])
        profile = replace(checker.profile, settings=group.project.settings, root=group.root)
        texts: dict[Path, str] = {}
        analyzer = Analyzer(
            Overlay(texts, group.files),
            profile.hints,
            keep=False,
            now=datetime.now(UTC),
            store=checker.store,
            workers=checker.workers,
            stamps=FileStamps(group.files) if isinstance(group.files, RootedFiles) else None,
        )
        scope = CorpusScope(group.root, None, group.rooted, None, group.file_names)
        resident = ResidentCorpus.of(group.paths, analyzer, profile, scope)
        return cls(group.root, texts, group.project.diagnostics, resident)

    @property
    def diagnostics(self) -> Mapping[Path, tuple[Diagnostic, ...]]:
        """The diagnostics of every document that has any, by real path."""
        return self.resident.diagnostics

    def update(self, path: Path, text: str | None = None) -> dict[Path, tuple[Diagnostic, ...]]:
        """Takes in a new text of a document, or without one that its file was written, made or removed. Gives the
        diagnostics of the document, and of every other one that has other diagnostics now, by real path."""
        real = self.resident.analyzer.files.real(path)
        if text is None:
            self.texts.pop(real, None)
        else:
            self.texts[real] = text
        return self.resident.update(path)
