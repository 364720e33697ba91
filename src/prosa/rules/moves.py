"""Where a missing file went, as the history of its repository says: asked once per check, and only for a missing path.

In: a corpus and the real path of a file that is not there. Out: the one present file that it became.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from prosa.diagnostics import Applicability, Fix
from prosa.regex import regex
from prosa.rules.corpus_names import corpus_names
from prosa.rules.rule import Corpus
from prosa.source import Edit, Renamed, Span


class Moved(Struct, frozen=True):
    """``path`` is where a file is now, below the real ``root``, and ``commit`` brought it there."""

    path: str
    commit: str
    root: Path

    @property
    def note(self) -> str:
        """What a finding says."""
        return f"it moved to `{self.path}` in commit {self.commit}"

    def seen_from(self, document: Path) -> str:
        """Return the path as a document writes it, given by its own real path."""
        return posixpath.relpath((self.root / self.path).as_posix(), document.parent.as_posix())


def moved_to(corpus: Corpus, missing: Path) -> Moved | None:
    """Return where a file is now; None where history does not say it, or names several present files."""
    root = corpus.files.real(corpus.root) if corpus.root is not None else None
    if corpus.renames is None or root is None or not missing.is_relative_to(root):
        return None
    renames = corpus_names(corpus).derived("renames", "paths", corpus.renames)
    ends = ends_of(missing.relative_to(root).as_posix(), renames)
    there = [Moved(path, commit, root) for path, commit in ends.items() if corpus.files.exists(root / path)]
    return there[0] if len(there) == 1 else None


_ENDS = regex(r"[\s`\x00-\x1f\x7f]")


def replacement(span: Span, written: str, applicability: Applicability = Applicability.SAFE) -> Fix | None:
    """Return the fix that writes another path in a place; None for one with a character at which it would end there."""
    return None if _ENDS.search(written) else Fix(f"write `{written}`", (Edit(span, written),), applicability)


def ends_of(path: str, renames: Sequence[Renamed]) -> Mapping[str, str]:
    """Return every path that a file had after this one, each with the commit that gave it. ``renames`` begin with the
    newest; one follows another only in a later commit."""
    age = {commit: at for at, commit in enumerate(dict.fromkeys(rename.commit for rename in renames))}
    commits: dict[str, str] = {}
    at: dict[str, int] = {path: len(age)}
    for rename in reversed(renames):
        if age[rename.commit] < at.get(rename.before, -1):
            at[rename.after] = max(age[rename.commit], at.get(rename.after, -1))
            commits[rename.after] = rename.commit
    return commits
