"""`section:<heading>` and `heading_path:<h1>/<h2>/… [-> fenced:<lang>]` (Y27). Headings come from the parse;
a heading matches by what a reader sees of it or by its source; runs of spaces count as one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from prosa.dialects.ymj.body import normalised
from prosa.dialects.ymj.selectors.fenced import fence_language, target_of
from prosa.dialects.ymj.selectors.selector import BadSelector, Body, Finder, Target
from prosa.document import Document, Heading, Section
from prosa.source import Span

MAX_PATH = 6
"""Headings have six levels."""

_ARROW = re.compile(r"\s*->\s*")
_FENCED = re.compile(r"(?:first_)?fenced:\s*([^\s`:]+)\s*")


def section(rest: str) -> Finder:
    """What stands under the first heading with this text, up to the next of its level or above."""
    name = _name(rest)
    if not name:
        raise BadSelector("needs the text of a heading, `section:Results` for example")

    def find(body: Body) -> Target | None:
        found = next((each for each in body.document.sections if _is(each.heading, name)), None)
        return _content(body.document, found) if found else None

    return find


def heading_path(rest: str) -> Finder:
    """The section at the end of a path of headings, or the first fence of a language in it."""
    path, arrow, after = _split(rest)
    names = [_name(part) for part in path.split("/")]
    fenced = _FENCED.fullmatch(after)
    if not all(names) or len(names) > MAX_PATH or (arrow and fenced is None):
        raise BadSelector("is a path of headings, `heading_path:Report/Data -> fenced:csv` for example")
    language = fenced[1].lower() if fenced else None

    def find(body: Body) -> Target | None:
        found = _walk(body.document.sections, names)
        if found is None or language is None:
            return _content(body.document, found) if found else None
        inside = (fence for fence in body.document.fences if fence.span.start in found.span)
        fence = next((fence for fence in inside if fence_language(fence) == language), None)
        return target_of(body.document, fence) if fence else None

    return find


def _split(rest: str) -> tuple[str, bool, str]:
    parts = _ARROW.split(rest, maxsplit=1)
    return parts[0], len(parts) == 2, parts[1] if len(parts) == 2 else ""


def _walk(sections: Iterable[Section], names: list[str]) -> Section | None:
    """The first section whose headings above it are the path: one pass, each name looked for below the last match.

    Every open section knows how far the path has come at it, so that a second heading of the same name, further down,
    may succeed where the first has no such heading below.
    """
    open_sections: list[tuple[Section, int]] = []
    for each in sections:
        while open_sections and each.span.start >= open_sections[-1][0].span.end:
            open_sections.pop()
        reached = open_sections[-1][1] if open_sections else 0
        if _is(each.heading, names[reached]):
            reached += 1
        if reached == len(names):
            return each
        open_sections.append((each, reached))
    return None


def _is(heading: Heading, name: str) -> bool:
    return name in (_name(heading.text), _name(heading.plain))


def _name(text: str) -> str:
    """A heading as it is compared."""
    return " ".join(text.split())


def _content(document: Document, found: Section) -> Target:
    """The section without its heading and without the blank lines around it."""
    text = document.source.text
    start = min(found.heading.span.end, found.span.end)
    inner = text[start : found.span.end]
    begin = start + len(inner) - len(inner.lstrip("\r\n"))
    end = max(begin, start + len(inner.rstrip()))
    return Target(normalised(text[begin:end]), Span(begin, end))
