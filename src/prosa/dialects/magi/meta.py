"""Meta files: documents whose `globs` lend their metadata to others (M20, MA18). Pure; who reads them is the caller's.

The document's own front matter wins, then the nearest meta file; metadata only fills gaps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from prosa.data import Value
from prosa.dialects.magi.globs import applies

OWN = frozenset({"doc-id", "globs"})
"""Fields that say something about the meta file itself and are never lent."""


@dataclass(frozen=True, slots=True)
class MetaFile:
    """A document with `globs`. ``path`` is relative to the root of the project."""

    path: PurePosixPath
    globs: tuple[str, ...]
    fields: Mapping[str, Value]

    def covers(self, path: PurePosixPath, url: str | None = None) -> bool:
        """Whether its metadata applies to a document; a meta file does not cover itself."""
        if path == self.path:
            return False
        below = path.relative_to(self.path.parent) if path.is_relative_to(self.path.parent) else None
        return applies(self.globs, path=below, root_path=path, url=url)


def effective_fields(
    own: Mapping[str, Value], path: PurePosixPath, metas: Iterable[MetaFile], *, url: str | None = None
) -> dict[str, Value]:
    """The front matter of the document at ``path`` with its gaps filled; a field that is null is a gap.

    Nearest is the meta file in the deepest folder; of two in one folder the first by name.
    """
    covering = [meta for meta in metas if meta.covers(path, url)]
    covering.sort(key=lambda meta: (-len(meta.path.parts), meta.path))
    found = dict(own)
    for meta in covering:
        for name, value in meta.fields.items():
            if name not in OWN and found.get(name) is None:
                found[name] = value
    return found
