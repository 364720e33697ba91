"""Symbols of all documents by name: documents, headings, ids, programs and actions.

In: a workspace and a few letters. Out: symbols, the best first: those called exactly so, those that begin so, those in
which a word does. Of a heading only its anchor is in memory; where it stands is looked up for those that are given.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nsmallest
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from prosa.app.check.workspace import Workspace
from prosa.app.editor.place import Place
from prosa.document.sections import slug
from prosa.regex import regex
from prosa.rules.subject import Facts
from prosa.source import SourceText

FoundKind: TypeAlias = Literal["document", "program", "id", "action", "heading"]

MAX_FOUND = 100
"""Symbols of an answer; whoever looks for more types another letter."""

MAX_QUERY = 200
"""Characters of a question that count."""

_ORDER: tuple[FoundKind, ...] = ("document", "program", "id", "action", "heading")
_HEADING = regex(r"^[ \t>]{0,20}(?:[-*+][ \t]+)?#{1,6}[ \t]+(.{1,1000}?)[ \t#]*$")
_PIECES = regex(r"[\W_]+")


class WorkspaceSymbol(Struct, frozen=True):
    """A symbol of a document; ``container`` is the path of the document relative to the root."""

    name: str
    kind: FoundKind
    place: Place
    container: str


class _Hit(NamedTuple):
    rank: tuple[int, int, int, str, str]
    name: str
    kind: FoundKind
    real: Path
    start: int
    end: int


def workspace_symbols(workspace: Workspace, query: str, limit: int = MAX_FOUND) -> tuple[WorkspaceSymbol, ...]:
    """The symbols in whose names every word of a question occurs, whatever its case, the best first. Without a question
    these are documents."""
    words = tuple(word for word in _PIECES.split(query[:MAX_QUERY].casefold()) if word)
    hits = nsmallest(limit, _hits(workspace, words), key=lambda each: each.rank)
    return tuple(_symbol(workspace, each) for each in hits)


def _hits(workspace: Workspace, words: tuple[str, ...]) -> Iterator[_Hit]:
    whole = "-".join(words)
    for real, facts in workspace.entries.items():
        for name, kind, start, end in _named(real, facts):
            folded = name.casefold()
            if all(word in folded for word in words):
                yield _Hit(_rank(folded, whole, kind, real), name, kind, real, start, end)
        if words:
            for anchor in facts.anchors:
                if words[0] in anchor and anchor[0] not in "^*" and all(word in anchor for word in words):
                    yield _Hit(_rank(anchor, whole, "heading", real), anchor, "heading", real, 0, 0)


def _named(real: Path, facts: Facts) -> Iterator[tuple[str, FoundKind, int, int]]:
    title = False
    for each in facts.defs:
        if each.kind == "title" and not title:
            title = True
            yield each.name, "document", 0, 0
        elif each.kind == "id":
            kind: FoundKind = "program" if facts.dialect == "markdownlang" else "id"
            yield each.name, kind, each.span.start, each.span.end
    if not title:
        yield real.stem, "document", 0, 0
    actions = facts.extra.get("actions") if facts.dialect == "mdh" else None
    for action in actions if isinstance(actions, list | tuple) else ():
        yield str(action[0]), "action", action[4][0], action[4][1]


def _rank(name: str, whole: str, kind: FoundKind, real: Path) -> tuple[int, int, int, str, str]:
    """How well a name fits: exactly, at its beginning, at that of a word, within one; then short names first."""
    pieces = "-".join(_PIECES.split(name))
    if pieces == whole:
        fit = 0
    elif pieces.startswith(whole):
        fit = 1
    else:
        fit = 2 if f"-{whole}" in pieces else 3
    return fit, _ORDER.index(kind), len(name), name, real.as_posix()


def _symbol(workspace: Workspace, hit: _Hit) -> WorkspaceSymbol:
    container = hit.real.relative_to(workspace.root).as_posix()
    if hit.kind != "heading":
        return WorkspaceSymbol(hit.name, hit.kind, Place(hit.real, hit.start, hit.end), container)
    source = workspace.source(hit.real)
    name, start, end = _heading(source, hit.name) if source is not None else (hit.name, 0, 0)
    return WorkspaceSymbol(name, "heading", Place(hit.real, start, end), container)


def _heading(source: SourceText, anchor: str) -> tuple[str, int, int]:
    """The heading with an anchor, found in the text without parsing it: the first line that makes this anchor, or as
    many as its number says that make the one without; else the beginning of the document."""
    bare, _, number = anchor.rpartition("-")
    wanted, met = int(number) if number.isascii() and number.isdecimal() else -1, 0
    start = 0
    for line in source.text.splitlines(keepends=True):
        found = _HEADING.match(line.rstrip("\r\n")) if "#" in line else None
        made = slug(found[1]) if found is not None else ""
        if found is not None and made and (made == anchor or (made == bare and met == wanted)):
            return found[1], start + found.start(1), start + found.end(1)
        met += bool(made) and made == bare
        start += len(line)
    return anchor, 0, 0
