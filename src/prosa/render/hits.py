"""The hits of a search, for people and for programs.

In: `Hit`s. Out: text without terminal control characters, except for colours on request; or objects with keys in a
fixed order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from prosa.corpus.search import Hit
from prosa.data import Value
from prosa.render.plain import safe

_RESET = "\x1b[0m"
_PLACE = "\x1b[1m"
_MARK = "\x1b[1;31m"
_DIM = "\x1b[2m"

BETWEEN = " › "


def hit_object(hit: Hit, file: str) -> dict[str, Value]:
    """Return one hit. ``path`` is relative to the root of the corpus, ``file`` as seen from where the command runs;
    ``marks`` are pairs of offsets in the snippet."""
    return {
        "path": hit.path,
        "line": hit.line,
        "column": hit.column,
        "end_line": hit.end_line,
        "node": hit.node,
        "dialect": hit.dialect,
        "title": hit.title,
        "heading": hit.heading,
        "anchor": hit.anchor,
        "score": float(f"{hit.score:.6g}"),
        "snippet": hit.snippet,
        "marks": [list(mark) for mark in hit.marks],
        "file": file,
    }


def render_hits(hits: Sequence[Hit], shown: Callable[[str], str], *, color: bool = False, verbose: bool = False) -> str:
    """Return two lines for each hit: its place with title and headings, and the snippet. ``shown`` names a path for
    people."""
    return "\n".join(line for hit in hits for line in _lines(hit, shown(hit.path), color, verbose))


def _lines(hit: Hit, path: str, color: bool, verbose: bool) -> Iterator[str]:
    place = _paint(f"{safe(path)}:{hit.line}:{hit.column}", _PLACE, color)
    score = _paint(f"  ({hit.score:.3g}, {hit.dialect})", _DIM, color) if verbose else ""
    yield f"{place}  {safe(_names(hit))}{score}".rstrip()
    if hit.snippet:
        yield f"    {_marked(hit, color)}"


def _names(hit: Hit) -> str:
    """Return title and headings, without repeating a first heading that is the title."""
    if not hit.title or hit.heading == hit.title or hit.heading.startswith(hit.title + BETWEEN):
        return hit.heading or hit.title
    return hit.title + (BETWEEN + hit.heading if hit.heading else "")


def _marked(hit: Hit, color: bool) -> str:
    """Return the snippet with what matched in colour. `safe` keeps every character in its place."""
    text = safe(hit.snippet)
    if not color:
        return text
    parts, at = [], 0
    for start, end in hit.marks:
        parts += [text[at:start], _paint(text[start:end], _MARK, color)]
        at = end
    return "".join((*parts, text[at:]))


def _paint(text: str, code: str, color: bool) -> str:
    return f"{code}{text}{_RESET}" if color else text
