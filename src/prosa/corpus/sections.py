"""The sections of a document: what a search ranks and shows. In: a document. Out: rows that cover its body once.

A heading inside a quotation, a list or a table begins no section: what it says belongs to the text around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.corpus.extracted import SectionRow
from prosa.document.document import Document
from prosa.document.sections import anchors

BETWEEN = " › "
"""Between the headings of a path."""

MAX_HEADING = 300
"""Characters of one heading that count; a longer one is a paragraph that was marked by mistake."""

_CJK = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f]"
)
"""Scripts that set no spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


def section_rows(document: Document) -> tuple[SectionRow, ...]:
    """The sections of a document, at least one: the one above the first heading is left out where it is blank and
    there are others."""
    return tuple(_rows(document))


def is_cjk(text: str) -> bool:
    """Whether some of the text is written without spaces between words."""
    return not text.isascii() and _CJK.search(text) is not None


def _rows(document: Document) -> Iterator[SectionRow]:
    body, cjk = document.body, is_cjk(document.source.text)
    named = zip(document.headings, anchors([each.plain for each in document.headings]), strict=True)
    found = [(heading, anchor) for heading, anchor in named if not heading.nested]
    starts = [*(heading.span.start for heading, _ in found), body.end]
    above: list[tuple[int, str]] = []
    first = _row(document, 0, 0, "", "", body.start, starts[0], cjk=cjk)
    if first.text or not found:
        yield first
    for number, (heading, anchor) in enumerate(found, start=1):
        while above and above[-1][0] >= heading.level:
            above.pop()
        above.append((heading.level, heading.plain.strip()[:MAX_HEADING]))
        path = BETWEEN.join(text for _, text in above if text)
        yield _row(document, number, heading.level, path, anchor, *starts[number - 1 : number + 1], cjk=cjk)


def _row(
    document: Document, number: int, level: int, path: str, anchor: str, start: int, end: int, *, cjk: bool
) -> SectionRow:
    """A row whose text neither begins nor ends with blank space. ``cjk`` says whether there is such text at all."""
    whole = document.source.text[start:end]
    text = whole.strip()
    start += len(whole) - len(whole.lstrip()) if text else 0
    line = document.source.lines.line(start)
    cjk = cjk and (is_cjk(text) or is_cjk(path))
    return SectionRow(number, level, path, anchor, start, start + len(text), line, text, cjk)
