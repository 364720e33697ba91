"""Where the template actions of a text are, whether it parses or not: a Markdown parser must not see them."""

from __future__ import annotations

from typing import Final

from prosa.regex import regex
from prosa.source import Span

_STOP: Final = regex(r"[\"'`]|\}\}")
_QUOTED: Final = {
    '"': regex(r'"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"'),
    "'": regex(r"'[^'\\\n]*(?:\\[^\n][^'\\\n]*)*'"),
    "`": regex(r"`[^`]*`"),
}
_COMMENT: Final = regex(r"\{\{(?:-[ \t\r\n])?/\*")
_COMMENT_OPENED: Final = len("{{- /*")


def action_spans(text: str) -> tuple[Span, ...]:
    """Return the spans of all ``{{ … }}``, delimiters included, in order. Never fails; leaves unclosed actions out."""
    spans: list[Span] = []
    unclosed: dict[str, int] = {}
    at = text.find("{{")
    while at >= 0:
        end = _end(text, at, unclosed)
        if end < 0:
            break
        spans.append(Span(at, end))
        at = text.find("{{", end)
    return tuple(spans)


def _end(text: str, opened: int, unclosed: dict[str, int]) -> int:
    """Return the offset behind the closing delimiter, or -1. Quotes hide a delimiter, as they do for the lexer."""
    comment = _COMMENT.match(text, opened) if "/*" in text[opened : opened + _COMMENT_OPENED] else None
    if comment:
        return _after(text, "}}", text.find("*/", comment.end()))
    at = opened + 2
    while match := _STOP.search(text, at):
        if match.group() == "}}":
            return match.end()
        at = _unquoted(text, match.start(), unclosed)
        if at < 0:
            return _after(text, "}}", match.end())
    return -1


def _unquoted(text: str, start: int, unclosed: dict[str, int]) -> int:
    """Return the offset behind the closing quote, or -1: an unclosed quote hides nothing.

    ``unclosed`` stores how far a closing quote was searched without success. Searching again for each quote on one
    long line would be quadratic for hostile text.
    """
    quote = text[start]
    if start < unclosed.get(quote, 0):
        return -1
    closed = _QUOTED[quote].match(text, start)
    if closed:
        return closed.end()
    line_end = text.find("\n", start) if quote != "`" else -1
    unclosed[quote] = line_end if line_end >= 0 else len(text)
    return -1


def _after(text: str, end: str, start: int) -> int:
    index = text.find(end, start) if start >= 0 else -1
    return index + len(end) if index >= 0 else -1
