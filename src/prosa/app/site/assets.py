"""Files beside documents that a site serves: pictures, and data that a published document names (HA5, YA21, X23).

In: a path below the root, or a name as Obsidian writes it, anywhere below the root. Out: one file, or None. Internal
files of the site, and data that no published document links to, are never returned.
"""

from __future__ import annotations

import posixpath
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from prosa.app.site.catalogue import is_shadowed
from prosa.app.site.files import SiteFiles
from prosa.corpus.found import Stamp
from prosa.dialects.mdh.url import exact_url
from prosa.graph.resolve import by_nearness
from prosa.site.assets import NAMED, asset_type, suffix_of
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.app.site.keeper import IndexThread

LOOK_SECONDS = 5.0
"""How long the names of all files are trusted, at least."""

LOOK_TIMES = 20
"""A look that takes long is trusted for so many times as long: looking is a small part of the work on any site."""


class Asset(NamedTuple):
    """A file beside documents: its path below the root, its media type, and its stamp."""

    path: str
    media_type: str
    stamp: Stamp


class Named(NamedTuple):
    """A file, as whatever is nearest is chosen among; ``folded`` is the path with a slash in front, in one case."""

    path: str
    folded: str


class Assets(Struct):
    """The files of a site that are no documents."""

    files: SiteFiles
    index: IndexThread
    clock: Callable[[], float] = time.monotonic
    _by_name: dict[str, list[Named]] = field(default_factory=dict)
    _until: float = 0.0

    def at(self, path: str, *, wait: float = 0.0) -> Asset | None:
        """Return the file at a path, None where the site gives none. The index alone knows what documents name: a
        question about data waits for it, at most so many seconds."""
        media_type = asset_type(path)
        if media_type is None or not self._may_be_given(path, wait):
            return None
        file = self.files.place(path)
        return Asset(path, media_type, file.stamp) if file is not None else None

    def all(self) -> Iterator[Asset]:
        """Yield every file that the site gives, by path."""
        for path in self.files.others(_is_asset):
            asset = self.at(path)
            if asset is not None:
                yield asset

    def read(self, path: str, most: int) -> bytes:
        """Return the bytes of a file that the site gives. Raises `FileProblem`."""
        if self.at(path) is None:
            raise FileProblem(self.files.root / path, "missing", "no such file")
        return self.files.read(path, most)[1]

    def piece(self, asset: Asset, start: int, *, most: int) -> bytes:
        """Return some bytes of a file, none where it is not as it was any more."""
        return self.files.piece(asset.path, asset.stamp, start, most=most)

    def find(self, source: str, target: str) -> str | None:
        """Return the path of the file that a document at ``source`` means: of several the nearest, of equally near
        ones none."""
        path = self._found(source, target)
        return path if path is not None and self._may_be_given(path) else None

    def _may_be_given(self, path: str, wait: float = 0.0) -> bool:
        """Return whether a URL leads to a file that may be seen, and a document to it where it is data."""
        if is_shadowed(exact_url(path)):
            return False
        return suffix_of(path) not in NAMED or (self.index.wait_ready(wait) and path in self.index.catalogue.linked)

    def _found(self, source: str, target: str) -> str | None:
        if asset_type(target) is None:
            return None
        here = posixpath.dirname(source)
        for folder in dict.fromkeys((here, "")):
            path = posixpath.normpath(posixpath.join(folder, target.lstrip("/")))
            if not path.startswith("../") and self.files.place(path) is not None:
                return path
        ending = f"/{posixpath.normpath(target).lstrip('./')}".casefold()
        named = self._named(posixpath.basename(target).casefold())
        for near in by_nearness(here, [asset for asset in named if asset.folded.endswith(ending)]):
            seen = [asset.path for asset in near if self.files.place(asset.path) is not None]
            if seen:
                return seen[0] if len(seen) == 1 else None
        return None

    def _named(self, name: str) -> Sequence[Named]:
        """Return the files of a name, ignoring case. Their visibility is checked when one is chosen."""
        began = self.clock()
        if began >= self._until:
            by_name: dict[str, list[Named]] = {}
            for path in self.files.others(_is_asset):
                by_name.setdefault(posixpath.basename(path).casefold(), []).append(Named(path, f"/{path}".casefold()))
            ended = self.clock()
            self._by_name, self._until = by_name, ended + max(LOOK_SECONDS, LOOK_TIMES * (ended - began))
        return self._by_name.get(name, ())


def _is_asset(name: str) -> bool:
    return asset_type(name) is not None
