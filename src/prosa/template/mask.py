"""Where the template actions of a text are, whether it parses or not: a Markdown parser must not see them."""

from __future__ import annotations

import re

from prosa.source import Span

_STOP = re.compile(r"[\"'`]|\}\}")
_QUOTED = {
    '"': re.compile(r'"(?:[^"\\\n]|\\[^\n])*"'),
    "'": re.compile(r"'(?:[^'\\\n]|\\[^\n])*'"),
    "`": re.compile(r"`[^`]*`"),
}
_COMMENT = re.compile(r"\{\{(?:-[ \t\r\n])?/\*")


def action_spans(text: str) -> tuple[Span, ...]:
    """The spans of all ``{{ … }}``, delimiters included, in order. Never fails; what is not closed has no span."""
    spans: list[Span] = []
    at = text.find("{{")
    while at >= 0:
        end = _end(text, at)
        if end < 0:
            break
        spans.append(Span(at, end))
        at = text.find("{{", end)
    return tuple(spans)


def _end(text: str, opened: int) -> int:
    """The offset behind the closing delimiter, or -1. Quotes hide a delimiter, as they do for the lexer."""
    comment = _COMMENT.match(text, opened)
    if comment:
        return _after(text, "}}", text.find("*/", comment.end()))
    at = opened + 2
    while found := _STOP.search(text, at):
        if found.group() == "}}":
            return found.end()
        closed = _QUOTED[found.group()].match(text, found.start())
        if closed is None:
            # An unclosed quote hides nothing; looking for further quotes would make hostile text quadratic.
            return _after(text, "}}", found.end())
        at = closed.end()
    return -1


def _after(text: str, end: str, start: int) -> int:
    found = text.find(end, start) if start >= 0 else -1
    return found + len(end) if found >= 0 else -1
