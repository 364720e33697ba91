"""Meta files: documents whose metadata others inherit by `globs` (M20, MA18). Pure; the caller reads the files.

The document's own front matter wins, then the nearest meta file; metadata only fills gaps. Inherited values are marked
with their meta file and never name a document (X33): titles are those of `graph.records`.

`globs` work as in a gitignore file: the last pattern that matches decides, `!` negates, a pattern without a slash
matches at any depth, one that names a folder covers everything below it. Unlike there, a leading slash means the root
of the project, and a pattern with `://` matches the URL that the document came from. The matching itself is that of
all globs (`source.wildmatch`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from msgspec import Struct

from prosa.data import Value
from prosa.dialects.magi.fields import signed
from prosa.source.files import hidden_folder
from prosa.source.wildmatch import MAX_GLOB, as_bytes, path_glob, wildcard

if TYPE_CHECKING:
    from prosa.dialects.reading import DialectReading

MAX_URL = 4_096
"""Maximum length of a URL that patterns match; longer ones match nothing."""


def applies(
    globs: Iterable[str], *, path: PurePosixPath | None, root_path: PurePosixPath | None = None, url: str | None = None
) -> bool:
    """Return whether the metadata applies. ``path`` is relative to the folder of the meta file, None outside of it;
    ``root_path`` relative to the root of the project; ``url`` is the document's `source-url`."""
    answer = False
    for glob in globs:
        pattern, wanted = signed(glob)
        if pattern and answer is not wanted and _matches(pattern, path, root_path, url):
            answer = wanted
    return answer


def _matches(pattern: str, path: PurePosixPath | None, root_path: PurePosixPath | None, url: str | None) -> bool:
    if len(pattern) > MAX_GLOB:
        return False
    if "://" in pattern:
        matcher = wildcard(as_bytes(pattern))
        return matcher is not None and url is not None and len(url) <= MAX_URL and matcher.matches(as_bytes(url))
    place = root_path if pattern.startswith("/") else path
    return place is not None and path_glob(as_bytes(_anchored(pattern))).covers(as_bytes(place.as_posix()))


def _anchored(pattern: str) -> str:
    """Return the pattern with a leading slash if it is relative to its own folder."""
    return f"/{pattern[2:]}" if pattern.startswith("./") else pattern


V = TypeVar("V")
"""A field as the caller stores it: plain data, or rows of the index."""

OWN = frozenset({"doc-id", "globs"})
"""Fields about the meta file itself, which are never inherited."""


class Inherited(NamedTuple, Generic[V]):
    """A field that a document does not have itself: its value, and the path of the meta file it comes from."""

    value: V
    by: PurePosixPath

    def as_dict(self) -> dict[str, V | str]:
        """Return it as plain data."""
        return {"value": self.value, "by": str(self.by)}


class MetaFile(Struct, Generic[V], frozen=True):
    """A document with `globs`. ``path`` is relative to the root of the project; nothing is inherited from a field that
    is None."""

    path: PurePosixPath
    globs: tuple[str, ...]
    fields: Mapping[str, V | None]

    def covers(self, path: PurePosixPath, url: str | None = None) -> bool:
        """Return whether its metadata applies to a document; a meta file does not cover itself. One in a hidden folder
        covers nothing outside of that."""
        if path == self.path or not path.as_posix().startswith(hidden_folder(self.path.as_posix())):
            return False
        below = path.relative_to(self.path.parent) if path.is_relative_to(self.path.parent) else None
        return applies(self.globs, path=below, root_path=path, url=url)


def inherited_by(
    reading: DialectReading[object], path: str, metas: Iterable[MetaFile[Value]]
) -> dict[str, Inherited[Value]]:
    """Return what a document of any dialect at ``path`` inherits from meta files, by field, as plain data."""
    own = reading.front_matter or {}
    url = own.get("source-url")
    return inherited_fields(own, PurePosixPath(path), metas, url=url if isinstance(url, str) else None)


def inherited_fields(
    own: Mapping[str, V | None], path: PurePosixPath, metas: Iterable[MetaFile[V]], *, url: str | None = None
) -> dict[str, Inherited[V]]:
    """Return what the document at ``path`` with the fields ``own`` inherits; a field that is None is a gap.

    Nearest is the meta file in the deepest folder; of two in one folder the first by name.
    """
    covering = [meta for meta in metas if meta.covers(path, url)]
    covering.sort(key=lambda meta: (-len(meta.path.parts), meta.path))
    inherited: dict[str, Inherited[V]] = {}
    for meta in covering:
        for name, value in meta.fields.items():
            if name not in OWN and value is not None and own.get(name) is None and name not in inherited:
                inherited[name] = Inherited(value, meta.path)
    return inherited


def effective_fields(
    own: Mapping[str, V | None], path: PurePosixPath, metas: Iterable[MetaFile[V]], *, url: str | None = None
) -> dict[str, V | None]:
    """Return the fields of the document at ``path`` with its gaps filled."""
    return {**own, **{name: field.value for name, field in inherited_fields(own, path, metas, url=url).items()}}
