"""The documents that changed since a revision of git: those whose bytes differ from the ones at the revision, or that
were not there. Neither hooks nor filters run for it, and nothing in the work tree is written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files.git_files import changed_since, has_git, resolve_revision, top_of
from prosa.app.check.gather import Group
from prosa.source import FileProblem


class UnknownRevision(ValueError):
    """A revision cannot be compared with; the message says why."""


class Changed(Struct, frozen=True):
    """The documents of groups that changed, and how many there are in all."""

    groups: tuple[Group, ...]
    of: int

    @property
    def count(self) -> int:
        """How many documents changed."""
        return sum(len(group.paths) for group in self.groups)


def changed_groups(groups: Sequence[Group], revision: str) -> Changed:
    """Return the groups with the documents alone that changed since ``revision``, or, where a branch left it, since
    then. All others are still known to rules about several documents. Raises `UnknownRevision`."""
    left: list[Group] = []
    for group in groups:
        top, commit = revision_at(revision, group.root)
        changed = _changed(group, top, commit)
        if changed:
            left.append(replace(group, paths=changed, whole=False))
    return Changed(tuple(left), sum(len(group.paths) for group in groups))


def revision_at(revision: str, root: Path) -> tuple[Path, str]:
    """Return the top folder of the repository around ``root``, and the commit that a revision means there. Raises
    `UnknownRevision`."""
    top = _top(root)
    commit = resolve_revision(revision, top)
    if commit is None:
        raise UnknownRevision(f"there is no revision {revision!r} in the repository {top}")
    return top, commit


def _top(root: Path) -> Path:
    if not has_git():
        raise UnknownRevision("git is not installed, or not on the path")
    top = top_of(root)
    if top is None:
        raise UnknownRevision(f"{root} lies in no repository of git that can be read")
    return top


def _changed(group: Group, top: Path, commit: str) -> tuple[Path, ...]:
    reals = {path: group.files.real(path) for path in group.paths}
    try:
        changed = changed_since(commit, top, reals.values())
    except FileProblem as problem:
        raise UnknownRevision(str(problem)) from None
    return tuple(path for path, real in reals.items() if real in changed)
