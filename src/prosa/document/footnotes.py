"""Footnotes made of what the walk found: references, definitions, and references without a definition.

The parser gives the last kind as plain text, its opening bracket as a piece of its own; whether such a piece begins
`[^label]` is looked up in the source.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from prosa.document.blocks import containers
from prosa.document.model import CodeSpan, FootnoteDefinition, FootnoteReference
from prosa.document.parsed import Parsed
from prosa.source import Span

_REFERENCE = re.compile(r"\[\^([^\s\[\]`<>]+)\]")
_GAP = re.compile(r"[ \t]*")


def references(parsed: Parsed) -> tuple[FootnoteReference, ...]:
    """The references that have a definition, also those that the parser gives as text: `[^a][b]` without a `b`."""
    spans = ((label, parsed.span(where)) for label, where in parsed.found.footnote_references)
    found = [FootnoteReference(parsed.shown(label, Span(span.start + 2, span.end - 1)), span) for label, span in spans]
    texts, defined = _as_text(parsed), _defined(parsed)
    missed = [each for each in texts if _folded(each.label) in defined]
    return tuple(sorted((*found, *missed), key=lambda each: each.span.start) if missed else found)


def undefined(parsed: Parsed) -> tuple[FootnoteReference, ...]:
    """The references without a definition. A label there has no blank space: `[^ a]` is running text."""
    texts, defined = _as_text(parsed), _defined(parsed)
    return tuple(each for each in texts if _folded(each.label) not in defined)


def _as_text(parsed: Parsed) -> list[FootnoteReference]:
    starts = (parsed.place(where["start"]) for where in parsed.found.brackets)
    found = (_REFERENCE.match(parsed.source.text, start) for start in starts)
    return [FootnoteReference(match[1], Span(*match.span())) for match in found if match]


def _defined(parsed: Parsed) -> frozenset[str]:
    return frozenset(_folded(label) for label, _ in parsed.found.footnotes)


def _folded(label: str) -> str:
    """Labels are equal whatever their case."""
    return label.casefold()


def definitions(parsed: Parsed, code_spans: Sequence[CodeSpan]) -> tuple[FootnoteDefinition, ...]:
    """The definitions, with those of ``code_spans`` that lie in them."""
    starts = [code.span.start for code in code_spans]
    spans = containers(parsed, (where for _, where in parsed.found.footnotes))
    made = []
    for (label, _), span in zip(parsed.found.footnotes, spans, strict=True):
        inside = code_spans[bisect_left(starts, span.start) : bisect_left(starts, span.end)]
        made.append(FootnoteDefinition(label, span, _content(parsed, span), tuple(inside)))
    return tuple(made)


def _content(parsed: Parsed, span: Span) -> Span:
    """What follows the colon and the blank space behind it."""
    mark = parsed.text.find("]:", span.start - parsed.base, span.end - parsed.base) + parsed.base
    gap = _GAP.match(parsed.source.text, mark + 2, span.end)
    start = gap.end() if gap else mark + 2
    return Span(start, max(start, span.end))
