"""What must be written at the end of a chat before a message heading there is one (P3).

In: the document of a chat whose last message a person may not have finished. Out: the mark that closes what is open, a
fence or a block of HTML, or nothing.
"""

from __future__ import annotations

from prosa.document import Document, parse
from prosa.source import SourceText, Span

_CLOSING = ("-->", "?>", "]]>", "</script>", "</style>", "</pre>", "</textarea>", ">")
"""The ends of the blocks of HTML that a blank line does not end (CommonMark 4.6)."""

_PROBE = "### @user:"


def closing(document: Document) -> str:
    """The line to write first, without its line end; empty where nothing is open."""
    text, end = document.source.text, document.body.end
    last = len(text[document.body.start : end].rstrip()) + document.body.start
    fence = document.fences[-1] if document.fences else None
    if fence is not None and not fence.closed and not fence.nested and fence.span.end >= last:
        return fence.open_fence
    block = next((each for each in reversed(document.html) if each.block), None)
    if block is None or block.span.end < last:
        return ""
    body = text[document.body.start : end].rstrip()
    return next((mark for mark in ("", *_CLOSING) if _is_closed(f"{body}\n{mark}")), "")


def _is_closed(text: str) -> bool:
    """Whether a heading below a text is one."""
    whole = f"{text}\n\n{_PROBE}\n"
    headings = parse(SourceText(whole), body=Span(0, len(whole))).headings
    return bool(headings) and headings[-1].span.start == len(text) + 2 and not headings[-1].nested
