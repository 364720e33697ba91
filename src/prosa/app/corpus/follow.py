"""The changed documents of a corpus, reported by the system, so that not all files are scanned after each edit.

In: a corpus, and the paths from its watcher. Out: the documents to read again, or that a full scan is needed: for a
new document, a created or deleted folder, changed settings or ignore rules, and periodically.
"""

# Texts, not Paths: a name that is no text is looked at too.
# ruff: noqa: PTH112, PTH114, PTH119

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.adapters.files.watch import Watcher, can_watch
from prosa.corpus.errors import IndexProblem
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.settings.model import PROJECT_FILES

if TYPE_CHECKING:
    from prosa.app.corpus.open import OpenCorpus

WHOLE_EVERY = 60.0
"""Seconds after which everything is scanned without a report: the system may lose a change."""

_DECIDING = frozenset((*PROJECT_FILES, ".gitignore"))
"""Files that decide which documents there are, and what they are."""

_BELOW = "SELECT 1 FROM document WHERE path >= ? AND path < ? LIMIT 1"


class Follower:
    """The changes below the root of a corpus. ``on_change`` is called in another thread when something changed.

    A corpus that ``has_links`` is always scanned fully: the target of a link changes under another name.
    """

    def __init__(self, root: Path, on_change: Callable[[], None] | None = None) -> None:
        self._watcher = Watcher(root, on_change)
        self._whole = 0.0
        self.has_links = False

    @property
    def failure(self) -> str:
        """Why nothing is watched; empty while something is."""
        return self._watcher.failure

    @property
    def is_quiet(self) -> bool:
        """Whether there is nothing to do."""
        return self._watcher.is_quiet and time.monotonic() - self._whole < WHOLE_EVERY

    def pending(self, corpus: OpenCorpus) -> list[Path] | None:
        """Return the documents to read again since the last call; None if a full scan is needed."""
        changed = self._watcher.take()
        now = time.monotonic()
        if changed is None or now - self._whole >= WHOLE_EVERY:
            self._whole = now
            return None
        try:
            kinds = {path: _kind(corpus, path, has_links=self.has_links) for path in sorted(changed)}
        except BaseException:
            self.put_back(None)
            raise
        return None if "whole" in kinds.values() else [Path(path) for path, kind in kinds.items() if kind]

    def catch_up(self, corpus: OpenCorpus) -> None:
        """Bring the index up to date with what changed. Raises `IndexProblem`, `FileProblem`."""
        changed = self.pending(corpus)
        try:
            if changed is None:
                scan = corpus.scan()
                corpus.refresh(found=scan)
                self.has_links = bool(scan.links)
            elif changed:
                corpus.refresh_paths(changed)
        except BaseException:
            self.put_back(changed)
            raise

    def put_back(self, paths: Sequence[Path] | None) -> None:
        """Give changes back that could not be dealt with; None for all there may be."""
        self._watcher.put_back(None if paths is None else [str(path) for path in paths])

    def close(self) -> None:
        """End the watching."""
        self._watcher.close()


def follow_corpus(root: Path) -> Follower:
    """Return what follows the changes below a root. Raises `IndexProblem` where the library for that is not
    installed."""
    if not can_watch():
        from prosa.extras import lacking

        raise lacking(IndexProblem, "watching for changes", "watch")
    return Follower(root)


def _kind(corpus: OpenCorpus, path: str, *, has_links: bool) -> str:
    """Return the kind of a change: `document` for one in the index, `whole` if more may have changed, or nothing."""
    name = os.path.basename(path)
    below = os.path.relpath(path, corpus.root).replace(os.sep, "/")
    if name in _DECIDING or os.path.isdir(path):
        return "whole"
    is_document = name.lower().endswith(DOCUMENT_SUFFIXES)
    if is_document and corpus.index.node_at(below) is not None:
        return "whole" if has_links or os.path.islink(path) else "document"
    if os.path.lexists(path):
        return "whole" if is_document else ""
    return "whole" if _had_documents(corpus, below) else ""


def _had_documents(corpus: OpenCorpus, folder: str) -> bool:
    """Return whether the index has documents below a deleted path."""
    return corpus.index.connection().execute(_BELOW, (f"{folder}/", f"{folder}0")).fetchone() is not None
