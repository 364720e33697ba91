"""Files that documents embed by name, as Obsidian finds them: anywhere below the root (YA21).

In: a site, the path of a document, and a name with a suffix. Out: the path of one file that may be seen, or None. Names
are looked through again after some seconds.
"""

from __future__ import annotations

import posixpath
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from prosa.app.site.files import SiteFiles
from prosa.graph.resolve import by_nearness
from prosa.site.assets import asset_type

LOOK_SECONDS = 5.0
"""How long the names of all files are trusted, at least."""

LOOK_TIMES = 20
"""A look that takes long is trusted for so many times as long: looking is a small part of the work on any site."""


class Named(NamedTuple):
    """A file, as whatever is nearest is chosen among; ``folded`` is the path with a slash in front, in one case."""

    path: str
    folded: str


class Attachments(Struct):
    """The files of a site by name."""

    files: SiteFiles
    clock: Callable[[], float] = time.monotonic
    _by_name: dict[str, list[Named]] = field(default_factory=dict)
    _until: float = 0.0

    def find(self, source: str, target: str) -> str | None:
        """The path of the file that a document at ``source`` means: of several the nearest, of equally near ones
        none."""
        if asset_type(target) is None:
            return None
        here = posixpath.dirname(source)
        for folder in dict.fromkeys((here, "")):
            path = posixpath.normpath(posixpath.join(folder, target.lstrip("/")))
            if not path.startswith("../") and self.files.place(path) is not None:
                return path
        ending = f"/{posixpath.normpath(target).lstrip('./')}".casefold()
        named = self._named(posixpath.basename(target).casefold())
        for near in by_nearness(here, [each for each in named if each.folded.endswith(ending)]):
            seen = [each.path for each in near if self.files.place(each.path) is not None]
            if seen:
                return seen[0] if len(seen) == 1 else None
        return None

    def _named(self, name: str) -> Sequence[Named]:
        """The files of a name, in one case. Whether one may be seen is asked when it is chosen."""
        began = self.clock()
        if began >= self._until:
            found: dict[str, list[Named]] = {}
            for path in self.files.others(lambda each: asset_type(each) is not None):
                found.setdefault(posixpath.basename(path).casefold(), []).append(Named(path, f"/{path}".casefold()))
            ended = self.clock()
            self._by_name, self._until = found, ended + max(LOOK_SECONDS, LOOK_TIMES * (ended - began))
        return self._by_name.get(name, ())
