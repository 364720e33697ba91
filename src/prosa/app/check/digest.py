"""A summary of many similar findings for people: notes that are not written yet, and a folder full of broken links.
Programs get every finding.

In: the findings, and the documents. Out: the findings to print, those that only need one line, and advice.
"""

from __future__ import annotations

import posixpath
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from prosa.adapters.files import find_root
from prosa.adapters.files.places import is_in_vault
from prosa.adapters.files.read import real_path
from prosa.app.check.gather import Group
from prosa.diagnostics import Diagnostic
from prosa.render.plain import safe

MOST_WANTED = 10
"""Wikilinks to notes that are not written yet of which each is printed."""

MANY_BROKEN = 10
"""Links of one folder that lead nowhere, from which on they are probably quoted."""

_BROKEN = ("unresolved-link", "unresolved-path")


class Digest(Struct, frozen=True):
    """``shown`` are the findings to print, ``brief`` the positions among them of those that need one line; ``advice``
    are paragraphs that follow them."""

    shown: tuple[Diagnostic, ...]
    brief: frozenset[int] = frozenset()
    advice: tuple[str, ...] = ()


def digest(diagnostics: Sequence[Diagnostic], groups: Sequence[Group]) -> Digest:
    """Return what to print of a check."""
    group_of = {str(path): group for group in groups for path in group.paths}
    vaults = {id(group) for group in groups if is_in_vault(group.root)}
    wanted = [
        at
        for at, diagnostic in enumerate(diagnostics)
        if _is_wanted(diagnostic) and id(group_of.get(diagnostic.path)) in vaults
    ]
    left_out = {*wanted[MOST_WANTED:]}
    shown = [at for at in range(len(diagnostics)) if at not in left_out]
    brief = frozenset(place for place, at in enumerate(shown) if at in {*wanted})
    roots = [group.root for group in groups if id(group) in vaults]
    advice = (*_of_wanted(len(wanted), len(left_out), roots), *_of_broken(diagnostics, group_of))
    return Digest(tuple(diagnostics[at] for at in shown), brief, advice)


def _is_wanted(diagnostic: Diagnostic) -> bool:
    """Return whether a finding is a wikilink to a note that does not exist; one that is nearly the name of another, or
    names a file, says more."""
    return diagnostic.rule == "unresolved-wikilink" and not diagnostic.notes


def _of_wanted(count: int, left_out: int, roots: Sequence[Path]) -> Iterator[str]:
    if not count:
        return
    links = "1 wikilink leads to a note that is" if count == 1 else f"{count:,} wikilinks lead to notes that are"
    rest = f" ({left_out:,} are not printed)" if left_out else ""
    folder = "" if roots[0] == find_root(Path()) else f"{shlex.quote(str(roots[0]))} "
    how = "To list them by name, with the number of links:"
    yield f"{links} not written yet{rest}. {how}\n  prosa graph {folder}--report wanted"


def _of_broken(diagnostics: Sequence[Diagnostic], group_of: Mapping[str, Group]) -> Iterator[str]:
    """Advice for the folder with the most links that lead nowhere."""
    folders = Counter(
        (folder, diagnostic.rule)
        for diagnostic in diagnostics
        if diagnostic.rule in _BROKEN and (folder := _folder(diagnostic.path, group_of.get(diagnostic.path)))
    )
    for (folder, rule), count in folders.most_common(1):
        if count >= MANY_BROKEN:
            yield (
                f"{count:,} links in {safe(folder)}/ lead nowhere. If its documents are quoted from elsewhere, "
                f'leave the rule out there, in prosa.toml:\n  [per-glob."{safe(folder)}/**"]\n  ignore = ["{rule}"]'
            )


def _folder(path: str, group: Group | None) -> str:
    """Return the folder of a document below the root of its group; empty for the root itself."""
    real = real_path(Path(path))
    if group is None or not real.is_relative_to(group.root):
        return ""
    return posixpath.dirname(real.relative_to(group.root).as_posix())
