"""Code spans made of what the walk found."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.document.model import CodeSpan
from prosa.document.parsed import Parsed
from prosa.source import Span


def code_spans(parsed: Parsed) -> tuple[CodeSpan, ...]:
    """The code spans. Where the parser cuts one in two, taking a bar in it for that of a wikilink, there is none."""
    return tuple(_code_spans(parsed))


def _code_spans(parsed: Parsed) -> Iterator[CodeSpan]:
    source = parsed.source.text
    for text, where in parsed.found.code_spans:
        span = parsed.span(where)
        written = source[span.start : span.end]
        ticks = len(written) - len(written.lstrip("`"))
        if 0 < 2 * ticks < len(written):
            content = Span(span.start + ticks, span.end - ticks)
            yield CodeSpan(parsed.shown(text, content), span, content)
