"""How each document is checked: flags first, then what the document says, then the project's settings (X3, X4, YA11).

In: the flags of a command, the settings of a project and its root. Out: a `Policy` and `Hints` for a real path.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

from msgspec import Struct

from prosa.dialects.dialect import DialectName, Hints
from prosa.dialects.table import DIALECTS
from prosa.rules.severity import Policy
from prosa.settings.model import GlobSettings, Settings
from prosa.source.wildmatch import glob_matches


class Profile(Struct, frozen=True):
    """The flags, and below them the settings of the project at ``root``.

    ``strict`` None leaves it to the documents and the project. A ``select`` takes the place of the project's, an
    ``ignore`` is added to it; with no ``select`` anywhere every rule is checked.
    """

    explicit: DialectName | None = None
    forced: DialectName | None = None
    strict: bool | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    settings: Settings | None = None
    root: Path | None = None

    def hints(self, real: Path) -> Hints:
        """What is known about the dialect of the document at this real path. The last glob that matches counts."""
        if self.settings is None or not self.settings.dialects:
            return Hints(self.explicit, None, self.forced)
        path = self._below_root(real)
        named = [name for glob, name in self.settings.dialects if glob_matches(glob, path) and _is_dialect(name)]
        return Hints(self.explicit, cast("DialectName", named[-1]) if named else None, self.forced)

    @property
    def relations(self) -> tuple[tuple[str, str], ...]:
        """The fields of front matter that name other documents, with the type of relationship."""
        return self.settings.relations if self.settings is not None else ()

    @property
    def has_schemas(self) -> bool:
        """Whether any document has a schema for its front matter."""
        return self.settings is not None and bool(self.settings.schemas)

    def schemas(self, real: Path) -> tuple[str, ...]:
        """The schemas of the front matter of the document at this real path, as paths below the root."""
        if self.settings is None or not self.settings.schemas:
            return ()
        path = self._below_root(real)
        return tuple(dict.fromkeys(each for glob, each in self.settings.schemas if glob_matches(glob, path)))

    def policy(self, real: Path, asked: bool | None = None) -> Policy:
        """How the document at this real path is checked; ``asked`` is the strictness that it asks for itself."""
        if self.settings is None:
            return Policy(bool(self.strict if self.strict is not None else asked), self.select, self.ignore)
        matching = self._matching(real)
        select = self.select or self.settings.select
        if select and not self.select:
            select = (*select, *(name for each in matching for name in each.select))
        ignored = (*self.ignore, *self.settings.ignore, *(name for each in matching for name in each.ignore))
        return Policy(self._strict(matching, asked), select, ignored)

    def _strict(self, matching: tuple[GlobSettings, ...], asked: bool | None) -> bool:
        """The first of flag, document, glob and project that says anything."""
        by_glob = [each.strict for each in matching if each.strict is not None]
        project = self.settings.strict if self.settings else None
        said = (self.strict, asked, by_glob[-1] if by_glob else None, project)
        return next((each for each in said if each is not None), False)

    def _matching(self, real: Path) -> tuple[GlobSettings, ...]:
        per_glob = self.settings.per_glob if self.settings else ()
        path = self._below_root(real) if per_glob else ""
        return tuple(each for each in per_glob if glob_matches(each.glob, path))

    def _below_root(self, real: Path) -> str:
        if self.root is not None and real.is_relative_to(self.root):
            return real.relative_to(self.root).as_posix()
        return real.as_posix()


def _is_dialect(name: str) -> bool:
    return any(row.name == name for row in DIALECTS)
