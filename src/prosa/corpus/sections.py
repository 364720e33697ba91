"""The sections of a document: what a search ranks and shows. In: a document. Out: rows that cover its body once.

A heading inside a quotation, a list or a table begins no section: what it says belongs to the text around it. What a
reader sees of a section is decided here, so that a search parses nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain

from prosa.corpus.extracted import SectionRow
from prosa.corpus.words import is_cjk
from prosa.document.document import Document
from prosa.document.sections import anchors
from prosa.document.shown import shown_runs
from prosa.source import Span

BETWEEN = " › "
"""Between the headings of a path."""

MAX_HEADING = 300
"""Characters of one heading that count; a longer one is a paragraph that was marked by mistake."""


_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_VISIBLE = re.compile(r"[^\r\n]")


def section_rows(document: Document, hidden: Sequence[Span] = ()) -> tuple[SectionRow, ...]:
    """The sections of a document, at least one: the one above the first heading is left out where it is blank and
    there are others. ``hidden`` are places in order that nobody reads: there is blank space instead, so that every
    offset stays what it is."""
    return tuple(_rows(document, _blanked(document.source.text, hidden)))


def _blanked(text: str, hidden: Sequence[Span]) -> str:
    pieces: list[str] = []
    done = 0
    for span in hidden:
        pieces += (text[done : span.start], _VISIBLE.sub(" ", text[span.start : span.end]))
        done = span.end
    return "".join((*pieces, text[done:])) if pieces else text


def _rows(document: Document, text: str) -> Iterator[SectionRow]:
    body, cjk = document.body, is_cjk(text)
    named = zip(document.headings, anchors([each.plain for each in document.headings]), strict=True)
    found = [(heading, anchor) for heading, anchor in named if not heading.nested]
    starts = [*(heading.span.start for heading, _ in found), body.end]
    above: list[tuple[int, str]] = []
    first = _row(document, text, 0, 0, "", "", body.start, starts[0], cjk=cjk)
    if first.text or not found:
        yield first
    for number, (heading, anchor) in enumerate(found, start=1):
        while above and above[-1][0] >= heading.level:
            above.pop()
        above.append((heading.level, heading.plain.strip()[:MAX_HEADING]))
        path = BETWEEN.join(name for _, name in above if name)
        yield _row(document, text, number, heading.level, path, anchor, *starts[number - 1 : number + 1], cjk=cjk)


def _row(
    document: Document, shown: str, number: int, level: int, path: str, anchor: str, start: int, end: int, *, cjk: bool
) -> SectionRow:
    """A row whose text neither begins nor ends with blank space. ``cjk`` says whether there is such text at all."""
    whole = shown[start:end]
    text = whole.strip()
    start += len(whole) - len(whole.lstrip()) if text else 0
    line = document.source.lines.line(start)
    cjk = cjk and (is_cjk(text) or is_cjk(path))
    return SectionRow(number, level, path, anchor, start, start + len(text), line, text, cjk, seen_of(text))


def seen_of(text: str) -> str:
    """What a reader sees of a section, as JSON: offsets in ``text``, each with the number of characters that are seen
    as they are written, or with the text that is seen there instead (X2). Blank space counts as one space."""
    return _JSON.encode(list(chain.from_iterable(shown_runs(text))))
