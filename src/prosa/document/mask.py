"""Masking: parts that are not Markdown are replaced by filler of the same length, so every offset stays true.

Template actions hold spaces, quotes and brackets that would distort the structure around them (`[a]({{ .url }})`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from prosa.regex import regex
from prosa.source import Span

_FILLER = "x"
"""A letter: it is part of a word and has no other meaning. Filler has as many characters as the text it hides."""

_SURROGATE = regex("[\ud800-\udfff]")


def mask(text: str, spans: Sequence[Span]) -> str:
    """Return ``text`` with every span filled. Spans are ordered and do not overlap; line ends inside them are kept."""
    if not spans:
        return text
    pieces: list[str] = []
    done = 0
    for span in spans:
        pieces += (text[done : span.start], _fill(span.of(text)))
        done = span.end
    return "".join((*pieces, text[done:]))


def encodable(text: str) -> str:
    """Return ``text`` with lone surrogates replaced by U+FFFD, which takes as many bytes; parsers refuse surrogates."""
    try:
        _ = text.isascii() or text.encode()  # quicker than to search, and few texts hold any
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def _fill(text: str) -> str:
    return re.sub(r"[^\r\n]", _FILLER, text)
