"""The parameters of a skill: the list under a heading, or behind a line, that says "Parameters" (L46).

In: a document. Out: one `Parameter` per item that begins with a name, in backticks or in lower case. What looks
otherwise is left alone: it is an instruction like any other.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from prosa.dialects.skill_md.model import Parameter
from prosa.document import Document
from prosa.source import Span

_TITLE = re.compile(r"[*_]*(?:parameters|arguments|inputs?)[*_]*:?[*_]*", re.IGNORECASE)
_ITEM = re.compile(
    r"(?:[-+*]|\d{1,9}[.)])[ \t]+"
    r"[*_]*(?P<name>`[A-Za-z][\w.-]*`|[a-z][\w.-]*)[*_]*[ \t]*"
    r"(?:\((?P<note>[^()\r\n]*)\))?[ \t]*[*_]*"
    r"(?:(?P<mark>:|—|–|-(?=[ \t]))[*_]*[ \t]*(?P<text>.*))?",
    re.DOTALL,
)
_REQUIRED = re.compile(r"\brequired\b", re.IGNORECASE)
_OPTIONAL = re.compile(r"\b(?:optional|default)\b", re.IGNORECASE)


def read_parameters(document: Document) -> tuple[Parameter, ...]:
    """The parameters, in order; of several such lists, the first counts."""
    listed = next(_lists_after_titles(document), None)
    if listed is None:
        return ()
    starts = [item.start for item in document.items]
    inside = document.items[bisect_left(starts, listed.start) : bisect_left(starts, listed.end)]
    return tuple(_parameters(document, inside))


def _lists_after_titles(document: Document) -> Iterator[Span]:
    """The lists with nothing but blank space between them and a title."""
    lists = document.lists
    starts = [span.start for span in lists]
    headings = (each.span for each in document.headings if _TITLE.fullmatch(each.plain.strip()))
    lines = (_last_line(document, each.span) for each in document.paragraphs if not each.nested)
    titles = (*headings, *(span for span in lines if _TITLE.fullmatch(document.source.slice(span).strip())))
    for title in sorted(titles):
        at = bisect_left(starts, title.end)
        if at < len(lists) and not document.source.text[title.end : starts[at]].strip():
            yield lists[at]


def _last_line(document: Document, span: Span) -> Span:
    text = document.source.text
    start = max(text.rfind("\n", span.start, span.end), text.rfind("\r", span.start, span.end))
    return Span(max(start + 1, span.start), span.end)


def _parameters(document: Document, items: tuple[Span, ...]) -> Iterator[Parameter]:
    end = 0
    for span in items:
        match = _ITEM.match(document.source.text, span.start, span.end)
        if span.start >= end and match and (match["note"] is not None or match["mark"]):
            yield Parameter(
                match["name"].strip("`"), _required(match["note"] or ""), " ".join((match["text"] or "").split()), span
            )
        end = max(end, span.end)  # an item inside another explains it


def _required(note: str) -> bool | None:
    if _REQUIRED.search(note):
        return True
    return False if _OPTIONAL.search(note) else None
