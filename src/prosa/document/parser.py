"""CommonMark into a `Document`. In: a source and the span of its body. Out: elements with character spans.

pyromark counts UTF-8 bytes; `LineIndex` turns them into characters. It never sees the front matter: its own reading of
`---` blocks differs from X1. Parsing never fails, and no regular expression decides about structure (X2).
"""

from __future__ import annotations

from collections.abc import Sequence

from prosa.document.document import Document
from prosa.document.mask import encodable, mask
from prosa.document.parsed import Parsed
from prosa.document.walk import walk
from prosa.regex import regex
from prosa.source import LineIndex, SourceText, Span

_LONE_CR = regex(r"\r(?!\n)")
_TAB_AT_END = regex(r"[\t\f\v] *(?:\r?\n|\Z)")


def parse(source: SourceText, *, body: Span | None = None, masked: Sequence[Span] = ()) -> Document:
    """Return the document of ``source``. ``body`` is the part that is Markdown (default: all of it but a byte-order
    mark); ``masked`` are ordered spans of the source, template actions say, that must not take part in the
    structure."""
    body = _whole(source) if body is None else body
    inside = [span.shift(-body.start) for span in masked if span.start >= body.start and span.end <= body.end]
    text = _readable(mask(source.slice(body), inside))
    try:
        found = walk(text)
    except UnicodeEncodeError:  # the parser refuses lone surrogates, and few texts hold any
        text = encodable(text)
        found = walk(text)
    parsed = Parsed(source, text, body.start, bool(inside), LineIndex(text), found)
    return Document(source, body, parsed)


def _whole(source: SourceText) -> Span:
    return Span(1 if source.text.startswith("\ufeff") else 0, len(source.text))


def _readable(text: str) -> str:
    """Return ``text`` for the parser, each character where it was. The parser knows a lone CR as the end of some lines
    only (X2: of any line); a tab or a form feed behind a heading hides its closing marks from it."""
    if "\r" in text:
        text = _LONE_CR.sub("\n", text)
    # Few texts have such a line, and splitting all lines costs more than looking for one.
    if "#" in text and any(each in text for each in "\t\f\v") and _TAB_AT_END.search(text):
        text = "\n".join(_without_last_tabs(line) if "#" in line else line for line in text.split("\n"))
    return text


def _without_last_tabs(line: str) -> str:
    """Blank space at the end of a line as spaces. Whether that makes a hard line break is nothing we ask for."""
    end = "\r" if line.endswith("\r") else ""
    kept = line.rstrip(" \t\f\v\r")
    return kept + " " * (len(line) - len(kept) - len(end)) + end
