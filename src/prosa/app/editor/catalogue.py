"""The names of the documents of a workspace for completion, cached until one of them changes.

In: the facts in memory. Out: a `NameCatalogue`. Nothing is read for it, and it is empty while the corpus is being
read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from prosa.app.check.workspace import Workspace
from prosa.dialects import DialectName
from prosa.document.references import Origin
from prosa.rules.subject import Facts


class NamedDocument(NamedTuple):
    """A document: its real path, and that below the root with `/`. A tuple: a large corpus has very many."""

    real: Path
    path: str
    folder: str
    stem: str
    dialect: DialectName
    title: str
    aliases: tuple[str, ...]
    ids: tuple[str, ...]
    folded: tuple[str, ...]
    """All its names in lower case: stem, title, other names, ids, path."""


class NameCatalogue(Struct, frozen=True):
    """``stems`` says how many documents have a stem, case aside; ``rels`` how often a relation is written, by the place
    where it is."""

    documents: tuple[NamedDocument, ...] = ()
    stems: dict[str, int] = {}
    rels: dict[tuple[Origin, DialectName], dict[str, int]] = {}

    def of_dialect(self, dialect: DialectName) -> Iterator[NamedDocument]:
        """Return the documents of one dialect."""
        return (each for each in self.documents if each.dialect == dialect)

    def relations(self, origin: Origin, dialect: DialectName) -> list[str]:
        """Return the relations that documents of a dialect write, the most frequent first."""
        found = self.rels.get((origin, dialect), {})
        return sorted(found, key=lambda rel: (-found[rel], rel))


_EMPTY = NameCatalogue()


def catalogue_of(workspace: Workspace) -> NameCatalogue:
    """Return the documents of a workspace."""
    names = workspace.names
    if names is None:
        return _EMPTY
    return names.derived("catalogue", "called", lambda: _made(workspace))


def _made(workspace: Workspace) -> NameCatalogue:
    root = f"{workspace.root.as_posix().rstrip('/')}/"
    rels: dict[tuple[Origin, DialectName], dict[str, int]] = {}
    stems: dict[str, int] = {}
    documents: list[NamedDocument] = []
    for real, facts in workspace.entries.items():
        known = _known(real, facts, root)
        documents.append(known)
        folded = known.stem.casefold()
        stems[folded] = stems.get(folded, 0) + 1
        for ref in facts.refs:
            if ref.rel:
                counted = rels.setdefault((ref.origin, facts.dialect), {})
                counted[ref.rel] = counted.get(ref.rel, 0) + 1
    return NameCatalogue(tuple(documents), stems, rels)


def _known(real: Path, facts: Facts, root: str) -> NamedDocument:
    path = real.as_posix().removeprefix(root)
    folder, _, name = path.rpartition("/")
    title, aliases, ids = "", [], []
    for each in facts.defs:
        if each.kind == "title":
            title = title or each.name
        elif each.kind == "alias":
            aliases.append(each.name)
        else:
            ids.append(each.name)
    stem = name.rpartition(".")[0] or name
    names = (stem, title, *aliases, *ids, path)
    folded = tuple("\n".join(names).casefold().split("\n"))
    return NamedDocument(real, path, folder, stem, facts.dialect, title, tuple(aliases), tuple(ids), folded)
