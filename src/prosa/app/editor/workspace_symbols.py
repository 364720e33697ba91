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
from prosa.document.anchors import slug
from prosa.regex import regex
from prosa.rules.subject import Facts
from prosa.source import SourceText

FoundKind: TypeAlias = Literal["document", "program", "id", "action", "heading"]

MAX_FOUND = 100
"""Maximum number of symbols in an answer; further typing narrows the search."""

MAX_QUERY = 200
"""Characters of a question that count."""

_ORDER: tuple[FoundKind, ...] = ("document", "program", "id", "action", "heading")
_HEADINGS = _ORDER.index("heading")
_HEADING = regex(r"^[ \t>]{0,20}(?:[-*+][ \t]+)?#{1,6}[ \t]+(.{1,1000}?)(?:(?<![ \t#])[ \t#]++)?$")
_PIECES = regex(r"[\W_]+")


class WorkspaceSymbol(Struct, frozen=True):
    """A symbol of a document; ``container`` is the path of the document relative to the root."""

    name: str
    kind: FoundKind
    place: Place
    container: str


class _Hit(NamedTuple):
    """A name that fits; of two hits the smaller one fits better."""

    fit: int
    order: int
    length: int
    name: str
    path: str
    start: int
    end: int
    real: Path


def workspace_symbols(workspace: Workspace, query: str, limit: int = MAX_FOUND) -> tuple[WorkspaceSymbol, ...]:
    """Return the symbols in whose names every word of a question occurs, whatever its case, the best first. Without a
    question these are documents."""
    words = tuple(word for word in _PIECES.split(query[:MAX_QUERY].casefold()) if word)
    hits = nsmallest(limit, _hits(workspace, words))
    return tuple(_symbol(workspace, each) for each in hits)


def _hits(workspace: Workspace, words: tuple[str, ...]) -> Iterator[_Hit]:
    spaced, joined = " ".join(words), "-".join(words)
    for real, facts in workspace.entries.items():
        searched = _searched(workspace, real, facts)
        if not all(word in searched for word in words):
            continue
        path = str(real)
        for name, kind, start, end in _named(real, facts):
            folded = name.casefold()
            if all(word in folded for word in words):
                fit = min(_fit(folded, spaced, " "), _fit(folded, joined, "-"))
                yield _Hit(fit, _ORDER.index(kind), len(name), name, path, start, end, real)
        for anchor in facts.anchors if words else ():
            if words[0] in anchor and anchor[0] not in "^*" and all(word in anchor for word in words):
                yield _Hit(_fit(anchor, joined, "-"), _HEADINGS, len(anchor), anchor, path, 0, 0, real)


def _searched(workspace: Workspace, real: Path, facts: Facts) -> str:
    """Return all names of a document in one text, kept as long as its facts are the same: most documents have none that
    is looked for."""
    kept = workspace.searched.get(real)
    if kept is None or kept[0] is not facts:
        names = (name.casefold() for name, *_ in _named(real, facts))
        kept = workspace.searched[real] = facts, "\n".join((*names, *facts.anchors))
    return kept[1]


def _fit(name: str, whole: str, between: str) -> int:
    """Return how well a name fits: exactly, at its beginning, at that of a word, within one."""
    if name.startswith(whole):
        return 0 if len(name) == len(whole) else 1
    return 2 if f"{between}{whole}" in name else 3


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


def _symbol(workspace: Workspace, hit: _Hit) -> WorkspaceSymbol:
    container = hit.real.relative_to(workspace.root).as_posix()
    if hit.order != _HEADINGS:
        return WorkspaceSymbol(hit.name, _ORDER[hit.order], Place(hit.real, hit.start, hit.end), container)
    source = workspace.source(hit.real)
    name, start, end = _heading(source, hit.name) if source is not None else (hit.name, 0, 0)
    return WorkspaceSymbol(name, "heading", Place(hit.real, start, end), container)


def _heading(source: SourceText, anchor: str) -> tuple[str, int, int]:
    """Return the heading with an anchor, found in the text without parsing it: the first line that makes this anchor,
    or as many as its number says that make the one without; else the beginning of the document."""
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
