"""What a Markdown text says of itself for forms that want a title or a sentence."""

from __future__ import annotations

from prosa.data.front_matter import split_front_matter
from prosa.document import Document, parse
from prosa.regex import regex
from prosa.source import SourceText, Span

_LOOKED_AT = 16_384
"""Characters in which a title and a first paragraph are sought."""

MAX_DESCRIBED = 300
_SENTENCE = regex(r"(?<=[.!?])\s")


def _head(text: str) -> Document:
    part = text[:_LOOKED_AT]
    front = split_front_matter(part)[0]
    start = front.body.start if front else 0
    return parse(SourceText(part), body=Span(start, len(part)))


def titled(text: str) -> str:
    """The first heading; empty where there is none."""
    return next((" ".join(each.plain.split()) for each in _head(text).headings if not each.nested), "")[:120].strip()


def described(text: str) -> str:
    """The first paragraph on one line, cut behind a sentence where it is long; empty where there is none."""
    first = next((each.text for each in _head(text).paragraphs if not each.nested and each.text.strip()), "")
    line = "".join(each if each.isprintable() else " " for each in " ".join(first.split()))
    if len(line) <= MAX_DESCRIBED:
        return line
    sentence = _SENTENCE.split(line, 1)[0]
    return sentence if len(sentence) <= MAX_DESCRIBED else f"{line[: MAX_DESCRIBED - 1].rstrip()}…"
