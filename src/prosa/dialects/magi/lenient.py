"""JSON as people write it: comments and commas at the end of a list (MA1). Text in, blanked text and places out.

The blanked text has as many characters and the same lines; a strict reader takes it from there. Comments are `//`,
`/* … */`, and, as real documents have them, `#` to the end of the line and `<!-- … -->`, outside of strings. One pass.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from prosa.source import Span

_TOKEN = re.compile(r'"(?:[^"\\\r\n]++|\\[^\r\n])*+"?|//[^\r\n]*|#[^\r\n]*|/\*|<!--|[^\s"/#<]|\s+|.')
_NOT_BLANK = re.compile(r"[^\r\n]")
_CLOSING = {"/*": "*/", "<!--": "-->"}


@dataclass(frozen=True, slots=True)
class Lenient:
    """``text`` is the JSON with everything below blanked; spans count in it."""

    text: str
    comments: tuple[Span, ...]
    commas: tuple[Span, ...]


def tolerate(text: str) -> Lenient:
    """What a lenient reading of ``text`` passes over. A comment that is not closed is none."""
    comments: list[Span] = []
    tokens: list[Span] = []
    missing: set[str] = set()
    at = 0
    while match := _TOKEN.match(text, at):
        token, at = match[0], match.end()
        if token in _CLOSING and token not in missing:
            end = text.find(_CLOSING[token], at)
            if end >= 0:
                at = end + len(_CLOSING[token])
                comments.append(Span(match.start(), at))
                continue
            missing.add(token)
        if token.startswith(("//", "#")):
            comments.append(Span(*match.span()))
        elif not token.isspace():
            tokens.append(Span(*match.span()))
    commas = tuple(
        first for first, second in pairwise(tokens) if first.of(text) == "," and second.of(text) in ("}", "]")
    )
    return Lenient(_blanked(text, sorted((*comments, *commas))), tuple(comments), commas)


def comment_lines(comment: str) -> list[str]:
    """The words of a comment without its marks, line by line, blank lines left out."""
    for opening, closing in _CLOSING.items():
        if comment.startswith(opening):
            inner = comment[len(opening) : -len(closing)]
            break
    else:
        inner = comment.lstrip("/") if comment.startswith("/") else comment.lstrip("#")
    lines = (re.sub(r"^\*(?!\*)", "", line.strip()).strip() for line in re.split(r"\r\n|\n|\r", inner))
    return [line for line in lines if line]


def _blanked(text: str, spans: list[Span]) -> str:
    pieces: list[str] = []
    done = 0
    for span in spans:
        pieces += (text[done : span.start], _NOT_BLANK.sub(" ", span.of(text)))
        done = span.end
    return "".join((*pieces, text[done:]))
