"""A title and a description from a Markdown text, for forms that need them."""

from __future__ import annotations

from collections.abc import Iterable

from prosa.convert.neutral import TextKind
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


def titled(text: str, template: TextKind = "text") -> str:
    """Return the first heading; empty if there is none. In a template, headings with an action are skipped."""
    texts = (each.plain for each in _head(text).headings if not each.nested)
    return " ".join(_first(texts, template).split())[:120].strip()


def described(text: str, template: TextKind = "text") -> str:
    """Return the first paragraph on one line, a long one cut after a sentence; empty if there is none. In a template,
    paragraphs with an action are skipped."""
    first = _first((each.text for each in _head(text).paragraphs if not each.nested), template)
    line = "".join(each if each.isprintable() else " " for each in " ".join(first.split()))
    if len(line) <= MAX_DESCRIBED:
        return line
    sentence = _SENTENCE.split(line, 1)[0]
    return sentence if len(sentence) <= MAX_DESCRIBED else f"{line[: MAX_DESCRIBED - 1].rstrip()}…"


def _first(texts: Iterable[str], template: TextKind) -> str:
    return next((each for each in texts if each.strip() and (template == "text" or "{{" not in each)), "")
