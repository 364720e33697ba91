"""HTML made of what the walk found: blocks and pieces in lines, the comments in them, and the ids they carry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prosa.document.model import Html
from prosa.document.parsed import Parsed
from prosa.source import Span

_TAG = re.compile(r"<[A-Za-z][^<>]*>")
_ANY_ID = re.compile(r"(?:id|name)\s*=", re.IGNORECASE)
_ID = re.compile(r"""\s(?:id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+))""", re.IGNORECASE)


def html(parsed: Parsed) -> tuple[Html, ...]:
    """HTML blocks and inline HTML in document order."""
    found = [*_blocks(parsed), *_inline(parsed)]
    return tuple(sorted(found, key=lambda each: each.span.start))


def comments(parsed: Parsed, found: Iterable[Html]) -> tuple[Span, ...]:
    """The comments, from `<!--` to `-->`, also those inside an HTML block; one without an end ends with its block."""
    return tuple(span for each in found for span in _comments_in(parsed.source.text, each))


def may_have_ids(text: str) -> bool:
    """Whether a text can hold an `id` or `name` of HTML at all: a quick look that saves building its HTML."""
    return "<" in text and _ANY_ID.search(text) is not None


def ids(found: Iterable[Html]) -> Iterator[str]:
    """The values of `id` and `name` in HTML tags, which links can point at."""
    for each in found:
        if not each.comment and "=" in each.text:
            for tag in _TAG.finditer(each.text):
                yield from (match[1] or match[2] or match[3] or "" for match in _ID.finditer(tag.group()))


def _blocks(parsed: Parsed) -> Iterator[Html]:
    for where, pieces in parsed.found.html_blocks:
        span = parsed.block(where)
        source = parsed.source
        text = "".join(source.slice(parsed.span(piece)) for _, _, piece in pieces).rstrip("\r\n")
        yield Html(text, span, block=True, comment=text.lstrip(" ").startswith("<!--"))


def _inline(parsed: Parsed) -> Iterator[Html]:
    for _, where in parsed.found.inline_html:
        span = parsed.span(where)
        text = parsed.source.slice(span)
        yield Html(text, span, block=False, comment=text.startswith("<!--"))


def _comments_in(text: str, each: Html) -> Iterator[Span]:
    start, end = each.span.start, each.span.end
    while (start := text.find("<!--", start, end)) >= 0:
        close = text.find("-->", start + 2, end)  # `<!-->` is a whole comment
        stop = end if close < 0 else close + 3
        yield Span(start, stop)
        start = stop
